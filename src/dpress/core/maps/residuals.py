"""Residual queries: of a marginal table, what its own smaller tables do not say, as integers."""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, LinearMap, Marginal, Numbers, Stack


@dataclass(frozen=True, slots=True)
class Residual(LinearMap):
    """The marginal table over some axes, times k I - J along each of them (k the axis' size, J all ones).

    The matrix is k_1 ... k_a times a projection: what is left of a table once the means along every axis are removed.
    Source: Xiao, He, Zhang, Kifer 2023, whose subtraction matrices span the same rows.

    Args:
        shape: the number of cells along every axis of the full table.
        axes: the axes of the table, each of at least two cells; none for the total.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.table.kept, default=2) < 2:
            raise ValueError(f"the axes of a residual need at least two cells each, got {self.table.kept}")

    @property
    def table(self) -> Marginal:
        """The marginal table that it is the residual of."""
        return Marginal(self.shape, self.axes)

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return self.table.cells

    @property
    def rows(self) -> int:
        """The number of cells of the marginal table, which is also what the projection is multiplied by."""
        return self.table.rows

    def of_table(self, table: Numbers) -> Numbers:
        """Return the residual of a marginal table, both flat."""
        kept = self.table.kept
        left = np.asarray(table).reshape(kept)
        for axis, size in enumerate(kept):
            left = size * left - left.sum(axis=axis, keepdims=True)
        return left.ravel()

    def apply(self, cells: Numbers) -> Numbers:
        """Return the residual of a full table, both flat."""
        return self.of_table(self.table.apply(cells))

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        return self.table.transpose(np.asarray(self.of_table(answers)))

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the exact L1 sensitivity, or the squared L2 sensitivity for order 2.

        Formula: prod 2 (k - 1) and prod k (k - 1). A row that moves changes most along the set of axes that is worst:
        under L2 along the shortest axis alone, 2 k / (k - 1) times as much, k its size.
        """
        kept = self.table.kept
        if relation is Relation.ADD_REMOVE:
            return math.prod((2 if order == 1 else size) * (size - 1) for size in kept)
        if not kept:
            return 0
        if order == 2:
            return 2 * math.prod(size * (size - 1) for size in kept) * min(kept) // (min(kept) - 1)
        moves = itertools.product((False, True), repeat=len(kept))
        return max(_moved(kept, moved) for moved in moves if any(moved))


def _moved(kept: tuple[int, ...], moved: tuple[bool, ...]) -> int:
    """Return the L1 distance of two columns whose cells differ along the axes that are `moved`."""
    before, after, times = np.ones(1), np.ones(1), np.ones(1)
    for size, other in zip(kept, moved, strict=True):
        before = np.outer(before, [size - 1, -1, -1]).ravel()
        after = np.outer(after, [-1, size - 1, -1] if other else [size - 1, -1, -1]).ravel()
        times = np.outer(times, [1, 1, size - 2]).ravel()
    return round(float(times @ np.abs(before - after)))


@dataclass(frozen=True, slots=True)
class Residuals(Stack[Residual]):
    """The residuals of marginal tables and of all their smaller tables, one below the other.

    Args:
        parts: the residuals, each of a set of axes that some table holds.
        tables: the axes of the tables.
    """

    tables: tuple[tuple[int, ...], ...]

    def __hash__(self) -> int:
        """Return a hash that does not walk through thousands of residuals."""
        return hash((len(self.parts), self.tables[:4]))

    def from_tables(self, counts: Numbers) -> Numbers:
        """Return all residuals from the tables' counts, which stand one after the other."""
        shape = self.shape
        sizes = [math.prod(shape[axis] for axis in axes) for axes in self.tables]
        if counts.shape != (sum(sizes),):
            raise ValueError(f"counts must be those of the tables, {sum(sizes)} cells, got shape {counts.shape}")
        split = np.split(counts.astype(np.int64, copy=False), np.cumsum(sizes)[:-1])
        holding = _holding(self)
        answers = []
        for part in self.parts:
            place = holding[frozenset(part.axes)]
            axes = self.tables[place]
            table = Marginal(tuple(shape[axis] for axis in axes), tuple(axes.index(axis) for axis in part.axes))
            answers.append(part.of_table(table.apply(split[place])))
        return np.concatenate(answers)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis of the full table."""
        return self.parts[0].shape


@functools.lru_cache(maxsize=16)
def _holding(residuals: Residuals) -> dict[frozenset[int], int]:
    """Return for every set of axes the place of the first table that holds it."""
    places: dict[frozenset[int], int] = {}
    for place, axes in enumerate(residuals.tables):
        for size in range(len(axes) + 1):
            for part in itertools.combinations(axes, size):
                places.setdefault(frozenset(part), place)
    return places
