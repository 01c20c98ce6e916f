"""How many different values of an attribute occur in every group, and over all rows: a value counts once in each.

rows -> counts of every value in every group -> how many are above zero, of every group and of all together.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import LinearMap, Numbers
from dpress.mechanisms.linear.groups import Integers, NotAdditive, OverRows, level_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctValues(NotAdditive, OverRows, LinearMap):
    """Different values in every group, and last those over all rows, which are no sum of the groups'.

    Promise: a unit with at most k rows adds at most k pairs of group and value, at most V of them in one of G groups,
    and at most min(k, V) values over all. So the L1 sensitivity is min(k, G V) + min(k, V), the squared L2 sensitivity
    floor(k / V) V^2 + (k mod V)^2 + min(k, V)^2 (k <= G V), which a unit in an empty table attains; without groups the
    last term alone. Where a unit is replaced, 2 k pairs change, at most min(k, V) in one group.
    Error: every number has the noise's variance.
    Source: ours; that a count of distinct elements changes by one: Dwork, McSherry, Nissim, Smith 2006.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        axis: whose values are counted.
        levels: V, how many there are; codes from there on are no values.
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    axis: int
    levels: int

    def __post_init__(self) -> None:
        axes = {*self.by, self.axis}
        if not axes <= set(range(len(self.shape))) or len(axes) < len(self.by) + 1:
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {sorted(axes)}")
        if not 1 <= self.levels <= self.shape[self.axis]:
            raise ValueError(f"levels must lie between 1 and {self.shape[self.axis]}, got {self.levels}")

    @property
    def counts_all(self) -> bool:
        """Whether every row counts: no number here is one of rows."""
        return False

    @property
    def rows(self) -> int:
        """The number of answers: one of every set."""
        return self.sets

    @property
    def summed(self) -> int:
        """How many numbers `sums` returns: the rows of every group and value."""
        return self.groups * self.levels

    def answers(self, sums: Numbers) -> Numbers:
        """Return how many values occur in every group, then over all, of the counts over all rows."""
        occurs = np.asarray(sums).reshape(self.groups, self.levels) > 0
        over_all = [occurs.any(axis=0).sum()] if self.by else []
        return np.concatenate([occurs.sum(axis=1), over_all]).astype(np.int64)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return that of a row."""
        return self.unit_sensitivity(order, relation, 1)

    def unit_sensitivity(self, order: int, relation: Relation, rows: int) -> int:
        """Return what a unit of at most so many rows changes: see the promise."""
        most = min(rows, self.levels)
        if not self.by:
            return int(most**order)
        if relation is Relation.ADD_REMOVE:
            return int(_filled(rows, self.levels, self.groups, order) + most**order)
        return int(_filled(2 * rows, most, self.groups, order) + most**order)

    def _added(self, codes: Numbers, times: Numbers | None) -> Integers:
        return level_counts(codes, self.shape, self.by, self.axis, self.levels, self.levels, times)


def _filled(pairs: int, most: int, groups: int, order: int) -> int:
    """Return the largest sum of d^order over groups, where these d add up to at most `pairs` and none is above `most`.

    >>> _filled(5, 2, 9, 1), _filled(5, 2, 9, 2), _filled(5, 2, 2, 2)
    (5, 9, 8)
    """
    full = min(pairs // most, groups)
    rest = pairs - full * most if full < groups else 0
    return int(full * most**order + rest**order)
