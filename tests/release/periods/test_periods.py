"""Releases that grow period by period: what they count, and what is refused."""

import datetime as dt
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.release.periods.months import MONTHS, ROWS, VISITED, WARD, published, spec, truth

from dpress.core.basics.errors import BudgetExceeded, NotSupported, SchemaMismatch
from dpress.core.basics.rng import seeded
from dpress.core.maps.spans import coefficients, spans, variances
from dpress.ledger.ledger import Ledger
from dpress.query.load import load_release
from dpress.release.curator.publish import publish
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.person_periods import kept
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.release.periods.series_folder import begun
from dpress.reporting.series_page import series_page


@pytest.mark.parametrize("counter", ["separate", "tree", "smooth"])
def test_counts_of_any_periods_come_within_their_errors_and_the_past_is_not_touched(tmp_path, counter):
    folder, own = tmp_path / "out", spec(counter, privacy={"epsilon": 8.0})
    published(folder, own, MONTHS[:3])
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    series = published(folder, own, MONTHS[3:])
    assert before == {path: path.read_bytes() for path in before}
    for text, months, ward in (
        ("visited in 2024-02..2024-05", MONTHS[1:5], None),
        ("ward = eyes", MONTHS, ["eyes"]),
        ("visited = 2024-01 and ward = hearts", MONTHS[:1], ["hearts"]),
    ):
        found = series.query(text, confidence=0.999999)
        assert found.interval[0] <= truth(months, ward) <= found.interval[1]
        assert found.standard_error > 0


def test_auto_takes_the_counter_whose_runs_of_periods_err_least_and_keeps_it(tmp_path):
    few = published(tmp_path / "few", spec("auto"), MONTHS[:2])
    assert few.calendar.periods.counter == "separate"  # the series says what it is, not that it was left open
    days = VISITED | {"cells": "day", "bounds": [dt.date(2021, 1, 1), dt.date(2024, 12, 31)]}
    many = Calendar(spec("auto", attributes=(days, WARD)))
    assert many.counter == "tree"
    assert [row[0] for row in many.comparison.rows] == ["", "*", ""]
    assert Calendar(spec("auto", kind="statistics", parameters={"by": ["ward"]}, attributes=(days, WARD))).counter == (
        "separate"
    )
    own = spec("tree")
    published(tmp_path / "tree", own, MONTHS[:1])
    publish_period(spec("auto"), MONTHS[1], ROWS, out=tmp_path / "tree", rng=seeded(1))
    assert load_series(tmp_path / "tree").periods == tuple(MONTHS[:2])


@pytest.mark.parametrize("counter", ["separate", "tree", "smooth"])
def test_mean_variances_are_those_of_least_norm_coefficients(counter):
    every, found = spans(counter, 9), []
    for first in range(9):
        for last in range(first, 9):
            own = coefficients(every, ((np.arange(9) >= first) & (np.arange(9) <= last)).astype(float))
            found.append((first, last, own @ own))
    one, so_far, in_a_row = variances(every, 9)
    assert np.isclose(one, np.mean([v for first, last, v in found if first == last]))
    assert np.isclose(so_far, np.mean([v for first, _, v in found if first == 0]))
    assert np.isclose(in_a_row, np.mean([v for _, _, v in found]))


def test_spans_share_the_loss_and_what_they_claim_adds_up_to_no_more(tmp_path):
    for counter in ("tree", "smooth"):
        own = spec(counter, privacy={"rho": 0.7})
        series = published(tmp_path / counter, own, MONTHS)
        for period in range(len(MONTHS)):
            inside = [one for span, one in series.releases.items() if span[0] <= period <= span[1]]
            assert sum(one.charged.rho for one in inside) <= Fraction("0.7")
        deepest = max(
            sum(one.charged.rho for span, one in series.releases.items() if span[0] <= period <= span[1])
            for period in range(len(MONTHS))
        )
        assert deepest > Fraction("0.699")  # the shares are not merely small


def test_a_person_counts_in_the_first_periods_only(tmp_path):
    own = spec(privacy={"epsilon": 30.0, "unit": "uid", "rows_per_unit": 2}, per_unit=2)
    series = published(tmp_path / "out", own, MONTHS, ledger=tmp_path / "l.db")
    assert Ledger.open(tmp_path / "l.db").summary().spent == {"epsilon": Fraction(60)}
    months = [f"{day:%Y-%m}" for day in ROWS["visited"].to_pylist()]
    months = [
        own if VISITED["bounds"][0] <= day <= VISITED["bounds"][1] else None
        for own, day in zip(months, ROWS["visited"].to_pylist(), strict=True)
    ]
    seen, expected = {}, dict.fromkeys(MONTHS, 0)
    for month in MONTHS:
        here = [uid for uid, own in zip(ROWS["uid"].to_pylist(), months, strict=True) if own == month]
        for uid in set(here):
            if len(seen.setdefault(uid, set())) < 2:
                expected[month] += min(2, here.count(uid))
            seen[uid].add(month)
    for month in MONTHS:
        found = series.query(f"visited = {month}", confidence=0.999999)
        assert found.interval[0] <= expected[month] <= found.interval[1]
    assert expected["2024-06"] < truth(["2024-06"])  # the cap cuts some: without it the test would not hold


def test_rows_of_a_person_in_other_periods_leave_room_for_those_that_count():
    who, when = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 2, 2, 2, -1, 1])
    assert kept(who, when, 2, 1).tolist() == [True, False, False, True, False, True]
    assert kept(who, when, 2, 2).tolist() == [False, True, True, True, False, True]


def periods_counted(rows, cap, keeps=kept, drawn=range(5)):
    """Return in which periods each person counts while rows are added: (person, period, when it came) each.

    Every draw is from the rows that are there by then; late ones change older periods.
    """
    counted = {person: set() for person, _, _ in rows}
    for time, period in enumerate(drawn):
        there = [(who, when) for who, when, came in rows if came <= time]
        who, when = (np.array(own, dtype=np.int64) for own in (zip(*there, strict=True) if there else ((), ())))
        stay = keeps(who, when, period, cap)
        for person, own, stays in zip(who.tolist(), when.tolist(), stay.tolist(), strict=True):
            if stays and own == period:
                counted[person].add(period)
    return counted


histories = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 4), st.integers(0, 4)), max_size=30)


@given(histories, st.integers(1, 3))
def test_a_person_counts_in_no_more_periods_whatever_comes_late_and_whoever_else_comes(rows, cap):
    counted = periods_counted(rows, cap)
    assert all(len(periods) <= cap for periods in counted.values())
    alone = periods_counted([row for row in rows if row[0] == 0], cap)
    assert all(
        counted[person] == periods for person, periods in alone.items()
    )  # nobody else changes whether one counts


@given(histories, st.integers(1, 3), st.lists(st.integers(0, 4), max_size=5).map(sorted))
def test_a_person_counts_in_no_more_periods_where_some_are_left_out_and_the_last_is_drawn_again(rows, cap, drawn):
    assert all(len(periods) <= cap for periods in periods_counted(rows, cap, drawn=drawn).values())


def test_a_period_that_is_drawn_after_a_later_one_counts_a_person_once_too_often():
    """Why `Series.check_next` refuses it where persons are protected."""
    rows = [(0, 2, 0), (0, 3, 0), (0, 1, 2)]
    assert periods_counted(rows, 2, drawn=[2, 3, 1])[0] == {1, 2, 3}


def test_a_person_who_counts_once_too_often_is_found():
    def too_often(who, when, period, cap):
        return kept(who, when, period, cap + 1)

    rows = [(0, period, 0) for period in range(5)]
    assert len(periods_counted(rows, 2)[0]) == 2
    assert len(periods_counted(rows, 2, too_often)[0]) == 3


@pytest.mark.parametrize("kind", ["marginals", "statistics"])
def test_other_kinds_are_published_by_periods_and_their_counts_add_up(tmp_path, kind):
    cost = {"name": "cost", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 4}
    parameters = {"by": ["ward"], "mean": ["cost"]} if kind == "statistics" else {"ways": 2}
    own = spec(kind=kind, parameters=parameters, attributes=(VISITED, WARD, cost))
    series = published(tmp_path / "out", own, MONTHS[:2])
    if kind == "marginals":
        assert series.query("ward = eyes and visited = 2024-02").value > 0
        assert [*series.by_period("mean cost")] == MONTHS[:2]
        return
    with pytest.raises(NotSupported, match="only counts add up over periods; `by_period` has every one's own answer"):
        series.query("ward = eyes")
    text = "mean cost where ward = eyes"
    found, month = series.by_period(text), load_release(tmp_path / "out" / "2024-02").query(text)
    assert (found["2024-02"].value, found["2024-02"].query) == (month.value, f"2024-02: {text}")
    assert (series.adds_up("total"), series.adds_up(text)) == (False, False)
    text = series_page(published(tmp_path / "out", own, MONTHS[2:3]))
    assert text.count("mean of cost over time") >= 1
    with pytest.raises(ValueError, match="every period answers by itself; of all periods"):
        series.by_period("mean cost where visited = 2024-02")


@pytest.mark.parametrize("counter", ["tree", "smooth"])
def test_a_page_of_statistics_leaves_out_what_a_counter_measures_of_several_periods(tmp_path, counter):
    """Which stood among the periods, as one more than there are."""
    cost = {"name": "cost", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 4}
    parameters, columns = {"by": ["ward"], "mean": ["cost"]}, (VISITED, WARD, cost)
    own = spec(counter, kind="statistics", parameters=parameters, attributes=columns, privacy={"epsilon": 8.0})
    series = published(tmp_path / "out", own, MONTHS[:2])
    months = [load_release(tmp_path / "out" / month) for month in MONTHS[:2]]
    assert [release.query("total") for release in series.alone] == [month.query("total") for month in months]
    assert "mean of cost over time" in series_page(series)


def test_spans_of_a_counter_have_no_mean_of_one_period(tmp_path):
    series = published(tmp_path / "out", spec("tree", privacy={"epsilon": 8.0}), MONTHS[:2])
    with pytest.raises(NotSupported, match='is known of separate periods, and counter = "tree"'):
        series.by_period("share ward = eyes")


def test_a_period_without_a_row_is_published_like_any_other(tmp_path):
    rows = ROWS.filter(pa.compute.less(ROWS["visited"], pa.scalar(dt.date(2024, 3, 1))))
    publish_period(spec(), "2024-05", rows, out=tmp_path / "out", rng=seeded(1))
    assert abs(load_series(tmp_path / "out").query("visited = 2024-05").value) < 20


@pytest.mark.parametrize(
    ("counter", "there", "asked", "message"),
    [
        ("separate", MONTHS[:2], "2024-02", "2024-02 is published already; noise is drawn once"),
        (
            "separate",
            MONTHS[1:3],
            "2024-01",
            "published in order; the earliest that can follow is 2024-04",
        ),
        ("tree", MONTHS[:2], "2024-04", "the next one is 2024-03, got 2024-04"),
        ("smooth", [], "2024-02", "the next one is 2024-01, got 2024-02"),
        (
            "separate",
            [],
            "2025-01",
            "expected one from 2024-01 to 2024-06, got '2025-01'",
        ),
    ],
)
def test_a_period_that_is_there_or_out_of_order_is_refused_and_costs_nothing(tmp_path, counter, there, asked, message):
    own, ledger = spec(counter), tmp_path / "l.db"
    if there:
        published(tmp_path / "out", own, there, ledger=ledger)
        before = Ledger.open(ledger).summary().rows
    with pytest.raises(ValueError, match=message.replace(".", r"\.")) as refused:
        publish_period(own, asked, ROWS, out=tmp_path / "out", ledger=ledger)
    assert "\n" not in str(refused.value)
    assert not there or Ledger.open(ledger).summary().rows == before


def test_another_specification_folder_or_ledger_is_refused(tmp_path):
    published(tmp_path / "out", spec(), MONTHS[:1], ledger=tmp_path / "l.db")
    with pytest.raises(ValueError, match="was begun with another specification"):
        publish_period(spec("tree"), "2024-02", ROWS, out=tmp_path / "out")
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").write_text("")
    with pytest.raises(OSError, match="exists already and is no series"):
        publish_period(spec(), "2024-02", ROWS, out=tmp_path / "else")
    with pytest.raises(BudgetExceeded):
        publish_period(spec(), MONTHS[0], ROWS, out=tmp_path / "again", ledger=tmp_path / "l.db")
    with pytest.raises(ValueError, match="published period by period"):
        publish(spec(), ROWS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": (WARD,)}, "expected a released attribute of kind date"),
        ({"privacy": {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}}, "per_unit: expected of how many periods"),
        ({"per_unit": 2}, "per_unit: only for persons"),
        (
            {"privacy": {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}, "counter": "tree", "per_unit": 1},
            "protect rows",
        ),
        ({"privacy": {"epsilon": 1.0, "delta": 1e-6}}, "under `epsilon` or `rho`"),
    ],
)
def test_a_specification_whose_periods_make_no_sense_is_refused(change, message):
    with pytest.raises(SchemaMismatch, match=message):
        spec(**change)


def test_a_release_that_was_put_in_from_elsewhere_is_found(tmp_path):
    published(tmp_path / "out", spec(), MONTHS[:1])
    published(tmp_path / "other", spec(privacy={"epsilon": 1.0}), MONTHS[:2])
    (tmp_path / "other" / "2024-02").rename(tmp_path / "out" / "2024-02")
    with pytest.raises(SchemaMismatch, match="is not of this series' specification"):
        load_series(tmp_path / "out").query("visited = 2024-02")


def test_one_process_at_a_time_adds_a_period(tmp_path):
    with begun(tmp_path / "out", spec(), lambda: False), pytest.raises(OSError, match="another process adds a period"):
        publish_period(spec(), "2024-02", ROWS, out=tmp_path / "out")
    assert load_series(tmp_path / "out").periods == ()


def test_a_span_that_could_not_be_written_is_made_again_and_the_others_are_kept(tmp_path, monkeypatch):
    """The disk is full after the first of two spans: nothing half-written, and no second charge of a counter."""
    own, folder = spec("tree"), tmp_path / "out"
    published(folder, own, MONTHS[:1], ledger=tmp_path / "l.db")
    real, calls = publish_period.__globals__["publish"], []

    def full(*args, **options):
        calls.append(options["out"])
        if len(calls) == 2:
            raise OSError("disk full")
        return real(*args, **options)

    monkeypatch.setitem(publish_period.__globals__, "publish", full)
    with pytest.raises(OSError, match="disk full"):
        publish_period(own, "2024-02", ROWS, out=folder, ledger=tmp_path / "l.db", rng=seeded(1))
    assert load_series(folder).periods == ("2024-01",)
    monkeypatch.undo()
    first = (calls[0] / "measurement.parquet").read_bytes()
    publish_period(own, "2024-02", ROWS, out=folder, ledger=tmp_path / "l.db", rng=seeded(2))
    assert load_series(folder).periods == ("2024-01", "2024-02")
    assert (calls[0] / "measurement.parquet").read_bytes() == first
    assert len(Ledger.open(tmp_path / "l.db").summary().entries) == 3  # a line for each span


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_a_first_period_that_is_refused_leaves_nothing_behind(tmp_path, counter):
    strict = {**WARD, "values": ["eyes"], "other": "reject"}
    own, folder = spec(counter, attributes=(VISITED, strict)), tmp_path / "visits"
    ledger = Ledger.create(tmp_path / "ledger.sqlite", limit=own.privacy.loss, unit=own.privacy.protected)
    for paying in (None, ledger):
        with pytest.raises(SchemaMismatch):
            publish_period(own, MONTHS[0], ROWS, out=folder, ledger=paying)
        assert not folder.exists()
    publish_period(spec(counter), MONTHS[0], ROWS, out=folder)
    with pytest.raises(ValueError, match="published already"):
        publish_period(spec(counter), MONTHS[0], ROWS, out=folder)
    assert load_series(folder).periods == (MONTHS[0],)


@pytest.mark.slow
def test_a_page_of_tables_that_hold_single_attributes_has_the_cells_of_each(tmp_path):
    sex = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
    rows = ROWS.append_column("sex", pa.array(["f", "m", "m"] * 200))
    own = spec(kind="marginals", parameters={"tables": [["ward"], ["sex"]]}, attributes=(VISITED, WARD, sex))
    for place, month in enumerate(MONTHS[:3]):
        publish_period(own, month, rows, out=tmp_path / "visits", rng=seeded(place))
    text = series_page(load_series(tmp_path / "visits"))
    assert all(f'aria-label="count over time by {name}"' in text for name in ("ward", "sex"))


@pytest.mark.parametrize("counter", ["separate", "tree"])
@pytest.mark.parametrize(("february", "change"), [(100, "hides whether that is more"), (300, "That is 2.. more")])
def test_a_page_opens_with_the_latest_period_and_a_change_that_is_significant(tmp_path, counter, february, change):
    days = [dt.date(2024, 1, 15)] * 100 + [dt.date(2024, 2, 15)] * february
    rows = pa.table({"visited": days, "ward": ["eyes"] * len(days)})
    for place, month in enumerate(MONTHS[:2]):
        publish_period(spec(counter), month, rows, out=tmp_path / "out", rng=seeded(place))
    (opening,) = re.findall(r'<p class="opening">(.*?)</p>', series_page(load_series(tmp_path / "out")))
    assert re.match(rf"In 2024-02: \d+ rows, give or take \d+\. .*{change} .*2024-01", opening)
