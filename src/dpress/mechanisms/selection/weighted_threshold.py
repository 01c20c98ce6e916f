"""`weighted_threshold`: the names of a private column that occur often enough, of persons who have few names or many.

weights, less of each name the more names a person has -> + discrete Gaussian noise -> those from a threshold on.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.selection.above_gaussian import AboveGaussian
from dpress.mechanisms.selection.above_threshold import check_total
from dpress.mechanisms.selection.name_weights import (
    LARGEST_DEVIATION,
    LENGTH,
    least_that_fits,
    shown_at_most,
    weights_of,
)
from dpress.mechanisms.selection.partition_selection import below_exponential
from dpress.mechanisms.selection.weight_noise import WeightNoise, check_served
from dpress.noise.normal_profile import SPARED, tail_above


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
    def weights(self) -> tuple[int, ...]:
        """What a person with 1, 2, ... names adds to each."""
        return weights_of(self.length, self.unit.rows)

    @property
    def spent(self) -> Fraction:
        """A number at or above the delta that noise and threshold cost."""
        noise = WeightNoise(
            ratio=below_exponential(self.loss.epsilon), unit=self.unit, lengths=(self.length,), sigma2=self.sigma2
        )
        return _spent(noise, self.threshold)

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


def _spent(noise: WeightNoise, threshold: int) -> Fraction:
    """Return `WeightedThreshold.spent`, over ranges of m and of f, each with the worst of either end."""
    (length,) = noise.lengths
    most = noise.times * shown_at_most(noise.sigma2, threshold, length, noise.unit.rows)
    return noise.spent(lambda share: share * most)


def calibrated(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0), *, length: int = LENGTH) -> WeightedThreshold:
    """Return the least noise and, with it, the least threshold that cost at most a loss; to a part in 4096 of either.

    Raises:
        NotSupported: the loss is not epsilon and delta, a total is asked for, or nothing was found.
    """
    check_served("weighted_threshold", loss, unit, total)
    ratio = below_exponential(loss.epsilon)

    def noise(deviation: int) -> WeightNoise:
        return WeightNoise(ratio=ratio, unit=unit, lengths=(length,), sigma2=Fraction(deviation**2))

    def hidden(deviation: int) -> bool:
        return noise(deviation).hidden(Fraction(0), Fraction(0)) <= loss.delta

    def kept(threshold: int) -> bool:
        return _spent(noise(deviation), threshold) <= loss.delta

    deviation = least_that_fits(hidden, SPARED, LARGEST_DEVIATION * length)
    threshold = least_that_fits(kept, 1, length + 16 * deviation)
    return WeightedThreshold(loss=loss, unit=unit, length=length, sigma2=noise(deviation).sigma2, threshold=threshold)


CARD = Card(
    name="weighted_threshold",
    family="selection",
    model="central",
    paper="foundations: names (Gopi et al. 2020; Balle, Wang 2018)",
    summary="Finds the names that occur often enough, of people who have few or many; it releases no counts.",
    method=WeightedThreshold,
    example=calibrated,
)
