"""Charts of a release's tables: every row with its interval, in the order of the cells, and nothing else."""

import sys

import pyarrow as pa
import pytest
from tests.kinds.conftest import AGE, PEOPLE, REGION, SEX, make

from dpress.core.basics.errors import NotSupported
from dpress.query import table_chart

HOUSE = {"kind": "categorical", "name": "house", "values": ["a", "b"]}


def encodings(layer):
    return {name: one.get("field") for name, one in layer["encoding"].items() if isinstance(one, dict)}


def test_bars_have_every_row_and_its_interval_in_the_order_of_the_cells():
    table = make("histogram", [AGE]).tables["age"]
    drawn = table.plot().to_dict()
    rows = table.to_arrow()
    bars, intervals = drawn["layer"]
    assert encodings(intervals) == {"x": "column_0", "y": "low", "y2": "high"}
    assert bars["encoding"]["x"]["title"] == "age"
    assert bars["encoding"]["x"]["sort"] == rows["age"].to_pylist()
    values = drawn["data"]["values"]
    assert [(one["count"], one["low"], one["high"]) for one in values] == list(
        zip(*(rows[name].to_pylist() for name in ("count", "low", "high")), strict=True)
    )


def test_two_ordered_attributes_are_a_heat_map_and_others_bars_in_groups():
    release = make("histogram", [AGE, {"kind": "numeric", "name": "pay", "bounds": [0, 4000], "bins": 4}])
    assert release.tables["age", "pay"].plot().to_dict()["mark"]["type"] == "rect"
    bars = make("histogram", [AGE, SEX]).tables["age", "sex"].plot().to_dict()["layer"][0]
    assert encodings(bars)["xOffset"] == encodings(bars)["color"]
    assert bars["encoding"]["color"]["title"] == "sex"
    panels = make("histogram", [REGION, SEX, AGE]).tables["region", "sex", "age"].plot().to_dict()
    assert panels["facet"]["title"] == "region"


def test_dates_are_a_line_with_a_band():
    day = {"kind": "date", "name": "day", "bounds": ["2024-01-01", "2024-01-20"], "cells": "day"}
    rows = pa.table({"day": ["2024-01-03"] * 40})
    band, line = make("histogram", [day], data=rows, engine=None).tables["day"].plot().to_dict()["layer"]
    assert (band["mark"]["type"], line["mark"]["type"]) == ("area", "line")
    assert encodings(band) == {"x": "column_1", "y": "low", "y2": "high"}
    assert band["encoding"]["x"]["title"] == "day"


def test_every_statistic_has_a_panel_with_a_scale_of_its_own():
    release = make("statistics", [AGE, SEX], parameters={"by": ["sex"], "mean": ["age"]})
    drawn = next(iter(release.tables.values())).plot().to_dict()
    assert drawn["facet"]["field"] == "statistic"
    assert drawn["resolve"]["scale"]["y"] == "independent"


def test_what_cannot_be_drawn_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="records have no counts to draw"):
        make("microdata", [AGE, SEX], method="graphical").tables["age", "sex"].plot()
    wide = make(
        "histogram", [AGE, REGION, SEX, HOUSE], data=pa.table({**PEOPLE.to_pydict(), "house": ["a"] * 400}), engine=None
    )
    with pytest.raises(ValueError, match="at most 3 attributes, the table has 4"):
        wide.tables["age x region x sex x house"].plot()
    monkeypatch.setattr(table_chart, "MOST", 3)
    with pytest.raises(ValueError, match="at most 3 rows, the table has"):
        make("histogram", [AGE]).tables["age"].plot()
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(NotSupported, match=r"a chart needs: pip install 'dpress\[report\]'"):
        make("histogram", [AGE]).tables["age"].plot()
