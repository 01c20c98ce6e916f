"""`private_bounds`: statistics between bounds that nobody may read off the values: first the bounds, then the sums.

counts between round numbers -> an upper and a lower bound -> rows clamped to them -> noisy sums of groups.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core import check
from dpress.core.claim import ZCDP, Claim, PureDP, Unit, composed, describe, part_of
from dpress.core.mechanism import Card
from dpress.core.rng import Generator
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise import choose

Integers = npt.NDArray[np.int64]

BOUNDS_SHARE = Fraction(1, 5)  # of the loss, for the bounds of all attributes
AXIS = 1  # of the example's levels
STEPS = 8  # in a width twice as large
ROOT = 1 << 40  # steps of epsilon under rho


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateBounds(SecondStep):
    """Bounds of some attributes are chosen among round numbers, then what is measured of the values between them.

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

    choice: PureDP | ZCDP
    price: int
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        check.count("price", self.price)
        if type(self.choice) is not type(self.groups.loss):
            raise ValueError("the bounds and the sums must both have epsilon, or both rho")
        if not isinstance(self.groups.strategy, GroupStatistics):
            raise TypeError(f"{type(self.groups.strategy).__name__} measures no groups")
        decoder = self.groups.strategy.decoder
        possible = set(range(len(decoder.shape))) - set(decoder.by)
        if not self.axes or list(self.axes) != sorted(possible & {*self.axes}):
            raise ValueError(f"axes must be increasing, and of attributes that make no groups, got {self.axes}")

    @property
    def epsilon(self) -> Fraction:
        """How much the scores of one choice count: e."""
        if isinstance(self.choice, PureDP):
            return self.choice.epsilon
        square = 8 * self.choice.rho
        return Fraction(math.isqrt(square.numerator * ROOT**2 // square.denominator), ROOT)

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of all choices, by the e that the sampler uses, and of the sums."""
        second, times = self.groups.claim, 2 * len(self.axes)
        basis = f"{times} choices of bounds at epsilon {self.epsilon} against {self.unit.rows} rows, then sums by "
        basis += f"{describe(second.proven)} ({second.basis})"
        one = PureDP(epsilon=self.epsilon) if isinstance(self.choice, PureDP) else ZCDP(rho=self.epsilon**2 / 8)
        loss = composed([*[one] * times, self.groups.loss])
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def choose(self, counts: Integers, edges: npt.NDArray[np.float64], *, rng: Generator) -> tuple[int, int]:
        """Return the places of the lower and the upper bound among the edges; the lower one comes first.

        Args:
            counts: exact numbers of all rows between each two edges, shape (n - 1,).
            edges: the numbers that bounds are chosen from, increasing, shape (n,).
            rng: a secure generator.
        """
        upper = 1 + self._chosen(self.upper_scores(counts, edges), rng)
        return self._chosen(self.lower_scores(counts, edges, upper), rng), upper

    def upper_scores(self, counts: Integers, edges: npt.NDArray[np.float64]) -> Integers:
        """Return the scores of every edge but the first; a step outwards is from one edge to the next, above zero."""
        nearest = int(np.abs(edges).argmin())
        steps = np.maximum(np.arange(1, len(edges)) - nearest, 0)
        return np.asarray(-(counts.sum() - counts.cumsum()) - self.price * steps)

    def lower_scores(self, counts: Integers, edges: npt.NDArray[np.float64], upper: int) -> Integers:
        """Return the scores of every edge below the upper bound; steps are eighths of a doubling of the width."""
        widths = (edges[upper] - edges[:upper]).tolist()
        steps = np.array([math.floor(STEPS * math.log2(width / widths[-1])) for width in widths])
        below = np.concatenate([[0], counts[: upper - 1].cumsum()])
        return np.asarray(-below - self.price * steps, dtype=np.int64)

    def _chosen(self, scores: Integers, rng: Generator) -> int:
        return choose.exponential(2 * scores, epsilon=self.epsilon, sensitivity=self.unit.rows, rng=rng)


def bounded(groups: MatrixMechanism, choice: PureDP | ZCDP, axes: tuple[int, ...]) -> PrivateBounds:
    """Return the mechanism whose price is half of what a choice errs by, k / (2 e) rows a step, rounded up."""
    own = PrivateBounds(choice=choice, price=1, groups=groups, axes=axes)
    return PrivateBounds(choice=choice, price=math.ceil(own.unit.rows / (2 * own.epsilon)), groups=groups, axes=axes)


def example(loss: PureDP | ZCDP, unit: Unit) -> PrivateBounds:
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
