"""Columns of every type that a Parquet file or a table has: one code by the codec, by SQL and by the definition."""

import datetime as dt
import json
import uuid
from decimal import Decimal, localcontext

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_sql_codes import FLOATS, INTEGERS, LONG, OWN, TEXTS, attribute

from dpress.attributes.listed import arrow as listed
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources import parquet_rows
from dpress.data.sources.open_source import open_source
from dpress.data.sql.code_expression import code_expression, settled
from dpress.data.sql.coded_rows import relation_of
from dpress.data.table import Table

NOON = "2020-01-01 12:00:00"
LISTED = ["2020-01-01", NOON, f"{NOON}.5", f"{NOON}Z", f"{NOON}.000000001", f"{NOON}.000000001Z", "12:30:00",
          "12:30:00.000000001", "9999-12-31", "0001-01-01", str(uuid.UUID(int=1)), '{"a": 1}', '{"a":1}']  # fmt: skip
ATTRIBUTES = OWN | {"times": attribute(kind="categorical", values=LISTED, other="o", null="n")}
SECONDS = 1577880000  # of NOON
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
DIGITS = [(5, 2), (9, 9), (18, 18), (19, 2), (38, 0), (38, 20), (38, 38), (39, 0), (50, 10), (76, 0), (76, 30)]
DAYS = [dt.date(2020, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31), None]


def integers(kind):
    low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
    return pa.array([one for one in map(int, INTEGERS) if low <= one < low + 2**kind.bit_width] + [None], kind)


def decimals(precision, scale):
    with localcontext(prec=100):
        numbers = map(Decimal, (*LONG, *INTEGERS, "1E-40", "2.24999999999999999999999999999999"))
        short = [one for one in numbers if abs(one) < Decimal(10) ** (precision - scale) and one == round(one, scale)]
        found = [round(one, scale) for one in short]
    return pa.array([*found, None], (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale))


def times(unit, zone):
    one = TICKS[unit]
    ticks = [SECONDS * one, SECONDS * one + one // 2, SECONDS * one + 1, (SECONDS - 43200) * one, 0, -1, None]
    far = [] if unit == "ns" or zone == "Europe/Berlin" else [253402300799 * one, -62135596800 * one]
    return pa.array(ticks + far, pa.int64()).cast(pa.timestamp(unit, zone))


def cases():
    numbers = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    yield from ((str(kind), integers(kind)) for kind in numbers)
    with np.errstate(over="ignore"):
        for kind in (np.float16, np.float32, np.float64):
            own = np.array(list(map(float, FLOATS))).astype(kind)
            yield kind.__name__, pa.concat_arrays([pa.array(own), pa.nulls(1, pa.from_numpy_dtype(kind))])
    yield from ((f"decimal {digits}", decimals(*digits)) for digits in DIGITS)
    texts = pa.array([*TEXTS, "a\0", "\0", NOON, None])
    yield from ((str(kind), texts.cast(kind)) for kind in (pa.string(), pa.large_string(), pa.string_view()))
    yield "dictionary", texts.dictionary_encode()
    yield "bytes", pa.array([*(one.encode() for one in TEXTS), b"\xff", b"\xc3", None])
    yield "bytes in UTF-8", pa.array([*(one.encode() for one in TEXTS), None])
    yield "truths", pa.array([True, False, None])
    yield "nulls", pa.nulls(3)
    yield from ((str(kind), pa.array(DAYS, kind)) for kind in (pa.date32(), pa.date64()))
    yield from ((f"{unit} {zone}", times(unit, zone)) for unit in TICKS for zone in (None, "UTC", "Europe/Berlin"))
    clock = [0, 45000, 86399, None]
    yield "time32", pa.array(clock, pa.int32()).cast(pa.time32("s"))
    yield "time64", pa.array([None if one is None else one * 10**6 for one in clock]).cast(pa.time64("us"))
    ids = pa.array([uuid.UUID(int=1).bytes, uuid.UUID(int=5).bytes, None], pa.binary(16))
    yield "uuid", pa.ExtensionArray.from_storage(pa.uuid(), ids)
    written = pa.array([json.dumps({"a": 1}), '{"a":1}', '"a"', "1", None])
    yield "json", pa.ExtensionArray.from_storage(pa.json_(), written)


CASES = dict(cases())
INT96 = {"use_deprecated_int96_timestamps": True}  # for the years around ours


def by_threads(source):
    """Return by attribute the code of every row, what is rejected as itself; nothing of a column that is refused."""
    batches, found = list(Table(open_source(source), ("x",), ROW).batches()), {}
    for name, own in ATTRIBUTES.items():
        try:
            parts = [codec.cells_of(own, batch).tolist() for batch in batches]
        except SchemaMismatch:
            continue
        found[name] = [code if code >= 0 else settled(own, code) for part in parts for code in part]
    return found


def by_sql(source):
    """Return by attribute the code of every row, of those attributes that SQL codes."""
    rows = open_source(source).source
    relation = relation_of(rows)
    codes = {name: code_expression(own, relation.column("x")) for name, own in ATTRIBUTES.items()}
    chosen = [f"{code.sql(dialect=relation.dialect)} AS {name}" for name, code in codes.items() if code is not None]
    return rows.fetch(f"SELECT {', '.join(chosen)} FROM {relation.source.sql()}").to_pydict() if chosen else {}


def differing(source):
    threads, sql = by_threads(source), by_sql(source)
    return [name for name, codes in sql.items() if codes != threads.get(name)]


def by_definition(values):
    found = {name: [own.cell(one) for one in values] for name, own in ATTRIBUTES.items()}
    return {
        name: [code if code >= 0 else settled(ATTRIBUTES[name], code) for code in codes]
        for name, codes in found.items()
    }


@pytest.fixture
def written(tmp_path):
    def write(column, **options):
        pq.write_table(pa.table({"x": column}), tmp_path / "x.parquet", **options)
        return tmp_path / "x.parquet"

    return write


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_column_of_parquet_has_one_code(written, case):
    path = written(CASES[case])
    assert differing(path) == []
    right = by_definition(CASES[case].to_pylist())
    threads = by_threads(path)
    assert [name for name, codes in threads.items() if codes != right[name]] == []
    assert "texts" in threads


@pytest.mark.parametrize(
    ("options", "case"),
    [
        *((INT96, one) for one in ("us UTC", "us None", "ns UTC", "ns None")),
        ({"version": "1.0", "store_schema": False}, "uint32"),
        ({"store_schema": False}, "float16"),
        ({"store_schema": False}, "uuid"),
        ({"store_decimal_as_integer": True}, "decimal (18, 18)"),
    ],
    ids=str,
)  # fmt: skip
def test_a_column_of_other_writers_has_one_code(written, options, case):
    path = written(CASES[case][:7] if options is INT96 else CASES[case], **options)
    assert differing(path) == []
    assert "texts" in by_threads(path)


WRITTEN = {
    "HUGEINT": ["1", "18", str(2**100)],
    "UHUGEINT": ["1", "18", str(2**127)],
    "BIGNUM": ["1", str(2**200)],
    "UUID": [str(uuid.UUID(int=1))],
    "ENUM('a', '1')": ["a", "1"],
    "JSON": ['{"a": 1}', '"a"', "1", "true"],
    "DATE": ["2020-01-01", "infinity", "-infinity", "9999-12-31", "0001-01-01", "20000-01-01"],
    "TIMESTAMP": ["2020-01-01", "infinity", "-infinity", f"{NOON}.5"],
    "TIMESTAMP_S": ["2020-01-01", "infinity", "-infinity"],
    "TIMESTAMP_MS": ["2020-01-01", "infinity", "-infinity"],
    "TIMESTAMP_NS": ["2020-01-01", "infinity", "-infinity", f"{NOON}.000000001"],
    "TIMESTAMPTZ": [f"{NOON}Z", "infinity", "-infinity"],
    "TIME": ["12:30:00", "24:00:00", "12:30:00.000001"],
    "BLOB": ["a", "\\xFF", "1"],
    "FLOAT": ["nan", "inf", "-0.0", "0.1"],
    "DECIMAL(38,38)": ["0.1", "-0.1"],
    "VARCHAR": TEXTS,
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_table_of_duckdb_and_its_parquet_have_one_code(tmp_path, kind):
    if kind == "TIMESTAMP_S" and duckdb.__version__ < "2":
        pytest.skip("DuckDB 1 writes no infinite times of this type")
    path, copy = tmp_path / "shop.duckdb", tmp_path / "x.parquet"
    texts = pa.table({"v": pa.array([*WRITTEN[kind], None])})  # noqa: F841  # DuckDB finds it by its name
    with duckdb.connect(path) as engine:
        engine.execute("SET TimeZone = 'Asia/Kathmandu'")
        engine.execute(f"CREATE TABLE t AS SELECT CAST(v AS {kind}) AS x FROM texts")
        engine.execute(f"COPY t TO '{copy}'")
    assert differing(f"{path}#t") == []
    assert differing(copy) == []
    if kind not in ("HUGEINT", "UHUGEINT", "BIGNUM"):  # which DuckDB writes as others
        assert by_threads(copy) == by_threads(f"{path}#t")


def test_infinite_times_are_missing_in_every_source(written, monkeypatch):
    far = pa.array([2**31 - 1, 1 - 2**31, 2**31 - 2], pa.int32()).cast(pa.date32())
    path = written(far)
    assert by_threads(path)["times"] == by_sql(path)["times"] == [len(LISTED) + 1] * 2 + [len(LISTED)]
    monkeypatch.setattr(listed, "finite", lambda column: column)
    assert differing(path)


@pytest.mark.parametrize(("case", "attributes"), [("decimal (76, 30)", {"texts"}), ("duration", {"texts", "integer"})])
def test_a_type_that_duckdb_reads_as_another_is_left_to_the_codec(written, monkeypatch, case, attributes):
    path = written(CASES.get(case, pa.array([1, 2], pa.duration("us"))))
    assert by_sql(path) == {}
    monkeypatch.setattr(parquet_rows, "_other_in_arrow", lambda _: False)
    assert set(differing(path)) >= attributes


def test_what_duckdb_cannot_read_is_refused_without_its_words(written):
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xffs")]
    )
    with pytest.raises(OSError, match=r"cannot be read by DuckDB \(its message is withheld") as caught:
        by_sql(written(broken))
    assert "\\xff" not in str(caught.value)
