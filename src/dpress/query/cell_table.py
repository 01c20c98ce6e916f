"""The counts of all combinations of some attributes' cells, with how their errors depend on each other.

a release's decoder, fit or records -> `CellTable` -> what stands in no table but follows from its cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.inference.covariance import Covariance
from dpress.inference.interval import Tail
from dpress.query.linear_forms import Critical

MOST_CELLS = 1 << 22
Axes = tuple[int, ...]
Counted = tuple[Array, Covariance]
"""Unbiased counts of cells, and that of them."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTable:
    """A table of some attributes together.

    Args:
        attributes: in the order of the schema.
        counts: estimates of every cell, shape (cells of every attribute).
        covariance: of sums of cells, exact where no note says otherwise; NaN where no error is known.
        critical: of these sums.
        tail: of their noise.
        notes: what else is to be known of them, a sentence each.
    """

    attributes: tuple[Tabular, ...]
    counts: Array
    covariance: Covariance
    critical: Critical
    tail: Tail
    notes: tuple[str, ...] = ()

    def among(self, names: Sequence[str], inside: Array) -> "CellTable":
        """Return the table of some of its attributes, of the rows in some of its cells.

        Args:
            names: of the attributes that stay.
            inside: 0 or 1 for every cell, of the shape of the counts.
        """
        others = tuple(axis for axis, attribute in enumerate(self.attributes) if attribute.name not in names)
        kept = tuple(1 if axis in others else size for axis, size in enumerate(self.counts.shape))

        def covariance(forms: Array) -> Array:
            return self.covariance(forms.reshape(len(forms), *kept) * inside)

        attributes = tuple(attribute for attribute in self.attributes if attribute.name in names)
        counts = np.asarray((self.counts * inside).sum(axis=others))
        return replace(self, attributes=attributes, counts=counts, covariance=covariance)

    @property
    def listed(self) -> tuple[Array, Covariance]:
        """The cells of listed values alone, without those of missing and of other values, and that of their sums."""
        sizes = [attribute.proper for attribute in self.attributes]
        places = tuple(map(slice, sizes))

        def covariance(forms: Array) -> Array:
            whole = np.zeros((len(forms), *self.counts.shape))
            whole[:, *places] = forms.reshape(len(forms), *sizes)
            return self.covariance(whole)

        return self.counts[places], covariance


def marginal(table: Array, axes: Axes, kept: Axes) -> Array:
    """Return the sums of a table over the axes that are not kept; both rising."""
    return np.asarray(table.sum(axis=tuple(place for place, axis in enumerate(axes) if axis not in kept)))


def of_replicates(counts: Array, replicates: Array, spread: float) -> Covariance:
    """Return the covariance of sums of fitted cells, from fits to other noise.

    Formula: the mean product of how far the replicates lie from the fit, their bias included, and that of the number
    of rows, whose variance is `spread`, in shares of it.

    Args:
        counts: of the fit, in shares of all rows times their number.
        replicates: of the other fits, shape (fits, *cells), in the same unit.
        spread: the squared relative error of the number of rows.
    """
    apart = replicates.reshape(len(replicates), -1) - counts.ravel()

    def covariance(forms: Array) -> Array:
        rows = forms.reshape(len(forms), -1)
        moved, level = rows @ apart.T, rows @ counts.ravel()
        return np.asarray(moved @ moved.T / len(apart) + spread * np.outer(level, level))

    return covariance


def without_error(forms: Array) -> Array:
    """Return that nothing is known of the errors of sums."""
    return np.full((len(forms), len(forms)), np.nan)
