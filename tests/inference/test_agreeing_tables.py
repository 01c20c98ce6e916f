"""Tables that agree and are >= 0: against dense projections, and beside what each table says by itself."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from dpress.inference.agreeing_tables import AgreeingTables
from dpress.inference.postprocess import nonnegative

SHAPE = (2, 3, 2)
AXES = ((0, 1), (1, 2), (2, 0), (1,))
WEIGHTS = (1.0, 0.5, 2.0, 0.25)


def draws(seed):
    return np.random.default_rng(seed)  # noqa: TID251  # made-up tables, no noise


def made(seed, spread=4.0):
    return [draws(seed + place).normal(3, spread, [SHAPE[axis] for axis in axes]) for place, axes in enumerate(AXES)]


def sums(table, axes, part):
    """Return the sums of a table over the attributes beside a set."""
    kept = table.sum(axis=tuple(place for place, axis in enumerate(axes) if axis not in part))
    order = [axis for axis in axes if axis in part]
    return np.transpose(kept, [order.index(axis) for axis in part])


def disagreement(tables):
    pairs = itertools.combinations(zip(tables, AXES, strict=True), 2)
    apart = [
        np.abs(sums(one, axes, part) - sums(other, others, part)).max()
        for (one, axes), (other, others) in pairs
        for part in [tuple(sorted({*axes} & {*others}))]
    ]
    return max(apart)


def conditions():
    """Return the matrix of all differences of sums that agreeing tables have zero."""
    sizes = [int(np.prod([SHAPE[axis] for axis in axes])) for axes in AXES]
    rows = []
    for unit in np.eye(sum(sizes)):
        parts = np.split(unit, np.cumsum(sizes)[:-1])
        tables = [part.reshape([SHAPE[axis] for axis in axes]) for part, axes in zip(parts, AXES, strict=True)]
        apart = []
        for (one, axes), (other, others) in itertools.combinations(zip(tables, AXES, strict=True), 2):
            part = tuple(sorted({*axes} & {*others}))
            apart.append((sums(one, axes, part) - sums(other, others, part)).ravel())
        rows.append(np.concatenate(apart))
    return np.array(rows).T


def flat(tables):
    return np.concatenate([table.ravel() for table in tables])


def test_agreeing_tables_are_the_weighted_projection():
    tables = made(1)
    weights = np.concatenate([np.full(table.size, weight) for table, weight in zip(tables, WEIGHTS, strict=True)])
    matrix = conditions()
    given, spread = flat(tables), matrix / weights
    expected = given - spread.T @ np.linalg.pinv(spread @ matrix.T) @ (matrix @ given)
    got = AgreeingTables(AXES, WEIGHTS).agreeing(tables)
    assert disagreement(tables) > 1
    assert disagreement(got) < 1e-9
    assert flat(got) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_nonnegative_tables_agree_with_the_total_and_are_nearly_the_nearest(seed):
    tables, agreeing = made(100 * seed), AgreeingTables(AXES, WEIGHTS)
    got = agreeing.nonnegative(tables)
    total = agreeing.agreeing(tables)[0].sum()
    assert disagreement(got) < 1e-9
    assert min(table.min() for table in got) >= 0
    assert got[0].sum() == pytest.approx(max(total, 0))
    if total <= 0:
        return
    weights = np.concatenate([np.full(table.size, weight) for table, weight in zip(tables, WEIGHTS, strict=True)])
    given, cells = flat(tables), tables[0].size
    held = np.vstack([conditions(), np.append(np.ones(cells), np.zeros(weights.size - cells))])
    right = np.append(np.zeros(len(held) - 1), total)
    nearest = minimize(
        lambda x: float(weights @ (x - given) ** 2),
        flat(got),
        jac=lambda x: 2 * weights * (x - given),
        bounds=[(0, None)] * weights.size,
        constraints={"type": "eq", "fun": lambda x: held @ x - right, "jac": lambda _: held},
        method="SLSQP",
    )
    assert float(weights @ (flat(got) - given) ** 2) == pytest.approx(nearest.fun, rel=0.02)


def test_tables_that_agree_and_are_not_negative_stay():
    whole = draws(3).gamma(1, 5, SHAPE)
    tables = [sums(whole, (0, 1, 2), axes) for axes in AXES]
    for own, table in zip(AgreeingTables(AXES, WEIGHTS).nonnegative(tables), tables, strict=True):
        assert own == pytest.approx(table)


def test_one_table_is_the_nearest_on_the_simplex():
    table = draws(4).normal(1, 6, (3, 5))
    (got,) = AgreeingTables(((0, 1),), (1.0,)).nonnegative([table])
    assert got.ravel() == pytest.approx(nonnegative(table.ravel()), abs=0.02 * table.sum())
    assert got.sum() == pytest.approx(table.sum())


def test_a_total_below_zero_leaves_nothing():
    tables = [table - 50 for table in made(5)]
    assert all(not table.any() for table in AgreeingTables(AXES, WEIGHTS).nonnegative(tables))


def test_cutting_off_at_zero_would_not_agree():
    assert disagreement([np.maximum(table, 0) for table in AgreeingTables(AXES, WEIGHTS).agreeing(made(1))]) > 0.1
