"""Lazy frames, relations, datasets and readers are streamed, as often as they give their rows."""

import traceback

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.rows import people
from dpress.data.sources.memory_rows import MemoryRows
from dpress.data.sources.open_source import Rows, open_source
from dpress.data.sources.stream_rows import StreamRows
from dpress.data.table import Table

SECRET = "4711-secret"
ROWS = pa.table({"uid": np.arange(500) % 100, "age": np.arange(500), "name": [f"n{one}" for one in range(500)]})


class Producer:
    """What has nothing but Arrow's own protocol."""

    def __arrow_c_stream__(self, requested_schema=None):
        return ROWS.__arrow_c_stream__(requested_schema)


def of_ibis(table):
    import ibis

    return ibis.polars.connect().create_table("rows", table)


MAKERS = {
    "relation": duckdb.from_arrow,
    "relation by narwhals": lambda table: nw.from_native(duckdb.from_arrow(table)),
    "polars": lambda table: pl.from_arrow(table).lazy(),
    "polars by narwhals": lambda table: nw.from_native(pl.from_arrow(table).lazy()),
    "dataset": pyarrow.dataset.dataset,
    "scanner": lambda table: pyarrow.dataset.dataset(table).scanner(),
    "ibis": of_ibis,  # its DuckDB does not know DuckDB 2
}
ONCE = {"reader": pa.Table.to_reader, "protocol": lambda _: Producer()}


def read(data, columns=("age",), unit=ROW):
    batches = list(Table(data, columns, unit).batches())
    return sorted((row for batch in batches for row in zip(*batch.to_pydict().values(), strict=True)), key=str)


WANTED = read(ROWS, ("name", "age"))


@pytest.mark.parametrize("make", [*MAKERS, *ONCE])
def test_every_stream_gives_the_same_rows(make):
    data = (MAKERS | ONCE)[make](ROWS)
    source = open_source(data).source
    assert not isinstance(source, MemoryRows)
    assert not source.stable
    assert source.columns() == ["uid", "age", "name"]
    assert read(data, ("name", "age")) == WANTED


@pytest.mark.parametrize("make", MAKERS)
def test_a_stream_is_read_again_for_every_pass_also_by_person(make):
    rows = open_source(MAKERS[make](ROWS))
    kept = read(rows, ("uid", "age"), Unit(column="uid", rows=2))
    assert len(kept) == 200
    assert read(rows, ("name", "age")) == WANTED


@pytest.mark.parametrize("make", ONCE)
def test_what_gives_its_rows_once_is_refused_the_second_time(make):
    rows = open_source(ONCE[make](ROWS))
    assert read(rows, ("name", "age")) == WANTED
    with pytest.raises(SchemaMismatch, match="gives its rows only once, and they are needed again; pass a table"):
        read(rows)


def test_codes_that_fit_are_kept_and_others_are_refused_before_a_second_pass():
    schema = Schema((Integer(name="age", bounds=(0, 499)),))
    assert people(Table(ROWS.to_reader(), ("age",), ROW), schema).table().shape == (1, 500)
    with pytest.raises(SchemaMismatch, match="only once"):
        people(Table(open_source(ROWS.to_reader()), ("age",), ROW), schema, held=100)


@pytest.mark.parametrize("make", [*MAKERS, *ONCE])
def test_a_missing_column_is_named(make):
    with pytest.raises(SchemaMismatch, match=r"no column 'Age'; its columns are uid, age, name; did you mean 'age'"):
        read((MAKERS | ONCE)[make](ROWS), ("Age",))


def test_a_stream_with_another_number_of_rows_than_before_is_refused():
    given = iter([ROWS, ROWS.slice(1)])
    source = StreamRows(name="it", present=("age",), stream=lambda _: iter(next(given).to_batches()), once=False)
    rows = open_source(Rows(source))
    assert len(read(rows)) == 500
    with pytest.raises(OSError, match="it had another number of rows when it was read before"):
        read(rows)


def test_a_stream_without_rows_is_refused_in_one_way_with_persons_too():
    source = StreamRows(name="it", present=("age", "uid"), stream=lambda _: iter(()), once=False)
    for unit in (ROW, Unit(column="uid", rows=2)):
        with pytest.raises(SchemaMismatch, match="it has no rows"):
            list(Table(Rows(source), ("age",), unit).batches())


def test_a_relation_answers_sql():
    source = open_source(duckdb.from_arrow(ROWS)).source
    assert source.dialect == "duckdb"
    assert source.types() == {"uid": "BIGINT", "age": "BIGINT", "name": "VARCHAR"}
    assert source.fetch(f"SELECT count(*) AS n FROM {source.relation}")["n"].to_pylist() == [500]


@pytest.mark.parametrize("make", ["relation", "polars", "ibis"])
def test_a_library_s_message_never_gets_out(make):
    table = pa.table({"age": ["1", SECRET] * 10})
    if make == "polars":
        data = pl.from_arrow(table).lazy().with_columns(pl.col("age").cast(pl.Int64))
    elif make == "relation":
        data = duckdb.from_arrow(table).project("age::INTEGER AS age")
    else:
        own = of_ibis(table)
        data = own.mutate(age=own.age.cast("int64"))
    with pytest.raises(OSError, match="message is withheld") as caught:
        read(data)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_stream_is_not_held_as_a_whole():
    """Batches are handed on while later ones are not made yet."""
    made = []

    def batches():
        for number in range(10):
            made.append(number)
            yield pa.record_batch({"age": [number]})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("age", pa.int64())]), batches())
    found = Table(reader, ("age",), ROW).batches()
    assert next(found)["age"].to_pylist() == [0]
    assert len(made) <= 2


@pytest.mark.long
@pytest.mark.slow
def test_a_spark_frame_is_read_partition_by_partition(spark_session):
    frame = spark_session.createDataFrame(
        [tuple(row.values()) for row in ROWS.to_pylist()], ROWS.column_names
    ).repartition(3)
    source = open_source(frame).source
    assert source.frame is frame
    assert read(frame, ("name", "age")) == WANTED
    with pytest.raises(SchemaMismatch, match="no column 'Age'"):
        read(frame, ("Age",))
    with pytest.raises(OSError, match="the Spark frame cannot be read by Spark") as caught:
        read(frame.selectExpr(f"raise_error('{SECRET}') AS age"))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.slow
def test_what_a_cursor_of_adbc_reads_is_a_stream(new_database):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(new_database()) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT place % 100 AS uid, place AS age, 'n' || place AS name FROM generate_series(0, 499) AS place"
        )
        assert read(cursor.fetch_record_batch(), ("name", "age")) == WANTED
