"""A person's column of any type: by threads and in SQL every person keeps the smaller of the cap and the own rows."""

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.sql import person_rows
from dpress.data.true_counts import true_counts

SINCE = {"numeric": 14, "numeric(3,-2)": 15}  # versions of PostgreSQL that have such values
OWN = [1, 2, 5]  # rows of each person, over and over
COUNTED = Schema((msgspec.convert({"name": "y", "kind": "integer", "bounds": [0, 4]}, Attribute),))
DUCKDB = {
    "HUGEINT": ["1", str(2**100)],
    "UHUGEINT": ["1", str(2**127), str(2**127 + 1)],
    "BIGNUM": ["1", str(2**200), str(2**200 + 1)],
    "UUID": ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
    "ENUM('a', 'A')": ["a", "A"],
    "JSON": ['{"a": 1}', '{"a":1}', '"a"'],
    "DATE": ["2020-01-01", "2020-01-02"],
    "TIME": ["12:30:00", "12:30:00.000001"],
    "BLOB": ["a", "\\xFF", "\\x5CxFF"],
    "DOUBLE": ["1", "0", "0.1", "inf"],
    "DECIMAL(9,2)": ["1", "1.50", "100", "10"],
    "VARCHAR": ["a", "A", "a ", "á"],
    "BOOLEAN": ["true", "false"],
}
POSTGRES = {
    "numeric": ["1", "100", "10", "1.5", "0.1", "1e30", "Infinity"],
    "numeric(10,2)": ["1", "100", "10", "1.5"],
    "numeric(60,30)": ["1", "100", "0.1"],
    "numeric(3,-2)": ["100", "1000"],
    "mood": ["sad", "ok"],
    "json": ['{"a": 1}', '{"a":1}'],
    "jsonb": ['{"a": 1}', '"a"'],
    "time": ["12:30", "12:30:00.000001"],
    "oid": ["1", "4000000000"],
    "bytea": ["\\x61", "\\xff"],
    "character(5)": ["a", "b"],
    "double precision": ["1", "0.1", "Infinity"],
}


def rows_of(texts):
    """Return (person, y) of as many rows as OWN says, in turn."""
    times = [OWN[place % len(OWN)] for place in range(len(texts))]
    return [(text, number) for text, own in zip(texts, times, strict=True) for number in range(own)]


def kept(source, engine, cap):
    unit = Unit(relation="add-remove", column="x", rows=cap)
    return int(true_counts(COUNTED, [(0,)], open_source(source, engine=engine), unit).sum())


def check(source, texts, engines):
    times = np.array([OWN[place % len(OWN)] for place in range(len(texts))])
    for engine in engines:
        found = [kept(source, engine, cap) for cap in (1, 3, 5)]
        assert found == [np.minimum(times, cap).sum() for cap in (1, 3, 5)], engine


@pytest.mark.slow
@pytest.mark.parametrize("kind", DUCKDB)
def test_persons_of_duckdb(tmp_path, kind):
    path, copy = tmp_path / "shop.duckdb", tmp_path / "x.parquet"
    people, numbers = zip(*rows_of(DUCKDB[kind]), strict=True)
    texts = pa.table({"v": people, "y": numbers})  # noqa: F841  # DuckDB finds it by its name
    with duckdb.connect(path) as engine:
        engine.execute(f"CREATE TABLE t AS SELECT CAST(v AS {kind}) AS x, y FROM texts")
        engine.execute(f"COPY t TO '{copy}'")
    check(f"{path}#t", DUCKDB[kind], ("sql", "threads"))
    if kind not in ("HUGEINT", "UHUGEINT"):  # which DuckDB writes as the nearest float
        check(copy, DUCKDB[kind], ("sql", "threads"))


def table_of(new_database, kind, texts):
    import psycopg

    url = new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute(f"CREATE TABLE t (x {kind}, y integer)")
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO t VALUES (CAST(%s::text AS {kind}), %s)", rows_of(texts))
    return f"{url}#t"


@pytest.mark.slow
@pytest.mark.parametrize("kind", POSTGRES)
def test_persons_of_postgres(new_database, postgres_version, kind):
    if postgres_version < SINCE.get(kind, 13):
        pytest.skip(f"PostgreSQL {SINCE[kind]} was the first to have these values")
    check(table_of(new_database, kind, POSTGRES[kind]), POSTGRES[kind], ("sql", "threads"))


@pytest.mark.slow
def test_a_number_of_any_scale_is_one_person(new_database, monkeypatch):
    source = table_of(new_database, "numeric", ["1", "1.0", "1.000"])
    assert kept(source, None, 1) == 1
    monkeypatch.setattr(
        person_rows, "person_name", lambda column: person_rows._bytes(person_rows._content(column), column)
    )
    assert kept(source, None, 1) == 3


@pytest.mark.slow
def test_a_number_that_is_none_is_no_person(new_database):
    with pytest.raises(SchemaMismatch, match="a row has no 'x'; every row needs its person"):
        kept(table_of(new_database, "numeric", ["1", "NaN"]), None, 1)
