"""`partition_selection`: the names of a private column that occur often enough, each with its noisy count.

counts -> + noise on a bounded range, for every name that occurs -> those above all that the noise alone can reach.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.selection.above_threshold import AboveThreshold, check_total
from dpress.noise.expansion import exponential_floor
from dpress.noise.tabulated import WHOLE, Tabulated

DIGITS = 96  # bits of exp(-epsilon)
LONGEST_TABLE = 1 << 15  # values of the noise
SMALLEST_DELTA = Fraction(1, 1 << 100)
TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSelection(AboveThreshold):
    """Every name that occurs n times is released with n + X, X on a bounded range, where that is above all X.

    Promise: (epsilon, delta) for a unit that changes at most `steps` counts, each by 1; both relations, central model.
        Proven, in three steps. Let a <= exp(e) be the `ratio`, e = (epsilon - total) / steps, d = delta / steps.
        (1) A count moves from n >= 1 to n + 1, or back: what is released of the name is a function of n + X, and X and
        X + 1 are (ln a, d)-indistinguishable, as `noise.excess(a)`, the exact sum over the table that the sampler
        uses, is at most d. (2) A name comes with n = 1, or goes: it is released with P(X = highest) <= d, a name that
        does not occur never; and a (1 - d) + d >= 1. (3) Names are independent, so `steps` of them cost (e steps,
        d steps), by basic composition. The noisy total has sensitivity `unit.rows` and discrete Laplace noise of
        scale rows / total; it costs `total`, and the two add up.
    Error: variance `noise.variance` of the count of a name, in counts squared, given the name whether or not it is
        released; that of the total 2q / (1 - q)^2, q = exp(-total / rows).
    Paper: Desfontaines, Voss, Gipson 2022, Theorem 2: for one count the chance of release is their optimal
        pi(n) = min(a pi(n-1) + d, 1 - (1 - pi(n-1) - d) / a, 1), P(X = highest + 1 - n) = pi(n) - pi(n-1), to 2^-128.
        Their Theorem 4 releases counts where d makes this noise symmetric; step (1) needs no symmetry.

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects.
        total: the part of epsilon for the noisy total; 0 without one.
        minimum: the smallest noisy count that is wanted, where it is above all that the noise alone can reach.
    """

    loss: ApproxDP
    unit: Unit = ROW
    total: Fraction = Fraction(0)
    minimum: int = 0
    added_later: ClassVar[tuple[str, ...]] = ("minimum",)

    def __post_init__(self) -> None:
        check_total(self.loss, self.total)
        if not 0 <= self.minimum < 1 << 62:
            raise ValueError(f"minimum must be at least 0 and less than 2^62, got minimum={self.minimum}")
        if self.noise.excess(self.ratio) * self.steps > self.loss.delta:
            raise ValueError("the table of noise costs more than delta")

    @property
    def ratio(self) -> Fraction:
        """A rational at or just below exp((epsilon - total) / steps)."""
        return below_exponential((self.loss.epsilon - self.total) / self.steps)

    @property
    def noise(self) -> Tabulated:
        """What is added to the count of every name."""
        return optimal_noise(self.ratio, self.loss.delta / self.steps)

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is released: one above the largest noise, or the minimum."""
        return max(self.noise.highest + 1, self.minimum)

    def not_below(self, minimum: int) -> "PartitionSelection":
        """Return the mechanism with a minimum of published counts, which are noisy ones without the noise's mean."""
        return replace(self, minimum=math.ceil(minimum + self.noise.mean))

    @property
    def claim(self) -> Claim:
        """The promise, for the table of noise and the threshold that `select` uses."""
        beside = f", and a total by epsilon = {self.total}" if self.total else ""
        basis = (
            f"a name is released from a noisy count of {self.threshold} on, above all noise, for {self.steps} "
            f"{'count that changes' if self.steps == 1 else 'counts that change'} by 1{beside}"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    @property
    def mean(self) -> float:
        """The noise's mean, which published counts are without."""
        return float(self.noise.mean)

    @property
    def tail(self) -> Literal["laplace"]:
        """How heavy the noise's tail is: below the Laplace distribution's, as it is cut."""
        return "laplace"

    def chance(self, count: int) -> Fraction:
        """Return the exact probability that a name is released that counts so many."""
        return self.noise.at_least(self.threshold - count)

    def count_for(self, chance: Fraction) -> int:
        """Return the smallest count of a name that is released with at least this probability, in (0, 1]."""
        left, higher = chance * WHOLE, self.threshold - self.noise.highest - 1
        for place, weight in enumerate(reversed(self.noise.weights), start=1):
            left -= weight
            if left <= 0:
                return place + higher
        raise ValueError(f"chance must lie between 0 and 1, got chance={chance}")


@lru_cache(maxsize=16)
def below_exponential(epsilon: Fraction) -> Fraction:
    """Return a rational > 1 at or just below exp(epsilon)."""
    power = Fraction(1 << DIGITS, exponential_floor(epsilon, DIGITS) + 1)
    if power <= 1:
        raise NotSupported(f"epsilon must be larger for so many rows, got {float(epsilon):.3g} for each of them")
    return power


@lru_cache(maxsize=16)
def optimal_noise(ratio: Fraction, delta: Fraction) -> Tabulated:
    """Return the noise of optimal selection: X and X + 1 are (ln ratio, delta)-indistinguishable, decided exactly.

    Its probabilities from the largest value down are pi(1), pi(2) - pi(1), ... of Desfontaines, Voss and Gipson 2022,
    Theorem 2, in whole multiples of 2^-128, rounded so that neither rule of the recursion is broken but by units of
    the last place; where these add up to more than delta, it is made for so much less.

    Args:
        ratio: a rational > 1.
        delta: of one count.

    Raises:
        NotSupported: delta is below 2^-100, or the noise would spread over more than 2^15 values.
    """
    if delta < SMALLEST_DELTA:
        raise NotSupported(f"delta must be larger for so many rows, got {float(delta):.3g} for each of them")
    first = math.floor(delta * WHOLE)
    for _ in range(TRIES):
        weights = _weights(ratio, first)
        places = sum(place * weight for place, weight in enumerate(weights))
        noise = Tabulated(lowest=-round(Fraction(places, WHOLE)), weights=weights)
        over = noise.excess(ratio) - delta
        if over <= 0:
            return noise
        first -= math.ceil(over * WHOLE)
    raise NotSupported(f"no table of noise costs at most delta = {float(delta):.3g} for a count")


def _weights(ratio: Fraction, first: int) -> tuple[int, ...]:
    """Return the weights from the lowest value on; the last one is `first`."""
    up, down = ratio.numerator, ratio.denominator
    rest, weight, weights = WHOLE - first, first, [first]
    while rest:
        falling = rest + -max(0, rest - first) * down // up  # rest - ceil((rest - first) / ratio)
        weight = min(weight * up // down, falling, rest)
        rest -= weight
        weights.append(weight)
        if len(weights) > LONGEST_TABLE:
            raise NotSupported(
                f"epsilon or delta must be larger: the noise spreads over more than {LONGEST_TABLE:,} values"
            )
    return tuple(reversed(weights))


def made_for(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0)) -> PartitionSelection:
    """Return the mechanism for a loss, of which epsilon `total` is for the noisy total."""
    return PartitionSelection(loss=loss, unit=unit, total=total)


CARD = Card(
    name="partition_selection",
    family="selection",
    model="central",
    paper="foundations: names (Desfontaines, Voss, Gipson 2022, Theorem 2)",
    summary="Releases the names that occur often enough, with their noisy counts, as likely as any method may.",
    method=PartitionSelection,
    example=made_for,
)
