"""Shrinkage of pair tables toward the product: less error on average, signs, margins, edge cases; chi-square."""

from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.joint.bootstrap import resampled
from dpress.inference.joint.contrast import contrasts
from dpress.inference.joint.factors import Joint, dense, independent
from dpress.inference.joint.independence_tests import chi_square_tests
from dpress.inference.joint.maxent import full
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.joint.shrinkage import centred, degrees_of_freedom, shrunk

SHAPE = (4, 3, 2)
SETS = ((0, 1), (0, 2), (1, 2))
RUNS = 60


def pair_tables(users: int, sets: tuple[tuple[int, ...], ...] = SETS) -> Tables:
    tables = [
        NoisyTable(
            axes=axes,
            shares=np.full([SHAPE[axis] for axis in axes], 1 / np.prod([SHAPE[axis] for axis in axes])),
            noise=Noise(users=users, held=3.0, other=2.0, sampling=0.5),
        )
        for axes in sets
    ]
    return Tables(shape=SHAPE, noisy=tuple(tables))


def mixed(strength: float, uniforms: Callable[[int, int], np.ndarray]) -> Joint:
    """The product of uneven one-way tables, mixed with a table of dependent attributes."""
    ways = [np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.3])]
    base = np.einsum("i,j,k->ijk", *ways)
    other = uniforms(24, 11).reshape(SHAPE) ** 4
    return dense((1 - strength) * base + strength * other / other.sum())


@pytest.mark.parametrize(("strength", "users"), [(0.0, 300), (0.3, 300), (0.3, 20000), (0.9, 1000)])
def test_shrinkage_lowers_the_squared_error(
    strength: float, users: int, uniforms: Callable[[int, int], np.ndarray]
) -> None:
    truth, source = mixed(strength, uniforms), rng.seeded(users)
    raw, drawn, product = 0.0, 0.0, 0.0
    for _ in range(RUNS):
        tables = resampled(pair_tables(users), truth, rng=source)
        found = shrunk(tables)
        ways = independent([found[axis,].shares for axis in range(3)])
        for pair in SETS:
            exact = truth.marginal(pair)
            raw += float(((tables.table(pair) - exact) ** 2).sum())
            drawn += float(((found[pair].shares - exact) ** 2).sum())
            product += float(((ways.marginal(pair) - exact) ** 2).sum())
    assert drawn < raw
    assert drawn < 1.3 * product  # hardly worse where there is nothing to find
    if strength and users > 900:
        assert drawn < 0.75 * product


def test_shares_are_nonnegative_and_have_the_one_way_margins(uniforms: Callable[[int, int], np.ndarray]) -> None:
    tables = resampled(pair_tables(200), mixed(0.5, uniforms), rng=rng.seeded(2))
    found = shrunk(tables)
    assert any(tables.table(pair).min() < 0 for pair in SETS)
    for first, second in SETS:
        one = found[first, second]
        assert one.shares.min() >= 0
        assert np.allclose(one.shares.sum(axis=1), found[first,].shares, atol=1e-6)
        assert np.allclose(one.shares.sum(axis=0), found[second,].shares, atol=1e-6)
        assert one.factors.min() >= 0
        assert one.factors.max() <= 1
        assert one.deviations.shape == one.shares.shape


@pytest.mark.slow
def test_deviations_for_fixed_factors_cover_what_happens(uniforms: Callable[[int, int], np.ndarray]) -> None:
    truth, source = mixed(0.9, uniforms), rng.seeded(8)
    found = [shrunk(resampled(pair_tables(100_000), truth, rng=source))[0, 1] for _ in range(200)]
    seen = np.std([one.shares for one in found], axis=0)
    assert np.all(np.abs(np.sqrt((seen**2).mean() / (found[0].deviations ** 2).mean()) - 1) < 0.25)


def test_triples_are_shrunk_toward_what_their_pairs_allow(uniforms: Callable[[int, int], np.ndarray]) -> None:
    truth = mixed(0.5, uniforms)
    found = shrunk(resampled(pair_tables(10**7, ((0, 1, 2),)), truth, rng=rng.seeded(5)), order=3)
    assert np.abs(found[0, 1, 2].shares - truth.marginal((0, 1, 2))).sum() < 0.02
    weak = shrunk(resampled(pair_tables(50, ((0, 1, 2),)), truth, rng=rng.seeded(5)), order=3)
    assert np.allclose(weak[0, 1, 2].shares.sum(axis=2), weak[0, 1].shares, atol=1e-3)


def test_edge_cases() -> None:
    noise = Noise(users=100, held=1.0, other=0.5, sampling=0.5)
    alone = Tables(shape=(3,), noisy=(NoisyTable(axes=(0,), shares=np.array([0.8, 0.3, -0.1]), noise=noise),))
    assert np.allclose(shrunk(alone)[0,].shares, [0.75, 0.25, 0])
    assert chi_square_tests(contrasts(alone)) == ()
    flat = Tables(shape=(1, 2), noisy=(NoisyTable(axes=(0, 1), shares=np.array([[1.1, -0.1]]), noise=noise),))
    assert np.allclose(shrunk(flat)[0, 1].shares, [[1, 0]])
    assert chi_square_tests(contrasts(flat)) == ()
    corner = np.array([[1.0, 0.0], [0.0, 0.0]])
    exact = Noise(users=100, held=0.0, other=0.0, sampling=0.0)
    for one in (noise, exact):
        mass = Tables(shape=(2, 2), noisy=(NoisyTable(axes=(0, 1), shares=corner, noise=one),))
        assert np.allclose(shrunk(mass)[0, 1].shares, corner)
        assert not chi_square_tests(contrasts(mass))[0].significant


def test_a_pair_without_answers_is_no_table(uniforms: Callable[[int, int], np.ndarray]) -> None:
    tables = resampled(pair_tables(1000, ((0, 1), (1, 2))), mixed(0.5, uniforms), rng=rng.seeded(3))
    found = shrunk(tables)
    assert (0, 2) not in found
    assert full(SHAPE, {axes: one.shares for axes, one in found.items()}).gap < 1e-3


@pytest.mark.slow
def test_evidence_rarely_accuses_independent_attributes_and_finds_dependent_ones(
    uniforms: Callable[[int, int], np.ndarray],
) -> None:
    """Binomial(300, 0.05) exceeds 40 with chance < 1e-6."""
    alarms = {}
    for strength in (0.0, 0.5):
        source, truth = rng.seeded(17), mixed(strength, uniforms)
        found = [chi_square_tests(contrasts(resampled(pair_tables(2000), truth, rng=source))) for _ in range(300)]
        alarms[strength] = sum(any(one.significant for one in each) for each in found)
    assert alarms[0.0] <= 40
    assert alarms[0.5] > 150
    chances = [one.p_value for each in found for one in each]
    assert all(0 <= chance <= 1 for chance in chances)


def test_centring_takes_the_margins_away(uniforms: Callable[[int, int], np.ndarray]) -> None:
    table = centred(uniforms(24, 1).reshape(SHAPE))
    assert all(np.allclose(table.sum(axis=axis), 0) for axis in range(3))
    assert degrees_of_freedom(SHAPE) == 6
