"""Discrete Laplace: fit, exact branches, formulas against brute force, and planted faults."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.noise import laplace
from dpress.noise.expansion import exponential_floor, logistic_floor
from dpress.noise.laplace import LEAST, DiscreteLaplace

Fits = Callable[[np.ndarray, Callable[[np.ndarray], np.ndarray]], bool]
DRAWS = 400_000
ONES = 2**64 - 1
SCALES = [Fraction(1, 4), Fraction(1), Fraction(17, 5), Fraction(40), Fraction(1000)]


@pytest.mark.parametrize("scale", SCALES)
def test_draws_fit_the_mass_function(fits: Fits, scale: Fraction) -> None:
    noise = DiscreteLaplace(scale=scale)
    assert fits(noise.sample(DRAWS, rng=rng.seeded(1)), noise.pmf)


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_five_percent_off_is_rejected(fits: Fits, scale: Fraction) -> None:
    draws = DiscreteLaplace(scale=scale * Fraction(21, 20)).sample(DRAWS, rng=rng.seeded(1))
    assert not fits(draws, DiscreteLaplace(scale=scale).pmf)


@pytest.mark.parametrize("digit", [0, 1, 2])
def test_swapped_digit_thresholds_are_rejected(fits: Fits, monkeypatch: pytest.MonkeyPatch, digit: int) -> None:
    right = laplace._digits(Fraction(2))
    order = list(range(len(right.thresholds)))
    order[digit], order[digit + 1] = order[digit + 1], order[digit]
    wrong = dataclasses.replace(right, thresholds=right.thresholds[order])
    monkeypatch.setattr(laplace, "_digits", lambda _: wrong)
    noise = DiscreteLaplace(scale=Fraction(2))
    assert not fits(noise.sample(DRAWS, rng=rng.seeded(1)), noise.pmf)


@pytest.mark.parametrize("scale", [Fraction(1, 7), Fraction(1), Fraction(9, 2), Fraction(50)])
def test_digits_and_tail_compose_to_the_mass_function(scale: Fraction) -> None:
    """The channel itself: multiply the digit coins out and convolve; no sampling."""
    plan = laplace._digits(scale)
    ones = [float(Fraction(coin(200), 2**200)) for coin in plan.coins]
    geometric = np.ones(1)
    for one in ones[:-1]:
        geometric = np.concatenate([geometric * (1 - one), geometric * one])
    middle = np.convolve(geometric, geometric[::-1])
    reach = len(geometric) - 1
    assert np.allclose(middle, DiscreteLaplace(scale=scale).pmf(np.arange(-reach, reach + 1)), rtol=1e-11, atol=1e-17)
    assert ones[-1] < 2.0**-64


def noise_words(scale: Fraction, changes: dict[tuple[int, int], int]) -> list[int]:
    """Words of one draw, all digits zero but the changed ones, keyed by (which geometric, digit)."""
    digits = laplace._digits(scale).digits
    words = np.full((2, digits + 1), ONES, dtype=np.uint64)
    for place, word in changes.items():
        words[place] = word
    return [int(word) for word in words.ravel()]


def test_ties_are_decided_by_the_next_digits_of_the_probability(scripted: type) -> None:
    for case in itertools.product([Fraction(1), Fraction(37, 3), Fraction(2**40)], [0, 3, 5], [0, 1]):
        scale, digit, which = case
        x = 2**digit / scale
        first, second = logistic_floor(x, 64), logistic_floor(x, 128) % 2**64
        for word, value in ((second - 1, 2**digit), (second + 1, 0), (0, 2**digit), (ONES, 0)):
            fake = scripted([*noise_words(scale, {(which, digit): first}), word])
            assert DiscreteLaplace(scale=scale).sample(1, rng=fake).tolist() == [value * (-1) ** which], case
            assert fake.left == [], case


def test_values_beyond_the_digits_are_drawn_exactly(scripted: type) -> None:
    """A zero word ties with the last coin; its next words decide, and each success adds 2^digits."""
    for case in itertools.product([Fraction(1, 1000), Fraction(1), Fraction(1000), Fraction(2**40)], [0, 1, 2, 5]):
        scale, more = case
        digits = laplace._digits(scale).digits
        x = 2**digits / scale
        deep, expansion = [], 64
        while not exponential_floor(x, expansion + 64):
            deep.append(0)
            expansion += 64
        threshold = exponential_floor(x, expansion + 64)
        success = [*deep, threshold - 1]
        failure = [*deep, threshold + 1]
        script = noise_words(scale, {(0, digits): 0}) + (success + ([0, *success] * (more - 1)) + [0] if more else [])
        fake = scripted(script + failure)
        assert DiscreteLaplace(scale=scale).sample(1, rng=fake).tolist() == [more << digits], case
        assert fake.left == [], case


def test_noise_too_big_for_64_bits_raises_and_never_wraps(scripted: type) -> None:
    scale = laplace.LARGEST_SCALE
    digits = laplace._digits(scale).digits
    fake = scripted(noise_words(scale, {(1, digits): 0}) + [0] * 601 + [ONES])
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        DiscreteLaplace(scale=scale).sample(1, rng=fake)


def test_word_count_depends_on_size_and_scale_only(counting: type) -> None:
    for case in itertools.product([Fraction(1, 1000), Fraction(1), Fraction(1000), Fraction(2**40)], [0, 1, 7, 70_000]):
        scale, size = case
        counts = set()
        for seed in range(3):
            fake = counting(seed)
            DiscreteLaplace(scale=scale).sample(size, rng=fake)
            counts.add(fake.count)
        assert counts == {size * 2 * (laplace._digits(scale).digits + 1)}, case


def test_a_replayed_generator_gives_the_same_noise_and_another_seed_does_not() -> None:
    noise = DiscreteLaplace(scale=Fraction(100))
    first, again, other = (noise.sample(100_000, rng=rng.seeded(seed)) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).mean() > 0.9


def test_tiny_scales_give_zero() -> None:
    assert not DiscreteLaplace(scale=Fraction(1, 1000)).sample(DRAWS, rng=rng.seeded(1)).any()


@pytest.mark.parametrize("exponent", [40, 48])
def test_huge_scales_fit_in_high_and_low_digits(
    chi_square_fits: Callable[[np.ndarray, np.ndarray], bool], exponent: int
) -> None:
    draws = DiscreteLaplace(scale=Fraction(2**exponent)).sample(DRAWS, rng=rng.seeded(1))
    low = np.bincount(draws & 63, minlength=64)
    assert chi_square_fits(low, np.full(64, DRAWS / 64))
    cuts = np.array([-math.log(1 - k / 20) * 2**exponent for k in range(1, 20)])
    for off, accepted in ((1.0, True), (1.05, False)):
        edges = np.concatenate([[-np.inf], -cuts[::-1] * off, [0.5], cuts * off, [np.inf]])
        assert chi_square_fits(np.histogram(draws, edges)[0], np.full(40, DRAWS / 40)) is accepted


@pytest.mark.parametrize("scale", [Fraction(1, 20), *SCALES])
def test_formulas_equal_brute_force(scale: Fraction) -> None:
    noise = DiscreteLaplace(scale=scale)
    x = np.arange(-45_000, 45_001)
    mass = np.exp(-np.abs(x) / float(scale))
    mass /= mass.sum()
    assert np.allclose(noise.pmf(x), mass, rtol=1e-12)
    assert math.isclose(noise.variance, max(LEAST, float((mass * x.astype(float) ** 2).sum())), rel_tol=1e-11)
    for probability in ("0.05", "0.5", "0.95", "0.999999"):
        within = np.cumsum(mass[45_000:] * np.where(x[45_000:] == 0, 1, 2))
        assert noise.quantile(probability) == int(np.flatnonzero(within >= float(probability))[0])


def test_variance_is_stable_at_both_ends() -> None:
    big, small = DiscreteLaplace(scale=Fraction(2**40)), DiscreteLaplace(scale=Fraction(1, 10))
    assert math.isclose(big.variance, 2.0**81, rel_tol=1e-12)
    assert math.isclose(small.variance, 2 * math.exp(-10) / math.expm1(-10) ** 2, rel_tol=1e-12)
    assert DiscreteLaplace(scale=Fraction(1, 500)).variance == LEAST  # its inverse is a weight
    assert abs(big.quantile(0.5) - (2**40 * math.log(2) - 0.5)) <= 1


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(30)])
def test_sample_moments_match(scale: Fraction, false_alarm: float) -> None:
    from scipy import stats

    noise = DiscreteLaplace(scale=scale)
    draws = noise.sample(DRAWS, rng=rng.seeded(3)).astype(float)
    limit = stats.norm.isf(false_alarm / 2)
    kurtosis_bound = 7 * noise.variance**2  # the fourth moment of Laplace is 6 variance^2, a little more at scale 1
    assert abs(draws.mean()) < limit * math.sqrt(noise.variance / DRAWS)
    assert abs((draws**2).mean() - noise.variance) < limit * math.sqrt(kurtosis_bound / DRAWS)
    assert abs((draws**2).mean() - 1.1 * noise.variance) > limit * math.sqrt(kurtosis_bound / DRAWS)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), ("0.1", 2), (Fraction(3, 7), 5)])
def test_largest_log_ratio_of_the_mass_function_is_epsilon(epsilon: str, sensitivity: int) -> None:
    noise = DiscreteLaplace.calibrate(epsilon=epsilon, l1_sensitivity=sensitivity)
    assert noise.loss(Fraction(sensitivity)) == PureDP(epsilon=Fraction(epsilon))
    x = np.arange(-30, 31)
    ratios = np.log(noise.pmf(x) / noise.pmf(x + sensitivity))
    assert math.isclose(np.abs(ratios).max(), float(Fraction(epsilon)), rel_tol=1e-12)


@pytest.mark.parametrize("scale", [0, -1, Fraction(1, 1001), 2**48 + 1, "nan"])
def test_scale_out_of_range_is_refused(scale: object) -> None:
    with pytest.raises(ValueError, match="scale must"):
        DiscreteLaplace(scale=scale)


def test_float_scales_mean_their_decimal_form() -> None:
    assert DiscreteLaplace(scale=0.1).scale == Fraction(1, 10)
