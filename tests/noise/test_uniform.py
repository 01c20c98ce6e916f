"""Uniform integers: exact rejection, frequencies, range."""

from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.noise.uniform import below

DRAWS = 300_000


@pytest.mark.parametrize("n", [2, 3, 7, 1000])
def test_frequencies_are_uniform_and_a_biased_remainder_is_rejected(
    chi_square_fits: Callable[[np.ndarray, np.ndarray], bool], n: int
) -> None:
    counts = np.bincount(below(n, DRAWS, rng=rng.seeded(n)), minlength=n)
    assert chi_square_fits(counts, np.full(n, DRAWS / n))
    skewed = np.bincount(below(n + 1, DRAWS, rng=rng.seeded(n)) % n, minlength=n)
    assert not chi_square_fits(skewed, np.full(n, DRAWS / n))


def test_words_of_the_incomplete_last_run_are_drawn_again(scripted: type) -> None:
    limit = 2**64 - 2**64 % 6
    fake = scripted([limit, 5, 2**64 - 1, limit - 1, limit, 8])
    assert below(6, 3, rng=fake).tolist() == [5, 5, 2]
    assert fake.left == []


def test_powers_of_two_and_one_reject_nothing(scripted: type) -> None:
    assert below(1, 1, rng=scripted([2**64 - 1])).tolist() == [0]
    assert below(2**63, 1, rng=scripted([2**64 - 1])).tolist() == [2**63 - 1]


@pytest.mark.parametrize("n", [0, -1, 2**63 + 1])
def test_range_is_checked(n: int) -> None:
    with pytest.raises(ValueError, match="n must lie between 1 and"):
        below(n, 1, rng=rng.seeded(1))
