"""A particle sample has the tables of the log-linear model that a dense fit gives."""

import itertools

import numpy as np
import pytest

from dpress.core import rng
from dpress.inference.joint.fit import fit_margins
from dpress.inference.records import particles

SHARES = (np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.4]), np.array([0.1, 0.2, 0.3, 0.4]))
SHAPE = (3, 2, 4)


def joint() -> np.ndarray:
    """A joint table with these margins, and dependence in every pair."""
    even = (rng.seeded(3).words(24) % np.uint64(90) + np.uint64(10)).astype(float).reshape(SHAPE)
    return fit_margins(even / even.sum(), {(axis,): own for axis, own in enumerate(SHARES)}).table


def pairs(table: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    return {(i, j): table.sum(axis=3 - i - j) for i, j in itertools.combinations(range(3), 2)}


def dense(one: particles.Particles) -> np.ndarray:
    cells = np.ravel_multi_index(one.codes, SHAPE)
    return np.bincount(cells, weights=one.weights, minlength=24).reshape(SHAPE)


def apart(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).sum() / 2)


def test_records_start_independent() -> None:
    one = particles.initial(SHARES, rng=rng.seeded(1), size=1 << 14)
    product = np.einsum("a,b,c->abc", *SHARES)
    assert apart(dense(one), product) < 0.03
    for axis, own in enumerate(SHARES):
        assert np.bincount(one.codes[axis]) / (1 << 14) == pytest.approx(own, abs=1e-4)
    assert one.effective_share == pytest.approx(1)


def test_raking_gives_the_tables_and_what_the_dense_fit_gives_beyond_them() -> None:
    asked = pairs(joint())
    asked.pop((0, 2))
    one = particles.rake(
        particles.initial(SHARES, rng=rng.seeded(1), size=1 << 14), asked, passes=30, rng=rng.seeded(2)
    )
    expected = fit_margins(np.full(SHAPE, 1 / 24), asked).table
    assert particles.distance(one, asked) < 1e-3
    assert apart(dense(one), expected) < 0.03
    assert apart(np.einsum("a,b,c->abc", *SHARES), expected) > 0.06


def test_moving_keeps_the_model_and_evens_the_weights() -> None:
    asked = pairs(joint())
    one = particles.rake(
        particles.initial(SHARES, rng=rng.seeded(1), size=1 << 14), asked, passes=30, rng=rng.seeded(2)
    )
    moved = particles.move(one, rng=rng.seeded(3))
    assert moved.effective_share == pytest.approx(1)
    assert one.effective_share < 0.99
    assert apart(dense(moved), dense(one)) < 0.03
    wrong = particles.move(
        particles.Particles(shares=one.shares, factors={}, codes=one.codes, weights=one.weights), rng=rng.seeded(3)
    )
    assert apart(dense(wrong), dense(one)) > 0.06  # without its factors it forgets them


def test_a_crowd_whose_weight_few_records_bear_is_drawn_anew() -> None:
    share = np.full(20, 0.05)
    asked = {(0, 1): np.eye(20) * 0.05 * 0.7 + 0.3 / 400}
    one = particles.rake(
        particles.initial((share, share), rng=rng.seeded(1), size=8000), asked, passes=3, rng=rng.seeded(2)
    )
    assert one.effective_share > particles.LEAST_EFFECTIVE
    assert particles.distance(one, asked) < 0.01


@pytest.mark.parametrize("size", [0, 1, 700, 2500])
def test_as_many_records_as_asked_for_with_the_models_tables(size: int) -> None:
    asked = pairs(joint())
    one = particles.rake(particles.initial(SHARES, rng=rng.seeded(1), size=1000), asked, passes=20, rng=rng.seeded(2))
    codes = particles.sample(one, asked, size, rng=rng.seeded(4))
    assert codes.shape == (3, size)
    if size >= 700:
        found = np.bincount(np.ravel_multi_index(codes[:2], SHAPE[:2]), minlength=6) / size
        assert apart(found, asked[0, 1].ravel()) < 0.02
        assert len({tuple(codes[:, place]) for place in range(20)}) > 5  # in no order
