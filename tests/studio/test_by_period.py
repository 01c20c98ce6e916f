"""A wish that is published period by period: the same sections as a file's, one budget over all, one page."""

import datetime as dt

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.core.basics.errors import BudgetExceeded
from dpress.data.specification.spec import load_spec
from dpress.studio import acts
from dpress.studio.by_period import Turn
from dpress.studio.draft import Column, Draft, Wish
from dpress.studio.session import Session

WRITTEN = """
[[attribute]]
name = "visited"
kind = "date"
bounds = ["2024-01-01", "2024-04-30"]
cells = "month"
[[attribute]]
name = "ward"
kind = "categorical"
values = ["eyes", "hearts"]
[privacy]
epsilon = 0.5
[periods]
attribute = "visited"
[release]
kind = "histogram"
"""
VISITED = Column(name="visited", use=True, kind="date", low="2024-01-01", high="2024-04-30", cells="month")
WARD = Column(name="ward", use=True, kind="categorical", values="eyes\nhearts")
SERIES = Wish(name="visits", kind="histogram", periods="visited", epsilon="half")


@pytest.fixture
def series(tmp_path):
    """The work of somebody who publishes visits month by month."""
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=one % 121) for one in range(600)]
    table = pa.table(
        {"visited": days, "ward": ["eyes", "eyes", "hearts"] * 200, "uid": [one % 90 for one in range(600)]}
    )
    pq.write_table(table, tmp_path / "visits.parquet")
    columns = [VISITED, WARD, Column(name="uid")]
    made = Session.at(tmp_path / "work")
    made.keep(Draft(source=str(tmp_path / "visits.parquet"), columns=columns, unit="row", wishes=[SERIES]))
    return made


def publish(series, period, name="visits"):
    return acts.publish_period(series, Turn(name=name, period=period))


def changed(series, wish=SERIES, **changes):
    """Change what was typed; return what the page says of the wish."""
    series.keep(msgspec.structs.replace(series.draft, wishes=[wish], **changes))
    return series.wishes[0]


def test_it_is_the_specification_that_somebody_would_write(series):
    assert series.spec("visits").hash == load_spec(WRITTEN).hash
    (state,) = series.wishes
    assert state["turns"] == {"published": (), "names": ("2024-01", "2024-02", "2024-03", "2024-04")}
    assert (state["epsilon"], state["after"], state["faults"]) == ("0.5", 0.5, [])


def test_its_plan_says_what_all_periods_give_away_and_how_errors_grow(series):
    shown = acts.forecast(series, "visits")
    assert shown["periods"][0].endswith("4 periods, 2024-01 to 2024-04; over all of them a row loses epsilon = 0.5.")
    assert [row[1] for row in shown["running"]["rows"]] == ["separate", "tree", "smooth"]
    assert acts.preview(series, "visits")["cells"] == 2
    assert acts.made_up_page(series, "visits").startswith(b"<!DOCTYPE html>")


def test_periods_are_published_one_after_the_other_on_one_page_and_paid_once(series):
    assert publish(series, "2024-01")["charged"] == [{"epsilon": 0.5}]
    (state,) = series.wishes
    assert state["turns"] == {"published": ("2024-01",), "names": ("2024-02", "2024-03", "2024-04")}
    publish(series, "2024-03")
    assert series.wishes[0]["turns"]["names"] == ("2024-04",)
    assert series.ledger["left"] == {"epsilon": 0.5}
    assert dpress.load_series(series.folder / "visits").periods == ("2024-01", "2024-03")
    page = acts.page(series, "visits")
    assert b"2024-01" in page
    assert b"2024-03" in page
    for period, line in (
        ("2024-02", "in order"),
        ("2024-03", "published already"),
        ("May", "expected one"),
    ):
        with pytest.raises(ValueError, match=line):
            publish(series, period)
    assert series.ledger["left"] == {"epsilon": 0.5}


def test_what_a_person_loses_over_all_periods_is_the_part_of_the_budget(series):
    wish = msgspec.structs.replace(SERIES, per_unit="2")
    replaced = {"unit": "person", "person": "uid", "rows_per_unit": "3", "relation": "replace-one"}
    state = changed(series, wish, **replaced)
    assert (state["epsilon"], series.spec("visits").privacy.epsilon) == ("0.5", 0.125)
    changed(series, wish, **(replaced | {"relation": "add-remove"}))
    assert series.spec("visits").privacy.epsilon == 0.25
    assert acts.forecast(series, "visits")["periods"][0].endswith("a uid loses epsilon = 0.5.")
    for period in ("2024-01", "2024-02", "2024-03"):
        publish(series, period)
    assert series.ledger["left"] == {"epsilon": 0.5}


def test_a_period_that_the_ledger_cannot_pay_is_refused_and_not_begun(series):
    changed(series, msgspec.structs.replace(SERIES, epsilon="2"))
    with pytest.raises(BudgetExceeded):
        publish(series, "2024-01")
    assert not series.is_published("visits")


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"periods": "ward"}, "periods"),
        ({"counter": "sometimes"}, "counter"),
        ({"kind": "ranges"}, "periods"),
    ],
)
def test_what_is_no_series_is_refused_at_its_field(series, changes, at):
    faults = changed(series, msgspec.structs.replace(SERIES, **changes))["faults"]
    assert [fault.at for fault in faults] == [f"wishes/visits/{at}"]


def test_persons_need_a_number_of_periods(series):
    wish = msgspec.structs.replace(SERIES, per_unit="")
    state = changed(series, wish, unit="person", person="uid", rows_per_unit="3")
    assert [fault.at for fault in state["faults"]] == ["wishes/visits/per_unit"]
    state = changed(series, msgspec.structs.replace(SERIES, counter="tree"), unit="person", person="uid")
    assert [fault.at for fault in state["faults"]] == ["wishes/visits/counter"]


def test_the_commands_name_a_period(series):
    assert any("publish" in line and "--period=PERIOD" in line for line in series.wishes[0]["commands"])


def test_every_region_of_a_tree_is_planned_and_published_on_a_page(tmp_path):
    (tmp_path / "towns.csv").write_text("state,town\nA,A1\nA,A2\nB,B1\n", encoding="utf-8")
    pq.write_table(pa.table({"town": ["A1", "A2", "B1"] * 100}), tmp_path / "people.parquet")
    tree = str(tmp_path / "towns.csv")
    towns = Column(name="town", use=True, kind="hierarchy", title="Town", levels="state, town", tree=tree)
    wish = Wish(name="places", kind="regions", attributes=["town_code"])
    session = Session.at(tmp_path / "work")
    session.keep(Draft(source=str(tmp_path / "people.parquet"), columns=[towns], unit="row", wishes=[wish]))
    assert session.wishes[0]["faults"] == []
    assert acts.forecast(session, "places")["promise"] == "epsilon = 1 (proven)"
    acts.publish(session, "places")
    assert b"Town" in acts.page(session, "places")
