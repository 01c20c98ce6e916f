"""Count, sum and sum of squares of a level in every group, under one noise: a row is shared out among a few cells.

With t = 2 level / steps - 1 in [-1, 1], a row's shares of the cells j = 0..d are the Bernstein polynomials of t, which
are at least 0 and add up to 1: degree 1: (1 - t) / 2, (1 + t) / 2; degree 2: (1 - t)^2 / 4, (1 - t^2) / 2,
(1 + t)^2 / 4. So all these sums together are as sensitive as one count. A row of weight u, in parts of the largest,
has 1 - u for a first cell, and u times these shares for the others: they add up to 1, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, LinearMap, Numbers
from dpress.core.methods.people import Codes
from dpress.core.methods.table_cells import table_cells
from dpress.mechanisms.linear.groups import OverRows
from dpress.mechanisms.linear.row_weight import SCALE, RowWeight, whole_shares

Integers = npt.NDArray[np.int64]
Condition = tuple[tuple[int, tuple[int, ...]], ...]

LARGEST = 1 << 31  # of steps^degree: so many rows fit 63 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentSums(OverRows, LinearMap):
    """The shares of all rows of a group, summed up: row j of group g is the sum of steps^degree B_j(t).

    Promise: a row adds steps^degree, weighted 2^30, to its group in all, so that is the L1 sensitivity, the squared L2
    sensitivity its square (at t = -1 and 1); twice that where a row is replaced. Rows without a level add nothing.
    Error: every sum has the noise's variance v. In counts, with v / steps^(2 degree) = s: the count sum_j B_j has
    (d + 1) s; sum t has 2 s for d = 1 and 2, and is uncorrelated with the count; sum t^2 has 3 s for d = 2.
    Source: ours; Bernstein's polynomials are a partition of unity.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        degree: the highest power of the level that is summed: 0, 1 or 2.
        steps: the highest level; steps^degree is at most 2^31.
        axis: whose code is the level; codes above `steps` are none. None for degree 0, and for a condition.
        where: instead of an axis, a condition: the axes and the cells that match; the level is then 0 or 1.
        among: of a condition, which rows have a level at all, as axes and cells; every row where there are none.
        weight: of a row; then the first sum of a group is of 1 - u, the others of u B_j(t).
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    degree: Literal[0, 1, 2]
    steps: int = 1
    axis: int | None = None
    where: Condition = ()
    weight: RowWeight | None = None
    among: Condition = ()
    added_later: ClassVar[tuple[str, ...]] = ("weight", "among")

    def __post_init__(self) -> None:
        axes = {*self.by, *self.tested, *(() if self.axis is None else (self.axis,))}
        if not axes <= set(range(len(self.shape))) or len(set(self.by)) < len(self.by):
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {sorted(axes)}")
        if bool(self.degree) == (self.axis is None and not self.where) or (self.where and self.axis is not None):
            raise ValueError("a level is the code of one axis, or whether a condition holds; degree 0 has none")
        if self.among and not self.where:
            raise ValueError("rows are left out of a condition alone")
        if not 1 <= self.steps**self.degree <= LARGEST or (self.where and self.steps != 1):
            raise ValueError(f"steps^degree must lie between 1 and 2^31, got {self.steps}^{self.degree}")

    @property
    def tested(self) -> tuple[int, ...]:
        """The axes that conditions are about."""
        return tuple(dict.fromkeys(axis for axis, _ in (*self.where, *self.among)))

    @property
    def whole(self) -> int:
        """What one row adds in all."""
        whole: int = self.steps**self.degree if self.weight is None else SCALE
        return whole

    @property
    def first(self) -> int:
        """How many sums of a group stand before those of shares: that of the rest of the weight, where there is one."""
        return int(self.weight is not None)

    @property
    def rows(self) -> int:
        """The number of sums."""
        return self.groups * (self.first + self.degree + 1)

    @property
    def step(self) -> float:
        """The unit of the sums, in counts."""
        return 1 / self.whole

    @property
    def summed(self) -> int:
        """How many numbers `sums` returns."""
        return self.rows

    @property
    def counts_all(self) -> bool:
        """Whether every row of a weight counts: none is without a level."""
        return not self.among and (self.axis is None or self.steps + 1 == self.shape[self.axis])

    @property
    def counts_rows(self) -> bool:
        """Whether the sums tell how many rows there are: none is without a level, or a weight."""
        weighed = self.weight is None or self.weight.steps + 1 == self.shape[self.weight.axis]
        return weighed and self.counts_all

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return steps^(degree order), or twice that where a row is replaced, if that can change anything."""
        largest: int = self.whole**order
        return largest if relation is Relation.ADD_REMOVE else 2 * largest * (self.rows > 1)

    def _added(self, codes: Codes, times: Numbers | None) -> Integers:
        levels = self.levels(codes)
        within = (levels >= 0) & (levels <= self.steps)
        if self.weight is not None:
            parts = self.weight.of(codes)
            within &= ~np.isnan(parts)
        groups, levels = table_cells(codes, self.shape, self.by)[within], levels[within]
        often = np.ones(len(levels)) if times is None else times[within]
        shares: Sequence[Numbers] = _shares(levels, self.steps, self.degree)
        if self.weight is not None:
            shares = _weighted(shares, self.steps**self.degree, parts[within])
        sums = np.stack([np.bincount(groups, weights=part * often, minlength=self.groups) for part in shares], axis=1)
        return np.rint(sums).astype(np.int64).ravel()

    def levels(self, codes: Codes) -> Integers:
        """Return the level of every row, shape (rows,): of a condition 0 or 1, without either 0; others are none.

        Rows that a condition is not among have the level -1, which is none.
        """
        if self.axis is not None:
            levels: Integers = codes[self.axis].astype(np.int64)
            return levels
        matches = _matching(codes, self.where)
        levels = (matches & bool(self.degree)).astype(np.int64)
        return np.where(_matching(codes, self.among), levels, -1) if self.among else levels


def _matching(codes: Codes, condition: Condition) -> npt.NDArray[np.bool_]:
    """Return which rows have a cell that matches along every axis, shape (rows,)."""
    matches = np.ones(codes.shape[1], dtype=bool)
    for axis, cells in condition:
        matches &= np.isin(codes[axis], cells)
    return matches


def _shares(levels: Integers, steps: int, degree: int) -> list[Integers]:
    """Return steps^degree times the Bernstein polynomials of the levels, in integers."""
    up, down = levels, steps - levels
    if degree == 0:
        return [np.ones_like(levels)]
    return [down, up] if degree == 1 else [down * down, 2 * up * down, up * up]


def _weighted(shares: Sequence[Numbers], whole: int, parts: Array) -> Sequence[Numbers]:
    """Return what rows of a weight add: the rest of it first, in whole numbers that add up to `SCALE`."""
    return list(whole_shares(np.array([1 - parts, *(parts * (share / whole) for share in shares)]), SCALE))
