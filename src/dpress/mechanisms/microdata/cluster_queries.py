"""What is measured of clusters with public prototypes: sums, in every cluster, of what a record's code contributes.

A record is in one cluster, and in it adds one row of a small public table: its sensitivity is that of the table.
public prototypes + records -> exact counts of every cluster's cells (one fold) -> counts, sums, histograms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpress.attributes.mixed import Column
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, LinearMap, Numbers, Stack
from dpress.core.methods.people import Counts, People
from dpress.mechanisms.microdata.prototypes import Clusters, offsets

Contributions = npt.NDArray[np.int64]
LARGEST_TABLE = 1 << 24  # entries of all attributes' contributions


@dataclass(frozen=True, kw_only=True, eq=False)
class InClusters(LinearMap):
    """The sums over every cluster of what the codes of one attribute contribute.

    Sensitivity: a record that comes or goes changes one cluster, by its row of `contributions`: the largest row sum of
    |contributions|^order. A replaced one leaves a row of one cluster and enters one of the same or of another cluster.

    Args:
        clusters: the public prototypes.
        axis: of the attribute.
        contributions: one column (a sum; all ones count), or rows with a single 1 (a histogram), shape (size, columns).
    """

    clusters: Clusters
    axis: int
    contributions: Contributions

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of every attribute."""
        return tuple(column.size for column in self.clusters.columns)

    @cached_property
    def cells(self) -> int:
        """The number of cells of the full table, which nobody ever forms but for tiny ones."""
        return math.prod(self.shape)

    @property
    def rows(self) -> int:
        """The number of answers: cluster by cluster, one for every column of `contributions`."""
        return self.clusters.size * int(self.contributions.shape[1])

    @property
    def counts_rows(self) -> bool:
        """Whether the answers add up to the number of rows: sizes and histograms do, sums of numbers do not."""
        return bool(np.all(self.contributions.sum(axis=1) == 1))

    def of(self, counts: Counts) -> Counts:
        """Return the answers from the counts of every cluster's cells, shape (clusters, cells of all attributes)."""
        first, last = offsets(self.clusters.columns)[self.axis : self.axis + 2]
        return np.asarray(counts[:, first:last] @ self.contributions).ravel()

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers from the full table; for tiny ones."""
        label, code = self._places()
        answers = np.zeros((self.clusters.size, self.contributions.shape[1]), dtype=cells.dtype)
        np.add.at(answers, label, cells[:, None] * self.contributions[code])
        return answers.ravel()

    def transpose(self, answers: Array) -> Array:
        """Return A^T y over the full table; for tiny ones."""
        label, code = self._places()
        table = answers.reshape(self.clusters.size, -1)
        return np.asarray((table[label] * self.contributions[code]).sum(axis=1))

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest sum of |change|^order: s^order, or max((s - t)^order, 2 s^order), s, t the extremes.

        An attribute that contributes nothing counts as if it contributed 1, so that its noise is defined.
        """
        low, high = int(self.contributions.min()), int(self.contributions.max())
        largest = int(max(-low, high, 1) ** order)
        if relation is Relation.ADD_REMOVE:
            return largest
        apart = (high - low) ** order if self.contributions.shape[1] == 1 else 0
        return int(max(apart, 2 * largest))

    def _places(self) -> tuple[Counts, Counts]:
        """Return the cluster and this attribute's code of every cell of the full table."""
        codes = np.array(np.unravel_index(np.arange(self.cells), self.shape), dtype=np.int32)
        return self.clusters.labels(codes).astype(np.int64), codes[self.axis].astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Round:
    """One measurement of all clusters: several tables, each with its share of the loss.

    Args:
        parts: all over the same clusters.
        shares: of the parts, adding up to 1.
    """

    parts: tuple[InClusters, ...]
    shares: tuple[Fraction, ...]
    decoder: ClassVar[Any] = None

    @cached_property
    def map(self) -> Stack[LinearMap]:
        """The parts, one below the other."""
        return Stack(self.parts)

    def exact(self, people: People) -> Counts:
        """Return the answers without noise, private as the records are: one pass, in which each record counts once."""
        counts = people.fold(self.parts[0].clusters.counts)
        return np.concatenate([part.of(counts) for part in self.parts])


def everybody(columns: tuple[Column, ...]) -> Clusters:
    """Return the one cluster that all records are in."""
    return Clusters(columns=columns, costs=np.zeros((int(offsets(columns)[-1]), 1)))


def one_way(columns: tuple[Column, ...]) -> Round:
    """Return the histograms of all attributes over all records, by `by_size`.

    Raises:
        NotSupported: the squares of their sizes add up to more than 2^24.
    """
    entries = sum(column.size**2 for column in columns)
    if entries > LARGEST_TABLE:
        widest = max(columns, key=lambda column: column.size)
        raise NotSupported(
            f"histograms whose squared sizes add up to {entries:,} are too large to be measured of everybody, at most "
            f"{LARGEST_TABLE:,}; use fewer cells, first for {widest.name}, which has {widest.size:,}"
        )
    parts = [_histogram(everybody(columns), axis, column.size) for axis, column in enumerate(columns)]
    return Round(parts=tuple(parts), shares=by_size([column.size for column in columns]))


def centres(clusters: Clusters) -> Round:
    """Return what new prototypes are made of: sizes, sums of numbers, histograms of categories, with equal shares."""
    columns = clusters.columns
    parts = [_size(clusters)]
    for axis, column in enumerate(columns):
        if column.numeric:
            parts.append(InClusters(clusters=clusters, axis=axis, contributions=column.units[:, None]))
        else:
            parts.append(_histogram(clusters, axis, column.size))
    return Round(parts=tuple(parts), shares=(Fraction(1, len(parts)),) * len(parts))


def histograms(clusters: Clusters, bins: Sequence[int]) -> Round:
    """Return the sizes, and histograms of all attributes: a share of 1 / (d + 1) for the sizes, the rest `by_size`."""
    parts = [_histogram(clusters, axis, number) for axis, number in enumerate(bins)]
    size_share = Fraction(1, len(bins) + 1)
    shares = (size_share, *((1 - size_share) * share for share in by_size([*bins])))
    return Round(parts=(_size(clusters), *parts), shares=shares)


def by_size(sizes: Sequence[int]) -> tuple[Fraction, ...]:
    """Return shares in proportion to the square roots of the numbers of cells.

    They make the sum over all histograms of cells / share, the expected absolute error, as small as can be.

    >>> by_size([4, 16])
    (Fraction(1, 3), Fraction(2, 3))
    """
    roots = [math.isqrt(size * 10**6) for size in sizes]
    total = sum(roots)
    return tuple(Fraction(root, total) for root in roots)


def binned(size: int, bins: int) -> Counts:
    """Return the bin of every code, equally wide but for rounding, shape (size,)."""
    return np.arange(size, dtype=np.int64) * bins // size


def _size(clusters: Clusters) -> InClusters:
    return InClusters(clusters=clusters, axis=0, contributions=np.ones((clusters.columns[0].size, 1), dtype=np.int64))


def _histogram(clusters: Clusters, axis: int, bins: int) -> InClusters:
    contributions = np.eye(bins, dtype=np.int64)[binned(clusters.columns[axis].size, bins)]
    return InClusters(clusters=clusters, axis=axis, contributions=contributions)
