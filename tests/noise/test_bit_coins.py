"""Packed coins: exact by enumeration for short thresholds, by fit for long ones. False alarms with chance 1e-6."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.noise import bit_coins
from dpress.noise.response import truth_probability

FALSE_ALARM = 1e-6
AMOUNT = 1 << 20  # bytes
LONG = 1 - truth_probability(Fraction(1))


class Words:
    """A generator that hands out the given words one after the other, in every place of what it fills."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)

    def fill(self, out: np.ndarray) -> None:
        out[...] = np.uint64(self.left.pop(0))


@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_exactly_t_of_all_sequences_of_random_bits_give_a_one(digits: int) -> None:
    lanes = np.arange(1 << digits)
    sequences = [sum(int(lane >> digit & 1) << int(lane) for lane in lanes) for digit in range(digits)]
    for times in range(1 << digits):
        out = np.empty(1, dtype=np.uint64)
        pattern = bit_coins.digits_of(times << (64 - digits))
        bit_coins._fill(out, pattern, rng=Words(sequences))
        assert int(np.bitwise_count(out[0] & np.uint64((1 << (1 << digits)) - 1))) == times


def byte_counts_fit(drawn: np.ndarray, p: float) -> bool:
    """Chi-square of whole bytes: eight neighbouring lanes at once, so that dependent lanes fail too."""
    ones = np.bitwise_count(np.arange(256, dtype=np.uint8)).astype(int)
    expected = p**ones * (1 - p) ** (8 - ones) * drawn.size
    return bool(stats.chisquare(np.bincount(drawn, minlength=256), expected).pvalue > FALSE_ALARM)


@pytest.mark.parametrize("p", [LONG, Fraction(1, 2), Fraction(3, 16), Fraction(2**63 + 1, 2**64)])
def test_bytes_fit_and_one_percent_off_does_not(p: Fraction) -> None:
    drawn = bit_coins.packed_coins(p, AMOUNT, rng=rng.seeded(1))
    assert byte_counts_fit(drawn, float(p))
    assert not byte_counts_fit(drawn, float(p) * 1.01)


def test_few_bytes_fit_too() -> None:
    generator = rng.seeded(2)
    drawn = np.concatenate([bit_coins.packed_coins(LONG, 500, rng=generator) for _ in range(400)])
    assert byte_counts_fit(drawn, float(LONG))
    assert not byte_counts_fit(drawn, float(LONG) * 1.03)


def test_repeated_lanes_would_be_found() -> None:
    drawn = bit_coins.packed_coins(LONG, AMOUNT // 2, rng=rng.seeded(3)) & 0x0F
    assert not byte_counts_fit(drawn | drawn << 4, float(LONG))


def test_a_word_of_coins_takes_about_nine_random_words() -> None:
    class Counting:
        inner, count = rng.seeded(4), 0

        def fill(self, out: np.ndarray) -> None:
            self.count += out.size
            self.inner.fill(out)

    counting = Counting()
    bit_coins.packed_coins(LONG, AMOUNT, rng=counting)
    assert 8 < counting.count / (AMOUNT // 8) < 9


@pytest.mark.parametrize("size", [0, 1, 511, 512, 513, 5001])
def test_certain_bits_and_any_number_of_bytes(size: int) -> None:
    assert bit_coins.packed_coins(Fraction(0), size, rng=rng.seeded(5)).tolist() == [0] * size
    assert bit_coins.packed_coins(Fraction(1), size, rng=rng.seeded(5)).tolist() == [255] * size
    assert bit_coins.packed_coins(LONG, size, rng=rng.seeded(5)).shape == (size,)
    assert bit_coins.coins(Fraction(1), size, rng=rng.seeded(5)).all()
    assert not bit_coins.coins(Fraction(0), size, rng=rng.seeded(5)).any()


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(-1, 2), Fraction(3, 2), Fraction(1, 2**65)])
def test_other_probabilities_are_refused(p: Fraction) -> None:
    with pytest.raises(ValueError, match="multiple of"):
        bit_coins.packed_coins(p, 8, rng=rng.seeded(6))
