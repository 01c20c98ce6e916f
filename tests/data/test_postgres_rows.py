"""Tables and views of PostgreSQL: every declared type arrives exactly, and every pass sees one moment."""

import gc
import traceback

import pytest
from coded_tables import cells, listed, values

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.table import Table

SECRET = "4711-secret"
pytestmark = pytest.mark.slow


@pytest.fixture
def postgres(new_database):
    """What runs a statement in a database of PostgreSQL of this test, and that database's URL."""
    import psycopg

    url = new_database()

    def run(statement):
        with psycopg.connect(url, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else None

    run.url = url
    return run


def test_a_table_and_a_view_of_postgres_are_read(postgres):
    postgres("CREATE TABLE visits AS SELECT i AS x FROM generate_series(1, 500000) AS i")
    postgres('CREATE SCHEMA b; CREATE VIEW b."V w" AS SELECT x * 2 AS x FROM visits')
    assert sorted(values(f"{postgres.url}#visits")) == list(range(1, 500_001))
    batches = Table(f'{postgres.url}#b."V w"', ("x",), ROW).batches()
    assert max(batch.num_rows for batch in batches) <= 1 << 17


TYPES = [
    ("smallint", "7", {"kind": "integer", "bounds": [7, 9]}, 0),
    ("numeric", "1.10", listed("1.1"), 0),
    ("numeric", "1234567890123456789012345678901234567890", listed("1234567890123456789012345678901234567890"), 0),
    ("numeric", "NaN", {"kind": "integer", "bounds": [7, 9]}, 3),
    ("numeric", "Infinity", {"kind": "integer", "bounds": [7, 9]}, 2),
    ("numeric(10,2)", "7.50", {"kind": "numeric", "bounds": [7, 9], "bins": 4}, 1),
    ("numeric(10,2)", "NaN", {"kind": "integer", "bounds": [7, 9]}, 3),
    ("numeric(60,2)", "7.50", {"kind": "numeric", "bounds": [7, 9], "bins": 4}, 1),
    ("numeric(3,-2)", "800", {"kind": "integer", "bounds": [799, 801]}, 1),
    ("numeric(2,4)", "0.0012", listed("0.0012"), 0),
    ("real", "0.1", listed("0.10000000149011612"), 0),
    ("double precision", "0.1", listed("0.1"), 0),
    ("text", "a ", listed("a "), 0),
    ("varchar(5)", "a ", listed("a "), 0),
    ("char(5)", "a", listed("a"), 0),
    ("mood", "ok", listed("sad", "ok"), 1),
    ("uuid", "00000000-0000-0000-0000-000000000001", listed("00000000-0000-0000-0000-000000000001"), 0),
    ("json", '{"a": 1}', listed('{"a": 1}'), 0),
    ("date", "2020-01-01", listed("2020-01-01"), 0),
    ("date", "infinity", listed("2020-01-01"), 2),
    ("timestamp(3)", "-infinity", listed("2020-01-01"), 2),
    ("timestamptz", "2020-01-01 12:00+02", listed("2020-01-01 10:00:00Z"), 0),
    ("time", "12:30", listed("12:30:00"), 0),
    ("oid", "4000000000", listed("4000000000"), 0),
    ("boolean", "true", listed(False, True), 1),
    ("bytea", "\\x61", listed("a"), 0),
    ("age", "7", {"kind": "integer", "bounds": [7, 9]}, 0),
    ("short", "7.5", {"kind": "numeric", "bounds": [7, 9], "bins": 4}, 1),
]  # fmt: skip
SINCE = {("numeric", "Infinity"): 14, ("numeric(3,-2)", "800"): 15, ("numeric(2,4)", "0.0012"): 15}  # versions


def test_types_of_postgres_arrive_exactly(postgres, postgres_version):
    types = [case for case in TYPES if postgres_version >= SINCE.get(case[:2], 13)]
    postgres(
        "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN age AS integer CHECK (VALUE >= 0); "
        "CREATE DOMAIN price AS numeric(6,2); CREATE DOMAIN short AS price"
    )
    found = []
    for number, (kind, value, attribute, _) in enumerate(types):
        postgres(f"CREATE TABLE t{number} (x {kind}); INSERT INTO t{number} VALUES ('{value}'), (NULL)")
        found.append(cells(f"{postgres.url}#t{number}", attribute))
    for case, (cell, missing) in zip(types, found, strict=True):
        assert (case, cell) == (case, case[-1])
        assert missing != case[-1] or "NaN" in case or "infinity" in case[1]


@pytest.mark.parametrize("kind", ["integer[]", "money", "interval", "timetz", "inet", "bit(3)", "point"])
def test_types_of_postgres_without_values_are_refused(postgres, kind):
    postgres(f"CREATE TABLE t (x {kind}, y integer)")
    with pytest.raises(SchemaMismatch, match=r"the column 'x' of type .* has no texts, numbers or times"):
        values(f"{postgres.url}#t")
    with pytest.raises(SchemaMismatch, match="has no rows"):
        values(f"{postgres.url}#t", "y")


def test_every_pass_over_postgres_sees_one_moment(postgres):
    postgres("CREATE TABLE t AS SELECT i AS x FROM generate_series(1, 10) AS i")
    rows = open_source(f"{postgres.url}#t")
    first = values(rows)
    postgres("DELETE FROM t WHERE x > 3; ALTER TABLE t ADD COLUMN y integer")
    assert values(rows) == first
    assert rows.source.fetch(f"SELECT count(*) AS n FROM {rows.source.relation}")["n"].to_pylist() == [10]
    assert len(values(f"{postgres.url}#t")) == 3  # the control: a source of its own sees the table as it is now


def test_a_source_that_is_let_go_of_leaves_no_connection(postgres):
    postgres("CREATE TABLE t AS SELECT 1 AS x")
    rows = open_source(f"{postgres.url}#t")
    values(rows)
    backends = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    assert postgres(backends) == [(1,)]
    del rows
    gc.collect()
    for _ in range(1000):
        if postgres(backends) == [(0,)]:
            break
    assert postgres(backends) == [(0,)]


def test_nothing_is_changed_in_postgres(postgres):
    postgres(
        "CREATE TABLE t AS SELECT 1 AS x; CREATE FUNCTION f() RETURNS integer LANGUAGE sql VOLATILE AS "
        "'INSERT INTO t VALUES (2) RETURNING x'; CREATE VIEW v AS SELECT f() AS x"
    )
    with pytest.raises(OSError, match="cannot be read"):
        values(f"{postgres.url}#v")
    assert postgres("SELECT count(*) FROM t") == [(1,)]


def test_a_connection_that_is_lost_is_one_line(postgres):
    postgres("CREATE TABLE t AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 100000)")
    batches = Table(f"{postgres.url}#t", ("x",), ROW).batches()
    next(batches)
    postgres("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    with pytest.raises(
        OSError, match=r"^the table 't' in PostgreSQL: no connection to the server, or it was lost"
    ) as caught:
        list(batches)
    assert caught.value.__context__ is None


def test_refusals_of_postgres_are_one_line_without_its_words(postgres):
    postgres(f"CREATE TABLE t AS SELECT '{SECRET}'::text AS x; CREATE VIEW v AS SELECT x::integer AS x FROM t")
    with pytest.raises(OSError, match=r"cannot be read: the server refused it .* is withheld") as caught:
        values(f"{postgres.url}#v")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(SchemaMismatch, match=r"no table or view 'visits' .* it has t, v"):
        values(f"{postgres.url}#visits")
    with pytest.raises(SchemaMismatch, match=r"has no column 'y'; its columns are x"):
        values(f"{postgres.url}#t", "y")


def test_without_permission_nothing_is_read(postgres):
    postgres("CREATE TABLE t AS SELECT 1 AS x; CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(PermissionError, match="the table 't' in PostgreSQL: no permission to read it"):
            values(f"{postgres.url.replace('postgres:@', 'guest@', 1)}#t")
    finally:
        postgres("DROP ROLE guest")


@pytest.mark.parametrize(
    ("wrong", "cause", "line"),
    [
        (lambda url: url.replace("store_", "nothing_"), FileNotFoundError, "the server has no such database"),
        (lambda url: url.replace("postgres:@", "nobody_is_called_so@"), PermissionError, "lets this role not in; pass"),
    ],
)
def test_a_database_or_a_role_that_the_server_does_not_have_is_no_lost_connection(postgres, wrong, cause, line):
    assert wrong(postgres.url) != postgres.url
    with pytest.raises(cause, match=f"^the table 't' in PostgreSQL: .*{line}") as caught:
        values(f"{wrong(postgres.url)}#t")
    assert caught.value.__context__ is None


def test_no_server_and_a_password_are_one_line():
    with pytest.raises(OSError, match="no connection to the server"):
        values("postgresql:///x?host=127.0.0.1&port=1#t")
    for url in (f"postgresql://u:{SECRET}@h/x#t", f"postgresql://h/x?password={SECRET}#t"):
        with pytest.raises(ValueError, match="holds a password") as caught:
            values(url)
        assert SECRET not in str(caught.value)
