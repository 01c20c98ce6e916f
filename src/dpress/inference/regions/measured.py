"""What a release measures over a tree of regions: which marginal tables at which level, and with how much noise."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

from dpress.core.maps.spine import Spine
from dpress.inference.regions.space_tree import SpaceTree

Table = tuple[int, ...]
"""The axes of a marginal table of the cells, increasing; () is the total."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """The tables of every level and the variance of their independent noise.

    Every node has a histogram over prod `shape` cells, the sum of its children's; at every node of a level the same
    marginal tables are measured. The space of T holds what the table over T says beyond its smaller tables: r_T is that
    table centred along every axis, shape of T's sizes, and has prod (n_i - 1) directions over the axes i in T.

    Args:
        spine: the regions.
        shape: the cells of the other attributes along every axis.
        variances: for every level, 0 to the spine's depth: the noise's variance per cell, in counts squared, of each
            table that is measured there; 0.0 where it is exact (an invariant), which only () may be.

    Raises:
        ValueError: a level is missing, a table has no such axes, a variance is no finite number >= 0, or nothing is
            measured at all.
    """

    spine: Spine
    shape: tuple[int, ...]
    variances: tuple[Mapping[Table, float], ...]

    def __post_init__(self) -> None:
        if len(self.variances) != self.spine.depth + 1:
            raise ValueError(f"expected variances of {self.spine.depth + 1} levels, got {len(self.variances)}")
        if not any(self.variances):
            raise ValueError("expected a table that is measured at some level, got none")
        for level, tables in enumerate(self.variances):
            for table, variance in tables.items():
                self._check(level, table, variance)

    def _check(self, level: int, table: Table, variance: float) -> None:
        if not set(table) <= set(range(len(self.shape))) or list(table) != sorted(set(table)):
            raise ValueError(f"level {level}, table {table}: expected increasing axes below {len(self.shape)}")
        if not 0 <= variance < math.inf or (table and not variance):
            bound = "> 0" if table else ">= 0"
            raise ValueError(f"level {level}, table {table}: the variance must be finite and {bound}, got {variance}")

    @cached_property
    def spaces(self) -> tuple[Table, ...]:
        """Every T that lies in some measured table, () first."""
        tables = {table for level in self.variances for table in level}
        spaces = {space for table in tables for space in subsets(table)}
        return tuple(sorted(spaces, key=lambda space: (len(space), space)))

    def has_exact_total(self, level: int) -> bool:
        """Return whether the total of every node of a level is an invariant, without noise."""
        return self.variances[level].get((), 1.0) == 0.0

    def precision(self, level: int, space: Table) -> float:
        """Return 1 / variance of r_T at a node of a level, per direction, in 1 / counts squared.

        Formula: sum over the tables S that contain T of 1 / (s2(S) prod of n_i over the axes i of S without T);
        infinite where the total is exact, 0 where nothing measured holds T.
        """
        if not space and self.has_exact_total(level):
            return math.inf
        return math.fsum(
            1 / (variance * self.cells(set(table) - set(space)))
            for table, variance in self.variances[level].items()
            if set(space) <= set(table)
        )

    def cells(self, axes: Iterable[int]) -> int:
        """Return the number of cells of a table over these axes."""
        return math.prod(self.shape[axis] for axis in axes)

    def tree(self, space: Table) -> SpaceTree:
        """Return the tree of a space.

        Raises:
            ValueError: the space lies in no table that is measured.
        """
        if space not in self._trees:
            raise ValueError(f"table {space} lies in no table that is measured")
        return self._trees[space]

    @cached_property
    def _trees(self) -> dict[Table, SpaceTree]:
        levels = range(self.spine.depth + 1)
        return {
            space: SpaceTree(spine=self.spine, precisions=tuple(self.precision(level, space) for level in levels))
            for space in self.spaces
        }

    def deepest(self, table: Table) -> int:
        """Return the last level at which a table is determined: every part of it is measured there or below.

        Raises:
            ValueError: the table lies in no table that is measured.
        """
        self.tree(table)
        return min(self.tree(space).deepest for space in subsets(table))


def subsets(table: Table) -> Iterator[Table]:
    """Yield every subset of a table's axes, () first."""
    return chain.from_iterable(combinations(table, size) for size in range(len(table) + 1))
