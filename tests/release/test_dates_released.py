"""Releases over dates, from specification to page: counts, queries, files, records and figures."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import text_of_page
from tests.reporting.macros import sentence

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import load_spec
from dpress.document import design as designs
from dpress.release.truth.data_check import check
from dpress.reporting import figures
from dpress.reporting.facts import facts

DAY = dt.date(2024, 1, 1)
VISITED = {"name": "visited", "kind": "date", "bounds": ["2024-01-10", "2024-12-31"], "cells": "month",
           "outside": "drop", "null": "unknown"}  # fmt: skip
WARD = {"name": "ward", "kind": "categorical", "values": ["a", "b"]}
DAYS = [DAY + dt.timedelta(one * 7 % 380) for one in range(4000)]
ROWS = pa.table({"visited": pa.array([*DAYS, None], pa.date32()), "ward": ["a", "b"] * 2000 + ["a"]})
LARGEST_ERROR = 40.0  # of a count at epsilon = 10: scale 1/10, so a false alarm has probability exp(-400)


def spec(*attributes, kind="histogram", privacy=None, **release):
    return load_spec(
        {
            "attribute": list(attributes) or [VISITED],
            "privacy": privacy or {"epsilon": 10.0},
            "release": {"kind": kind, **release},
        }
    )


def inside(first, last):
    return sum(dt.date.fromisoformat(first) <= day <= dt.date.fromisoformat(last) for day in DAYS)


QUERIES = {
    "visited in 2024-01..2024-03": ("2024-01-10", "2024-03-31"),
    "visited = 2024-01": ("2024-01-10", "2024-01-31"),
    "visited = 2024-01-10..2024-01-31": ("2024-01-10", "2024-01-31"),
    "visited in 2024-01-10..2024-02-29": ("2024-01-10", "2024-02-29"),
    "visited = 2024-Q2": ("2024-04-01", "2024-06-30"),
    "visited >= 2024-06-01": ("2024-06-01", "2024-12-31"),
    "visited > 2024-05": ("2024-06-01", "2024-12-31"),
    "visited <= 2024-05": ("2024-01-10", "2024-05-31"),
    "visited < 2024-05": ("2024-01-10", "2024-04-30"),
    "visited = 2024": ("2024-01-10", "2024-12-31"),
    "visited in (2024-02, '2024-03')": ("2024-02-01", "2024-03-31"),
}
REFUSED = {
    "visited in 2024-02-10..2024-03-15": "cuts through a cell; the nearest range around it is 2024-02-01..2024-03-31",
    "visited = 2024-W05": "cuts through a cell; the nearest range around it is 2024-01-10..2024-02-29",
    "visited >= 2025": "nothing lies there; it runs from 2024-01-10 to 2024-12-31",
    "visited in 2024-03..2024-01": "the ends of 2024-03..2024-01 are reversed; write 2024-01..2024-03",
    "visited = 2024-02-30": "expected a date or a period, such as 2024-12-31, 2024-W52, 2024-12, 2024-Q4 or 2024, got",
    "visited = Monday": "expected a date or a period",
    "visited > 5": "expected a date or a period",
}


@pytest.mark.parametrize("kind", ["histogram", "ranges"])
def test_periods_are_answered_by_their_rows(kind):
    release = dpress.publish(spec(kind=kind), ROWS)
    for text, ends in QUERIES.items():
        assert abs(release.query(text).value - inside(*ends)) < LARGEST_ERROR, text
    assert abs(release.query("visited = unknown").value - 1) < LARGEST_ERROR
    for text, message in REFUSED.items():
        with pytest.raises(ValueError, match="visited: ") as caught:
            release.query(text)
        assert message in str(caught.value)


def test_running_totals_over_time():
    asked = spec(VISITED | {"cells": "day", "null": "drop"}, kind="ranges", parameters={"queries": "prefixes"})
    release = dpress.publish(asked, ROWS)
    totals = release.answers.query_ranges(np.ones(357, dtype=int), np.arange(1, 358))
    days = [(dt.date(2024, 1, 10) + dt.timedelta(one)).isoformat() for one in range(357)]
    assert max(abs(totals["count"].to_numpy() - [inside("2024-01-10", day) for day in days])) < LARGEST_ERROR


def test_cells_that_come_round_are_asked_by_name():
    release = dpress.publish(spec({"name": "visited", "kind": "date", "cells": "weekday", "null": "drop"}), ROWS)
    weekend = sum(day.weekday() >= 5 for day in DAYS)
    for text in ("in Saturday..Sunday", ">= Saturday", "> Friday", "in (Saturday, Sunday)"):
        assert abs(release.query(f"visited {text}").value - weekend) < LARGEST_ERROR
    table = next(iter(release.answers.by_attributes()))[1].table()
    assert table.column_names[:2] == ["visited", "count"]
    for text, message in (
        ("= monday", "expected a name"),
        ("< Monday", "nothing lies"),
        ("in Sunday..Monday", "reversed"),
    ):
        with pytest.raises(ValueError, match=message):
            release.query(f"visited {text}")


def test_tables_have_dates_and_time_stamps(tmp_path):
    hours = {"name": "visited", "kind": "datetime", "zone": "Europe/Berlin", "bounds": ["2024-03-31", "2024-03-31"],
             "cells": "hour", "null": "none"}  # fmt: skip
    for own, kind, first in (
        (VISITED, pa.date32(), DAY.replace(day=10)),
        (hours, pa.timestamp("ms"), dt.datetime(2024, 3, 31)),
    ):
        dpress.publish(spec(own), ROWS, out=tmp_path / own["kind"])
        table = pq.read_table(tmp_path / own["kind"] / "visited.parquet")
        assert table.column_names == [
            "visited",
            "visited_from",
            "visited_below",
            "count",
            "standard_error",
            "low",
            "high",
            "adjusted",
        ]
        assert table["visited_from"].type == table["visited_below"].type == kind
        assert table["visited_from"].to_pylist()[0] == first
        assert table["visited_from"].to_pylist()[-1] is table["visited_below"].to_pylist()[-1] is None
        assert table["visited_from"].to_pylist()[1:-1] == table["visited_below"].to_pylist()[:-2]
        total = dpress.load_release(tmp_path / own["kind"]).query("total").value
        assert total == pytest.approx(table["count"].to_numpy().sum())


@pytest.mark.parametrize(
    "own", [VISITED, VISITED | {"cells": "weekday"}, VISITED | {"kind": "datetime", "zone": "UTC"}]
)
def test_a_design_with_dates_is_plain_and_reads_back(own):
    design = dpress.plan(spec(own)).design
    text = designs.encode(design)
    assert designs.decode(text) == design
    coded = json.loads(text)["ask"]["attributes"][0]
    assert coded == own | {"null": "null"}
    broken = json.loads(text)
    broken["ask"]["attributes"][0]["bounds"] = ["2024-01-11", "2024-12-31"]
    with pytest.raises(SchemaMismatch, match="attributes are not those of its `ask`"):
        designs.from_plain(broken)


@pytest.mark.parametrize(
    ("own", "kind"),
    [
        (VISITED | {"outside": "clamp"}, "histogram"),
        (VISITED | {"outside": "clamp"}, "ranges"),
        ({"name": "visited", "kind": "date", "cells": "weekday", "null": "unknown"}, "histogram"),
    ],
)
def test_devices_report_dates(own, kind, tmp_path):
    wanted = spec(own, kind=kind, privacy={"model": "local", "epsilon": 40.0})
    design = dpress.plan(wanted).design
    dpress.perturb(design, ROWS, out=tmp_path / "reports.parquet", rng=rng.seeded(8))
    dpress.estimate(design, tmp_path / "reports.parquet", out=tmp_path / "out")
    coded = design.attributes[0].arrow_cells(ROWS["visited"].combine_chunks())
    labels = design.attributes[0].labels
    counts = np.bincount(np.where(coded < 0, len(labels) - 1, coded), minlength=len(labels))
    release = dpress.load_release(tmp_path / "out")
    for label, count in [*zip(labels, counts.tolist(), strict=True)][:7]:
        found = release.query(f"visited = {label}")
        assert abs(found.value - count) < 6 * found.standard_error + 1e-6
    told = dpress.device(design).answer(
        design.ask.attributes[0].codes("2024-02-29"), rng=rng.seeded(1), secret=bytes(32)
    )
    assert dpress.intake(design).accept(told).report_type in range(len(design.ask.report_types))


def test_devices_are_asked_for_the_mean_of_every_month():
    number = {"name": "cost", "kind": "integer", "bounds": [0, 9]}
    parameters = {"by": ["visited"], "mean": ["cost"]}
    own = VISITED | {"outside": "clamp", "cells": "quarter"}
    design = dpress.plan(
        spec(own, number, kind="statistics", privacy={"model": "local", "epsilon": 4.0}, parameters=parameters)
    ).design
    assert [one["kind"] for one in json.loads(designs.encode(design))["ask"]["attributes"]] == ["date", "integer"]


def test_devices_are_not_asked_for_times():
    with pytest.raises(SchemaMismatch) as caught:
        spec(WARD, VISITED | {"kind": "datetime", "zone": "UTC"}, privacy={"model": "local", "epsilon": 1.0})
    assert str(caught.value) == (
        '$.attribute[visited].kind: devices code no times, whose hours are those of a zone; use kind = "date" with the '
        'days of that place, or set model = "central"'
    )


def test_a_design_that_asks_devices_for_times_is_refused():
    months = WARD | {"kind": "ordinal", "name": "visited", "values": ["2024-01", "2024-02"]}
    plain = designs.as_plain(dpress.plan(spec(months, privacy={"model": "local", "epsilon": 1.0})).design)
    dates = VISITED | {"kind": "datetime", "zone": "UTC", "bounds": ["2024-01-01", "2024-02-29"], "null": "reject"}
    plain["attributes"] = plain["ask"]["attributes"] = [dates]
    with pytest.raises(SchemaMismatch, match=r"the design is wrong: \$.attributes: devices code no times"):
        designs.from_plain(plain)


def test_the_check_says_where_dates_land(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("visited\n2024-01-09\n2024-01-10\n31.12.2024\n2025-01-01\n2023-02-29\n\n2024-12-31\n2024-05-01\n")
    found = check(spec(), path).attributes[0]
    assert (found.rows, found.matched, found.low, found.high) == (8, 3, 1, 1)
    assert (found.unread, found.missing) == (2, 1)
    assert found.texts == (("31.12.2024", 1), ("2023-02-29", 1))
    assert (
        found.remedy == "'31.12.2024' is a date where [data] says how it is written, as date_format = \"%d.%m.%Y\" does"
    )


@pytest.mark.parametrize("cells", ["month", "day", "weekday"])
def test_records_have_dates_of_their_cells(tmp_path, cells):
    own = VISITED | {"cells": cells, "null": "drop"}
    release = dpress.publish(spec(own, WARD, kind="microdata"), ROWS, out=tmp_path / "release")
    made = release.answers.made.table["visited"]
    assert made.type == (pa.string() if cells == "weekday" else pa.date32())
    if cells != "weekday":
        assert min(made.to_pylist()) >= dt.date(2024, 1, 10)
        assert max(made.to_pylist()) <= dt.date(2024, 12, 31)
    again = dpress.load_release(tmp_path / "release")
    assert (again.answers.codes == release.answers.codes).all()
    assert again.query("total").value == made.length()


def figure_of(*attributes):
    release = dpress.publish(spec(*attributes), ROWS)
    own = facts(release)
    return figures.figure(own.views[0], own.range_variances), release


def test_one_axis_of_dates_is_a_line():
    figure, release = figure_of(VISITED)
    assert (figure.facts["form"], figure.facts["cells"], figure.facts["beside"]) == ("line", 12, ["unknown"])
    assert facts(release).views[0].axes[0].begins[:2] == ("2024-01-10T00:00:00Z", "2024-02-01T00:00:00Z")
    assert "2024-0" in figure.drawing
    words = sentence("reporting/elements.html.j2", "caption", figure.facts)
    assert "the band is its 95 % interval" in words
    assert "Only the table has “unknown”." in words
    assert "The line is the estimated count" in text_of_page(release)


def test_a_long_axis_of_dates_is_grouped_and_says_so():
    figure, _ = figure_of(VISITED | {"cells": "day", "bounds": ["2020-01-01", "2024-12-31"]})
    assert (figure.facts["form"], figure.facts["cells"], figure.facts["group"]) == ("line", 1827, 32)
    hours = {
        "name": "visited",
        "kind": "datetime",
        "zone": "UTC",
        "cells": "hour",
        "bounds": ["2000-01-01", "2024-12-31"],
    }
    figure, release = figure_of(hours | {"null": "none"})
    assert (figure.facts["cells"], figure.facts["group"], figure.facts["beside"]) == (219_168, 4096, ["none"])
    assert facts(release).views[0].axes[0].begins == ()  # as many as cells are never made


@pytest.mark.parametrize(
    ("attributes", "form"),
    [
        ([VISITED, WARD], "lines"),
        ([WARD, VISITED | {"cells": "quarter"}], "lines"),
        ([VISITED, WARD | {"values": [*"abcdefg"]}], "heat"),
        ([VISITED | {"cells": "weekday"}], "bars"),
        ([VISITED | {"bounds": ["2024-01-10", "2024-02-10"]}], "bars"),
    ],
)
def test_what_else_dates_are_drawn_as(attributes, form):
    figure, _ = figure_of(*attributes)
    assert figure.facts["form"] == form
    assert sentence("reporting/elements.html.j2", "caption", figure.facts)


def test_the_page_says_what_lies_outside():
    _, release = figure_of(VISITED)
    assert "outside 2024-01-10 to 2024-12-31: their rows were left out" in text_of_page(release)
    _, release = figure_of(VISITED | {"cells": "weekday"})
    assert "outside 2024-01-10 to 2024-12-31: their rows were left out" in text_of_page(release)
    _, release = figure_of({"name": "visited", "kind": "date", "cells": "month of year", "null": "none"})
    assert "none: every date has a cell" in text_of_page(release)
