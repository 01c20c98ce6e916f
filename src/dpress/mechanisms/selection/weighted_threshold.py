"""`weighted_threshold`: the names of a private column that occur often enough, of persons who have few names or many.

weights, less of each name the more names a person has -> + discrete Gaussian noise -> those from a threshold on.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.selection.above_gaussian import AboveGaussian
from dpress.mechanisms.selection.above_threshold import check_total, steps_of
from dpress.mechanisms.selection.partition_selection import below_exponential
from dpress.noise.normal_profile import SPARED, shift_delta, tail_above

LENGTH = 1 << 16  # of a person's weights; at 10,000 names rounding takes 0.1 % of each
MOST_ROWS = 1 << 20
EACH = 32  # numbers of names that are looked at one by one; from there on those within a sixteenth together
LARGEST_DEVIATION = 1 << 24  # of the noise, in lengths


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedThreshold(AboveGaussian):
    """A person with m names adds floor(length / sqrt(m)) to each; names are released whose noisy sum is large enough.

    Promise: (epsilon, delta) for a unit with at most k = `unit.rows` names; both relations, central model. Proven
        (docs/decisions/0060). A unit's weights have squared length at most S^2, S = `length`; where one is replaced,
        what changes has at most 2 S^2, as (u - w)^2 <= u^2 + w^2 for a name that both have. Let p(m) be the chance of
        a name that only a unit with m names has, r the largest m p(m) (twice as much where one is replaced), and f the
        share of its names that only the unit has. They show with chance at most f r, and what moves beside them has
        squared length at most (1 - f) S^2 (or 2 S^2). So the cost is (epsilon, max over f of f r + d((1 - f) S^2,
        exp(epsilon) (1 - f r))), d the profile of the noise for any change of this length, `shift_delta`. `spent` is
        this maximum, bounded from above.
    Error: variance of the discrete Gaussian of a name's sum, in squared units of weight; sums are no counts.
    Paper: Gopi et al. 2020 (weighted Gaussian); Balle, Wang 2018, Theorem 8 (the profile); Canonne, Kamath, Steinke
        2020 (discrete Gaussian).

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects.
        length: S, in units of weight.
        sigma2: of the noise, in squared units of weight.
        threshold: the smallest noisy sum that is released.
    """

    loss: ApproxDP
    unit: Unit = ROW
    length: int = LENGTH
    sigma2: Fraction
    threshold: int

    def __post_init__(self) -> None:
        check_total(self.loss, self.total)
        if not self.unit.rows <= self.length**2:
            raise ValueError(f"length must be at least the root of {self.unit.rows} names, got length={self.length}")
        if self.spent > self.loss.delta:
            raise ValueError("the noise and the threshold cost more than delta")

    @property
    def total(self) -> Fraction:  # type: ignore[override]  # a constant
        """The part of epsilon for a noisy total: none, as weights have no total."""
        return Fraction(0)

    @property
    def weights(self) -> tuple[int, ...]:
        """What a person with 1, 2, ... names adds to each."""
        return tuple(weight(self.length, names) for names in range(1, self.unit.rows + 1))

    @property
    def spent(self) -> Fraction:
        """A number at or above the delta that noise and threshold cost."""
        return _spent(self.loss.epsilon, self.unit, self.length, self.sigma2, self.threshold)

    @property
    def claim(self) -> Claim:
        """The promise, for the noise and the threshold that `select` uses."""
        basis = (
            f"discrete Gaussian noise with sigma2 = {self.sigma2}, and a name is released from a noisy sum of "
            f"{self.threshold} on, for weights of {self.length} / sqrt(m) of up to {self.unit.rows} names"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def chance(self, count: int) -> Fraction:
        """Return the probability that a name is released whose weights add up to so much, rounded up."""
        return tail_above(self.sigma2, self.threshold - count) if count > 0 else Fraction(0)


def weight(length: int, names: int) -> int:
    """Return floor(length / sqrt(names)).

    >>> [weight(16, names) for names in (1, 2, 3, 4)]
    [16, 11, 9, 8]
    """
    return math.isqrt(length * length // names)


def _spent(epsilon: Fraction, unit: Unit, length: int, sigma2: Fraction, threshold: int) -> Fraction:
    """Return `WeightedThreshold.spent`, over ranges of m and of f, each with the worst of either end."""
    steps, ratio = steps_of(unit), below_exponential(epsilon)
    times = steps // unit.rows
    shown = times * max(high * tail_above(sigma2, threshold - weight(length, low)) for low, high in _sizes(unit.rows))
    square = Fraction(times * length**2)
    return max(
        high * shown + shift_delta(sigma2, (1 - low) * square, steps, ratio * (1 - high * shown))
        for low, high in _shares(steps)
    )


def _sizes(rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of numbers of names, which together are all from 1 to `rows`."""
    low = 1
    while low <= rows:
        high = low if low <= EACH else min(rows, low + low // 16)
        yield low, high
        low = high + 1


def _shares(steps: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ranges of the share of a unit's names that only it has: none, all, or at least one in `steps`."""
    yield Fraction(0), Fraction(0)
    yield Fraction(1), Fraction(1)
    high = Fraction(1)
    while high * steps > 1:
        low = max(high / 2, Fraction(1, steps))
        yield low, high
        high = low


def calibrated(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0), *, length: int = LENGTH) -> WeightedThreshold:
    """Return the least noise and, with it, the least threshold that cost at most a loss; to a part in 4096 of either.

    Raises:
        NotSupported: the loss is not epsilon and delta, a total is asked for, or nothing was found.
    """
    check_total(loss, total)
    if total:
        raise NotSupported("weighted_threshold adds up weights, which are no counts and have no total")
    if unit.rows > MOST_ROWS:
        raise NotSupported(f"weighted_threshold serves up to {MOST_ROWS:,} names of a person, got {unit.rows:,}")
    epsilon, ratio, steps = loss.epsilon, below_exponential(loss.epsilon), steps_of(unit)
    square = Fraction(steps // unit.rows * length**2)

    def hidden(deviation: int) -> bool:
        return shift_delta(Fraction(deviation**2), square, steps, ratio) <= loss.delta

    def kept(threshold: int) -> bool:
        return _spent(epsilon, unit, length, sigma2, threshold) <= loss.delta

    deviation = _least(hidden, SPARED, LARGEST_DEVIATION * length)
    sigma2 = Fraction(deviation**2)
    threshold = _least(kept, 1, length + 16 * deviation)
    return WeightedThreshold(loss=loss, unit=unit, length=length, sigma2=sigma2, threshold=threshold)


def _least(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return a number above `low` that fits, less than a part in 4096 above one that does not.

    Raises:
        NotSupported: not even `high` does.
    """
    if not fits(high):
        raise NotSupported("no weighted threshold was found for this loss")
    while high - low > 1 + high // 4096:
        middle = (low + high) // 2 if high < 4 * low else math.isqrt(low * high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


CARD = Card(
    name="weighted_threshold",
    family="selection",
    model="central",
    paper="foundations: names (Gopi et al. 2020; Balle, Wang 2018)",
    summary="Finds the names that occur often enough, of people who have few or many; it releases no counts.",
    method=WeightedThreshold,
    example=calibrated,
)
