"""Least squares over trees of regions against one dense system, exact totals, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.inference.regions.dense_spine import Dense, cases, filled, tables_of

from dpress.core.maps.spine import Spine
from dpress.inference.regions.estimates import estimates
from dpress.inference.regions.measured import Measured, subsets
from dpress.inference.regions.space_tree import SpaceTree
from dpress.inference.regions.variances import cell_variances, space_variances

UNEVEN = Spine(starts=(np.array([0, 3]), np.array([0, 1, 4, 6]), np.array([0, 2, 3, 4, 5, 8, 9])))
RACE = Measured(
    spine=UNEVEN,
    shape=(2, 3),
    variances=({(): 2.0}, {(): 0.0, (0, 1): 3.0}, {(1,): 1.0, (0,): 4.0}, {(): 5.0, (0, 1): 2.0}),
)


def tables(measured: Measured) -> list[tuple[int, ...]]:
    return [table for table in tables_of(len(measured.shape)) if table in measured.spaces]


def distance(case: Dense) -> float:
    """The largest relative distance of an estimate or of a cell's variance from those of the dense system."""
    measured = case.measured
    solution, covariance = case.solution()
    levels = estimates(measured, case.noisy, tables(measured))
    apart = [0.0]
    for table in tables(measured):
        spread = cell_variances(measured, table)
        for level in range(measured.deepest(table) + 1):
            rows, values = case.rows(level, table), levels[level][table].reshape(len(spread[level]), -1)
            variances = np.einsum("ij,jk,ik->i", rows, covariance, rows).reshape(values.shape)
            apart.append(np.max(np.abs(values - (rows @ solution).reshape(values.shape)) / (1 + np.abs(values))))
            apart.append(np.max(np.abs(spread[level][:, None] - variances) / (1 + variances)))
    return max(apart)


@pytest.mark.slow
@given(cases())
@settings(deadline=None)
def test_estimates_and_variances_are_those_of_the_dense_system(case: Dense) -> None:
    assert distance(case) < 1e-9


@pytest.mark.slow
@given(cases())
@settings(deadline=None)
def test_tables_agree_add_up_and_have_no_level_that_nothing_tells_of(case: Dense) -> None:
    measured = case.measured
    levels = estimates(measured, case.noisy, tables(measured))
    for level, found in enumerate(levels):
        assert set(found) == {table for table in tables(measured) if level <= measured.deepest(table)}
        for table, values in found.items():
            assert np.isfinite(values).all()
            assert np.isfinite(cell_variances(measured, table)[level]).all()
            total = values.sum(axis=tuple(range(1, values.ndim)))
            assert total == pytest.approx(found[()], abs=1e-9)
            if level < measured.deepest(table):
                assert measured.spine.sums(levels[level + 1][table], level) == pytest.approx(values, abs=1e-9)


def test_a_share_taken_from_the_parent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = filled(RACE, 3)
    assert distance(case) < 1e-9

    def planted(tree: SpaceTree, level: int) -> np.ndarray:
        counts = np.diff(tree.spine.starts[level - 1])
        alone = np.repeat(tree.alone[level - 1], counts)
        return np.minimum(alone / np.maximum(np.repeat(tree.below[level - 1], counts), 1e-9), 1)

    monkeypatch.setattr(SpaceTree, "parts", planted)
    assert distance(case) > 1e-2


def test_exact_totals_are_given_back_and_cost_nothing_above() -> None:
    case = filled(RACE, 5)
    levels = estimates(RACE, case.noisy, [(), (1,)])
    assert np.array_equal(levels[1][()], case.noisy[1][()])
    assert levels[0][()] == case.noisy[1][()].sum()
    assert [variances.max() for variances in cell_variances(RACE, ())[:2]] == [0, 0]
    assert (cell_variances(RACE, ())[2] > 0).tolist() == [False] + 5 * [True]  # an only child is exact, too
    assert levels[1][1,].sum(axis=1) == pytest.approx(case.noisy[1][()])


def test_exact_leaves_leave_nothing_open() -> None:
    levels = tuple({(): variance} for variance in (1.0, 3.0, 2.0, 0.0))
    measured = Measured(spine=UNEVEN, shape=(), variances=levels)
    case = filled(measured, 1)
    found = estimates(measured, case.noisy, [()])
    for values, exact in zip(found, UNEVEN.up(case.noisy[3][()]), strict=True):
        assert np.array_equal(values[()], exact)
    assert all((variances == 0).all() for variances in cell_variances(measured, ()))


@pytest.mark.parametrize("level", range(4))
def test_almost_exact_totals_approach_exact_ones(level: int) -> None:
    def with_total(variance: float) -> Measured:
        levels = [dict(tables) for tables in RACE.variances]
        levels[1].pop(())
        levels[level][()] = variance
        return Measured(spine=UNEVEN, shape=(2, 3), variances=tuple(levels))

    exact, almost = with_total(0.0), with_total(1e-12)
    case = filled(exact, level)
    for table in tables(exact):
        for first, second in zip(cell_variances(exact, table), cell_variances(almost, table), strict=True):
            assert first == pytest.approx(second, abs=1e-10, rel=1e-10)
    found = [estimates(measured, case.noisy, tables(exact)) for measured in (exact, almost)]
    for first, second in zip(*found, strict=True):
        assert all(first[table] == pytest.approx(second[table], abs=1e-8) for table in first)


def test_a_space_has_the_variance_of_its_centred_table() -> None:
    case = filled(RACE, 2)
    _, covariance = case.solution()
    for space in RACE.spaces:
        weights = np.ones(())
        for axis in space:
            centred = np.array([1.0, -1.0, 0.0][: RACE.shape[axis]])
            weights = np.multiply.outer(weights, centred / 2**0.5)
        for level, variances in enumerate(space_variances(RACE, space)):
            nodes = np.kron(np.eye(len(variances)), weights.ravel())
            queries = nodes @ case.rows(level, space)
            assert np.einsum("ij,jk,ik->i", queries, covariance, queries) == pytest.approx(variances, rel=1e-9)


def test_a_table_measured_from_some_level_up_ends_there() -> None:
    measured = Measured(spine=UNEVEN, shape=(2, 3), variances=({}, {(1,): 1.0}, {(0, 1): 2.0}, {(): 1.0}))
    assert [measured.deepest(table) for table in ((), (0,), (0, 1))] == [3, 2, 2]
    assert np.isinf(cell_variances(measured, (1,))[3]).all()
    assert set(estimates(measured, filled(measured, 0).noisy, [(), (1,)])[3]) == {()}


def test_progress_counts_the_spaces() -> None:
    steps = list[int]()
    estimates(RACE, filled(RACE, 0).noisy, [(0,)], steps.append)
    assert steps == [1, 1]
    assert list(subsets((0, 1))) == [(), (0,), (1,), (0, 1)]


@pytest.mark.parametrize(
    ("variances", "words"),
    [
        (({},) * 4, "some level, got none"),
        (({(): 1.0},) * 3, "variances of 4 levels, got 3"),
        (({}, {(1, 0): 1.0}, {}, {}), r"level 1, table \(1, 0\): expected increasing axes below 2"),
        (({}, {(2,): 1.0}, {}, {}), r"level 1, table \(2,\): expected increasing axes below 2"),
        (({}, {}, {(1,): 0.0}, {}), r"level 2, table \(1,\): the variance must be finite and > 0, got 0"),
        (({}, {}, {(): -1.0}, {}), r"level 2, table \(\): the variance must be finite and >= 0, got -1"),
        (({}, {}, {(): float("nan")}, {}), "must be finite and >= 0, got nan"),
    ],
)
def test_what_cannot_be_measured_is_refused(variances: tuple[dict[tuple[int, ...], float], ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Measured(spine=UNEVEN, shape=(2, 3), variances=variances)


def test_values_that_do_not_fit_are_refused() -> None:
    noisy = filled(RACE, 0).noisy
    with pytest.raises(ValueError, match=r"table \(0, 2\) lies in no table that is measured"):
        estimates(RACE, noisy, [(0, 2)])
    lost = [*noisy[:2], {(1,): noisy[2][1,]}, noisy[3]]
    with pytest.raises(ValueError, match=r"level 2, table \(0,\): expected values of shape \(6, 2\), got none"):
        estimates(RACE, lost, [()])
    lost[2] = noisy[2] | {(0,): noisy[2][1,]}
    with pytest.raises(ValueError, match=r"level 2, table \(0,\): expected values of shape \(6, 2\), got \(6, 3\)"):
        estimates(RACE, lost, [()])


def test_exact_totals_that_contradict_each_other_are_refused() -> None:
    measured = Measured(spine=UNEVEN, shape=(), variances=({(): 1.0}, {(): 0.0}, {(): 1.0}, {(): 0.0}))
    noisy = [dict(tables) for tables in filled(measured, 0).noisy]
    assert estimates(measured, noisy, [()])[1][()].sum() == noisy[3][()].sum()
    noisy[1] = {(): noisy[1][()] + 1}
    with pytest.raises(ValueError, match="level 1: the exact totals are not the sums of those below"):
        estimates(measured, noisy, [()])
