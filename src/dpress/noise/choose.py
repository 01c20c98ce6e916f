"""Choices by score: the exponential mechanism and report-noisy-max, with exact coins.

Paper: McSherry and Talwar 2007 (exponential); McKenna and Sheldon 2020 (permute-and-flip), which Ding et al. 2021
show to be report-noisy-max with exponential noise.

Flow: scores -> exponents epsilon (max - score) / (2 sensitivity) -> exact exp(-exponent) coins -> an index.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.rng import Generator
from dpress.noise.bernoulli import Coins, exponential_coins
from dpress.noise.uniform import below

Scores = npt.NDArray[np.int64]
Probabilities = npt.NDArray[np.float64]

BLOCK = 1 << 12


@dataclass(frozen=True, slots=True)
class _Exponents:
    """The exponent of candidate i: rate * gaps[i]; unsigned gaps, so that no pair of int64 scores overflows."""

    gaps: npt.NDArray[np.uint64]
    rate: Fraction

    def floats(self) -> Probabilities:
        """Return the exponents rounded three times: below 46 they are within 2^-45."""
        return np.multiply(self.gaps, float(self.rate), dtype=np.float64)

    def flip(self, candidates: npt.NDArray[np.int64], *, rng: Generator) -> Coins:
        """Return a coin of probability exp(-exponent) per candidate."""
        gaps = self.gaps[candidates]
        return exponential_coins(self.floats()[candidates], lambda lane: self.rate * int(gaps[lane]), rng=rng)


def _exponents(scores: Scores, epsilon: check.Number, sensitivity: int) -> _Exponents:
    """Check the arguments and measure every score from the best one."""
    if scores.ndim != 1 or scores.size == 0 or scores.dtype != np.int64:
        raise ValueError(f"scores must be a non-empty int64 vector, got shape {scores.shape} of {scores.dtype}")
    rate = check.loss_parameter("epsilon", epsilon) / (2 * check.count("sensitivity", sensitivity))
    unsigned = scores.astype(np.uint64)
    return _Exponents(unsigned[scores.argmax()] - unsigned, rate)


def exponential(scores: Scores, *, epsilon: check.Number, sensitivity: int, rng: Generator) -> int:
    """Return an index chosen with probability proportional to exp(epsilon score / (2 sensitivity)).

    Promise: epsilon-DP, exactly (published and proven), when one unit changes no score by more than `sensitivity`;
        the time, unlike the choice, is not protected: about n / sum of exp(-exponents) proposals.
    Error: the best score exceeds the chosen one by less than 2 sensitivity (ln n + t) / epsilon
        with probability >= 1 - exp(-t).
    Paper: McSherry and Talwar 2007, Theorem 6.

    Args:
        scores: int64, one per candidate.
        epsilon: the loss of the choice.
        sensitivity: of every score, an integer >= 1.
        rng: the generator.

    Raises:
        ValueError: no scores, or a parameter out of range.

    >>> from dpress.core.basics import rng
    >>> exponential(np.array([0, 90, 10]), epsilon=1, sensitivity=1, rng=rng.seeded(1))
    1
    """
    exponents = _exponents(scores, epsilon, sensitivity)
    while True:
        candidates = below(scores.size, min(BLOCK, 2 * scores.size), rng=rng)
        kept = candidates[exponents.flip(candidates, rng=rng)]
        if kept.size:
            return int(kept[0])


def exponential_probabilities(scores: Scores, *, epsilon: check.Number, sensitivity: int) -> Probabilities:
    """Return the output distribution of `exponential`.

    >>> exponential_probabilities(np.array([0, 2]), epsilon=1, sensitivity=1).round(3).tolist()
    [0.269, 0.731]
    """
    weights = np.exp(-_exponents(scores, epsilon, sensitivity).floats())
    probabilities: Probabilities = weights / weights.sum()
    return probabilities


def report_noisy_max(scores: Scores, *, epsilon: check.Number, sensitivity: int, rng: Generator) -> int:
    """Return the index of the largest score after exponential noise of scale 2 sensitivity / epsilon.

    One coin of probability exp(-epsilon (max - score) / (2 sensitivity)) per candidate, then a uniform choice among
    the successes: permute-and-flip, for its first success in a random order is uniform among all of them.

    Promise: epsilon-DP, exactly (published and proven), when one unit changes no score by more than `sensitivity`.
    Error: the expected gap to the best score is never above that of `exponential`, and down to half of it.
    Paper: McKenna and Sheldon 2020, Theorems 1-3; Ding et al. 2021 (equal to report-noisy-max).

    Args:
        scores: int64, one per candidate.
        epsilon: the loss of the choice.
        sensitivity: of every score, an integer >= 1.
        rng: the generator.

    Raises:
        ValueError: no scores, or a parameter out of range.

    >>> from dpress.core.basics import rng
    >>> report_noisy_max(np.array([0, 90, 10]), epsilon=1, sensitivity=1, rng=rng.seeded(1))
    1
    """
    exponents = _exponents(scores, epsilon, sensitivity)
    successes = np.flatnonzero(exponents.flip(np.arange(scores.size), rng=rng))
    return int(successes[below(successes.size, 1, rng=rng)[0]])
