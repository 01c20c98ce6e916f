"""A table of noise: drawn as it says to the last bit, its moments, and what shifting it by one costs."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.noise.tabulated import WHOLE, Tabulated

FALSE_ALARM = 1e-6
DRAWS = 40_000
UNEVEN = Tabulated(lowest=-2, weights=(WHOLE // 8, WHOLE // 2, WHOLE // 4, 0, WHOLE // 8))


class Words:
    """A generator that gives the words it was made of."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, size: int) -> np.ndarray:
        given, self.left = self.left[:size], self.left[size:]
        return np.array(given, dtype=np.uint64)


def fits(drawn: np.ndarray, table: Tabulated) -> bool:
    kept = [place for place, own in enumerate(table.weights) if own]
    expected = np.array([table.weights[place] / WHOLE for place in kept]) * drawn.size
    observed = np.bincount(drawn - table.lowest, minlength=len(table.weights))
    if observed.sum() != observed[kept].sum():
        return False
    statistic = float(((observed[kept] - expected) ** 2 / expected).sum())
    return stats.chi2.sf(statistic, len(kept) - 1) > FALSE_ALARM


def test_draws_fit_the_table_and_no_other() -> None:
    drawn = UNEVEN.sample(DRAWS, rng=rng.seeded(1))
    assert fits(drawn, UNEVEN)
    other = Tabulated(lowest=-2, weights=(WHOLE // 8, WHOLE // 2, WHOLE // 8, WHOLE // 8, WHOLE // 8))
    assert not fits(drawn, other)  # the control
    shifted = Tabulated(lowest=-2, weights=(WHOLE * 9 // 64, WHOLE * 31 // 64, WHOLE // 4, 0, WHOLE // 8))
    assert not fits(drawn, shifted)


@pytest.mark.parametrize(("low", "place"), [(0, 0), (4, 0), (5, 1), (6, 1), (7, 2), (8, 3), (2**64 - 1, 3)])
def test_a_tie_of_the_first_word_is_decided_by_the_second(low: int, place: int) -> None:
    head = 3 << 64
    table = Tabulated(lowest=10, weights=(head + 5, 2, 1, WHOLE - head - 8))
    assert table.sample(1, rng=Words(3, low)).tolist() == [10 + place]  # type: ignore[arg-type]
    assert table.sample(2, rng=Words(2, 4)).tolist() == [10, 13]  # type: ignore[arg-type]


def test_moments_are_those_of_the_table() -> None:
    values, chances = np.arange(-2, 3), np.array([0.125, 0.5, 0.25, 0, 0.125])
    mean = float(values @ chances)
    assert float(UNEVEN.mean) == mean
    assert float(UNEVEN.variance) == pytest.approx(float((values - mean) ** 2 @ chances), rel=1e-12)
    assert [UNEVEN.at_least(value) for value in (-3, -1, 2, 3)] == [1, Fraction(7, 8), Fraction(1, 8), 0]


@pytest.mark.parametrize("ratio", [Fraction(1), Fraction(3, 2), Fraction(4), Fraction(9)])
def test_excess_is_the_hockey_stick_of_a_shift(ratio: Fraction) -> None:
    own = {UNEVEN.lowest + place: Fraction(weight, WHOLE) for place, weight in enumerate(UNEVEN.weights)}
    found = [
        sum(max(Fraction(0), own.get(x, Fraction(0)) - ratio * own.get(x + move, Fraction(0))) for x in range(-4, 5))
        for move in (-1, 1)
    ]
    assert UNEVEN.excess(ratio) == max(found)


@pytest.mark.parametrize("weights", [(), (WHOLE - 1,), (-1, WHOLE + 1)])
def test_weights_that_are_no_distribution_are_refused(weights: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"weights must be integers >= 0 that add up to 2\^128"):
        Tabulated(lowest=0, weights=weights)
