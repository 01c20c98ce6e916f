"""`gaussian_threshold`: the names of a private column that occur often enough, where a person has several of them.

counts -> + discrete Gaussian noise, for every name that occurs -> those from a threshold on, by their noisy counts.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.selection.above_gaussian import AboveGaussian
from dpress.mechanisms.selection.above_threshold import check_total, steps_of
from dpress.noise.expansion import exponential_floor
from dpress.noise.gaussian_tails import SMALLEST, tail, tail_of_sum

DIGITS = 96  # bits of exp(-epsilon)
PARTS = 8  # numbers of names that only the unit has, between none and all
TRIES = 60
LARGEST_EPSILON = 20  # from which on bounded noise is the better one for any number of names


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThreshold(AboveGaussian):
    """Every name that occurs n times is released with n + X, X discrete Gaussian, where that is at least a threshold.

    Promise: (epsilon, delta) for a unit that changes at most t = `steps` counts, each by 1; both relations, central
        model. Proven. Let p = P(X >= threshold - 1), the chance of a name that counts 1, and compare tables D and D',
        of which only one has j of these t names. Hide those: what is left differs by 1 in at most t - j counts, so for
        any a P(D in S) <= a P(D' in S) + d(t - j, a), d(m, a) = P(S_m >= s) - a P(S_m >= s + m) at the worst s, S_m
        the sum of m noises (the log ratio of x and x - 1 in m counts is (m - 2 sum x) / (2 sigma2)). Names that only D
        has show with chance at most j p, which adds as much; those that only D' has are hidden with chance at least
        1 - j p, which divides a by it. So the cost is (epsilon - total, max over j of j p + d(t - j, a_j)), a_j =
        exp(epsilon - total) (1 - j p): a name is either new or moved, and delta is not divided between the two.
        `spent` is this maximum, bounded from above in exact arithmetic. The noisy total costs `total` beside it.
    Error: variance of the discrete Gaussian of a name's count, in counts squared, given the name whether or not it is
        released; that of the total 2q / (1 - q)^2, q = exp(-total / rows).
    Paper: Gopi et al. 2020 (thresholds above Gaussian noise); Balle, Wang 2018, Theorem 8 (the profile); Canonne,
        Kamath, Steinke 2020 (discrete Gaussian).

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects.
        total: the part of epsilon for the noisy total; 0 without one.
        sigma2: of the noise.
        threshold: the smallest noisy count that is released.
    """

    loss: ApproxDP
    unit: Unit = ROW
    total: Fraction = Fraction(0)
    sigma2: Fraction
    threshold: int

    def __post_init__(self) -> None:
        check_total(self.loss, self.total)
        if self.spent > self.loss.delta:
            raise ValueError("the noise and the threshold cost more than delta")

    @property
    def spent(self) -> Fraction:
        """A number at or above the delta that noise and threshold cost."""
        return _spent(self.loss.epsilon - self.total, self.steps, self.sigma2, self.threshold)

    @property
    def claim(self) -> Claim:
        """The promise, for the noise and the threshold that `select` uses."""
        beside = f", and a total by epsilon = {self.total}" if self.total else ""
        basis = (
            f"discrete Gaussian noise with sigma2 = {self.sigma2}, and a name is released from a noisy count of "
            f"{self.threshold} on, for {self.steps} counts that change by 1{beside}"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def chance(self, count: int) -> Fraction:
        """Return the probability that a name is released that counts so many, rounded up."""
        return tail(self.sigma2, self.threshold - count).high if count > 0 else Fraction(0)


def _spent(epsilon: Fraction, steps: int, sigma2: Fraction, threshold: int) -> Fraction:
    """Return `GaussianThreshold.spent`; of more than `PARTS` names several j at a time, each with the worst of them.

    d(m, a) grows with m and falls with a, so for j in low..high j p + d(t - j, a_j) <= high p + d(t - low, a_high).
    """
    shown = tail(sigma2, threshold - 1).high
    most = sorted({0, *(-(-steps * part // PARTS) for part in range(1, PARTS + 1))})
    least = [0, *(end + 1 for end in most[:-1])]
    return max(
        high * shown + _profile_of_sum(epsilon, steps - low, sigma2, 1 - high * shown)
        for low, high in zip(least, most, strict=True)
    )


def _profile_of_sum(epsilon: Fraction, moved: int, sigma2: Fraction, hidden: Fraction) -> Fraction:
    """Return a number at or above d(moved, exp(epsilon) hidden)."""
    ratio = Fraction(1 << DIGITS, exponential_floor(epsilon, DIGITS) + 1) * hidden
    if ratio <= 0:
        return Fraction(1)
    if not moved:
        return max(Fraction(0), 1 - ratio)
    near = math.floor(float(sigma2) * math.log(ratio) - moved / 2)
    return max(Fraction(0), *(_excess(sigma2, moved, start, ratio) for start in range(near - 1, near + 4)))


def _excess(sigma2: Fraction, moved: int, start: int, ratio: Fraction) -> Fraction:
    return tail_of_sum(sigma2, moved, start).high - ratio * tail_of_sum(sigma2, moved, start + moved).low


def calibrated(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0)) -> GaussianThreshold:
    """Return the noise and the threshold with the least threshold that cost at most a loss.

    The search is in floats; what it finds is checked exactly, and widened until it is kept.

    Raises:
        NotSupported: the loss is not epsilon and delta, or epsilon is too large for noise of this kind to serve.
    """
    check_total(loss, total)
    epsilon, steps, delta = loss.epsilon - total, steps_of(unit), loss.delta
    if epsilon > LARGEST_EPSILON:
        raise NotSupported(f"a Gaussian threshold serves up to epsilon = {LARGEST_EPSILON}, got {float(epsilon):.3g}")
    sigma2 = max(SMALLEST, Fraction(math.ceil(_searched(float(epsilon), steps, float(delta)) ** 2 * 2**20), 2**20))
    for _ in range(TRIES):
        if _profile_of_sum(epsilon, steps, sigma2, Fraction(1)) <= delta:
            threshold = math.ceil(1.5 - float(sigma2) ** 0.5 * NormalDist().inv_cdf(float(delta) / steps))
            while _spent(epsilon, steps, sigma2, threshold) > delta:
                threshold += 1
            while _spent(epsilon, steps, sigma2, threshold - 1) <= delta:
                threshold -= 1
            return GaussianThreshold(loss=loss, unit=unit, total=total, sigma2=sigma2, threshold=threshold)
        sigma2 = Fraction(math.ceil(sigma2 * 2**20 * Fraction(10001, 10000)), 2**20)
    raise NotSupported("no Gaussian threshold was found for this loss")


def _searched(epsilon: float, steps: int, delta: float) -> float:
    """Return the standard deviation of noise that hides `steps` moved counts for about delta."""
    low, high = 0.1, 1e6
    while high / low > 1 + 1e-9:
        sigma = math.sqrt(low * high)
        low, high = (sigma, high) if _profile(epsilon, math.sqrt(steps) / sigma) > delta else (low, sigma)
    return high


def _profile(epsilon: float, ratio: float) -> float:
    """Return the delta of Gaussian noise for a sensitivity of so many standard deviations."""
    above, below = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return (math.erfc(-above / math.sqrt(2)) - math.exp(epsilon) * math.erfc(-below / math.sqrt(2))) / 2


CARD = Card(
    name="gaussian_threshold",
    family="selection",
    model="central",
    paper="foundations: names (Gopi et al. 2020; Balle, Wang 2018)",
    summary="Releases the names that occur often enough, with counts in Gaussian noise, for people who have many.",
    method=GaussianThreshold,
    example=calibrated,
)
