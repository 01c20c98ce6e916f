"""A centre with leaves: what may occur, and records of it, beside the list of all combinations."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.atoms import Condition
from dpress.core.methods.possible import Possible, with_margins
from dpress.mechanisms.microdata import record_rules
from dpress.mechanisms.microdata.record_rules import Impossible, Rules
from dpress.mechanisms.microdata.record_sampling import mixture
from dpress.mechanisms.microdata.star_sampling import Within, repaired

SHAPE = (3, 4, 3, 4, 3)
BOXES = [
    ((0, 0), (1, 1)),
    ((0, 2), (1, 0), (2, 1)),
    ((0, 1), (3, 2)),
    ((0, 0), (3, 3), (4, 0)),
    ((0, 2), (4, 2)),
]
ALARM = 5.0  # standard deviations; of 432 cells some alarm falsely with < 3e-4, at a fixed seed


def rules():
    boxes = [tuple(Condition(axis, ((cell, cell),)) for axis, cell in box) for box in BOXES]
    return Rules(impossible=(Impossible(boxes=tuple(boxes)),))


@pytest.fixture
def star():
    """What may occur, as a centre with leaves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_rules, "MOST_COMBINATIONS", 40)
        return rules().listed(SHAPE)


def every_record():
    return np.array(list(itertools.product(*map(range, SHAPE))), dtype=np.int32).T


def test_constraints_of_too_many_combinations_have_a_centre_and_say_the_same(star):
    [part] = star.parts
    whole = rules().listed(SHAPE)
    assert [leaf.axes for leaf in part.leaves]
    assert not any(part.leaves for part in whole.parts)
    codes = every_record()
    held = star.holds(codes)
    assert held.tolist() == rules().every[0].holds(dict(enumerate(codes))).tolist() == whole.holds(codes).tolist()
    assert 0 < held.sum() < math.prod(SHAPE)
    for pair in itertools.combinations(range(5), 2):
        sides = tuple(SHAPE[axis] for axis in pair)
        ours, truth = (
            np.ones(sides) if cells is None else cells for cells in (star.pair(pair, sides), whole.pair(pair, sides))
        )
        assert ours.tolist() == truth.tolist()


def test_groups_may_occur_where_some_of_their_cells_may(star):
    groups = [np.array([0, 0, 1]), np.array([0, 0, 1, 1]), np.arange(3), np.array([0, 1, 1, 1]), np.array([0, 1, 1])]
    codes = every_record()
    may = {tuple(groups[axis][code] for axis, code in enumerate(record)) for record in codes[:, star.holds(codes)].T}
    grouped = star.grouped(groups)
    of_groups = np.array(list(itertools.product(*(range(int(each.max()) + 1) for each in groups))), dtype=np.int32).T
    allowed = {tuple(record) for record in of_groups[:, grouped.holds(of_groups)].T.tolist()}
    assert may <= allowed  # a centre's groups say no more of two leaves at once


def test_records_are_those_of_the_scaled_product_without_what_is_impossible(star):
    words = rng.seeded(3).words
    margins = [(words(size) >> np.uint64(40)).astype(float) + 2**22 for size in SHAPE]
    codes = every_record()
    allowed = star.holds(codes).reshape(SHAPE).astype(float)
    table = allowed
    for axis, along in enumerate(margins):
        table = table * along.reshape([-1 if axis == place else 1 for place in range(5)])
    expected = with_margins(table, margins, passes=60)
    number = 200_000
    drawn = mixture([along[None] for along in margins], np.array([number]), rng=rng.seeded(4), possible=star)
    counts = np.bincount(np.ravel_multi_index(drawn, SHAPE), minlength=expected.size).reshape(SHAPE)
    assert star.holds(drawn).all()
    spread = np.sqrt(np.maximum(number * expected, 1))
    assert (np.abs(counts - number * expected) < ALARM * spread + 0.01 * number * expected).all()
    planted = mixture([along[None] for along in margins], np.array([number]), rng=rng.seeded(4), possible=Possible())
    assert not star.holds(planted).all()


def test_clusters_are_drawn_each_by_its_own_weights(star):
    first = [np.where(np.arange(size) < 2, 1.0, 0.0) for size in SHAPE]
    second = [np.ones(size) for size in SHAPE]
    tables = [np.stack(each) for each in zip(first, second, strict=True)]
    alone = mixture(tables, np.array([5000, 0]), rng=rng.seeded(1), possible=star)
    both = mixture(tables, np.array([5000, 5000]), rng=rng.seeded(1), possible=star)
    assert alone.max() == 1
    assert both.max() == 3
    assert star.holds(both).all()


def test_impossible_records_are_drawn_again_within_their_groups_if_they_can(star):
    [part] = star.parts
    codes = every_record()
    before, wrong = codes.copy(), ~star.holds(codes)
    groups = [np.arange(size) // 2 for size in SHAPE]

    def draw(weights, size):
        return np.full(size, int(np.argmax(weights.ravel() > 0)))

    repaired(part, codes, Within(groups=groups, counts=[np.ones(size) for size in SHAPE]), draw)
    assert star.holds(codes).all()
    assert (codes[:, ~wrong] == before[:, ~wrong]).all()
    same = [groups[axis][codes[axis]] == groups[axis][before[axis]] for axis in range(5)]
    assert np.mean(np.all(same, axis=0)) > 0.85


def test_constraints_without_a_small_centre_are_refused(monkeypatch):
    monkeypatch.setattr(record_rules, "MOST_COMBINATIONS", 5)
    with pytest.raises(ValueError, match="constraints join attributes of"):
        rules().listed(SHAPE)


def test_scaling_ends_once_the_sums_are_those_asked_for():
    even = (rng.seeded(5).words(60) >> np.uint64(11)).reshape(6, 10) * 2.0**-53
    table = np.where(np.arange(6)[:, None] <= np.arange(10), 0.1 + even, 0.0)
    margins = (np.arange(1.0, 7), np.arange(10.0, 110, 10))
    scaled = with_margins(table, margins, passes=1000)
    assert np.allclose(scaled.sum(axis=0), margins[1] / margins[1].sum(), rtol=2e-4)
    assert np.allclose(scaled.sum(axis=1), margins[0] / margins[0].sum(), rtol=2e-4)
    once = with_margins(table, margins, passes=1)
    assert not np.allclose(once.sum(axis=1), margins[0] / margins[0].sum(), rtol=2e-4)  # the control
