"""`weighted_threshold`: names that occur often enough, of persons with few or many of them; without their counts.

persons -> a weight for each of their names, less where they have more -> sums + discrete Gaussian noise, for every
name that occurs -> those from a threshold on.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Literal

from dpress.core.claim import ROW, ApproxDP, Claim, Relation, Unit
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card
from dpress.mechanisms.selection.above_threshold import AboveThreshold, check_total
from dpress.mechanisms.selection.gaussian_threshold import LARGEST_EPSILON, TRIES, cost_of_moved, searched, spent_on
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.gaussian_tails import SMALLEST, tail

SCALE = 32
"""The weight of the only name of a person; of m names each has floor(SCALE / sqrt(m))."""
MOST_NAMES = 16
"""Of a person: beyond, the exact cost takes too long."""


def weights(names: int) -> tuple[int, ...]:
    """Return the weight of each name of a person with 1, 2, ... names.

    >>> weights(10)
    (32, 22, 18, 16, 14, 13, 12, 11, 10, 10)
    """
    return tuple(math.isqrt(SCALE**2 // m) for m in range(1, names + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedThreshold(AboveThreshold):
    """A name is released where its persons' weights and discrete Gaussian noise reach a threshold.

    Promise: (epsilon, delta) for a person with at most r names, who comes or leaves; central model. Proven as
        `GaussianThreshold` is, for every m <= r: a person with m names changes m sums by u = floor(SCALE / sqrt(m))
        each, other persons' weights stay. With j of the names new, p = P(X >= threshold - u), and d(m, u, a) =
        P(S_m >= s) - a P(S_m >= s + m u) at the worst s, S_m the sum of m noises (the log ratio of x and x - u in m
        sums is (2 u sum x - m u^2) / (2 sigma2), whose order is that of the sum), the cost is at most the maximum over
        m and j of j p + d(m - j, u, exp(epsilon) (1 - j p)). A replaced person moves sums by unequal weights, for which
        this is no proof: only add-remove.
    Error: none is stated; what is released are names.
    Paper: Gopi et al. 2020, Algorithm 7 (weights under a bound on their L2 norm); see `gaussian_threshold`.

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects; its rows are the most names of a person.
        sigma2: of the noise, in weights squared.
        threshold: the smallest noisy weight that is released.
    """

    loss: ApproxDP
    unit: Unit = ROW
    sigma2: Fraction
    threshold: int

    def __post_init__(self) -> None:
        check_total(self.loss, self.total)
        _check(self.unit)
        if self.spent > self.loss.delta:
            raise ValueError("the noise and the threshold cost more than delta")

    @property
    def total(self) -> Fraction:  # type: ignore[override]  # none is drawn
        """The part of epsilon for a noisy total: none."""
        return Fraction(0)

    @property
    def weights(self) -> tuple[int, ...]:
        """What each name of a person with 1, 2, ... names adds to its sum."""
        return weights(self.unit.rows)

    @property
    def noise(self) -> DiscreteGaussian:
        """What is added to the sum of every name."""
        return DiscreteGaussian(sigma2=self.sigma2)

    @property
    def spent(self) -> Fraction:
        """A number at or above the delta that noise and threshold cost."""
        return _spent(self.loss.epsilon, self.unit.rows, self.sigma2, self.threshold)

    @property
    def claim(self) -> Claim:
        """The promise, for the noise and the threshold that `select` uses."""
        basis = (
            f"discrete Gaussian noise with sigma2 = {self.sigma2}, and a name is released from a noisy weight of "
            f"{self.threshold} on, for persons of up to {self.unit.rows} names whose weights have norm {SCALE} at most"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    @property
    def mean(self) -> float:
        """The noise's mean."""
        return 0.0

    @property
    def tail(self) -> Literal["gaussian"]:
        """How heavy the noise's tail is."""
        return "gaussian"

    def chance(self, count: int) -> Fraction:
        """Return the chance, rounded up, of a name that so many persons have, each with as many names as allowed."""
        return self._chance(count * self.weights[-1])

    def typical_chance(self, count: int) -> Fraction:
        """Return the chance, rounded up, of a name of so many persons who have 1, 2, ... names, equally often."""
        return self._chance(count * sum(self.weights) // len(self.weights))

    def _chance(self, weight: int) -> Fraction:
        return tail(self.sigma2, self.threshold - weight).high if weight > 0 else Fraction(0)

    def count_for(self, chance: Fraction) -> int:
        """Return the number of persons from which a name is released with at least this probability, in [1/2, 1)."""
        if not Fraction(1, 2) <= chance < 1:
            raise ValueError(f"chance must lie between 1/2 and 1, got chance={chance}")
        reached = self.threshold + (self.noise.quantile(2 * chance - 1) if 2 * chance > 1 else 0)
        return -(-reached // self.weights[-1])


def _check(unit: Unit) -> None:
    if unit.relation is not Relation.ADD_REMOVE:
        raise NotSupported("weights of names protect persons who come or leave, relation = add-remove")
    if unit.rows > MOST_NAMES:
        raise NotSupported(f"weights of names serve up to {MOST_NAMES} names of a person, got {unit.rows}")


@lru_cache(maxsize=16)  # of one calibration
def _spent(epsilon: Fraction, names: int, sigma2: Fraction, threshold: int) -> Fraction:
    """Return `WeightedThreshold.spent`."""
    every = enumerate(weights(names), start=1)
    return max(spent_on(epsilon, m, sigma2, threshold, weight=weight) for m, weight in every)


def calibrated(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0)) -> WeightedThreshold:
    """Return the noise and the threshold with the least threshold that cost at most a loss.

    Raises:
        NotSupported: the loss is not epsilon and delta, epsilon is too large, a total is asked for, or see the promise.
    """
    check_total(loss, total)
    _check(unit)
    if total or loss.epsilon > LARGEST_EPSILON:
        raise NotSupported(f"weights of names release no counts, and serve up to epsilon = {LARGEST_EPSILON}")
    epsilon, delta, every = loss.epsilon, loss.delta, weights(unit.rows)
    length = max(weight * math.sqrt(m) for m, weight in enumerate(every, start=1))
    sigma2 = max(
        SMALLEST, Fraction(math.ceil((length * searched(float(epsilon), 1, float(delta))) ** 2 * 2**10), 2**10)
    )
    for _ in range(TRIES):
        costs = (cost_of_moved(epsilon, m, sigma2, weight=weight) for m, weight in enumerate(every, start=1))
        if all(cost <= delta for cost in costs):
            deviation, normal = float(sigma2) ** 0.5, NormalDist()
            shown = (w - deviation * normal.inv_cdf(float(delta) / m) for m, w in enumerate(every, start=1))
            threshold = math.ceil(max(shown))
            while _spent(epsilon, unit.rows, sigma2, threshold) > delta:
                threshold += 1
            return WeightedThreshold(loss=loss, unit=unit, sigma2=sigma2, threshold=threshold)
        sigma2 = Fraction(math.ceil(sigma2 * 2**10 * Fraction(10001, 10000)), 2**10)
    raise NotSupported("no weighted threshold was found for this loss")


CARD = Card(
    name="weighted_threshold",
    family="selection",
    model="central",
    paper="foundations: names (Gopi et al. 2020; Balle, Wang 2018)",
    summary="Releases the names that occur often enough, without counts, for people of whom some have many.",
    method=WeightedThreshold,
    example=calibrated,
)
