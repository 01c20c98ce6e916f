"""Raked records have the tables asked for; drawn anew they have them with one weight."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.methods.people import Codes
from dpress.inference.records.latent_classes import evidence, fit, initial
from dpress.inference.records.raking import raked, redrawn

SIZES = (3, 4, 2)
PAIRS = list(itertools.combinations(range(3), 2))
ONE_WAY = (np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.6, 0.4]))


def tables() -> np.ndarray:
    """Of classes in which the second attribute leans to the first."""
    leaning = np.full((3, 4), 1 / 12) + np.pad(np.diag([0.1, -0.05, 0.02]), ((0, 0), (0, 1)))
    known = evidence(ONE_WAY, {(0, 1): (leaning / leaning.sum(), 1e-9)})
    return fit(initial(ONE_WAY, rng=rng.seeded(2), classes=40), known, 100).tables


def even(records: int) -> Codes:
    words = (rng.seeded(4).words(3 * records) >> np.uint64(20)).astype(np.int64).reshape(3, records)
    return np.array([row % size for row, size in zip(words, SIZES, strict=True)], dtype=np.int32)


def apart(codes: Codes, weights: np.ndarray) -> float:
    asked, ends, found = tables(), np.cumsum(SIZES), []
    for i, j in PAIRS:
        own = np.bincount(codes[i] * SIZES[j] + codes[j], weights=weights, minlength=SIZES[i] * SIZES[j])
        block = asked[ends[i] - SIZES[i] : ends[i], ends[j] - SIZES[j] : ends[j]]
        found.append(np.abs(own - block.ravel()).sum() / 2)
    return float(max(found))


def test_records_are_weighted_to_the_tables_and_drawn_anew_with_them() -> None:
    codes = even(20_000)
    same = np.full(20_000, 1 / 20_000)
    weights = raked(codes, SIZES, tables(), PAIRS)
    assert apart(codes, same) > 0.15
    assert weights.sum() == pytest.approx(1)
    assert apart(codes, weights) < 0.005
    found = redrawn(codes, weights, rng=rng.seeded(6))
    assert apart(found, same) < 0.008
    assert apart(redrawn(codes, same, rng=rng.seeded(6)), same) > 0.15
    assert np.array_equal(np.lexsort(found[::-1]), np.arange(20_000))


@pytest.mark.parametrize("records", [0, 1])
def test_hardly_any_records_stay_as_many(records: int) -> None:
    codes = even(5)[:, :records]
    weights = raked(codes, SIZES, tables(), PAIRS)
    assert weights.shape == (records,)
    assert redrawn(codes, weights, rng=rng.seeded(6)).shape == (3, records)
