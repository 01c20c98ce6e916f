"""`bounds_from_outside`: statistics between bounds that are searched for from the widest ones inwards.

counts between round distances -> the scale of most rows -> an interval that few rows are outside of, and a margin ->
noisy numbers of the rows inside and outside -> the interval, or the stated bounds -> rows clamped -> noisy sums.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim, Relation, Unit
from dpress.core.basics.losses.any_loss import composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.basics.round_numbers import halvings, origin_of, round_distances
from dpress.core.methods.mechanism import Card
from dpress.core.methods.table_sums import Edges, Integers
from dpress.mechanisms.discovery.bounds_first import (
    STATED,
    BoundsFirst,
    ChosenBounds,
    Outside,
    Scored,
    check_axes,
    range_of,
    spent_by,
)
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import calibrated
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

SCALE_SHARE, INTERVAL_SHARE, COUNT_SHARE = Fraction(1, 10), Fraction(1, 5), Fraction(1, 20)  # of the loss
GROUPS_SHARE = 1 - SCALE_SHARE - INTERVAL_SHARE - COUNT_SHARE
ABOVE, BELOW = 3, 1  # quarters of a row that a row too few, or too many, beyond a scale counts
LIKELIER = 16  # nats by which a scale with enough rows beyond it is likelier than one with none
NATS = Fraction(1, 3)  # by which a scale is less likely than the one twice as large
STEEP = 3  # nats by which an interval is less likely than one half as wide
PARTS = 1 << 6  # of a row, in the scores of intervals
EIGHTHS = 8  # of the scale: the finest numbers that bounds are chosen from
AXIS = 1  # of the example's levels
CERTAIN = Fraction(9, 10)  # of the noise lies within: 5 % are beyond either end


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsFromOutside(BoundsFirst):
    """Bounds are found by a scale, an interval and a margin; then the rows outside and the groups are measured.

    Distances are from the stated bounds' number nearest to zero. The scale is the distance d, of halves of the largest
    one, at which the rows beyond become `rank`: with c(d) of them, its score is -3/4 (rank - c(d / 2)), where that is
    above 0, and -1/4 (c(d) - rank), where that is, and `tilt` less for every halving. An interval's score is minus the
    rows outside of it, and `price` rows less for every doubling of its width; its ends are eighths of the scale, or
    quarters of a doubling beyond it. It is then made wider by half its width on either side, to the nearest such
    numbers. Both choices have probabilities proportional to exp(e score / k), k the unit's rows, twice as many for the
    interval where a unit is replaced. The rows inside and outside of it are counted with noise: where those inside are
    not more with confidence, the stated bounds are kept, so that too few rows give wide bounds and no wrong ones.

    Promise: the sum of all losses, for the same unit. Proven. A row that comes, goes or is replaced moves the c(d) by 1
        for some d, by 0 for the others, and all the same way; so it moves the scores of scales by 3/4 one way or by
        1/4 the other, within 1 of each other, and a unit within k. It moves the rows outside of intervals by 1 or 0
        all the same way; replaced, by 1 either way: within k, or 2 k. A choice whose log ratios lie within e costs e
        (bounded range: Dong, Durfee, Rogers 2020, Lemma 3.1), or e^2 / 8 under rho (Cesar, Rogers 2021). The two
        numbers of rows move by k together, or 2 k: discrete Laplace or Gaussian noise. What is measured next
        depends on the rows through the bounds alone, and `MatrixMechanism`'s loss is the same for all bounds.
    Error: that of the groups' mechanism, between the bounds; values outside count as the nearer bound, and
        `rows` says how many these are.
    Source: ours; searching from outside until enough rows are beyond: Durfee 2023; clipping at the rank of the noise:
        Amin, Kulesza, Munoz, Vassilvitskii 2019, Huang, Liang, Yi 2021.

    Args:
        scale: the loss of the scale of one attribute, epsilon or rho.
        choice: that of its interval.
        count: that of the numbers of rows inside and outside.
        rank: rows beyond a scale that is found.
        tilt: quarters of a row that a halving of the scale costs.
        price: parts of 64 of a row that a doubling of the width costs.
        groups: what is measured; each of its moments and trees is over levels of equal width between the bounds.
        axes: of the attributes whose bounds are chosen, increasing.
        rows: noisy numbers of rows inside and outside of the interval that was chosen, by axis; empty before it is.
    """

    scale: Loss
    choice: Loss
    count: Loss
    rank: int
    tilt: int
    price: int
    axes: tuple[int, ...]
    rows: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for name in ("rank", "tilt", "price"):
            check.count(name, getattr(self, name))
        if len({loss.form for loss in (self.scale, self.choice, self.count, self.groups.loss)}) > 1:
            raise ValueError("the bounds and the sums must all have epsilon, or all rho")
        check_axes(self.groups, self.axes)
        if len(self.rows) not in {0, len(self.axes)}:
            raise ValueError(f"rows must have numbers for each of {len(self.axes)} axes, got {len(self.rows)}")

    @property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian:
        """What is added to the numbers of rows inside and outside, which a unit moves by k, or 2 k, together."""
        return calibrated(self.count, Fraction(moved(self.unit) * self.unit.rows ** (self.count.order - 1)))

    @property
    def first(self) -> Loss:
        """The loss of all choices and numbers of rows, by what the samplers use."""
        return composed([spent_by(self.scale), spent_by(self.choice), self.count] * len(self.axes))

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of all choices, of the numbers of rows, and of the sums."""
        second, loss = self.groups.claim, composed([self.first, self.groups.loss])
        basis = f"bounds of {len(self.axes)} attributes by {describe(self.first)} against {self.unit.rows} rows, then "
        basis += f"sums by {describe(second.proven)} ({second.basis})"
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    @property
    def fewest(self) -> int:
        """How many rows are enough to find bounds: as many as are beyond a scale."""
        return self.rank

    @property
    def described(self) -> str:
        """How bounds are chosen, as the end of a plan's sentence."""
        rows = f"{self.price / PARTS:,.2g}"
        return (
            f"from outside, so that twice the width would spare about {rows} rows, with a margin of half the width; "
            f"how many are outside is measured to +- {self._sure:,}, and where too few are inside the stated ones stay"
        )

    def edges(self, low: float, high: float) -> tuple[float, ...]:
        """Return numbers at round distances from the one that is nearest to zero."""
        return round_distances(low, high)

    def bounds(self, counts: Integers, edges: Edges, *, rng: Generator) -> ChosenBounds:
        """Return bounds of one attribute, and noisy numbers of rows inside and outside; see `BoundsFirst`."""
        scale = self.scales(edges)[self.scale_choice(counts, edges).drawn(rng)]
        lows, highs = self.candidates(edges, scale)
        place = self.interval_choice(counts, edges, scale).drawn(rng)
        low, high = with_margin(edges, int(lows[place]), int(highs[place]))
        inside = int(counts[low:high].sum())
        within, beyond = (np.array([inside, counts.sum() - inside]) + self.noise.sample(2, rng=rng)).tolist()
        places = [low, high] if self.sure((within, beyond)) else [0, -1]
        lower, upper = edges[places].tolist()
        return ChosenBounds(ends=(lower, upper), rows=(within, beyond))

    def sure(self, rows: tuple[int, int]) -> bool:
        """Whether more rows are inside than outside, with confidence; else the stated bounds are kept."""
        inside, outside = rows
        return inside - outside > 2 * self._sure

    def scales(self, edges: Edges) -> Edges:
        """Return the distances that the scale is chosen from, decreasing: those at which there is another edge."""
        origin, sizes = origin_of(edges[0], edges[-1]), np.array(halvings(edges[0], edges[-1]))
        others = edges[edges != origin]  # a tiny distance may lead from the origin to itself
        distances: Edges = sizes[np.isin(origin - sizes, others) | np.isin(origin + sizes, others)]
        return distances

    def choices(self, counts: Integers, edges: Edges) -> tuple[tuple[Scored, ...], ...]:
        """Return the choice of the scale, and that of the interval by every scale."""
        of_intervals = tuple(self.interval_choice(counts, edges, scale) for scale in self.scales(edges))
        return (self.scale_choice(counts, edges),), of_intervals

    def scale_choice(self, counts: Integers, edges: Edges) -> Scored:
        """Return the choice of the scale; scores are in quarters of a row."""
        origin, scales = origin_of(edges[0], edges[-1]), self.scales(edges)
        below = np.concatenate([[0], counts.cumsum()])
        outer = below[np.maximum(np.searchsorted(edges, origin - scales, side="right") - 1, 0)]
        outer += below[-1] - below[np.minimum(np.searchsorted(edges, origin + scales), len(counts))]
        inner = np.append(outer[1:], below[-1])
        missing = ABOVE * np.maximum(self.rank - inner, 0) + BELOW * np.maximum(outer - self.rank, 0)
        scores = np.asarray(-missing - self.tilt * np.arange(len(scales)), dtype=np.int64)
        return Scored(rate=range_of(self.scale) / ((ABOVE + BELOW) * self.unit.rows), scores=scores)

    def candidates(self, edges: Edges, scale: float) -> tuple[Integers, Integers]:
        """Return the places of both ends of every interval that may be chosen."""
        distances = np.abs(edges - origin_of(edges[0], edges[-1]))
        places = np.flatnonzero((distances >= scale / EIGHTHS) | (distances == 0) | np.isin(edges, edges[[0, -1]]))
        lows, highs = np.triu_indices(len(places), 1)
        return places[lows], places[highs]

    def interval_choice(self, counts: Integers, edges: Edges, scale: float) -> Scored:
        """Return the choice of the interval; scores are in parts of a row."""
        lows, highs = self.candidates(edges, scale)
        below = np.concatenate([[0], counts.cumsum()])
        outside = below[lows] + below[-1] - below[highs]
        doublings = np.floor(self.price * np.log2((edges[highs] - edges[lows]) / scale)).astype(np.int64)
        scores = np.asarray(-PARTS * outside - doublings, dtype=np.int64)
        return Scored(rate=range_of(self.choice) / (PARTS * moved(self.unit)), scores=scores)

    def for_few_rows(self) -> "BoundsFromOutside":
        """Return the mechanism that takes 3 rows beyond a scale for enough; its promise holds for any number."""
        return replace(self, rank=3)

    def completed(self, rows: tuple[tuple[int, int], ...]) -> "BoundsFromOutside":
        """Return the mechanism that knows how many rows are inside and outside of the intervals that it chose."""
        return replace(self, rows=rows)

    @property
    def done(self) -> bool:
        """Whether bounds were chosen."""
        return bool(self.rows)

    @property
    def outside(self) -> tuple[Outside, ...]:
        """What is known of the rows outside of the bounds, by axis."""
        return tuple(
            Outside(most=max(0, beyond) + self._sure, rows=max(0, inside) + max(0, beyond))
            if self.sure((inside, beyond))
            else STATED
            for inside, beyond in self.rows
        )

    @property
    def _sure(self) -> int:
        return self.noise.quantile(CERTAIN)


def moved(unit: Unit) -> int:
    """Return within how many of each other a unit changes the rows outside of intervals."""
    return unit.rows * (2 if unit.relation is Relation.REPLACE_ONE else 1)


def with_margin(edges: Edges, low: int, high: int) -> tuple[int, int]:
    """Return the places nearest to half the width further out, on either side."""
    half = (edges[high] - edges[low]) / 2
    return int(np.abs(edges - (edges[low] - half)).argmin()), int(np.abs(edges - (edges[high] + half)).argmin())


def searched(groups: MatrixMechanism, loss: Loss, axes: tuple[int, ...]) -> BoundsFromOutside:
    """Return the mechanism whose first step costs, with the groups, this loss.

    Args:
        groups: under the share that `GROUPS_SHARE` leaves them.
        loss: of everything.
        axes: of the attributes whose bounds are chosen.
    """
    scale, choice, count = (part_of(loss, share / len(axes)) for share in (SCALE_SHARE, INTERVAL_SHARE, COUNT_SHARE))
    row = groups.unit.rows / range_of(scale)
    return BoundsFromOutside(
        scale=scale,
        choice=choice,
        count=count,
        rank=math.ceil(LIKELIER * row * (ABOVE + BELOW) / ABOVE),
        tilt=math.ceil(NATS * row * (ABOVE + BELOW)),
        price=math.ceil(PARTS * STEEP * moved(groups.unit) / range_of(choice)),
        groups=groups,
        axes=axes,
    )


def example(loss: Loss, unit: Unit) -> BoundsFromOutside:
    """Return a tiny instance: the groups of `group_statistics.example`."""
    groups = MatrixMechanism(strategy=group_statistics.example(), loss=part_of(loss, GROUPS_SHARE), unit=unit)
    return searched(groups, loss, (AXIS,))


CARD = Card(
    name="bounds_from_outside",
    family="discovery",
    model="central",
    paper="foundations: ours; from outside until enough rows are beyond (Durfee 2023; Huang, Liang, Yi 2021)",
    summary="Finds bounds of attributes privately, says how many rows are outside, then measures groups between them.",
    method=BoundsFromOutside,
    example=example,
)
