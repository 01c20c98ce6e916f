"""`private_bounds`: statistics between bounds that are priced by their steps from zero, of designs that have them.

counts between round numbers -> an upper and a lower bound -> rows clamped to them -> noisy sums of groups.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.losses.any_loss import composed, describe, part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.basics.round_numbers import MOST, round_numbers
from dpress.core.methods.mechanism import Card
from dpress.core.methods.table_sums import Edges, Integers
from dpress.mechanisms.discovery.bounds_first import (
    BoundsFirst,
    ChosenBounds,
    Scored,
    check_axes,
    range_of,
    spent_by,
)
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

BOUNDS_SHARE = Fraction(1, 5)  # of the loss, for the bounds of all attributes
AXIS = 1  # of the example's levels
STEPS = 8  # in a width twice as large


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateBounds(BoundsFirst):
    """Bounds of some attributes are chosen among round numbers, then what is measured of the values between them.

    No plan makes it any more: where rows are few, the price of all steps from zero is more than they are, and bounds
    collapse (`bounds_from_outside` has no such price). What was designed with it is published and read as it was.

    A bound's score is minus the rows outside of it, less `price` rows for every step that it is further out; it is
    chosen with probability proportional to exp(e score / k), k the unit's rows.

    Promise: the sum of the losses, for the same unit in both steps. Proven: a row that comes, goes or is replaced moves
        the rows outside by 1 for some bounds, by 0 for all others, and always the same way; so all scores' changes
        for one unit lie within k of each other, and a choice costs e (bounded range: Dong, Durfee, Rogers 2020,
        Lemma 3.1), or e^2 / 8 under rho (Cesar, Rogers 2021). There are two choices an attribute. What is measured
        depends on the rows through the bounds alone beyond its own noise: levels are as many whatever the bounds, so
        that `MatrixMechanism`'s loss is the same for all. The losses add up (adaptive composition).
    Error: that of the groups' mechanism, between the bounds found; values outside of them count as the nearer one. With
        probability 1 - beta at most k ln(n / beta) / e rows more are outside than the price of the steps between.
    Source: ours; sums clipped where about 1 / epsilon rows lie outside: Amin, Kulesza, Munoz, Vassilvitskii 2019.

    Args:
        choice: the loss of one bound of one attribute, epsilon or rho.
        price: rows that a step outwards must spare, at least 1.
        groups: what is measured; each of its moments and trees is over levels of equal width between the bounds.
        axes: of the attributes whose bounds are chosen, increasing.
    """

    choice: Loss
    price: int
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        check.count("price", self.price)
        if self.choice.form != self.groups.loss.form:
            raise ValueError("the bounds and the sums must both have epsilon, or both rho")
        check_axes(self.groups, self.axes)

    @property
    def epsilon(self) -> Fraction:
        """How much the scores of one choice count: e."""
        return range_of(self.choice)

    @property
    def first(self) -> Loss:
        """The loss of all choices, by the e that the sampler uses."""
        return composed([spent_by(self.choice)] * 2 * len(self.axes))

    @property
    def fewest(self) -> int:
        """How many rows are enough to find bounds: more than the price of all steps."""
        return 2 * self.price * MOST

    @property
    def described(self) -> str:
        """How bounds are chosen, as the end of a plan's sentence."""
        return f"where a step further out would spare about {self.price:,} rows"

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of all choices, by the e that the sampler uses, and of the sums."""
        second, times = self.groups.claim, 2 * len(self.axes)
        basis = f"{times} choices of bounds at epsilon {self.epsilon} against {self.unit.rows} rows, then sums by "
        basis += f"{describe(second.proven)} ({second.basis})"
        loss = composed([self.first, self.groups.loss])
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def edges(self, low: float, high: float) -> tuple[float, ...]:
        """Return round numbers."""
        return round_numbers(low, high)

    def bounds(self, counts: Integers, edges: Edges, *, rng: Generator) -> ChosenBounds:
        """Return bounds of one attribute; see `BoundsFirst`."""
        upper = 1 + self._scored(self.upper_scores(counts, edges)).drawn(rng)
        lower = self._scored(self.lower_scores(counts, edges, upper)).drawn(rng)
        return ChosenBounds(ends=(float(edges[lower]), float(edges[upper])))

    def choices(self, counts: Integers, edges: Edges) -> tuple[tuple[Scored, ...], ...]:
        """Return the choice of the upper bound, and that of the lower one by every upper one."""
        lower = (self.lower_scores(counts, edges, upper) for upper in range(1, len(edges)))
        return (self._scored(self.upper_scores(counts, edges)),), tuple(map(self._scored, lower))

    def upper_scores(self, counts: Integers, edges: Edges) -> Integers:
        """Return the scores of every edge but the first; a step outwards is from one edge to the next, above zero."""
        nearest = int(np.abs(edges).argmin())
        steps = np.maximum(np.arange(1, len(edges)) - nearest, 0)
        return np.asarray(-(counts.sum() - counts.cumsum()) - self.price * steps)

    def lower_scores(self, counts: Integers, edges: Edges, upper: int) -> Integers:
        """Return the scores of every edge below the upper bound; steps are eighths of a doubling of the width."""
        widths = (edges[upper] - edges[:upper]).tolist()
        steps = np.array([math.floor(STEPS * math.log2(width / widths[-1])) for width in widths])
        below = np.concatenate([[0], counts[: upper - 1].cumsum()])
        return np.asarray(-below - self.price * steps, dtype=np.int64)

    def _scored(self, scores: Integers) -> Scored:
        return Scored(rate=self.epsilon / self.unit.rows, scores=scores)


def bounded(groups: MatrixMechanism, choice: Loss, axes: tuple[int, ...]) -> PrivateBounds:
    """Return the mechanism whose price is half of what a choice errs by, k / (2 e) rows a step, rounded up."""
    free = PrivateBounds(choice=choice, price=1, groups=groups, axes=axes)
    return replace(free, price=math.ceil(free.unit.rows / (2 * free.epsilon)))


def example(loss: Loss, unit: Unit) -> PrivateBounds:
    """Return a tiny instance: the groups of `group_statistics.example`."""
    groups = MatrixMechanism(strategy=group_statistics.example(), loss=part_of(loss, 1 - BOUNDS_SHARE), unit=unit)
    return bounded(groups, part_of(loss, BOUNDS_SHARE / 2), (AXIS,))


CARD = Card(
    name="private_bounds",
    family="discovery",
    model="central",
    paper="foundations: ours; clipping where a step outwards spares few rows (Amin et al. 2019)",
    summary="Chooses bounds of attributes privately, then measures statistics of groups between them.",
    method=PrivateBounds,
    example=example,
)
