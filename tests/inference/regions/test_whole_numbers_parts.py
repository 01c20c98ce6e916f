"""The parts of whole numbers, each against brute force or a library."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import ndtri

from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.core.maps.spine import Spine
from dpress.inference.regions.controlled_rounding import Rounding, round_tables
from dpress.inference.regions.count_posterior import FURTHEST, LARGE, SMALL, expect, posterior
from dpress.inference.regions.dispersion import dispersions
from dpress.inference.regions.measured import Table
from dpress.inference.regions.nearest_tables import nearest
from dpress.inference.regions.table_layout import TableLayout
from dpress.inference.regions.whole_totals import public_totals, whole_totals

FALSE_ALARM = 1e-6
Z = 4.9  # two-sided normal quantile of FALSE_ALARM
LAYOUT = TableLayout.of((2, 3), [(0,), (1,)])


def uniforms(seed: int, shape: tuple[int, ...]) -> Array:
    return np.asarray((rng.seeded(seed).words(int(np.prod(shape))) / 2.0**64).reshape(shape))


@pytest.mark.parametrize(("estimate", "variance", "expected", "extra"), [
    (3.0, 5.0, 1.5, 0.0), (-7.0, 5.0, 0.2, 2.0), (0.4, 0.05, 3.0, 1.0), (25.0, 60.0, 12.0, 30.0),
    (70.0, 5.0, 59.0, 4.0),
])  # fmt: skip
def test_the_posterior_is_that_of_a_negative_binomial_count(
    estimate: float, variance: float, expected: float, extra: float
) -> None:
    counts = np.arange(400)
    near = np.abs(counts - max(estimate, 0)) <= np.where(counts > estimate, FURTHEST * variance**0.5, np.inf)
    counts = counts[near & (counts >= np.floor(estimate - FURTHEST * variance**0.5))]
    prior = (
        stats.nbinom.pmf(counts, expected / extra, 1 / (1 + extra)) if extra else stats.poisson.pmf(counts, expected)
    )
    weights = prior * stats.norm.pdf(estimate, counts, variance**0.5)
    mean = (weights * counts).sum() / weights.sum()
    spread = (weights * (counts - mean) ** 2).sum() / weights.sum()
    assert posterior(estimate, variance, expected, extra) == pytest.approx((mean, spread), rel=1e-8)


def test_the_ends_of_what_an_estimate_says() -> None:
    assert posterior(5.0, np.inf, 2.0, 0.5) == (2.0, 3.0)
    assert posterior(5.0, 0.0, 2.0, 0.5) == (5.0, 0.0)
    assert posterior(5.0, 3.0, 0.0, 0.0) == (0.0, 0.0)
    assert posterior(1.0, 1e-9, 2.0, 0.5) == (1.0, 1e-9)  # whose densities no float holds
    assert posterior(1.0, SMALL, 2.0, 0.5) == pytest.approx((1.0, 0.0), abs=1e-9)
    assert posterior(10.0, 400.0, 100 * LARGE, 0.0)[0] == 10 + FURTHEST * 20
    assert posterior(1000.0, 4.0, 900.0, 1e4)[0] == pytest.approx(1000, abs=0.1)


def test_expectations_have_the_coarser_tables_and_the_parents_odds() -> None:
    profile, margins = np.array([4.0, 2, 0, 1, 5, 3]), np.zeros((1, LAYOUT.columns))
    margins[0] = [30, 12, 18, 10, 14, 6]
    out = np.empty((1, 6))
    expect(profile, margins, LAYOUT.within[0, 1], out)
    table = out.reshape(2, 3)
    assert table.sum(axis=0) == pytest.approx([10, 14, 6])
    assert table.sum(axis=1) == pytest.approx([12, 18], rel=0.02)
    assert table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]) == pytest.approx(10)
    assert table[0, 2] == 0


@pytest.mark.parametrize("phi", [0.0, 0.02, 0.3])
def test_the_dispersion_is_seen_through_the_noise(phi: float) -> None:
    """Shares of a Dirichlet distribution, by their normal stand-in; false alarm FALSE_ALARM each."""
    nodes, share, noise = 3000, np.array([0.1, 0.3, 0.6]), 5.0
    total = 40 + 200 * uniforms(1, (nodes, 1))
    expected = total * share
    draws = ndtri(uniforms(2, (2, nodes, 3)))
    truth = expected + np.sqrt(expected * (1 + phi * total)) * draws[0]
    estimates = truth + noise**0.5 * draws[1]
    seen = dispersions(estimates, np.full(nodes, noise), expected)
    deviation = Z * np.sqrt(2 / nodes) * (phi + (1 + noise / 4) / 40)
    assert np.abs(seen - phi).max() < deviation
    assert np.abs(seen - max(2 * phi, 0.02)).min() > deviation
    assert dispersions(estimates, np.full(nodes, np.inf), expected).min() >= 0


def test_the_nearest_tables_are_those_of_a_solver() -> None:
    target = 8 * uniforms(3, (3, 6)) - 3
    weights = 0.2 + uniforms(4, (3, 6))
    right = np.floor(4 * uniforms(5, (3, 6)))
    margins = np.hstack([LAYOUT.marginal(right, table) for table in LAYOUT.tables[:-1]])
    fitted = target.copy()
    nearest(fitted, weights, right.sum(axis=0), margins, LAYOUT.within[0, 1])

    def sums(cells: Array) -> Array:
        rows = [LAYOUT.marginal(cells, table).ravel() for table in LAYOUT.tables[1:-1]]
        return np.concatenate([cells.sum(axis=0), *rows])

    matrix = np.stack([sums(cell.reshape(3, 6)) for cell in np.eye(18)], axis=1)
    free = np.linalg.svd(matrix)[2][np.linalg.matrix_rank(matrix) :].T
    solved = optimize.minimize(
        lambda step: ((right.ravel() + free @ step - target.ravel()) ** 2 / weights.ravel()).sum(),
        np.zeros(free.shape[1]),
        constraints={"type": "ineq", "fun": lambda step: right.ravel() + free @ step},
        method="SLSQP",
    )
    assert solved.success
    assert fitted.min() == 0
    assert np.abs(sums(fitted) - sums(right)).max() < 0.05
    assert fitted == pytest.approx(right + (free @ solved.x).reshape(3, 6), abs=0.08)


def cost(near: Array, margins: Array, whole: Array) -> float:
    off = [LAYOUT.marginal(whole, table) for table in LAYOUT.tables[:-1]]
    return float(((whole - near) ** 2).sum() + ((np.hstack(off) - margins) ** 2).sum())


@pytest.mark.parametrize("seed", range(20))
def test_rounded_tables_hold_their_sums_and_no_exchange_is_better(seed: int) -> None:
    near = np.maximum(6 * uniforms(seed, (4, 6)) - 2, 0)
    whole = np.rint(near).astype(np.int64)
    column, totals = whole.sum(axis=0), whole.sum(axis=1)[::-1]
    margins = np.hstack([LAYOUT.marginal(near, table) for table in LAYOUT.tables[:-1]])
    margins[:, 0] = totals
    out, off = np.zeros((4, 6), dtype=np.int64), near.copy()
    round_tables(Rounding(
        whole=out, off=off, excess=-margins, strength=np.ones(4), column=column,
        places=LAYOUT.coarse, neighbours=LAYOUT.neighbours,
    ))  # fmt: skip
    assert out.min() >= 0
    assert np.array_equal(out.sum(axis=0), column)
    assert np.array_equal(out.sum(axis=1), totals)
    scaled = near * (column / np.where(near.sum(axis=0) > 0, near.sum(axis=0), 1))
    best = cost(scaled, margins, out)
    for cell, row in enumerate(LAYOUT.neighbours):
        for other, (giver, taker) in itertools.product(row[row >= 0], itertools.permutations(range(4), 2)):
            change = np.zeros_like(out)
            change[[giver, taker], [cell, other]], change[[giver, taker], [other, cell]] = -1, 1
            if (out + change).min() >= 0:
                assert cost(scaled, margins, out + change) > best - 1e-6


def test_whole_totals_are_the_nearest_of_all() -> None:
    for seed in range(30):
        estimates = 6 * uniforms(seed, (3,)) - 2
        out = whole_totals(estimates, np.array([4]), np.array([0, 3]))
        every = [split for split in itertools.product(range(5), repeat=3) if sum(split) == 4]
        least = min(((np.array(split) - estimates) ** 2).sum() for split in every)
        assert out.sum() == 4
        assert ((out - estimates) ** 2).sum() == pytest.approx(least)


def test_public_totals_say_those_above() -> None:
    spine = Spine(starts=(np.array([0, 2]), np.array([0, 1, 3])))
    totals = public_totals(spine, {2: np.array([3, 4, 5])})
    assert {level: numbers.tolist() for level, numbers in totals.items()} == {2: [3, 4, 5], 1: [3, 9], 0: [12]}
    with pytest.raises(ValueError, match="whole numbers"):
        public_totals(spine, {1: np.array([3, 4.5])})


@pytest.mark.parametrize("tables", [[], [(0,), (1, 2)], [(0, 1), (1, 2)], [(0, 2)]])
def test_neighbours_differ_within_a_coarser_table_or_along_one_axis(tables: list[Table]) -> None:
    layout = TableLayout.of((2, 3, 2), tables)
    codes = list(np.ndindex(2, 3, 2))
    for cell, row in enumerate(layout.neighbours):
        axes = [{axis for axis in range(3) if codes[cell][axis] != codes[other][axis]} for other in range(12)]
        near = [
            other
            for other in range(cell + 1, 12)
            if len(axes[other]) == 1 or any(axes[other] <= {*table} for table in tables)
        ]
        assert row[row >= 0].tolist() == near
        assert (row[len(near) :] == -1).all()
