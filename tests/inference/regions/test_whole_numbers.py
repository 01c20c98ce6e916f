"""Whole numbers over a tree: they add up whatever the estimates are, and are nearer than these in small regions."""

import itertools
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from dpress.core.basics import rng
from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine
from dpress.inference.regions import families, whole_numbers
from dpress.inference.regions.families import Families
from dpress.inference.regions.measured import Table

FALSE_ALARM = 1e-6
LIMIT = -NormalDist().inv_cdf(FALSE_ALARM)
SHAPE = (5, 2, 3)
TABLES: tuple[Table, ...] = ((), (0,), (1, 2), (0, 1, 2))
VARIANCE = 6.0
SHARES = np.array([0.8, 0.12, 0.05, 0.02, 0.01])  # of axis 0


def normals(seed: int, shape: Sequence[int]) -> Array:
    words = rng.seeded(seed).words(int(np.prod(shape)))
    return np.asarray(ndtri((words + 0.5) / 2.0**64)).reshape(shape)


def table_of(cells: Numbers, table: Table) -> Numbers:
    """A table of every node from its cells, shape (nodes, *shape)."""
    others = tuple(1 + axis for axis in range(cells.ndim - 1) if axis not in table)
    return np.asarray(cells.sum(axis=others))


def even(children: Sequence[int]) -> Spine:
    """A tree whose nodes of a level all have as many children."""
    sizes = [1, *itertools.accumulate(children, lambda nodes, times: nodes * times)]
    return Spine(
        starts=tuple(np.arange(0, nodes * times + 1, times) for nodes, times in zip(sizes, children, strict=False))
    )


STATE = even((4, 10, 4))


def state(seed: int) -> Numbers:
    """People of 160 leaves, about 300 in each: axis 0 varies from region to region, (1, 2) hardly."""
    tilt = np.exp(0.6 * normals(seed, (40, 5)))[STATE.parents(3)] * SHARES
    rows = tilt / tilt.sum(axis=1, keepdims=True)
    expected = 300 * rows[:, :, None] * np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1])
    spread = np.sqrt(expected) * normals(seed + 1, expected.shape)
    return np.maximum(np.rint(expected + spread), 0).astype(np.int64).reshape(-1, *SHAPE)


def noisy(spine: Spine, leaves: Numbers, seed: int) -> list[dict[Table, Array]]:
    levels = spine.up(leaves)
    return [
        {table: right + VARIANCE**0.5 * normals(seed + 97 * level + place, right.shape)
         for place, table in enumerate(TABLES) for right in [table_of(cells, table)]}
        for level, cells in enumerate(levels)
    ]  # fmt: skip


def variances(spine: Spine, variance: float = VARIANCE) -> dict[Table, list[Array]]:
    return {table: [np.full(nodes, variance) for nodes in spine.sizes] for table in TABLES}


def excesses(
    truth: Numbers, estimates: Sequence[Mapping[Table, Array]], leaves: Numbers, goals: Mapping[Table, float]
) -> dict[Table, float]:
    """By how many standard errors, at the leaves, the mean absolute error lies above its goal times the estimates'."""
    out = {}
    for table, goal in goals.items():
        right = table_of(truth, table)
        less = np.abs(table_of(leaves, table) - right) - goal * np.abs(estimates[-1][table] - right)
        regions = (
            less.reshape(len(less), -1).mean(axis=1).reshape(-1, 4).mean(axis=1)
        )  # by parent: apart from the others
        out[table] = float(regions.mean() / (regions.std(ddof=1) / len(regions) ** 0.5))
    return out


GOALS = {(): 1.15, (0,): 0.75, (1, 2): 0.9, (0, 1, 2): 0.5}


def errors(seed: int) -> dict[Table, float]:
    truth = state(seed)
    estimates = noisy(STATE, truth, seed + 1000)
    leaves = whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE))
    return excesses(truth, estimates, leaves, GOALS)


def test_regions_of_few_people_are_nearer_than_the_estimates() -> None:
    """False alarm: FALSE_ALARM a table, of regions that are normal; with these seeds it is met or not."""
    assert max(errors(0).values()) < LIMIT


def test_cutting_off_what_is_negative_is_not_enough() -> None:
    """The negative control of the test above: cells >= 0 alone, whose sums are then wrong."""
    truth = state(0)
    estimates = noisy(STATE, truth, 1000)
    cut = np.maximum(np.rint(estimates[-1][0, 1, 2]), 0)
    above = excesses(truth, estimates, cut, GOALS)
    assert above[0,] > -LIMIT
    assert above[()] > -LIMIT


def parent_alone(*arrays: Array) -> None:
    """Leave the expectations (the fourth array) as they are."""
    arrays[4][:] = 1


def estimate_alone(*arrays: Array) -> None:
    arrays[3][:], arrays[4][:] = arrays[0], 1


@pytest.mark.parametrize("fault", [parent_alone, estimate_alone])
def test_neither_the_parent_nor_the_estimate_alone_is_enough(fault: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "posteriors", fault)
    assert max(errors(0).values()) > 0


def check_sums(spine: Spine, leaves: Numbers, totals: Mapping[int, Numbers], impossible: Numbers) -> None:
    assert leaves.dtype == np.int64
    assert leaves.shape == (spine.sizes[-1], *impossible.shape)
    assert leaves.min() >= 0
    assert not leaves[:, impossible].any()
    for level, public in totals.items():
        assert np.array_equal(table_of(spine.up(leaves)[level], ()), public)


def trees() -> st.SearchStrategy[Spine]:
    """Trees of two or three levels below the first, with only children among them."""
    counts = st.lists(st.integers(1, 4), min_size=12, max_size=12)

    def grown(counties: int, tracts: list[int], groups: list[int]) -> Spine:
        starts = [np.array([0, counties])]
        for sizes in (tracts, groups):
            starts.append(np.append(0, np.cumsum((sizes * 4)[: starts[-1][-1]])))
        return Spine(starts=tuple(starts))

    return st.builds(grown, st.integers(1, 4), counts, counts)


@settings(max_examples=60, deadline=None)
@given(
    spine=trees(),
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([0.0, 3.0, 40.0, 1e4]),
    variance=st.sampled_from([0.0, 0.3, 6.0, 900.0, np.inf]),
    public=st.sets(st.integers(0, 3)),
    banned=st.integers(0, 2**30 - 2),
)
def test_all_adds_up_whatever_the_estimates_are(
    spine: Spine, seed: int, scale: float, variance: float, public: set[int], banned: int
) -> None:
    """Estimates of no truth, that contradict each other and are mostly negative; one cell at least is possible."""
    estimates = [
        {table: scale * (normals(seed + 7 * level + place, (nodes, *(SHAPE[axis] for axis in table))) - 0.3)
         for place, table in enumerate(TABLES)}
        for level, nodes in enumerate(spine.sizes)
    ]  # fmt: skip
    impossible = ((banned >> np.arange(30)) & 1).astype(bool).reshape(SHAPE)
    people = np.abs(np.rint(scale * normals(seed + 50, (spine.sizes[-1],)))).astype(np.int64)
    totals = {level: spine.up(people)[level] for level in public}
    leaves = whole_numbers.whole_numbers(
        spine, SHAPE, estimates, variances(spine, variance), totals=totals, impossible=impossible
    )
    check_sums(spine, leaves, totals, impossible)


def test_the_parents_sums_hold_level_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level's whole numbers are the sums of the next one's: the last sums must be all that were there."""
    levels = []
    whole = Families.whole

    def kept(self: Families, phi: Mapping[Table, Array]) -> Numbers:
        cells = whole(self, phi)
        levels.append((self.above, self.totals, self.starts, cells))
        return cells

    monkeypatch.setattr(Families, "whole", kept)
    whole_numbers.whole_numbers(STATE, SHAPE, noisy(STATE, state(0), 1), variances(STATE))
    assert sum(len(cells) for *_, cells in levels) == sum(STATE.sizes[1:])
    for above, totals, starts, cells in levels:
        assert np.array_equal(np.add.reduceat(cells, starts[:-1]), above)
        assert np.array_equal(cells.sum(axis=1), totals)


def test_tables_hold_to_about_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole cells' sums beside the fitted tables; the control rounds every cell alone."""
    kept = []
    fitted = Families.fitted

    def copied(self: Families, phi: Mapping[Table, Array]) -> tuple[Array, Array]:
        cells, margins = fitted(self, phi)
        kept.append((cells.copy(), margins.copy()))
        return cells, margins

    monkeypatch.setattr(Families, "fitted", copied)
    leaves = whole_numbers.whole_numbers(STATE, SHAPE, noisy(STATE, state(0), 1), variances(STATE))
    cells, margins = kept[-1]
    for table, start in (((0,), 1), ((1, 2), 6)):
        wanted = margins[:, start : start + table_of(leaves, table)[0].size]
        off, apart = (
            np.abs(table_of(whole.reshape(leaves.shape), table).reshape(len(leaves), -1) - wanted)
            for whole in (leaves, np.rint(cells))
        )
        assert off.max() < 1.5
        assert off.mean() < 0.3 < apart.mean()


def test_exact_whole_numbers_return_as_they_are() -> None:
    truth = state(0)
    exact = [{table: table_of(cells, table) for table in TABLES} for cells in STATE.up(truth)]
    assert np.array_equal(whole_numbers.whole_numbers(STATE, SHAPE, exact, variances(STATE, 0.0)), truth)


def test_the_result_is_one_function_of_its_arguments_and_changes_none() -> None:
    estimates = noisy(STATE, state(0), 1)
    before = [{table: values.copy() for table, values in level.items()} for level in estimates]
    first = whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE))
    assert np.array_equal(first, whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE)))
    assert all(
        np.array_equal(level[table], old[table])
        for level, old in zip(estimates, before, strict=True)
        for table in TABLES
    )


def test_blocks_and_their_size_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    estimates = noisy(STATE, state(0), 1)
    done: list[int] = []
    whole = whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE), progress=done.append)
    monkeypatch.setattr(whole_numbers, "BLOCK", 7)
    assert np.array_equal(whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE)), whole)
    assert sum(done) == sum(STATE.sizes[1:])


def test_a_table_that_is_missing_at_a_level_follows_from_above() -> None:
    truth = state(0)
    estimates = noisy(STATE, truth, 1)
    shares = table_of(STATE.up(truth)[2], (0,))[STATE.parents(3)] / 4
    for table in TABLES[1:]:
        del estimates[3][table]
    leaves = whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE))
    assert np.abs(table_of(leaves, (0,)) - shares).mean() < 4


def test_totals_alone_are_whole_numbers_too() -> None:
    totals = [{(): level[()]} for level in noisy(STATE, state(0), 1)]
    leaves = whole_numbers.whole_numbers(STATE, (), totals, variances(STATE))
    assert np.array_equal(leaves, whole_numbers.whole_numbers(STATE, (1,), totals, variances(STATE))[:, 0])
    assert np.abs(leaves - table_of(state(0), ())).mean() < 3
    assert STATE.up(leaves)[0][0] == np.rint(totals[0][()][0])


def test_regions_without_people_are_empty() -> None:
    empty = [
        {table: np.full((nodes, *(SHAPE[axis] for axis in table)), -2.0) for table in TABLES} for nodes in STATE.sizes
    ]
    assert not whole_numbers.whole_numbers(STATE, SHAPE, empty, variances(STATE)).any()
    totals = np.arange(160) % 3
    check_sums(
        STATE,
        whole_numbers.whole_numbers(STATE, SHAPE, empty, variances(STATE), totals={3: totals}),
        {3: totals},
        np.zeros(SHAPE, bool),
    )


def test_what_cannot_be_is_refused() -> None:
    estimates = noisy(STATE, state(0), 1)
    with pytest.raises(ValueError, match="expected estimates of 4 levels, got 3"):
        whole_numbers.whole_numbers(STATE, SHAPE, estimates[:3], variances(STATE))
    with pytest.raises(ValueError, match="people, but every cell is impossible"):
        whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE), impossible=np.ones(SHAPE, bool))
    with pytest.raises(ValueError, match="public totals of level 1: expected 4 whole numbers"):
        whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE), totals={1: np.array([1, 2, 3])})
    with pytest.raises(ValueError, match="public totals of level 0 must be the sums"):
        whole_numbers.whole_numbers(STATE, SHAPE, estimates, variances(STATE), totals={0: np.array([5]), 1: np.ones(4)})
