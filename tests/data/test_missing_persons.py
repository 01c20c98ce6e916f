"""Rows without a person are dropped where the specification says so: alike by every source and engine, and counted."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.data.written_rows import csv, database, feather, parquet

import dpress
from dpress.core.basics import rng as generators
from dpress.core.basics.errors import SchemaMismatch
from dpress.release.truth.check_text import lines

PLACE = np.arange(300)
ROWS = pa.table(
    {
        "age": PLACE * 7 % 90,
        "sex": pa.array(["F", "M"]).take(pa.array(PLACE % 2)),
        "uid": pa.array(PLACE % 100, mask=PLACE % 10 == 3),
        "home": pa.array([f"h {one}" for one in PLACE % 25], mask=PLACE % 10 == 4),
    }
)
LEFT = ROWS.filter(pa.array(PLACE % 10 != 3))
BOTH = ROWS.filter(pa.array((PLACE % 10 != 3) & (PLACE % 10 != 4)))


def spec(unit="uid", missing="drop", rows=9, **release):
    return {
        "data": {"missing_unit": missing} if missing else {},
        "attribute": [
            {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 5},
            {"name": "sex", "kind": "categorical", "values": ["F", "M"]},
        ],
        "privacy": {"epsilon": 3, "unit": unit, "rows_per_unit": rows},
        "release": {"kind": "marginals", **release},
    }


def relation(_, rows):
    return duckdb.from_arrow(rows)


SOURCES = {
    "csv": (csv, "threads"),
    "parquet": (parquet, "threads"),
    "parquet by SQL": (parquet, "sql"),
    "feather": (feather, "threads"),
    "database": (database, "sql"),
    "database by threads": (database, "threads"),
    "relation": (relation, "sql"),
    "arrow": (lambda _, rows: rows, "threads"),
    "pandas": (lambda _, rows: rows.to_pandas(), "threads"),
    "pandas of objects": (lambda _, rows: rows.to_pandas().astype(object).where(pd.notna, None), "threads"),
    "polars": (lambda _, rows: pl.from_arrow(rows), "threads"),
}


def tables(asked, data, out, engine):
    dpress.publish(asked, data, out=out, engine=engine, rng=generators.seeded(2))
    return [pq.read_table(path) for path in sorted(out.glob("*.parquet"))]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("unit", "left"), [("uid", LEFT), (("uid", "home"), BOTH)])
def test_the_release_is_that_of_the_other_rows(tmp_path, source, unit, left):
    make, engine = SOURCES[source]
    whole = tables(spec(unit), make(tmp_path, ROWS), tmp_path / "whole", engine)
    assert whole
    assert whole == tables(spec(unit, missing=""), make(tmp_path, left), tmp_path / "left", engine)


@pytest.mark.parametrize("source", SOURCES)
def test_they_are_refused_unless_it_is_stated(tmp_path, source):
    make, engine = SOURCES[source]
    data = make(tmp_path, ROWS)
    for missing in ("", "reject"):
        with pytest.raises(SchemaMismatch, match=r"a row has no 'uid'; every row needs its person"):
            dpress.publish(spec(missing=missing), data, out=tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


def test_the_cap_of_a_person_holds_for_the_rows_that_stay(tmp_path):
    release = dpress.publish(spec(rows=1), ROWS, out=tmp_path / "out", rng=generators.seeded(2))
    assert abs(release.query("total").value - 90) < 40  # 90 persons, of 270 rows; standard error about 3


def test_check_counts_them_and_no_release_does(tmp_path):
    report = dpress.check(spec(), ROWS)
    assert (report.nameless, report.rows, report.kept, report.persons.persons) == (30, 270, 270, 90)
    assert report.plain["nameless"] == 30
    dpress.publish(spec(), ROWS, out=tmp_path / "out", rng=generators.seeded(2))
    assert "nameless" not in "".join(path.read_text() for path in (tmp_path / "out").glob("*.json"))
    assert dpress.check(spec(missing=""), LEFT).nameless == 0


def test_a_missing_column_is_refused():
    with pytest.raises(SchemaMismatch, match="no column 'nobody'"):
        dpress.check(spec("nobody"), ROWS)
    with pytest.raises(SchemaMismatch, match="no column 'nobody'"):
        dpress.publish(spec("nobody"), ROWS)


def test_where_rows_are_protected_nothing_is_dropped():
    asked = spec()
    asked["privacy"] = {"epsilon": 3}
    assert dpress.check(asked, ROWS).rows == 300


def test_text_is_shown_as_written_beside_rows_that_are_left_out(tmp_path):
    (tmp_path / "rows.csv").write_text("age,sex,uid\n1,F,a\n2,x,\n3,?,b\n")
    report = dpress.check(spec(), tmp_path / "rows.csv")
    assert (report.nameless, report.rows, report.attributes[1].texts) == (1, 2, (("?", 1),))
    text = lines(report)
    assert "1 more rows have no uid and are left out, as missing_unit says" in text


def test_a_part_of_a_name_that_is_not_a_number_is_missing(tmp_path):
    rows = ROWS.set_column(2, "uid", pa.array(np.where(PLACE % 10 == 3, np.nan, PLACE % 100)))
    assert dpress.check(spec(), rows).nameless == 30
    assert dpress.check(spec(), parquet(tmp_path, rows)).nameless == 30
    release = dpress.publish(spec(), parquet(tmp_path, rows), out=tmp_path / "out", engine="sql")
    assert abs(release.query("total").value - 270) < 200


@pytest.mark.slow
def test_postgres(tmp_path, new_database):
    psycopg = pytest.importorskip("psycopg")
    url = new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits (age int, sex text, uid int, home text)")
        for table, rows in (("visits", ROWS.to_pylist()), ("kept", LEFT.to_pylist())):
            if table == "kept":
                connection.execute("CREATE TABLE kept (age int, sex text, uid int, home text)")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(tuple(row.values()))
    whole = tables(spec(), f"{url}#visits", tmp_path / "whole", None)
    assert whole == tables(spec(missing=""), f"{url}#kept", tmp_path / "left", None)
    assert dpress.check(spec(), f"{url}#visits").nameless == 30


@pytest.mark.long
@pytest.mark.slow
def test_spark(tmp_path, spark_session):
    frame = spark_session.createDataFrame(ROWS.to_pylist(), "age int, sex string, uid int, home string")
    left = tables(spec(missing=""), LEFT, tmp_path / "left", None)
    assert tables(spec(), frame, tmp_path / "frame", None) == left
    assert tables(spec(), parquet(tmp_path, ROWS), tmp_path / "files", "spark") == left
