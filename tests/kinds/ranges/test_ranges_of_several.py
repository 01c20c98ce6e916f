"""Ranges of several attributes from devices, from the spec to the answers: what is asked, stated and fitted."""

import numpy as np
import pyarrow as pa
import pytest

from dpress import catalog
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import seeded
from dpress.core.maps.ranges import Ranges
from dpress.data.specification.spec import from_dict
from dpress.kinds.ranges.page import page
from dpress.kinds.ranges.tile_views import tile_variances, tile_views
from dpress.query.load import load_release
from dpress.release.devices.estimate import estimate
from dpress.release.devices.from_tallies import released
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan
from dpress.release.truth.evaluate import evaluate
from dpress.reporting.facts import facts

USERS = 40_000
NAMES = ("age", "hours", "years")


def people():
    """Attributes that go together, one of them heavy on a single value."""
    draw = np.random.default_rng(3)  # noqa: TID251  # made-up people
    age = np.clip(draw.gamma(3, 6, USERS), 0, 63).astype(int)
    hours = np.where(draw.random(USERS) < 0.5, 40, np.clip(draw.normal(35 + age / 4, 12), 0, 79)).astype(int)
    return pa.table({"age": age, "hours": hours, "years": np.clip(age // 8 + draw.integers(0, 3, USERS), 0, 7)})


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("grids"), people()
    spec = from_dict(
        {
            "attribute": [
                {"kind": "integer", "name": name, "bounds": [0, size - 1]}
                for name, size in zip(NAMES, (64, 80, 8), strict=True)
            ],
            "privacy": {"model": "local", "epsilon": 2.0},
            "release": {"kind": "ranges", "parameters": {"users": USERS}},
        }
    )
    planned = plan(spec)
    perturb(planned.design, rows, out=folder / "reports", rng=seeded(5))
    return planned, estimate(planned.design, folder / "reports"), rows


def true(rows, **ranges):
    held = np.ones(USERS, dtype=bool)
    for name, (low, high) in ranges.items():
        held &= (rows[name].to_numpy() >= low) & (rows[name].to_numpy() <= high)
    return int(held.sum())


def test_grids_are_asked_and_ranges_of_one_and_two_attributes_are_near(collected):
    planned, release, rows = collected
    assert [one.method for one in planned.candidates] == ["hdg"]
    assert planned.chosen.asks == "2 at once"
    found = evaluate(release, rows)
    measured, predicted = (found[f"range_{name}root_mean_squared_error"] for name in ("", "predicted_"))
    assert predicted == pytest.approx(np.sqrt(planned.chosen.predicted_error), rel=1e-9)
    assert 0.2 < measured / predicted < 2.5  # how people lie in tiles is assumed, and half of them lie in one cell
    for text, one in (
        ("age in 8..23", true(rows, age=(8, 23))),
        ("age in 10..30 and hours in 35..45", true(rows, age=(10, 30), hours=(35, 45))),
    ):
        answer = release.query(text)
        assert abs(answer.value - one) < 5 * answer.standard_error
        assert answer.within is None or answer.within[0] <= answer.value <= answer.within[1]


def test_what_cut_tiles_leave_open_is_stated_and_whole_tiles_leave_nothing(collected):
    _, release, rows = collected
    grids = release.mechanism.estimator
    ends = [grids.axes[axis].starts[:: grids.axes[axis].each] for axis in (0, 1)]
    whole = f"age in 0..{ends[0][2] - 1} and hours in {ends[1][1]}..{ends[1][3] - 1}"
    assert release.query(whole).within is None
    assert release.query(whole).note is None
    cut = release.query("age in 3..12 and hours >= 41")
    assert "cuts tiles" in cut.note
    assert cut.within[0] < true(rows, age=(3, 12), hours=(41, 79)) < cut.within[1]


def test_a_page_shows_whole_tiles_with_the_errors_that_queries_have(collected):
    """Half of the people have one value: its tile's interval holds them, that of its cell does not."""
    _, release, rows = collected
    own = facts(release)
    grids, tables = release.mechanism.estimator, own.mechanism.decoder.tables
    shown = dict(zip(tables, tile_views(own.views, tables, grids, release.answers.query_variance), strict=True))
    for view in shown.values():
        place = tuple(size // 2 for size in view.count.shape)
        named = [(axis.name, axis.labels[at].split(" to ")) for axis, at in zip(view.axes, place, strict=True)]
        asked = release.query(" and ".join(f"{name} in {ends[0]}..{ends[-1]}" for name, ends in named))
        assert asked.note is None
        assert (view.count[place], view.error[place]) == pytest.approx((asked.value, asked.standard_error))
    hours = shown[1,]
    tile = int(hours.count.argmax())
    first, last = map(int, hours.axes[0].labels[tile].split(" to "))
    assert hours.low[tile] < true(rows, hours=(first, last)) < hours.high[tile]
    cells = own.views[tables.index((1,))]
    assert not cells.low[40] < true(rows, hours=(40, 40)) < cells.high[40]
    variances = tile_variances(NAMES, grids, release.answers.query_variance)
    alone = Ranges(grids.axes[1].fine, np.array([tile + 1]), np.array([tile + 1]))
    assert np.sqrt(variances("hours", alone)) == pytest.approx(hours.error[tile])
    assert f">{first} to {last}<" in page(release)


def test_three_attributes_are_fitted_and_said_to_be(collected, tmp_path):
    _, release, rows = collected
    one = release.query("age in 10..30 and hours in 35..45 and years <= 3")
    assert "fitted to the grids of pairs" in one.note
    truth = true(rows, age=(10, 30), hours=(35, 45), years=(0, 3))
    assert abs(one.value - truth) < 0.2 * truth + 4 * one.standard_error
    again = load_release(release.write(tmp_path / "release"))
    assert again.query(one.query).value == one.value
    assert "fitted" in release.mean("age", where="hours >= 30 and years <= 5").note


def test_boxes_of_two_attributes_at_once_and_of_more_are_not(collected):
    _, release, _ = collected
    with pytest.raises(ValueError, match="boxes of two attributes at once, and the release has 3"):
        release.answers.query_ranges(np.ones((1, 3), int), np.ones((1, 3), int))


def test_an_attribute_of_one_cell_says_nothing_and_breaks_nothing(tmp_path):
    one, two = ({"kind": "integer", "name": name, "bounds": [0, high]} for name, high in (("age", 0), ("hours", 9)))
    design = plan(
        from_dict(
            {
                "attribute": [one, two],
                "privacy": {"model": "local", "epsilon": 1.0},
                "release": {"kind": "ranges", "parameters": {"users": 600}},
            }
        )
    ).design
    rows = pa.table({"age": np.zeros(600, int), "hours": np.arange(600) % 10})
    perturb(design, rows, out=tmp_path / "reports", rng=seeded(2))
    release = estimate(design, tmp_path / "reports")
    alone, both = release.query("hours <= 4"), release.query("hours <= 4 and age = 0")
    assert abs(alone.value - 300) < 5 * alone.standard_error
    assert both.value == pytest.approx(alone.value)
    assert release.query("age = 0").value == pytest.approx(600)


@pytest.mark.parametrize(("missing", "named"), [(1, "'hours' alone"), (4, "'age' and 'years'")])
def test_a_grid_that_nobody_answered_is_named_by_its_attributes(collected, missing, named):
    planned, release, _ = collected
    own = release.mechanism
    tallies = own.split_tally(release.kept[: sum(own.sizes)])
    kept = catalog.room("ranges").answering.tallied
    released(planned.design, own, tallies, {}, kept, private=False)
    tallies[missing] = own.types[missing].tally(own.types[missing].nothing)
    with pytest.raises(SchemaMismatch, match=f"^no report is about {named}$"):
        released(planned.design, own, tallies, {}, kept, private=False)
