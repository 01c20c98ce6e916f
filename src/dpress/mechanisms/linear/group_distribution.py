"""How the levels of every group are distributed: a tree of counts over cells of levels, in each group."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.kron import kron
from dpress.core.maps.linear import Identity, Invertible, LinearMap, Numbers
from dpress.core.methods.people import Codes
from dpress.mechanisms.linear.groups import OverRows, first_levels, level_counts
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.row_weight import RowWeight

GRAIN = 1 << 24  # of a weight in a cell: 2^32 rows fit 63 bits
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDistribution(OverRows, LinearMap):
    """The nodes of a tree over the cells of an attribute, in every group.

    Promise: a row is in one group and one cell, so the sensitivity is the tree's; at most twice that under
    replace-one. A row of weight u adds u <= 1 of that, in whole 2^-24ths.
    Error: that of the tree's ranges, in every group: `Hierarchy.range_variances`.
    Source: Hay, Rastogi, Miklau and Suciu 2010; quantiles from noisy prefixes.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        axis: whose code is the level.
        levels: how many levels there are; codes from there on are none.
        tree: over the cells; level l is in the cell floor(l cells / levels), unless there are borders.
        quantiles: that are published, strictly between 0 and 1, increasing.
        borders: the first level of every cell but the first, where cells are of several sizes.
        weight: of a row, which then counts as u <= 1.
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    axis: int
    levels: int
    tree: Hierarchy
    quantiles: tuple[Fraction, ...]
    borders: tuple[int, ...] = ()
    weight: RowWeight | None = None
    added_later: ClassVar[tuple[str, ...]] = ("borders", "weight")

    def __post_init__(self) -> None:
        if not {self.axis, *self.by} <= set(range(len(self.shape))) or self.axis in self.by:
            raise ValueError(f"the groups' axes and the level's must be different axes of {len(self.shape)}")
        if not 1 <= self.tree.cells <= self.levels <= self.shape[self.axis] or self.tree.shares:
            raise ValueError("a distribution needs a tree of at most as many cells as levels, with one noise")
        if list(self.quantiles) != sorted({quantile for quantile in self.quantiles if 0 < quantile < 1}):
            raise ValueError("quantiles must be increasing and lie strictly between 0 and 1")
        within = {border for border in self.borders if 0 < border < self.levels}
        if self.borders and (list(self.borders) != sorted(within) or len(within) != self.tree.cells - 1):
            raise ValueError("borders must be increasing levels, one less than there are cells")

    @property
    def edges(self) -> Integers:
        """The first level of every cell, and one more than the last level."""
        return first_levels(self.levels, self.tree.cells, self.borders)

    @property
    def nodes(self) -> Invertible:
        """The measured nodes of every group's cells."""
        return kron([Identity(self.groups), self.tree.map]) if self.groups > 1 else self.tree.map

    @property
    def rows(self) -> int:
        """The number of nodes of all groups."""
        return self.groups * self.tree.map.rows

    @property
    def step(self) -> float:
        """The unit of the answers: counts."""
        return self.tree.map.step / self.grain

    @property
    def grain(self) -> int:
        """What a row of the largest weight adds to its cell."""
        return 1 if self.weight is None else GRAIN

    @property
    def summed(self) -> int:
        """How many numbers `sums` returns."""
        return self.groups * self.tree.cells

    @property
    def counts_all(self) -> bool:
        """Whether every row of a weight counts: none is without a level."""
        return self.levels == self.shape[self.axis]

    @property
    def counts_rows(self) -> bool:
        """Whether the counts tell how many rows there are."""
        return self.counts_all and self.weight is None

    def answers(self, sums: Numbers) -> Numbers:
        """Return the nodes' counts, from the cells' counts of all rows."""
        return self.nodes.apply(sums)

    def sensitivity(self, order: int, relation: Relation) -> int | Fraction:
        """Return that of the nodes; a replaced row of a weight may leave its cell as if it went."""
        largest = self.nodes.sensitivity(order, relation)
        if self.weight is None:
            return largest
        grain: int = self.grain**order
        return max(largest, self.nodes.sensitivity(order, Relation.ADD_REMOVE)) * grain

    def _added(self, codes: Codes, times: Numbers | None) -> Integers:
        if self.weight is not None:
            parts = np.nan_to_num(self.weight.of(codes))
            times = np.rint(self.grain * parts) * (1 if times is None else times)
        return level_counts(codes, self.shape, self.by, self.axis, self.levels, self.tree.cells, times, self.borders)
