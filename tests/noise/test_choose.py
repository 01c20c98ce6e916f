"""Choices: output distributions against brute force, sampling against them, the loss over all neighbours."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.noise.noisy_max import report_noisy_max_probabilities

from dpress.core.basics import rng
from dpress.noise.choose import (
    exponential,
    exponential_probabilities,
    report_noisy_max,
)

Fits = Callable[[np.ndarray, np.ndarray], bool]
SCORES = np.array([3, 0, 5, 5, -2])
DRAWS = 12_000
CHOICES = [(exponential, exponential_probabilities), (report_noisy_max, report_noisy_max_probabilities)]


def tally(choose: Callable[..., int], epsilon: float) -> np.ndarray:
    generator = rng.seeded(1)
    picks = [choose(SCORES, epsilon=epsilon, sensitivity=1, rng=generator) for _ in range(DRAWS)]
    return np.bincount(picks, minlength=len(SCORES))


@pytest.mark.slow
@pytest.mark.parametrize(("choose", "distribution"), CHOICES)
def test_choices_fit_their_distribution_and_a_wrong_epsilon_is_rejected(
    chi_square_fits: Fits, choose: Callable[..., int], distribution: Callable[..., np.ndarray]
) -> None:
    """False alarm 1e-6; an epsilon a fifth too large is found with power .999999."""
    expected = distribution(SCORES, epsilon=0.5, sensitivity=1) * DRAWS
    assert chi_square_fits(tally(choose, 0.5), expected)
    assert not chi_square_fits(tally(choose, 0.6), expected)


def permute_and_flip(weights: list[float]) -> np.ndarray:
    """By its definition: every order equally likely, first success wins."""
    wins = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights))):
        failed = 1.0
        for candidate in order:
            wins[candidate] += failed * weights[candidate]
            failed *= 1 - weights[candidate]
    return wins / math.factorial(len(weights))


def exponential_noise_argmax(scores: np.ndarray, rate: float) -> np.ndarray:
    """P(argmax of score + Exp(rate)) by numerical integration: Ding et al. 2021."""
    at = np.linspace(scores.max(), scores.max() + 60 / rate, 400_001)
    density = rate * np.exp(-rate * (at - scores[:, None]))
    below = 1 - np.exp(-rate * (at - scores[:, None]))
    others = np.array([np.prod(np.delete(below, i, axis=0), axis=0) for i in range(len(scores))])
    return np.trapezoid(density * others, at, axis=1)


def test_permute_and_flip_distribution_equals_both_definitions() -> None:
    got = report_noisy_max_probabilities(SCORES, epsilon=0.5, sensitivity=1)
    weights = np.exp(-0.25 * (SCORES.max() - SCORES)).tolist()
    assert np.allclose(got, permute_and_flip(weights), atol=1e-14)
    assert np.allclose(got, exponential_noise_argmax(SCORES, 0.25), atol=1e-7)


def test_exponential_distribution_is_the_formula() -> None:
    weights = np.exp(0.5 * SCORES / 6)
    got = exponential_probabilities(SCORES, epsilon=0.5, sensitivity=3)
    assert np.allclose(got, weights / weights.sum(), atol=1e-15)


@pytest.mark.parametrize("distribution", [exponential_probabilities, report_noisy_max_probabilities])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_loss_over_all_neighbouring_score_lists_is_at_most_epsilon(
    distribution: Callable[..., np.ndarray], sensitivity: int
) -> None:
    epsilon, scores = Fraction(7, 10), np.array([4, 0, 3, 3])
    worst = 0.0
    for change in itertools.product([-sensitivity, 0, sensitivity], repeat=4):
        pair = [distribution(s, epsilon=epsilon, sensitivity=sensitivity) for s in (scores, scores + change)]
        worst = max(worst, float(np.abs(np.log(pair[0] / pair[1])).max()))
    assert worst <= float(epsilon) + 1e-12
    assert worst > 0.6 * float(epsilon)
    far = scores + np.array([-3, 3, 3, 3]) * sensitivity
    pair = [distribution(s, epsilon=epsilon, sensitivity=sensitivity) for s in (scores, far)]
    assert np.abs(np.log(pair[0] / pair[1])).max() > float(epsilon)


def test_permute_and_flip_has_the_smaller_expected_gap() -> None:
    for scores in (SCORES, np.array([10, 0, 0, 0]), np.array([1, 1, 0])):
        gaps = scores.max() - scores
        flip, exp = (distribution(scores, epsilon=1, sensitivity=1) @ gaps for _, distribution in reversed(CHOICES))
        assert exp / 2 <= flip <= exp


@pytest.mark.parametrize("choose", [exponential, report_noisy_max])
def test_extreme_scores_never_overflow(choose: Callable[..., int]) -> None:
    scores = np.array([-(2**63), 2**63 - 1, 0])
    assert {choose(scores, epsilon=1000, sensitivity=1, rng=rng.seeded(seed)) for seed in range(50)} == {1}
    assert {choose(scores, epsilon="1e-9", sensitivity=10**18, rng=rng.seeded(seed)) for seed in range(50)} == {0, 1, 2}


@pytest.mark.parametrize("choose", [exponential, report_noisy_max])
def test_a_single_candidate_and_equal_scores(choose: Callable[..., int]) -> None:
    assert choose(np.array([-7]), epsilon=1, sensitivity=1, rng=rng.seeded(1)) == 0
    picks = [choose(np.zeros(3, dtype=np.int64), epsilon=1, sensitivity=1, rng=rng.seeded(s)) for s in range(100)]
    assert set(picks) == {0, 1, 2}


@pytest.mark.parametrize("choose", [exponential, report_noisy_max])
@pytest.mark.parametrize("scores", [np.array([], dtype=np.int64), np.zeros((2, 2), dtype=np.int64), np.array([0.5])])
def test_scores_that_are_no_integer_vector_are_refused(choose: Callable[..., int], scores: np.ndarray) -> None:
    with pytest.raises(ValueError, match="non-empty int64 vector"):
        choose(scores, epsilon=1, sensitivity=1, rng=rng.seeded(1))


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0, 1), (1, 0), (1, 0.5)])
def test_parameters_out_of_range_are_refused(epsilon: float, sensitivity: float) -> None:
    with pytest.raises(ValueError, match="must"):
        exponential(SCORES, epsilon=epsilon, sensitivity=sensitivity, rng=rng.seeded(1))
