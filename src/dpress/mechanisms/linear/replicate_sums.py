"""How far replicate weights lie from the weight, in every group: what the variance of sampling follows from.

levels of the weight and of its replicates -> deviations of a row, cut to a public norm -> shared out by a level's two
ends, as the row is -> whole numbers of a public scale.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, LinearMap, Numbers
from dpress.core.methods.people import Codes
from dpress.core.methods.table_cells import table_cells
from dpress.mechanisms.linear.groups import OverRows
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.row_weight import SCALE, RowWeight

Integers = npt.NDArray[np.int64]
MOST_AT_ONCE = 1 << 21  # numbers that are held while rows are added up
MOST_REPLICATES = 200
SHRUNK = 1e-3  # of a row's deviations, from which on it counts as shrunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicateSums(OverRows, LinearMap):
    """Sums over the rows of every group of d_r (1 - t) / 2 and d_r (1 + t) / 2, d_r = (w_r - w) / W, for replicates r.

    Where w is not what the column holds, as it is clamped or rounded, w_r is multiplied by what w is of that.

    Promise: the vector d of a row is cut to the norm `bound` of the order that the noise is for; |1 - t| + |1 + t| = 2,
    and (1 - t)^2 + (1 + t)^2 <= 4, so the L1 norm, and the L2 norm, of what it adds is at most `bound`. Numbers are
    rounded towards zero, which makes no norm larger. Replaced, at most twice that norm. Of the other order, bounds that
    follow from this one. Rows without a level or a weight add nothing.
    Error: every sum has the noise's variance; `inference.replicate_variance` subtracts what it adds to a variance.
    Source: ours; replicate weights as in Wolter, Introduction to Variance Estimation (2007).

    Args:
        part: whose rows and levels these are; without a level there is one sum for every replicate.
        axes: whose codes are the levels of the replicates.
        replicate: the weight that their levels stand for, in parts of the largest replicate weight.
        ratio: of the largest replicate weight to the largest weight.
        order: of the norm that is cut.
        bound: that norm's largest value, in parts of the largest weight.
        factor: c in the variance c sum_r (theta_r - theta)^2.
        read: the axis whose codes are levels of the weight as its column has it, which stand for what those of
            replicates do; None where w is that.
    """

    part: MomentSums
    axes: tuple[int, ...]
    replicate: RowWeight
    ratio: float
    order: Literal[1, 2]
    bound: float
    factor: float
    read: int | None = None
    added_later: ClassVar[tuple[str, ...]] = ("read",)
    counts_all: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 2 <= len(set(self.axes)) == len(self.axes) <= MOST_REPLICATES:
            raise ValueError(f"replicates are 2 to {MOST_REPLICATES} different axes, got {len(self.axes)}")
        if self.part.weight is None or not (self.bound > 0 and self.factor > 0 and self.ratio >= 1):
            raise ValueError("replicates need a weight, and a bound and a factor above 0")

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The number of cells along every axis."""
        return self.part.shape

    @property
    def by(self) -> tuple[int, ...]:  # type: ignore[override]
        """The axes of the groups."""
        return self.part.by

    @property
    def weight(self) -> RowWeight | None:
        """How rows are weighted."""
        return self.part.weight

    @property
    def ends(self) -> int:
        """How many sums every replicate has."""
        return 2 if self.part.degree else 1

    @property
    def rows(self) -> int:
        """The number of sums."""
        return self.groups * self.ends * len(self.axes)

    @property
    def summed(self) -> int:
        """How many numbers `sums` returns."""
        return self.rows

    @property
    def step(self) -> float:
        """The unit of the sums, in largest weights."""
        return self.bound / (SCALE - 1)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest sum of |change|^order, SCALE^order for the order that is cut, times 2^order if replaced.

        Of the other order: L2 is at most L1, and L1 at most sqrt(numbers) times L2.
        """
        norm = SCALE
        if order < self.order:
            norm *= int(np.ceil(np.sqrt(self.ends * len(self.axes))))
        largest: int = (norm if relation is Relation.ADD_REMOVE else 2 * norm) ** order
        return largest

    def _added(self, codes: Codes, times: Numbers | None) -> Integers:
        sums = np.zeros((self.groups, self.ends * len(self.axes)))
        step = max(1, MOST_AT_ONCE // sums.shape[1])
        often = np.ones(codes.shape[1]) if times is None else np.asarray(times, dtype=np.float64)
        for start in range(0, codes.shape[1], step):
            part = codes[:, start : start + step]
            added = self.shared(part)
            groups = table_cells(part, self.shape, self.by)
            for place, numbers in enumerate(added):
                weighted = numbers * often[start : start + step]
                sums[:, place] += np.bincount(groups, weights=weighted, minlength=self.groups)
        return np.rint(sums).astype(np.int64).ravel()

    def _of(self, codes: Codes, axis: int) -> Array:
        """Return the weights that the levels of an axis stand for, in parts of the largest weight, NaN for none."""
        weights: Array = self.ratio * replace(self.replicate, axis=axis).of(codes)
        return weights

    def shared(self, codes: Codes) -> Array:
        """Return what rows add, whole numbers, shape (ends * replicates, rows)."""
        levels = self.part.levels(codes)
        apart, norm = self._apart(codes, levels)
        apart *= (SCALE - 1) / np.maximum(norm, self.bound)
        if self.ends == 1:
            return np.trunc(apart)
        up = np.clip(levels / self.part.steps, 0, 1)
        pairs = np.stack([apart * (1 - up), apart * up], axis=1)
        return np.trunc(pairs.reshape(-1, codes.shape[1]))

    def shrunk(self, codes: Codes) -> Integers:
        """Return how many rows there are, and how many of them are shrunk by more than `SHRUNK`, shape (2,)."""
        counts = [0, 0]
        step = max(1, MOST_AT_ONCE // len(self.axes))
        for start in range(0, codes.shape[1], step):
            part = codes[:, start : start + step]
            _, norm = self._apart(part, self.part.levels(part))
            counts = [counts[0] + norm.size, counts[1] + int((norm * (1 - SHRUNK) > self.bound).sum())]
        return np.array(counts, dtype=np.int64)

    def _apart(self, codes: Codes, levels: Integers) -> tuple[Array, Array]:
        """Return the deviations of rows, shape (replicates, rows), 0 of those that add nothing, and their norms."""
        weights = np.zeros(codes.shape[1]) if self.weight is None else self.weight.of(codes)
        apart: Array = np.array([self._of(codes, axis) for axis in self.axes])
        if self.read is not None:
            read = self._of(codes, self.read)
            apart *= np.where(codes[self.read] == 0, 1, weights / read)
        apart -= weights
        apart[:, (levels < 0) | (levels > self.part.steps)] = np.nan
        apart[:, np.isnan(apart).any(axis=0)] = 0
        norm = np.abs(apart).sum(axis=0) if self.order == 1 else np.sqrt((apart**2).sum(axis=0))
        return apart, norm
