"""`cross_moments`: first and second moments of several numbers in every group, products included, under one noise.

A row's levels, brought to t in [-1, 1], are shared out among the corners of the cube (of lowest degree), or kept as
products t_i t_j: integers of a public scale -> exact noise -> `features` with their exact covariance.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, LinearMap, Numbers, Stack
from dpress.core.methods.mechanism import Card
from dpress.core.methods.people import Codes
from dpress.core.methods.table_cells import table_cells
from dpress.core.methods.table_sums import Rows, Sums
from dpress.mechanisms.linear.groups import OverRows, groups_in
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.row_weight import whole_shares

Integers = npt.NDArray[np.int64]
Degree = Literal[0, 1, 2]
Pairs = tuple[tuple[int, int], ...]

LARGEST = 1 << 30  # of all that a row adds: 2^32 rows fit 63 bits, and 2^22 of them a float
MOST_AT_ONCE = 1 << 21  # shares that are held while rows are added up
MOST_NUMBERS = 24
OF_DEGREE: dict[Degree, int] = {0: 4, 1: 2, 2: 1}
"""How many scales each degree has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossMoments(OverRows, LinearMap):
    """Count, sums of t, of t^2 and of t_i t_j over the rows of every group, t = 2 level / steps - 1 in [-1, 1].

    Promise: degree 1 and 2 share a row out among the products of Bernstein polynomials of its levels, which are at
    least 0 and add up to 1, whatever the number of pairs: L1 sensitivity scales[0], beside p scales[1] for the squares
    2 t^2 - 1 of degree 1, and the same of squared scales for L2. Degree 0 adds scale times 1, t_i, 2 t_i^2 - 1 and
    t_i t_j: L1 the sum of all scales, L2 that of their squares. All are attained at corners. Where a row is replaced
    see `sensitivity`. Shares are rounded so that they add up to the scale exactly. Rows that lack a level add nothing.
    Error: that of the linear map from answers to `features`, exact: `covariance`.
    Source: ours; Bernstein's polynomials are a partition of unity, and so are their products.

    Args:
        shape: the number of cells along every axis.
        by: the axes of the groups.
        axes: whose codes are the levels.
        steps: the highest level of each; codes above it are none.
        degree: 1: corners, and squares beside; 2: corners and edge middles, which hold the squares; 0: products.
        scales: of what is added, integers: of degree 0 of 1, t, squares, products; of 1 of corners, squares; of 2 one.
        within: axes of cells that are kept apart in every group: those of categorical regressors.
        relations: that are read off, as queries name them.
    """

    shape: tuple[int, ...]
    by: tuple[int, ...]
    axes: tuple[int, ...]
    steps: tuple[int, ...]
    degree: Degree
    scales: tuple[int, ...]
    within: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()
    shares: ClassVar[tuple[Fraction, ...]] = ()

    def __post_init__(self) -> None:
        used = (*self.by, *self.within, *self.axes)
        if len(set(used)) < len(used) or not set(used) <= set(range(len(self.shape))) or not self.axes:
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {sorted(used)}")
        if len(self.steps) != len(self.axes) or min(self.steps) < 1 or len(self.axes) > MOST_NUMBERS:
            raise ValueError(f"each of at most {MOST_NUMBERS} numbers needs a level of at least 1, got {self.steps}")
        if self.degree not in OF_DEGREE or len(self.scales) != OF_DEGREE[self.degree] or min(self.scales) < 1:
            raise ValueError(f"degree must be 0, 1 or 2 with 4, 2 or 1 scales >= 1, got {self.degree}, {self.scales}")
        if self.degree and self.scales[0] < self.corners**2:
            raise ValueError(f"{self.corners} corners need a scale of at least their square, got {self.scales[0]}")
        if self.sensitivity(1, Relation.ADD_REMOVE) > LARGEST:
            raise ValueError(f"a row must add at most 2^30 in all, got {self.sensitivity(1, Relation.ADD_REMOVE):,}")

    @property
    def groups(self) -> int:
        """The number of groups, times that of the cells kept apart in each."""
        return groups_in(self.shape, (*self.by, *self.within))

    @property
    def numbers(self) -> int:
        """How many numbers there are."""
        return len(self.axes)

    @property
    def corners(self) -> int:
        """How many products of polynomials a row is shared out among; 0 for degree 0."""
        corners: int = (self.degree + 1) ** self.numbers if self.degree else 0
        return corners

    @property
    def pairs(self) -> Pairs:
        """The pairs of different numbers."""
        return tuple(itertools.combinations(range(self.numbers), 2))

    @property
    def width(self) -> int:
        """How many answers a group has."""
        if self.degree == 0:
            return 1 + 2 * self.numbers + len(self.pairs)
        return self.corners + self.numbers * (self.degree == 1)

    @property
    def rows(self) -> int:
        """The number of answers."""
        return self.groups * self.width

    @property
    def map(self) -> Stack[LinearMap]:
        """What is measured: itself, whose sums are the answers."""
        return Stack((self,))

    @property
    def decoder(self) -> Any:
        """Itself: what is summed over the rows."""
        return self

    @property
    def tables(self) -> tuple[()]:
        """No table is published."""
        return ()

    @property
    def counts_all(self) -> bool:
        """Whether every row counts: none is without a level."""
        return all(steps + 1 == self.shape[axis] for steps, axis in zip(self.steps, self.axes, strict=True))

    def counted(self, rows: Rows) -> Numbers:
        """Return what is measured of all rows."""
        return rows.sums(Sums(of_rows=self.sums, of_persons=None))

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest sum of |change|^order that a row causes; exact where it comes or goes.

        Replaced it leaves one group for another, at most twice that, or stays. Then shares change by at most twice
        scale^order, and squares by twice their scale each. 1, t and t_i t_j are affine in each t, so that
        |change|^order is largest between two corners, which differ in k numbers: k (2 a)^order + k (p - k) (2 c)^order;
        rounding adds at most 1 to each of these changes.
        """
        p, twice = self.numbers, 1 << order
        powers: list[int] = [scale**order for scale in self.scales]
        moved = int(np.dot(np.array(self._times, dtype=object), powers))
        if relation is Relation.ADD_REMOVE:
            return moved
        if self.degree:
            return 2 * powers[0] + twice * p * sum(powers[1:])
        _, level, square, product = powers
        corners = max(twice * k * (level + (p - k) * product) for k in range(p + 1))
        changed = p + len(self.pairs)
        rounded = changed if order == 1 else changed + 2 * math.isqrt(corners * changed) + 2
        return max(2 * moved * (self.groups > 1), corners + rounded + twice * p * square)

    @property
    def _times(self) -> tuple[int, ...]:
        """How many answers of a corner's row have each of the scales."""
        if self.degree == 0:
            return 1, self.numbers, self.numbers, len(self.pairs)
        return (1, self.numbers)[: len(self.scales)]

    @property
    def reading(self) -> Array:
        """The map from a group's answers to its features, shape (features, width).

        Features, in counts: n, the sum of every t, of every t^2, of every t_i t_j (`pairs`).
        """
        p = self.numbers
        if self.degree == 0:
            count, level, square, product = (1 / scale for scale in self.scales)
            reading = np.diag([count, *[level] * p, *[square / 2] * p, *[product] * len(self.pairs)])
            reading[1 + p : 1 + 2 * p, 0] = count / 2
            return reading
        levels, squares = [{i: 1} for i in range(p)], [{i: 2} for i in range(p)]
        wanted = [{}, *levels, *(squares if self.degree == 2 else [{}] * p), *({i: 1, j: 1} for i, j in self.pairs)]
        reading = np.zeros((len(wanted), self.width))
        reading[:, : self.corners] = [self._of_corners(exponents) for exponents in wanted]
        if self.degree == 1:
            reading[1 + p : 1 + 2 * p] /= 2
            reading[1 + p : 1 + 2 * p, self.corners :] = np.eye(p) / (2 * self.scales[1])
        return reading

    def _of_corners(self, exponents: dict[int, int]) -> Array:
        """Return what the sum of a product of powers of t is made of, from the corners, shape (corners,)."""
        powers = ([1.0, 1.0], [-1.0, 1.0]) if self.degree == 1 else ([1.0, 1, 1], [-1.0, 0, 1], [1.0, -1, 1])
        factors = [np.array(powers[exponents.get(number, 0)]) for number in range(self.numbers)]
        return np.asarray(functools.reduce(np.kron, factors) / self.scales[0])

    def covariance(self, variance: float) -> Array:
        """Return the covariance of a group's features, for answers with this variance, shape (features, features)."""
        reading = self.reading
        return np.asarray(variance * (reading @ reading.T))

    def _added(self, codes: Codes, times: Numbers | None) -> Integers:
        levels = np.array([codes[axis] for axis in self.axes], dtype=np.int64)
        within = ((levels >= 0) & (levels <= np.array(self.steps)[:, np.newaxis])).all(axis=0)
        groups, levels = table_cells(codes, self.shape, (*self.by, *self.within))[within], levels[:, within]
        weights = np.ones(groups.size) if times is None else np.asarray(times, dtype=np.float64)[within]
        sums = np.zeros((self.groups, self.width))
        step = max(1, MOST_AT_ONCE // self.width)
        for start in range(0, groups.size, step):
            part = slice(start, start + step)
            for place, added in enumerate(self.shared(levels[:, part])):
                sums[:, place] += np.bincount(groups[part], weights=added * weights[part], minlength=self.groups)
        return np.rint(sums).astype(np.int64).ravel()

    def shared(self, levels: Integers) -> Array:
        """Return what rows add to the answers of their group, whole numbers, shape (width, rows).

        Args:
            levels: shape (numbers, rows), none missing.
        """
        up = levels / np.array(self.steps)[:, np.newaxis]
        t = 2 * up - 1
        squares = 2 * t**2 - 1
        if self.degree == 0:
            count, level, square, product = self.scales
            products = [np.rint(product * t[i] * t[j]) for i, j in self.pairs]
            ones = np.full((1, t.shape[1]), float(count))
            return np.concatenate([ones, np.rint(level * t), np.rint(square * squares), *map(np.atleast_2d, products)])
        shares = whole_shares(_corners(up, self.degree), self.scales[0])
        return shares if self.degree == 2 else np.concatenate([shares, np.rint(self.scales[1] * squares)])


def _corners(up: Array, degree: int) -> Array:
    """Return the products of the polynomials of every number, the last one running fastest, shape (corners, rows)."""
    shares = np.ones((1, up.shape[1]))
    for high in up:
        low = 1 - high
        parts = [low, high] if degree == 1 else [low * low, 2 * low * high, high * high]
        shares = (shares[:, np.newaxis] * np.array(parts)[np.newaxis]).reshape(-1, up.shape[1])
    return shares


def feature_places(numbers: int, pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Return which feature the sum of z_a z_b is, z = (1, t_1, ..., t_p), shape (p + 1, p + 1)."""
    places = np.zeros((numbers + 1, numbers + 1), dtype=np.int64)
    for number in range(numbers):
        places[0, number + 1] = places[number + 1, 0] = 1 + number
        places[number + 1, number + 1] = 1 + numbers + number
    for place, (i, j) in enumerate(pairs, 1 + 2 * numbers):
        places[i + 1, j + 1] = places[j + 1, i + 1] = place
    return places


def example(degree: Degree = 2) -> CrossMoments:
    """Return a tiny instance: two groups, two levels of which one may be missing."""
    scales: dict[Degree, tuple[int, ...]] = {0: (3, 3, 2, 4), 1: (48, 12), 2: (96,)}
    return CrossMoments(shape=(2, 4, 2), by=(0,), axes=(1, 2), steps=(2, 1), degree=degree, scales=scales[degree])


CARD = Card(
    name="cross_moments",
    family="linear",
    model="central",
    paper="foundations: the Laplace mechanism for sums; ours: all products of a row's numbers as shares of one row",
    summary="Means, variances and all covariances of several numbers in groups, as shares of one row.",
    method=CrossMoments,
    example=lambda loss, unit: MatrixMechanism(strategy=example(), loss=loss, unit=unit),
)
