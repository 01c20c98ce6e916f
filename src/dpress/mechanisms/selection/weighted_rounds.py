"""`weighted_rounds`: names found by weights in two rounds, of which the second is about the doubtful names alone.

weights -> + discrete Gaussian noise -> names far above are released, names far below are left out -> weights again, of
persons with what is left -> + noise -> those from a threshold on.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.methods.name_counts import CountNames, NameCounts, NoisyNames
from dpress.mechanisms.selection import above_threshold
from dpress.mechanisms.selection.above_gaussian import AboveGaussian
from dpress.mechanisms.selection.above_threshold import EVEN, check_total
from dpress.mechanisms.selection.name_weights import (
    LARGEST_DEVIATION,
    LENGTH,
    least_that_fits,
    shown_at_most,
    weight,
    weights_of,
)
from dpress.mechanisms.selection.partition_selection import below_exponential
from dpress.mechanisms.selection.weight_noise import WeightNoise, check_served
from dpress.noise.normal_profile import SPARED, tail_above

FIRST_SHARE = Fraction(1, 4)  # of the squared length, for the first round
SPLITS = (Fraction(9, 10), Fraction(3, 10)), (Fraction(1, 2), Fraction(1, 5))
"""Of delta: for names that others have, too, where none is new, and for new names that the first round releases. The
second one leaves something for the rest where delta is large."""
DOUBTFUL = Fraction(3, 10)  # of the threshold, from which on a name's sum in the first round leaves it in the second
FEWEST = 5  # names of a person, from which on a second round finds more


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRounds(AboveGaussian):
    """Names are released whose noisy sum of weights is large at once, or in a second round without the clear cases.

    Round 1 adds floor(first / sqrt(m)) of every person with m names, and noise, for every name that there could be.
    Names that somebody has and whose sum is at least `certain` are released. Names whose sum is at least `doubtful`,
    but less, are left: a person who has m' of them adds floor(second / sqrt(m')) to each in round 2, which releases
    those whose sum, with fresh noise, is at least `threshold`.

    Promise: (epsilon, delta) for a unit with at most k = `unit.rows` names; both relations, central model. Proven
        (docs/decisions/0099). Given round 1's noise for names that only the unit has, what moves of the others has
        squared length at most S1^2 (1 - f), f the share of the former, then at most S2^2, whatever came out first
        (twice as much where a unit is replaced): an adaptive composition of normal noises, as hidden as one change of
        the squared length of both. Names that only the unit has show in round 1 with chance at most f r1, r1 the
        largest m p1(m), and in round 2 with at most h = min(r2, f max m q(m) p2(1)), q(m) the chance that one is left
        (r1 and q twice as much where one is replaced). So the cost is (epsilon, max over f of f r1 + h + d((1 - f)
        S1^2 + S2^2, exp(epsilon) (1 - f r1 - h))), with 2 S1^2 and 2 S2^2 where a unit is replaced.
    Error: variance of the discrete Gaussian of a name's sum, in squared units of weight; sums are no counts.
    Paper: Gopi et al. 2020 (weighted Gaussian); Swanberg et al. 2023 (rounds without what was found); Chen,
        Cohen-Addad, Epasto, Zadimoghaddam 2025 (a second round biased by the noisy weights of the first); Dong, Roth,
        Su 2022 (composition of Gaussian mechanisms); Balle, Wang 2018, Theorem 8 (the profile).

    Args:
        loss: epsilon and delta.
        unit: whom the promise protects.
        first: S1, in units of weight.
        second: S2.
        sigma2: of the noise of either round, in squared units of weight.
        certain: the smallest noisy sum of round 1 that is released at once.
        doubtful: the smallest noisy sum of round 1 that is left for round 2.
        threshold: the smallest noisy sum of round 2 that is released.
    """

    loss: ApproxDP
    unit: Unit = ROW
    first: int
    second: int
    sigma2: Fraction
    certain: int
    doubtful: int
    threshold: int

    def __post_init__(self) -> None:
        check_total(self.loss, self.total)
        if not self.unit.rows <= min(self.first, self.second) ** 2:
            raise ValueError(f"the lengths must be at least the root of {self.unit.rows} names")
        if self.doubtful > self.certain:
            raise ValueError("a name that is released at once must not be left out")
        if self.spent > self.loss.delta:
            raise ValueError("the noise and the thresholds cost more than delta")

    @property
    def weights(self) -> tuple[int, ...]:
        """What a person with 1, 2, ... names adds to each in round 1."""
        return weights_of(self.first, self.unit.rows)

    @property
    def second_weights(self) -> tuple[int, ...]:
        """What a person with 1, 2, ... names that are left adds to each in round 2."""
        return weights_of(self.second, self.unit.rows)

    @property
    def spent(self) -> Fraction:
        """A number at or above the delta that noise and thresholds cost."""
        ratio, lengths = below_exponential(self.loss.epsilon), (self.first, self.second)
        noise = WeightNoise(ratio=ratio, unit=self.unit, lengths=lengths, sigma2=self.sigma2)
        return noise.spent(_shown(noise, self.certain, self.doubtful, self.threshold).of)

    @property
    def claim(self) -> Claim:
        """The promise, for the noise and the thresholds that `find` uses."""
        basis = (
            f"discrete Gaussian noise with sigma2 = {self.sigma2} in two rounds, and a name is released from a noisy "
            f"sum of {self.certain} on for weights of {self.first} / sqrt(m), then of {self.threshold} for "
            f"{self.second} / sqrt(m), of up to {self.unit.rows} names"
        )
        return Claim(published=self.loss, proven=self.loss, unit=self.unit, basis=basis)

    def chance(self, count: int) -> Fraction:
        """Return the least probability that a name is released whose weights in round 1 add up to so much.

        In round 2 they add up to as much, by the lengths, where nobody who has the name has any name that is left out.
        """
        if count <= 0:
            return Fraction(0)
        at_once, left = (tail_above(self.sigma2, start - count) for start in (self.certain, self.doubtful))
        again = tail_above(self.sigma2, self.threshold - count * self.second // self.first)
        return at_once + max(Fraction(0), left - at_once) * again

    def count_for(self, chance: Fraction) -> int:
        """Return the smallest sum in round 1 of a name that is released with at least this probability, in [1/2, 1)."""
        if not EVEN <= chance < 1:
            raise ValueError(f"chance must lie between 1/2 and 1, got chance={chance}")
        low, high = 0, self.certain + 16 * math.isqrt(math.ceil(self.sigma2))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(middle) >= chance else (middle, high)
        return high

    def find(self, names: NameCounts, again: CountNames, *, rng: Generator) -> NoisyNames:
        """Return the names that are released, with their noisy sums of round 1.

        Args:
            names: exact sums of weights.
            again: counts the same rows once more, by other weights, of persons with some of the names alone.
            rng: a secure generator.
        """
        sums = names.counts + self.noise.sample(names.counts.size, rng=rng)
        at_once = above_threshold.released(names, sums, self.certain, None, rng=rng)
        left = np.flatnonzero((sums >= self.doubtful) & (sums < self.certain))
        second = again(self.second_weights, tuple(names.names[place] for place in left.tolist()))
        noisy = second.counts + self.noise.sample(second.counts.size, rng=rng)
        late = above_threshold.released(second, noisy, self.threshold, None, rng=rng)
        names_released = {*at_once.names, *late.names}
        places = [place for place, name in enumerate(names.names) if name in names_released]
        return NoisyNames(names=tuple(names.names[place] for place in places), answers=sums[places])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """Chances that names show which only one person has, bounded from above: f of each is for a share f of its names.

    Args:
        early: in round 1, of all of the person's names.
        late: in round 2, of all of them, by how few of round 1 are left.
        most: in round 2, whatever is left.
    """

    early: Fraction
    late: Fraction
    most: Fraction

    def of(self, share: Fraction) -> Fraction:
        """Return the chance that one of a share of the names shows."""
        return share * self.early + min(self.most, share * self.late)


def _shown(noise: WeightNoise, certain: int, doubtful: int, threshold: int) -> _Shown:
    """Return r1, max m q(m) p2(1), and r2, the first two twice as large where a unit is replaced."""
    rows, (first, second), times = noise.unit.rows, noise.lengths, noise.times
    early, left = (shown_at_most(noise.sigma2, start, first, rows) for start in (certain, doubtful))
    alone = tail_above(noise.sigma2, threshold - weight(second, 1))
    most = shown_at_most(noise.sigma2, threshold, second, rows)
    return _Shown(early=times * early, late=times * left * alone, most=most)


def calibrated(loss: ApproxDP, unit: Unit, total: Fraction = Fraction(0), *, length: int = LENGTH) -> WeightedRounds:
    """Return the least noise and, with it, the least thresholds that cost at most a loss; to a part in 4096.

    Raises:
        NotSupported: the loss is not epsilon and delta, a total is asked for, or no thresholds are low enough.
    """
    check_served("weighted_rounds", loss, unit, total)
    first = math.isqrt(math.ceil(FIRST_SHARE * length**2))
    lengths, refused = (first, math.isqrt(length**2 - first**2)), list[NotSupported]()
    for split in SPLITS:
        try:
            return _calibrated(loss, unit, lengths, split)
        except NotSupported as error:
            refused.append(error)
    raise refused[0]


def _calibrated(
    loss: ApproxDP, unit: Unit, lengths: tuple[int, int], split: tuple[Fraction, Fraction]
) -> WeightedRounds:
    """Return `calibrated` where delta is split so."""
    (first, second), (for_moved, for_early), reach = lengths, split, sum(lengths)
    ratio = below_exponential(loss.epsilon)

    def noise(deviation: int) -> WeightNoise:
        return WeightNoise(ratio=ratio, unit=unit, lengths=lengths, sigma2=Fraction(deviation**2))

    def hidden(deviation: int) -> bool:
        return noise(deviation).hidden(Fraction(0), Fraction(0)) <= for_moved * loss.delta

    deviation = least_that_fits(hidden, SPARED, LARGEST_DEVIATION * reach)
    made, most = noise(deviation), reach + 16 * deviation

    def at_once(start: int) -> bool:
        return made.times * shown_at_most(made.sigma2, start, first, unit.rows) <= for_early * loss.delta

    certain = least_that_fits(at_once, 1, most)

    def doubtful(threshold: int) -> int:
        return min(certain, math.floor(DOUBTFUL * threshold * first / second))

    def kept(start: int) -> bool:
        return made.spent(_shown(made, certain, doubtful(start), start).of) <= loss.delta

    threshold = least_that_fits(kept, 1, most)
    return WeightedRounds(
        loss=loss,
        unit=unit,
        first=first,
        second=second,
        sigma2=made.sigma2,
        certain=certain,
        doubtful=doubtful(threshold),
        threshold=threshold,
    )


CARD = Card(
    name="weighted_rounds",
    family="selection",
    model="central",
    paper="foundations: names (Gopi et al. 2020; Swanberg et al. 2023; Chen et al. 2025)",
    summary="Finds names by weights in two rounds, the second about doubtful ones alone; it releases no counts.",
    method=WeightedRounds,
    example=calibrated,
)
