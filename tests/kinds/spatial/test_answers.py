"""Maps that are released: what rectangles are answered, what is refused, and that intervals hold the truth."""

import math
from statistics import NormalDist

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.kinds.spatial.towns import USERS, places, spec

from dpress import load_release
from dpress.core.basics import rng
from dpress.core.maps.grid import Rectangles
from dpress.inference.interval import half_width
from dpress.inference.maps.density import unbiased
from dpress.kinds.spatial.answers import CLIPPED, Answers
from dpress.kinds.spatial.prediction import rectangles
from dpress.mechanisms.spatial.map_decoder import MapDecoder
from dpress.query.designs import collection_of
from dpress.release.plan.plan import plan

FALSE_ALARM = 1e-6
RUNS = 40


def test_a_rectangle_is_answered_in_the_columns_own_units(released):
    own, _ = released
    assert isinstance(own.answers, Answers)
    found = own.query("lon in 4..8 and lat in 2..4")
    right = own.answers.density.values(Rectangles(*(np.array([end]) for end in (8.0, 16.0, 8.0, 16.0))))
    assert found.value == pytest.approx(right[0])
    assert found.interval[0] < found.value < found.interval[1]
    assert found.note is None
    inside = (places()[0] > 4) & (places()[1] > 2)
    assert abs(found.value - inside.sum()) < 6 * found.standard_error


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("total", "lon in 0..8 and lat in 0..4"),
        ("lon > 3", "lon in 3..8"),
        ("lon >= 3 and lon <= 5 and lat < 2", "lon in 3..5 and lat in 0..2"),
        ("lat in 1..3", "lon in 0..8 and lat in 1..3"),
        ("lon in 2..6 and lon in 4..8", "lon in 4..6"),
    ],
)
def test_texts_that_ask_for_the_same(released, text, same):
    one, other = (released[0].query(asked) for asked in (text, same))
    assert one.value == other.value
    assert one.interval == other.interval
    assert one.value != released[0].query("lon in 0..1").value


def test_the_total_is_the_users_and_a_rectangle_beyond_the_box_says_what_it_left_out(released):
    own, _ = released
    assert own.query("total").value == pytest.approx(USERS)
    clipped = own.query("lon in -3..5")
    assert clipped.note == CLIPPED
    assert clipped.value == own.query("lon in 0..5").value
    assert own.query("lon in 0..5").note is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lon in 5..3", "lon: the ends of 5..3 are reversed; write 3..5"),
        ("lon in 9..12", "lon: nothing lies there; it runs from 0 to 8"),
        ("lat > 4", "lat: nothing lies there; it runs from 0 to 4"),
        ("lon in 3..3", "lon: 3..3 has no length, and so no area"),
        ("lon > 5 and lon < 4", "lon: 5..4 has no length"),
        ("lon = 3", "lon = ...: write a range such as `in a..b`"),
        ("lon != 3", "write a range"),
        ("lon in (3, 4)", "write a range"),
        ("lon in 3", "cannot read '3' after `in`; write a..b"),
        ("lon in a..b", "lon: expected a number, got 'a'"),
        ("lon > nan", "lon: expected a number, got 'nan'"),
        ("place in 1..2", "place is a place: write `place in (a..b, c..d)`, a..b of lon and c..d of lat"),
        ("lon in 1..2 and age in 2..3", "there is no attribute 'age'; the attributes are lon, lat"),
        ("", "cannot read ''"),
    ],
)
def test_what_is_no_rectangle_is_refused(released, text, message):
    with pytest.raises(ValueError, match=r"lon|lat|cannot read") as refusal:
        released[0].query(text)
    assert message in str(refusal.value)


def test_many_rectangles_at_once_are_those_one_by_one(released):
    own, _ = released
    low, high = [[0, 0], [4, 2], [1.3, 0.7]], [[8, 4], [8, 4], [2.9, 3.1]]
    found = own.answers.query_rectangles(low, high, confidence=0.9)
    assert found.column_names == ["count", "standard_error", "low", "high", "unbiased"]
    for row, (a, b), (c, d) in zip(found.to_pylist(), low, high, strict=True):
        one = own.query(f"lon in {a}..{c} and lat in {b}..{d}", confidence=0.9)
        assert (row["count"], row["standard_error"]) == pytest.approx((one.value, one.standard_error))
        assert (row["low"], row["high"]) == pytest.approx(one.interval, abs=2)
        assert row["unbiased"] == one.unbiased == pytest.approx((row["low"] + row["high"]) / 2)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([[0, 0], [3, 0]], [[1, 1], [2, 1]], "rectangle 1 is reversed, or no number"),
        ([[0, 0]], [[0, 1]], "rectangle 0 is reversed"),
        ([[0, math.nan]], [[1, 1]], "rectangle 0 is reversed, or no number"),
        ([[-1, 0]], [[1, 1]], "rectangle 0 leaves the box"),
        ([[0, 0]], [[1, 4.5]], "rectangle 0 leaves the box"),
        ([0, 0], [1, 1], r"must have the same shape \(m, 2\), got \(2,\)"),
        ([[0, 0]], [[1, 1], [2, 2]], r"must have the same shape \(m, 2\)"),
        ([["a", 0]], [[1, 1]], "must be numbers of shape"),
    ],
)
def test_rectangles_that_are_none_are_refused(released, low, high, message):
    with pytest.raises(ValueError, match=message):
        released[0].answers.query_rectangles(low, high)


def test_a_loaded_map_answers_alike_and_its_table_is_the_map(released):
    own, folder = released
    again = load_release(folder)
    assert isinstance(again.answers, Answers)
    for text in ("lon in 1.3..2.9 and lat in 0.7..3.1", "lat < 2"):
        assert again.query(text) == own.query(text)
    (name,) = own.answers.tables
    published = pq.read_table(folder / name)
    (made,) = own.answers.published()
    assert published.equals(made.table())
    assert published.num_rows == 256
    assert {"lon", "lat", "count", "standard_error", "low", "high"} <= set(published.column_names)
    counts = np.array(published["count"].to_pylist()).reshape(16, 16)
    assert counts == pytest.approx(own.answers.density.counts)
    assert own.claim.proven is None  # its generator was seeded


def shares_within(own, asked, *, shorter=1.0):
    """The share of 95 % intervals that hold the truth, by collection of real reports."""
    points, collection = places(), collection_of(plan(own).design)
    across, up = ((points[axis] / (8, 4)[axis]) for axis in (0, 1))
    truth = [
        ((across >= a) & (across < b) & (up >= c) & (up < d)).sum()
        for a, b, c, d in zip(asked.left, asked.right, asked.bottom, asked.top, strict=True)
    ]
    side, found = collection.shape[0], []
    codes = np.minimum(np.stack([across, up]) * side, side - 1).astype(np.int32)
    for run in range(RUNS):
        generator = rng.seeded(100 + run)
        drawn = collection.drawn(USERS, rng=generator)
        parts = [one.perturb(codes[:, drawn == k], rng=generator) for k, one in enumerate(collection.types)]
        tallies = [collection.tally(number, part) for number, part in enumerate(parts)]
        measured = collection.measurement(tallies)
        density = MapDecoder(collection.estimator, USERS).density(measured)
        own_asked = asked.scaled(side)
        half = half_width(density.variances(own_asked), 0.95, "gaussian")
        found.append((np.abs(unbiased(density).values(own_asked) - truth) <= shorter * half).mean())
    return np.array(found)


def on_edges(asked, side):
    ends = [np.round(end * side) / side for end in (asked.left, asked.right, asked.bottom, asked.top)]
    ends[1], ends[3] = (np.maximum(ends[k], ends[k - 1] + 1 / side) for k in (1, 3))
    return Rectangles(*ends)


def too_low(found, slack):
    """Whether the mean share over independent collections is below 95 % by more than chance: false alarm 1e-6."""
    return found.mean() < 0.95 - slack - NormalDist().inv_cdf(1 - FALSE_ALARM) * found.std(ddof=1) / math.sqrt(RUNS)


@pytest.mark.slow
def test_intervals_of_least_squares_hold_the_truth_exactly_as_often_as_they_say():
    """Exact for whole cells, but for the noise of counts that a variance is taken of; and no wider than needed."""
    own = spec("gtr", height=3)
    asked = on_edges(rectangles(plan(own).workload, 80), 8)
    found = shares_within(own, asked)
    assert not too_low(found, 0.01)
    assert found.mean() < 0.99
    assert too_low(shares_within(own, asked, shorter=0.5), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gtr", "gtr_top_down"])
def test_intervals_of_rectangles_of_the_expected_size_hold_the_truth(method):
    """With cut cells, which a model is for: 3 points of slack."""
    own = spec(method, height=3)
    asked = rectangles(plan(own).workload, 80)
    assert not too_low(shares_within(own, asked), 0.03)
    assert too_low(shares_within(own, asked, shorter=0.5), 0.03)
