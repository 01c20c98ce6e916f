"""Mixed records: numeric and categorical attributes, and how far two records are apart. All of it is public.

Schema -> one column each: whole units of a number, or a table of distances between categories.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array

Units = npt.NDArray[np.int64]
MOST_NUMBERS = 1 << 22  # cells of a number, whose centres are listed
MOST_VALUES = 1 << 12  # of a category, whose distances are a table of their square


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Column:
    """One attribute of a mixed record, by its codes.

    Args:
        name: of the attribute.
        size: the number of its cells.
        units: of a numeric attribute the centre of every cell in whole units, from -span to span, shape (size,); empty
            for a categorical one.
        distance: of a categorical attribute how far apart two values are, from 0 to 1, shape (size, size): the height
            of their lowest common ancestor over that of the hierarchy, 0 or 1 without one; empty for a numeric one.
        weight: of the attribute in the distance of two records.
    """

    name: str
    size: int
    units: Units
    distance: Array
    weight: float = 1.0

    @property
    def numeric(self) -> bool:
        """Whether it is a number."""
        return self.units.size > 0

    @property
    def span(self) -> int:
        """The largest unit; a number changes by twice as much at most."""
        return int(np.abs(self.units).max())

    @property
    def scaled(self) -> Array:
        """The centre of every cell of a numeric attribute on the scale of its bounds, from -1/2 to 1/2."""
        return self.units / (2 * max(self.span, 1))

    def nearest(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Return the cell whose centre is nearest to each number; beyond the ends that is the first or the last.

        Args:
            numbers: in units.
        """
        return np.searchsorted((self.units[1:] + self.units[:-1]) / 2, numbers).astype(np.int32)


def columns(attributes: Sequence[Tabular], weights: Sequence[float] = ()) -> tuple[Column, ...]:
    """Return the columns of mixed records.

    Integers and numbers are numeric, on the specification's bounds; listed attributes are categorical.

    Args:
        attributes: with cells.
        weights: one for every attribute; left out, 1.

    Raises:
        NotSupported: a number has a cell for missing values, which lies nowhere on its scale; or there are too many
            cells.
    """
    for axis in attributes:
        most = MOST_VALUES if axis.scale is None else MOST_NUMBERS
        if axis.size > most:
            how = "put values together" if axis.scale is None else "use fewer `bins`, or longer `cells`"
            raise NotSupported(f"attribute {axis.name}: records take at most {most:,} cells, got {axis.size:,}; {how}")
    given = tuple(weights) or (1.0,) * len(attributes)
    return tuple(_column(attribute, weight) for attribute, weight in zip(attributes, given, strict=True))


def _column(attribute: Tabular, weight: float) -> Column:
    if (scale := attribute.scale) is not None:
        if attribute.extra:
            raise NotSupported(
                f"attribute {attribute.name}: records need a number for every row; set null to drop or reject"
            )
        return Column(name=attribute.name, size=attribute.size, units=_units(scale), distance=_none(), weight=weight)
    distance = lowest_common(attribute.labels, attribute.levels_of_groups)
    return Column(
        name=attribute.name, size=attribute.size, units=np.zeros(0, np.int64), distance=distance, weight=weight
    )


def _units(attribute: ByEdges) -> Units:
    """Return the centres of the cells in whole units: of integers half a step, of numbers 2^-20 of the range."""
    edges = attribute.edges.astype(np.float64)
    centres = edges[:-1] + edges[1:]
    if np.issubdtype(attribute.edges.dtype, np.integer):
        return np.asarray(np.rint(centres - (edges[0] + edges[-1])), dtype=np.int64)
    low, high = edges[0], edges[-1]
    return np.asarray(np.rint((centres - (low + high)) / (high - low) * 2**19), dtype=np.int64)


def lowest_common(labels: Sequence[str], hierarchy: Sequence[Sequence[str]]) -> Array:
    """Return the distance of every two values: the level at which they first share a group, over the last level.

    Args:
        labels: of all cells, in code order; one that no row names (`other`, `null`) is as far as can be from all.
        hierarchy: rows `value, level1, ..., *`; every level refines the next.

    >>> lowest_common(("a", "b", "c"), (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"))).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    distances = 1.0 - np.eye(len(labels))
    rows = {row[0]: row for row in hierarchy}
    listed = [code for code, label in enumerate(labels) if label in rows]
    if listed:
        paths = np.array([rows[labels[code]] for code in listed])[:, :-1]
        apart = (paths[:, None] != paths).sum(axis=2)  # levels below the first that they share: each refines the next
        distances[np.ix_(listed, listed)] = apart / paths.shape[1]
    return np.asarray(distances)


def _none() -> Array:
    return np.zeros((0, 0))


def example() -> tuple[Column, ...]:
    """Return the columns of tiny records, a number and a category, for the checks that run over every method."""
    return columns((Integer(name="age", bounds=(0, 4)), Categorical(name="work", values=("a", "b", "c"))))
