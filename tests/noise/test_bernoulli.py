"""Exact coins: exactness at the ties, frequencies, and a biased coin that must be caught."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.noise.bernoulli import BLOCK, bernoulli, exponential_coins
from dpress.noise.expansion import exponential_floor

Fits = Callable[[np.ndarray, np.ndarray], bool]
FLIPS = 400_000


def counts(coins: np.ndarray) -> np.ndarray:
    return np.array([coins.sum(), coins.size - coins.sum()])


def expected(p: float) -> np.ndarray:
    return np.array([p, 1 - p]) * FLIPS


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(1, 50), Fraction(9, 10)])
def test_frequency_is_p_and_a_biased_coin_is_rejected(chi_square_fits: Fits, p: Fraction) -> None:
    coins = bernoulli(p, FLIPS, rng=rng.seeded(1))
    assert chi_square_fits(counts(coins), expected(float(p)))
    biased = bernoulli(p * Fraction(9, 10), FLIPS, rng=rng.seeded(1))
    assert not chi_square_fits(counts(biased), expected(float(p)))


def test_zero_and_one_are_certain() -> None:
    assert not bernoulli(Fraction(0), 3 * BLOCK + 5, rng=rng.seeded(1)).any()
    assert bernoulli(Fraction(1), 3 * BLOCK + 5, rng=rng.seeded(1)).all()


def test_probability_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match="p must lie between 0 and 1"):
        bernoulli(Fraction(3, 2), 1, rng=rng.seeded(1))


@pytest.mark.parametrize(
    ("p", "words", "heads"),
    [
        (Fraction(1, 3), [0x5555555555555555, 0x5555555555555554], True),
        (Fraction(1, 3), [0x5555555555555555, 0x5555555555555556], False),
        (Fraction(1, 3), [0x5555555555555555, 0x5555555555555555, 0], True),
        (Fraction(1, 2), [2**63 - 1], True),
        (Fraction(1, 2), [2**63, 0, 1], False),
        (Fraction(1), [2**64 - 1], True),
        (Fraction(0), [0, 0, 9], False),
        (Fraction(1, 2**70), [0, 2**58 - 1], True),
        (Fraction(1, 2**70), [0, 2**58, 1], False),
    ],
)
def test_ties_read_the_next_digits_of_p(scripted: type, p: Fraction, words: list[int], *, heads: bool) -> None:
    fake = scripted(words)
    assert bernoulli(p, 1, rng=fake).tolist() == [heads]
    assert fake.left == []


def test_one_word_a_coin(counting: type) -> None:
    fake = counting(1)
    bernoulli(Fraction(1, 7), BLOCK + 3, rng=fake)
    assert fake.count == BLOCK + 3


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 9), Fraction(1), Fraction(13), Fraction(41)])
def test_exponential_coin_is_exact_next_to_the_threshold(scripted: type, gamma: Fraction) -> None:
    threshold = exponential_floor(gamma, 64)
    offsets = [-(2**22), -(2**10), -2, -1, 1, 2, 2**10, 2**22]
    words = [word for offset in offsets if 0 <= (word := threshold + offset) < 2**64]
    asked: list[int] = []

    def exact(lane: int) -> Fraction:
        asked.append(lane)
        return gamma

    coins = exponential_coins(np.full(len(words), float(gamma)), exact, rng=scripted(words))
    assert coins.tolist() == [word < threshold for word in words]
    assert len(asked) >= min(len(words), 2)


def test_exponential_coin_reads_on_at_a_tie(scripted: type) -> None:
    gamma = Fraction(5, 7)
    first, second = exponential_floor(gamma, 64), exponential_floor(gamma, 128) % 2**64
    for word, heads in ((second - 1, True), (second + 1, False)):
        fake = scripted([first, word])
        assert exponential_coins(np.array([5 / 7]), lambda _: gamma, rng=fake).tolist() == [heads]


def test_a_float_comparison_alone_would_get_bits_wrong(scripted: type) -> None:
    """The negative control: without the margin, words near the threshold are misjudged."""
    wrong = 0
    for numerator in range(1, 60):
        gamma = Fraction(numerator, 7)
        threshold = exponential_floor(gamma, 64)
        words = np.array([threshold - 1, threshold + 1], dtype=np.uint64)
        naive = words * 2.0**-64 < np.exp(-numerator / 7)
        wrong += int((naive != [True, False]).any())
        exact = exponential_coins(np.full(2, numerator / 7), lambda _, gamma=gamma: gamma, rng=scripted(words.tolist()))
        assert exact.tolist() == [True, False]
    assert wrong > 20


def test_huge_exponents_are_decided_without_overflow(scripted: type) -> None:
    coins = exponential_coins(np.array([1e22, 700.0]), lambda _: Fraction(10**22), rng=scripted([0, 0, 1, 1]))
    assert coins.tolist() == [False, False]


@pytest.mark.parametrize("gamma", [Fraction(1, 50), Fraction(1), Fraction(6)])
def test_exponential_frequency_and_an_exponent_ten_percent_off_is_rejected(
    chi_square_fits: Fits, gamma: Fraction
) -> None:
    coins = exponential_coins(np.full(FLIPS, float(gamma)), lambda _: gamma, rng=rng.seeded(2))
    assert chi_square_fits(counts(coins), expected(np.exp(-float(gamma))))
    assert not chi_square_fits(counts(coins), expected(np.exp(-float(gamma) * 1.1)))
