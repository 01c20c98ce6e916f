"""Trees asked level by level: exact in expectation, the stated variance, and the choice of branching and weights."""

import dataclasses

import numpy as np
import pytest

from dpress import plan
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.core.maps.ranges import AllRanges, Prefixes, Ranges
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.ranges.level_tree import level_tree

EPSILON = PureDP(epsilon=1)
RUNS, USERS = 300, 400
FALSE_ALARM = "a mean of 300 squared deviations is outside 1 +- .35 once in 10^5 times"


def reported(tree, codes, seed):
    """The tallies of everybody's reports."""
    collection = Collection(shape=tree.shape, types=tree.types, split="users", estimator=tree)
    rng = seeded(seed)
    drawn = collection.drawn(len(codes), rng=rng)
    return [own.tally(own.perturb(codes[None, drawn == i], rng=rng)) for i, own in enumerate(tree.types)]


@pytest.fixture(scope="module")
def runs():
    """A tree over 7 cells, the last of its nodes cut short, its truth, and many runs of estimates and variances."""
    tree = level_tree(7, PureDP(epsilon=3), AllRanges(7), branching=3)
    codes = np.repeat(np.arange(7), [200, 20, 0, 5, 100, 0, 75]).astype(np.int32)
    found = []
    weights = np.array([np.ones(7), [1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0], [1, -2, 0, 3, 0, 1, 0]])
    for seed in range(RUNS):
        tallies = reported(tree, codes, seed)
        measured = tree.measurement(tallies)
        (cells,) = tree.decoder(USERS).estimate(measured)
        spread = tree.query_variances(tallies)
        found.append((weights @ cells, [spread([own]) for own in weights], cells, measured.variance))
    estimates, variances, cells, spreads = map(np.array, zip(*found, strict=True))
    return tree, weights @ np.bincount(codes, minlength=7), estimates, variances, cells, spreads, np.bincount(codes)


def test_weighted_sums_are_right_on_average_and_vary_as_they_say(runs):
    _, truth, estimates, variances, *_ = runs
    error = (estimates - truth)[:, 1:] / np.sqrt(variances[:, 1:])
    assert np.abs(error.mean(axis=0)).max() < 4.9 / np.sqrt(RUNS)
    assert np.abs((error**2).mean(axis=0) - 1).max() < 0.35, FALSE_ALARM
    assert np.abs(estimates[:, 0] - USERS).max() < 0.1
    assert variances[:, 0].max() < 0.1


def test_cells_are_stated_with_their_variance_or_a_little_more(runs):
    tree, _, _, _, cells, spreads, truth = runs
    stated = np.array([tree.map.cell_variances(own) for own in spreads]).mean(axis=0)
    ratio = ((cells - truth) ** 2).mean(axis=0) / stated
    assert ratio.max() < 1.35, FALSE_ALARM
    assert ratio.min() > 0.5


def test_half_of_the_variance_would_be_seen(runs):
    _, truth, estimates, variances, *_ = runs
    error = (estimates - truth)[:, 1:] / np.sqrt(variances[:, 1:] / 2)
    assert np.abs((error**2).mean(axis=0) - 1).max() > 0.35


def test_a_level_that_nobody_answered_is_left_out_and_the_cells_cannot_be():
    tree = level_tree(9, EPSILON, AllRanges(9), branching=3)
    tallies = reported(tree, np.arange(9, dtype=np.int32), 1)
    none = [own.tally(own.nothing) for own in tree.types]
    found = tree.measurement([none[0], tallies[1]])
    assert np.isinf(found.variance[1:4]).all()
    assert np.isfinite(tree.query_variances([none[0], tallies[1]])([np.ones(9)]))
    with pytest.raises(ValueError, match="no report is about the cells themselves"):
        tree.measurement([tallies[0], none[1]])


@pytest.mark.slow
def test_weights_by_the_same_counts_move_answers_by_less_than_a_quarter_of_their_standard_error():
    """Beside weights that know nothing of the counts: the difference is there, and small; false alarm 1e-6 each."""
    tree, users, runs = level_tree(16, PureDP(epsilon=4), AllRanges(16), branching=2), 400, 300
    full = users // 2
    codes = np.concatenate([np.full(full, 5), np.arange(users - full) % 16]).astype(np.int32)
    even, found = np.repeat(tree._by_level(users), tree.map.levels), []
    for seed in range(runs):
        measured = tree.measurement(reported(tree, codes, seed))
        (own,), (other,) = (
            tree.decoder(users).estimate(one) for one in (measured, dataclasses.replace(measured, variance=even))
        )
        found.append((own[5] - other[5], other[5]))
    differ, others = np.array(found).T
    error = differ.std() / np.sqrt(runs)
    assert differ.mean() > 4.9 * error  # so that "unbiased" would be false
    assert differ.mean() + 4.9 * error < 0.25 * others.std()


def test_the_predicted_variance_is_that_of_even_shares():
    tree = level_tree(16, EPSILON, AllRanges(16), branching=4)
    codes = np.repeat(np.arange(16), 2000).astype(np.int32)
    ranges = Ranges(16, np.array([3]), np.array([11]))
    spread = tree.query_variances(reported(tree, codes, 2))([ranges.weights(0)])
    assert tree.range_variances(ranges, len(codes))[0] == pytest.approx(spread, rel=0.15)


def test_few_people_are_asked_about_cells_that_no_range_needs():
    asked = [{"kind": "integer", "name": "x", "bounds": [0, 3]}]
    release = {"kind": "ranges", "method": "level_tree", "parameters": {"users": 300, "queries": ["x in 0..1"]}}
    weights = [each.weight for each in plan(spec_of(asked, release)).design.ask.report_types]
    assert (1 - weights[-1] / sum(weights)) ** 300 < 1e-6  # else nothing is published of their reports


def spec_of(attributes, release):
    """Return the specification of a collection."""
    return {"attribute": attributes, "privacy": {"model": "local", "epsilon": 1}, "release": release}


def test_other_branchings_weights_and_oracles_are_predicted_to_err_more():
    best = level_tree(300, EPSILON, AllRanges(300))
    error = best.axis_variance(AllRanges(300), 10**5)
    for branching in (2, 3, 5, 16, 300):
        assert (
            level_tree(300, EPSILON, AllRanges(300), branching=branching).axis_variance(AllRanges(300), 10**5) >= error
        )
    even = dataclasses.replace(best, weights=(1,) * len(best.weights))
    assert even.axis_variance(AllRanges(300), 10**5) > error
    assert level_tree(300, EPSILON, AllRanges(300), oracle="sue").axis_variance(AllRanges(300), 10**5) > error
    assert level_tree(300, EPSILON, Prefixes(300)).axis_variance(Prefixes(300), 10**5) < error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (9, 2)}, "over one attribute"),
        ({"branching": 9}, "one for every level, over its nodes"),
        ({"weights": (1,)}, "weights: expected one for every level"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(level_tree(9, EPSILON, AllRanges(9), branching=3), **change)
