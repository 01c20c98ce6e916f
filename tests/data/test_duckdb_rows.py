"""Tables and views of DuckDB: every declared type arrives exactly, and nothing but a name is taken."""

import traceback
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from coded_tables import cells, listed, values

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.table import Table

SECRET = "4711-secret"


@pytest.fixture
def shop(tmp_path):
    """What makes a DuckDB database of one statement, and returns its path."""

    def make(statement, name="shop.duckdb"):
        path = tmp_path / name
        with duckdb.connect(path) as engine:
            engine.execute(statement)
        return path

    return make


def test_a_table_and_a_view_of_duckdb_are_read(shop):
    path = shop("CREATE TABLE t AS SELECT range AS x FROM range(1000); CREATE VIEW v AS SELECT x * 2 AS x FROM t")
    assert values(f"{path}#t") == list(range(1000))
    assert sum(values(f"{path}#v")) == 999_000


def test_schemas_and_odd_names_are_names(shop):
    path = shop('CREATE SCHEMA a; CREATE TABLE a.visits AS SELECT 1 AS x; CREATE TABLE "b ""c; DROP" AS SELECT 2 AS x')
    assert values(f"{path}#a.visits") == [1]
    assert values(f'{path}#"b ""c; DROP"') == [2]


@pytest.mark.parametrize("table", ["(SELECT 1)", "SELECT 1", "visits; DROP TABLE visits", "read_csv('x')", "visits v"])
def test_a_query_is_no_table(shop, table):
    path = shop("CREATE TABLE visits AS SELECT 1 AS x")
    with pytest.raises(SchemaMismatch, match="a query is not read, for it may mix the rows of several persons"):
        values(f"{path}#{table}")


def test_a_query_is_no_source():
    with pytest.raises(SchemaMismatch, match="a query is not read"):
        values("SELECT * FROM visits")


def test_a_missing_table_is_named_with_those_present(shop):
    path = shop("CREATE TABLE visits AS SELECT 1 AS x; CREATE SCHEMA b; CREATE TABLE b.c AS SELECT 1 AS x")
    with pytest.raises(SchemaMismatch, match=r"no table or view 'visit' .* has b.c, visits; did you mean 'visits'"):
        values(f"{path}#visit")
    with pytest.raises(SchemaMismatch, match=r'expected the name of a table or view behind "#".* it has b.c, visits'):
        values(path)
    with pytest.raises(SchemaMismatch, match=r"no column 'x'|no column 'nope'"):
        values(f"{path}#visits", "nope")


@pytest.mark.parametrize(
    ("value", "attribute", "cell"),
    [
        ("1e20::DECIMAL(38,0)", listed("100000000000000000000"), 0),
        ("340282366920938463463374607431768211455::UHUGEINT", listed("340282366920938463463374607431768211455"), 0),
        ("'5'::BIGNUM", {"kind": "integer", "bounds": [5, 9]}, 0),
        ("'b'::ENUM('a', 'b')", listed("b"), 0),
        ("DATE '2020-01-01'", listed("2020-01-01"), 0),
        ("DATE 'infinity'", listed("2020-01-01"), 2),
        ("TIMESTAMPTZ '2020-01-01 12:00:00+02'", listed("2020-01-01 10:00:00Z"), 0),
        ("'infinity'::DOUBLE", {"kind": "integer", "bounds": [5, 9]}, 4),
    ],
)  # fmt: skip
def test_types_of_duckdb_arrive_exactly(shop, value, attribute, cell):
    path = shop(f"CREATE TABLE visits AS SELECT {value} AS x")
    assert cells(f"{path}#visits", attribute) == [cell]


def test_types_without_values_are_refused(shop):
    path = shop("CREATE TABLE visits AS SELECT INTERVAL 1 DAY AS x, [1] AS y, '101'::BIT AS z, 1 AS x2")
    for column in ("x", "z"):
        with pytest.raises(SchemaMismatch, match="has no texts, numbers or times"):
            values(f"{path}#visits", column)


def test_a_database_that_changes_or_is_none_is_refused(shop, tmp_path):
    path = shop("CREATE TABLE visits AS SELECT range AS x FROM range(1000000)")
    batches = Table(f"{path}#visits", ("x",), ROW).batches()
    next(batches)
    path.touch()
    with pytest.raises(OSError, match="changed while it was read"):
        list(batches)
    (tmp_path / "other.db").write_text(SECRET * 1000)
    with pytest.raises(OSError, match="cannot be opened as a DuckDB database") as caught:
        values(f"{tmp_path / 'other.db'}#visits")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_an_engine_s_message_never_gets_out(shop):
    path = shop(f"CREATE TABLE t AS SELECT '{SECRET}' AS x; CREATE VIEW v AS SELECT x::INTEGER AS x FROM t")
    with pytest.raises(OSError, match="message is withheld") as caught:
        values(f"{path}#v")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_sources_of_sql_name_their_rows_and_answer(shop, tmp_path):
    shop("CREATE TABLE visits AS SELECT range::DECIMAL(9,2) AS x FROM range(10)")
    pq.write_table(
        pa.table({"x": pa.array([Decimal(one) for one in range(10)], pa.decimal128(9, 2))}), tmp_path / "[a].parquet"
    )
    for data in (f"{tmp_path / 'shop.duckdb'}#visits", tmp_path / "[a].parquet"):
        source = open_source(data).source
        assert source.dialect == "duckdb"
        assert source.dialect == "duckdb"
        assert source.types() == {"x": "DECIMAL(9,2)"}
        assert source.fetch(f"SELECT sum(x)::BIGINT AS s FROM {source.relation}")["s"].to_pylist() == [45]
