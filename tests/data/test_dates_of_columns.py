"""Columns of dates and times of every type, source and engine have the codes that the definition gives their values."""

import datetime as dt
from zoneinfo import ZoneInfo

import duckdb
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_values import NASTY, as_objects, coded
from sql_engines import differing

from dpress.attributes.arrow import columns
from dpress.attributes.attribute import Attribute
from dpress.attributes.dates import sql as date_code
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.sql.engine_column import Column
from dpress.attributes.value import Kind, Value, read
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources.open_source import open_source
from dpress.data.specification.spec import load_spec
from dpress.data.sql.code_expression import code_expression
from dpress.data.table import Table


def attribute(cells, bounds=("2023-11-15", "2024-12-30"), **plain):
    own = {"kind": "date", "name": "x", "cells": cells, "null": "none", **plain}
    return msgspec.convert(own | ({"bounds": bounds} if bounds else {}), Attribute)


def times(cells, zone="Europe/Berlin", **plain):
    return attribute(cells, kind="datetime", zone=zone, **plain)


DATES = {
    "days": attribute("day"),
    "weeks": attribute("week", outside="drop"),
    "months": attribute("month", outside="reject", null="drop"),
    "quarters": attribute("quarter"),
    "years": attribute("year", ("0001-01-01", "9999-12-30")),
    "one": attribute("month", ("2024-02-29", "2024-02-29"), outside="drop"),
    "weekdays": attribute("weekday", None),
    "months of year": attribute("month of year", outside="drop"),
}
TIMES = {
    "utc": times("month", "UTC"),
    "utc hours": times("hour", "UTC", bounds=("2024-02-28", "2024-03-01"), outside="drop"),
    "berlin": times("month"),
    "berlin hours": times("hour", outside="drop"),
    "howe": times("day", "Australia/Lord_Howe", outside="reject"),
    "hours of day": times("hour of day", "America/New_York", bounds=None),
    "weekdays": times("weekday", "Asia/Kolkata", outside="drop"),
}
SECONDS = st.integers(1_690_000_000, 1_740_000_000) | st.integers(-60_000_000_000, 200_000_000_000)
ANY = st.integers(-(2**63) + 2, 2**63 - 2)  # those at the ends are infinite


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_time_stamps_are_coded_as_the_definition_says(unit, zone, data):
    ticks = SECONDS.map(lambda one: one * 10 ** {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit] + 7 * (unit != "s"))
    near = ticks.filter(lambda one: abs(one) < 2**63 - 1)
    held = data.draw(st.lists(st.none() | near | ANY, min_size=1, max_size=40))
    column = pa.array(held, pa.int64()).cast(pa.timestamp(unit, zone))
    values = [None if one is None else np.datetime64(one, unit) for one in held]
    for own in TIMES.values():
        if zone is None:
            wanted = [own.cell(one) for one in values]
        else:
            instants = [None if one is None else Value(Kind.INSTANT, read(one).content)
                        for one in values]  # fmt: skip
            wanted = [MISSING if one is None else own.cell_of(one) for one in instants]
        assert columns.cells(own, column).tolist() == wanted
        assert columns.cells(own, column.slice(1)).tolist() == wanted[1:]
        assert columns.cells(own, column.dictionary_encode()).tolist() == wanted
    for own in DATES.values():
        if zone is None:
            assert columns.cells(own, column).tolist() == [own.cell(one) for one in values]
        else:
            with pytest.raises(SchemaMismatch, match=r"timestamp\[\w+, tz=\S+\] holds instants, whose day depends"):
                columns.cells(own, column)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
@given(held=st.lists(st.none() | st.dates() | st.dates(dt.date(2023, 11, 1), dt.date(2025, 1, 10))))
@settings(max_examples=25, deadline=None)
def test_dates_are_coded_as_the_definition_says(kind, held):
    for own in (*DATES.values(), *TIMES.values()):
        wanted = [own.cell(one) for one in held]
        assert columns.cells(own, pa.array(held, kind)).tolist() == wanted


CLOCK = [
    "24:00:00",
    "07:60:00",
    "07:08:60",
    "07:08:09",
    "07:08:09.",
    "07:08:09\n",
    "07:08:09.25Z",
    "07:08:09Z ",
    "07:08",
]
WRITTEN = ["2024-02-29", "2023-02-29", "2024-02-29T23:59:60Z", "2024-03-31 02:30", "2024-10-27T02:30:00+02:00", "", "x",
           "2024-12-30", "2024-12-31", "0000-01-01", "10000-01-01", None, "2024-12-30 23:59:59.999999999",
           "2024-05-06T23:30:00Z", "2024-10-27T00:30:00.5Z", "2024-10-27 01:30:00Z", "9999-12-31T23:59:59Z",
           *(f"{day} {clock}" for day in ("2024-05-06", "2024-04-31", "2024-02-30", "2024-02-29", "0000-05-06",
                                          "0001-01-01", "9999-12-31") for clock in CLOCK)]  # fmt: skip
FORMS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%d %H:%M:%S-03:30"]


NOW = st.datetimes(dt.datetime(2023, 11, 1), dt.datetime(2025, 1, 2))


@given(moments=st.lists(st.datetimes(dt.datetime(1000, 1, 1)) | NOW, min_size=1), form=st.sampled_from(FORMS))
@settings(max_examples=40, deadline=None)
def test_any_time_that_is_written_out_is_coded_as_the_definition_says(moments, form):
    texts = [f"{one:{form}}" for one in moments]
    for own in (DATES["days"], DATES["weekdays"], TIMES["berlin hours"], TIMES["hours of day"]):
        assert columns.cells(own, pa.array(texts)).tolist() == [own.cell(one) for one in texts]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_texts_are_coded_as_the_definition_says(kind):
    column = pa.array(WRITTEN * 3, pa.string()).cast(kind)
    for own in (*DATES.values(), *TIMES.values()):
        assert columns.cells(own, column).tolist() == [own.cell(one) for one in WRITTEN * 3]


def test_objects_are_coded_one_by_one():
    moments = [dt.datetime(2024, 2, 29, 23, 30, tzinfo=ZoneInfo("Asia/Tokyo")), dt.datetime(2024, 6, 1, 12)]
    held = [*NASTY, *moments, *WRITTEN, pd.Timestamp("2024-05-05 23:30", tz="UTC"), np.datetime64("2024-05-05T10")]
    for own in (*DATES.values(), *TIMES.values()):
        kept = [one for one in held if own.cell(one) >= 0]
        assert kept
        assert coded(as_objects(kept), own) == [own.cell(one) for one in kept]


def test_infinite_dates_are_missing_and_far_ones_outside():
    days = pa.array([2**31 - 1, -(2**31) + 1, 2**31 - 2, -(2**31) + 2], pa.int32()).cast(pa.date32())
    kept = attribute("month", outside="drop")
    assert columns.cells(kept, days).tolist() == [MISSING, MISSING, OUTSIDE, OUTSIDE]
    assert columns.cells(attribute("month"), days).tolist() == [MISSING, MISSING, 13, 0]
    relation = duckdb.sql("SELECT unnest(['infinity', '-infinity', '20000-05-01', '0044-03-15 (BC)']::DATE[]) AS x")
    assert coded(relation, attribute("month")) == [14, 14, 13, 0]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_(), pa.time64("us"), pa.duration("s"),
                                  pa.decimal128(9, 2), pa.list_(pa.date32())])  # fmt: skip
def test_columns_of_other_types_are_refused(kind):
    with pytest.raises(SchemaMismatch, match=r"attribute x: a column of type \S+.* holds no dates; convert it first"):
        columns.cells(DATES["days"], pa.nulls(2, kind))
    assert columns.cells(DATES["days"], pa.nulls(2)).tolist() == [MISSING] * 2


def test_a_wrong_unit_is_found(monkeypatch):
    from dpress.attributes.dates import arrow as dates

    monkeypatch.setattr(dates, "NANOSECONDS", {**dates.NANOSECONDS, "ms": 1000})
    with pytest.raises(AssertionError):
        test_dates_are_coded_as_the_definition_says.hypothesis.inner_test(pa.date64(), [dt.date(2024, 2, 29)])


MOMENTS = [dt.datetime(2024, 2, 28, 23, 30), dt.datetime(2024, 10, 27, 2, 30), None, dt.datetime(2031, 1, 1)]


@pytest.mark.parametrize("source", ["parquet", "csv", "relation", "polars", "pandas"])
def test_every_source_gives_the_same_codes(tmp_path, source):
    rows = pa.table({"x": pa.array(MOMENTS * 20, pa.timestamp("us"))})
    if source == "parquet":
        pq.write_table(rows, tmp_path / "rows.parquet")
    elif source == "csv":
        rows.to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    made = {
        "relation": lambda: duckdb.from_arrow(rows),
        "polars": lambda: pl.from_arrow(rows),
        "pandas": rows.to_pandas,
    }
    data = made[source]() if source in made else next(tmp_path.iterdir())
    for own in (DATES["days"], DATES["weekdays"], TIMES["berlin"], TIMES["hours of day"]):
        assert coded(data, own) == [own.codes(one)[0] for one in MOMENTS] * 20


SPEC = """
[data]
date_format = "{}"
[[attribute]]
name = "day"
kind = "date"
bounds = ["2024-01-01", "2024-12-31"]
cells = "month"
null = "none"
[[attribute]]
name = "time"
kind = "datetime"
zone = "Europe/Berlin"
bounds = ["2024-01-01", "2024-12-31"]
cells = "hour"
null = "none"
[privacy]
epsilon = 1
[release]
kind = "histogram"
"""
OFFICE = {
    "%d.%m.%Y %H:%M": ("31.12.2024 22:30", "2024-12", "2024-12-31T22"),
    "%d.%m.%Y": ("29.02.2024", "2024-02", "2024-02-29T00"),
    "%d.%m.%Y %H:%M %z": ("31.05.2024 22:30 +0000", "none", "2024-06-01T00"),
    "%m/%d/%Y": ("2024-05-06", "2024-05", "2024-05-06T00"),  # as ISO 8601 writes it is understood beside
}


@pytest.mark.parametrize("form", OFFICE)
def test_a_file_writes_dates_as_its_curator_says(tmp_path, monkeypatch, form):
    text, day, time = OFFICE[form]
    spec = load_spec(SPEC.format(form))
    path = tmp_path / "rows.csv"
    path.write_text(f"day,time\n{text},{text}\n32.13.2024,32.13.2024\n", encoding="utf-8")
    for zone in ("UTC", "Pacific/Auckland"):  # of the machine, which plays no part
        monkeypatch.setenv("TZ", zone)
        rows = open_source(path, spec.data, spec.schema.tabular)
        batch = next(iter(Table(rows, ("day", "time"), ROW).batches()))
        for own, wanted in zip(spec.schema.tabular, (day, time), strict=True):
            cells = codec.cells_of(own, batch).tolist()
            assert [own.labels_between(cells[0], cells[0] + 1), cells[1]] == [[wanted], MISSING] or (
                wanted == "none" and cells == [MISSING] * 2
            )


EDGES = ["2023-11-14", "2023-11-15", "2023-11-30", "2023-12-01", "2024-02-29", "2024-03-01", "2024-06-30", "2024-07-01",
         "2024-12-30", "2024-12-31", "0001-01-01", "9999-12-30", "9999-12-31", "1969-12-31"]  # fmt: skip
CLOCKS = [f"{day} {clock}" for day in EDGES for clock in ("00:00:00", "23:59:59", "05:00:00")]
INSTANTS = [f"{one}+00:00" for one in CLOCKS if one[:4] in ("2023", "2024", "1969")]
FAR = ["infinity", "-infinity"]
COLUMNS = {
    "duckdb": [("DATE", [*EDGES, *FAR, "20000-01-01", "0044-03-15 (BC)"]), ("TIMESTAMP", [*CLOCKS, *FAR]),
               ("TIMESTAMP_S", CLOCKS), ("TIMESTAMP_MS", CLOCKS), ("TIMESTAMP_NS", CLOCKS[:30]),
               ("TIMESTAMP WITH TIME ZONE", [*INSTANTS, *FAR])],
    "postgres": [("date", EDGES), ("timestamp", CLOCKS), ("timestamp(0)", CLOCKS), ("timestamptz", INSTANTS)],
    "spark": [("date", EDGES), ("timestamp_ntz", CLOCKS), ("timestamp", INSTANTS)],
}  # fmt: skip
OWN = {name.replace(" ", "_") + kind: own for kind, found in (("_of_dates", DATES), ("_of_times", TIMES))
       for name, own in found.items()}  # fmt: skip
CODEC = {"weekdays_of_dates", "months_of_year_of_dates", "hours_of_day_of_times", "weekdays_of_times",
         "berlin_hours_of_times", "years_of_dates"}  # fmt: skip


def check(engine, declared, texts):
    zoned = declared.lower() in ("timestamp with time zone", "timestamptz") or (
        engine.dialect == "spark" and declared == "timestamp"
    )
    own = {name: one for name, one in OWN.items() if not (zoned and name.endswith("_of_dates"))}
    wrong, left = differing(engine, engine.table([*texts, None], declared), own)
    assert wrong == []
    others = {name for name in own if own[name].clocks not in (None, "UTC")} if zoned else set()
    many = {"utc_hours_of_times"} if declared.lower() == "date" else {"days_of_dates", "howe_of_times"}
    assert left == (CODEC | others | many) & set(own)


@pytest.mark.parametrize(("declared", "texts"), COLUMNS["duckdb"], ids=[one for one, _ in COLUMNS["duckdb"]])
def test_duckdb_codes_dates_as_the_codec_does(duck, declared, texts):
    check(duck, declared, texts)


@pytest.mark.slow
@pytest.mark.parametrize(("declared", "texts"), COLUMNS["postgres"], ids=[one for one, _ in COLUMNS["postgres"]])
def test_postgres_codes_dates_as_the_codec_does(postgres, declared, texts):
    check(postgres, declared, texts)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of Spark's own
@pytest.mark.parametrize(("declared", "texts"), COLUMNS["spark"], ids=[one for one, _ in COLUMNS["spark"]])
def test_spark_codes_dates_as_the_codec_does(spark, declared, texts):
    check(spark, declared, texts)


def test_an_edge_that_is_off_by_a_day_is_found(duck, monkeypatch):
    right = date_code._constant
    monkeypatch.setattr(date_code, "_constant", lambda column, hour: right(column, hour + 24))
    assert differing(duck, duck.table(EDGES, "DATE"), {"months": DATES["months"]})[0]


def test_instants_without_a_zone_and_texts_are_left_to_the_codec():
    for declared in ("TIMESTAMP WITH TIME ZONE", "VARCHAR", "BIGINT", "TIME"):
        assert code_expression(DATES["months"], Column("x", declared, "duckdb")) is None
    assert code_expression(TIMES["berlin"], Column("x", "TIMESTAMP WITH TIME ZONE", "duckdb")) is None
