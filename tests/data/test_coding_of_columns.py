"""Columns of every type and source have the codes that the definition gives their values."""

import datetime as dt
from decimal import Context, Decimal
from zoneinfo import ZoneInfo

import duckdb
import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_values import ATTRIBUTES, NASTY, SPECS, TEXTS, as_objects, as_polars, coded

from dpress.attributes.arrow import columns
from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources import frames
from dpress.data.sources import memory_rows as module
from dpress.data.table import Table


def small_texts():
    digits = st.text("0123456789.eE+- ", max_size=24)
    return (
        st.sampled_from([one for one in NASTY if isinstance(one, str) and one != "\ud800"])
        | digits
        | st.text(max_size=3)
    )


def decimals(precision, scale):
    return st.integers(-(10**precision) + 1, 10**precision - 1).map(lambda number: Decimal(number).scaleb(-scale, WIDE))


def moments(unit):
    return st.integers(-60_000_000_000, 200_000_000_000).map(
        lambda second: np.datetime64(second, "s").astype(f"M8[{unit}]")
    )


NOON = dt.datetime(2020, 1, 1, 13, tzinfo=ZoneInfo("Europe/Berlin"))
ZONED = st.datetimes(timezones=st.sampled_from([dt.UTC, NOON.tzinfo])) | st.just(NOON)
WIDE = Context(prec=100)
NEAR = st.sampled_from([one for one in NASTY if isinstance(one, float)])
TYPES = {
    **{str(kind): (kind, st.integers(0, 2**kind.bit_width - 1) | st.sampled_from([0, 1, 18]))
       for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    **{str(kind): (kind, st.integers(-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1) | st.integers(-4, 20))
       for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    "half": (pa.float16(), st.floats(width=16).map(np.float16)),
    "float": (pa.float32(), st.floats(width=32)),
    "double": (pa.float64(), NEAR | st.floats() | st.floats(-20, 20)),
    **{f"decimal{p},{s}": (kind(p, s), decimals(p, s) | st.integers(0, 10 ** min(p, 3) - 1).map(
        lambda number, s=s: Decimal(number).scaleb(-s, WIDE)))
       for kind, p, s in ((pa.decimal32, 9, 2), (pa.decimal64, 18, 2), (pa.decimal128, 3, 2), (pa.decimal128, 2, 2),
                          (pa.decimal128, 20, 2), (pa.decimal128, 38, 0), (pa.decimal128, 38, 20),
                          (pa.decimal128, 38, 38), (pa.decimal256, 76, 30))},
    "bool": (pa.bool_(), st.booleans()),
    **{str(kind): (kind, small_texts()) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    "binary": (pa.binary(), st.binary(max_size=3) | st.sampled_from([b"a", b"18"])),
    **{f"time stamp {unit}": (pa.timestamp(unit), moments(unit) | st.just(np.datetime64("2020-01-01T12", unit)))
       for unit in ("s", "ms", "us")},
    "zoned": (pa.timestamp("us", "Europe/Berlin"), ZONED),
    "date32": (pa.date32(), st.dates() | st.just(dt.date(2020, 1, 1))),
    "date64": (pa.date64(), st.dates() | st.just(dt.date(2020, 1, 1))),
    "time32": (pa.time32("s"), st.times().map(lambda time: time.replace(microsecond=0)) | st.just(dt.time(12, 30))),
    "time64": (pa.time64("us"), st.times() | st.just(dt.time(12, 30))),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_arrow_column_is_coded_as_the_definition_says(name, data):
    kind, values = TYPES[name]
    held = data.draw(st.lists(st.none() | values, min_size=1, max_size=40))
    column = pa.array(held, type=kind)
    for attribute in ATTRIBUTES.values():
        wanted = [attribute.cell(one) for one in held]
        if pa.types.is_temporal(kind) and attribute is not ATTRIBUTES["texts"]:
            with pytest.raises(SchemaMismatch, match=r"attribute x: a column of type \S+.* holds no (numbers|names)"):
                columns.cells(attribute, column)
            continue
        assert columns.cells(attribute, column).tolist() == wanted
        assert columns.cells(attribute, column.slice(1)).tolist() == wanted[1:]
        if not (pa.types.is_string_view(kind) or name in ("decimal9,2", "decimal18,2")):  # Arrow makes none
            assert columns.cells(attribute, column.dictionary_encode()).tolist() == wanted


ROWS = pa.table(
    {
        "x": pa.array(["1", "1.50", "a", None, "18", "007", "1e3", " 1", "x"] * 50),
        "y": pa.array([Decimal("1.50"), Decimal("2.25"), None] * 150, type=pa.decimal128(9, 4)),
    }
)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("source", ["csv", "parquet", "row groups", "relation", "batches", "dictionary"])
def test_rows_are_coded_alike_wherever_they_lie(tmp_path, monkeypatch, source, name):
    """The codes of a column do not depend on the file, its row groups, its batches or its dictionary."""
    attribute = ATTRIBUTES[name]
    rows = ROWS.drop_columns("y")
    wanted = [code for one in rows["x"].to_pylist() if (code := attribute.codes(one)[0]) >= 0]
    path = tmp_path / f"rows.{'csv' if source == 'csv' else 'parquet'}"
    if source == "csv":
        pyarrow.csv.write_csv(rows, path)
    else:
        pq.write_table(rows, path, row_group_size=7 if source == "row groups" else 1000)
    if source == "batches":
        monkeypatch.setattr(module, "BATCH_ROWS", 5)
    held = {
        "relation": lambda: duckdb.from_arrow(rows),
        "batches": lambda: rows,
        "dictionary": lambda: pa.table({"x": rows["x"].combine_chunks().dictionary_encode()}),
    }
    assert coded(held[source]() if source in held else path, attribute) == wanted


@pytest.mark.parametrize("make", [lambda t: t, pa.Table.to_pandas, pl.from_arrow, duckdb.from_arrow])
def test_decimals_are_coded_alike_in_every_library(make):
    found = coded(make(ROWS.select(["y"]).rename_columns(["x"])), ATTRIBUTES["texts"])
    assert found == [2, 3, len(TEXTS) + 1] * 150


def test_integers_of_more_than_64_bits_are_exact():
    attribute = msgspec.convert(
        {"name": "x", "kind": "categorical", "values": [str(2**100), str(2**127 - 1), "1"], "other": "else"}, Attribute
    )
    for values in ([2**100], [2**100, 2**100 + 1, 1, 2**127 - 1]):
        wanted = [attribute.codes(one)[0] for one in values]
        texts = ", ".join(f"({one})" for one in values)
        assert coded(as_polars(values), attribute) == coded(as_objects(values), attribute) == wanted
        if len(values) == 1:
            relation = duckdb.sql(f"SELECT x::UHUGEINT AS x FROM (VALUES {texts}) AS rows(x)")
            assert coded(relation, attribute) == wanted


def test_objects_are_read_alike_in_any_batches(monkeypatch):
    whole = {name: coded(as_objects(NASTY), attribute) for name, attribute in ATTRIBUTES.items()}
    monkeypatch.setattr(module, "BATCH_ROWS", 5)
    monkeypatch.setattr(frames, "ROWS", 3)
    assert {name: coded(as_objects(NASTY), attribute) for name, attribute in ATTRIBUTES.items()} == whole


def test_an_entry_of_a_dictionary_that_no_row_has_refuses_nothing():
    strict = msgspec.convert({"name": "x", "kind": "categorical", "values": ["a"]}, Attribute)
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0, 0, 0]), pa.array(["a", "secret"]))
    assert coded(pa.table({"x": column}), strict) == [0] * 4
    assert coded(pd.DataFrame({"x": pd.Categorical(["a"] * 4, categories=["a", "secret"])}), strict) == [0] * 4


def test_columns_of_a_frame_may_be_named_by_numbers():
    frame = pd.DataFrame([[1, 2]])
    assert next(iter(Table(frame, ("1",), ROW).batches())).to_pydict() == {"1": [2]}


def test_what_else_a_frame_holds_is_not_looked_at():
    frame = pd.DataFrame({"x": [1], "other": pd.Series([[1], "a", {}], dtype=object)[:1]})
    frame["odd"] = pd.Series([complex(1, 1)])
    assert coded(frame, ATTRIBUTES["integer"]) == [5]


def test_a_list_is_refused_by_its_type():
    with pytest.raises(SchemaMismatch, match=r"attribute x: a column of type list<.*> is not read as text"):
        codec.encode(Schema((ATTRIBUTES["texts"],)), pa.record_batch({"x": pa.array([[1]])}))


def test_decimals_of_many_digits_are_read_exactly_from_a_file(tmp_path):
    path = tmp_path / "rows.parquet"
    values = [Decimal("1.50"), Decimal(2**180), Decimal("2.25")]
    pq.write_table(pa.table({"x": pa.array(values, pa.decimal256(60, 2))}), path)
    assert coded(path, ATTRIBUTES["texts"]) == [ATTRIBUTES["texts"].codes(one)[0] for one in values]
