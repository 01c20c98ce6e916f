"""Tables of MariaDB: every value arrives exactly, all passes see one moment, and no message quotes a row."""

import traceback
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Unit
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.sources import mysql_rows
from dpress.data.sources.mysql_snapshot import Snapshot, connection_of
from dpress.data.sources.open_source import open_source
from dpress.data.specification.spec import from_dict
from dpress.data.table import Table
from dpress.release.curator.publish import publish

SECRET = "4711-secret"
COLUMNS = {
    "flag": ("TINYINT(1)", [1, None, 0]),
    "small": ("SMALLINT UNSIGNED", [65535, None, 0]),
    "big": ("BIGINT UNSIGNED", [2**64 - 1, None, 0]),
    "price": ("DECIMAL(9,2)", [Decimal("1234567.89"), None, Decimal("-0.01")]),
    "ratio": ("DOUBLE", [0.1, None, -1.5e300]),
    "single": ("FLOAT", [0.10000000149011612, None, 16777216.0]),
    "day": ("DATE", [date(2024, 2, 29), None, None]),
    "at": ("DATETIME(3)", [datetime(2024, 2, 29, 23, 59, 59, 123000), None, None]),
    "stamp": ("TIMESTAMP NULL", [datetime(2024, 6, 1, tzinfo=UTC), None, datetime(2023, 12, 31, 22, tzinfo=UTC)]),
    "ward": ("VARCHAR(20) COLLATE utf8mb4_general_ci", ["Zürich", None, "zurich "]),
    "latin": ("CHAR(8) CHARACTER SET latin1", ["Zürich", None, "a"]),
    "kind": ("ENUM('x', 'Y')", ["x", None, "Y"]),
    "a b`c": ("TEXT", ["💡", None, ""]),
    "born": ("YEAR", [1999, None, 2155]),
}
ROWS = """
1, 65535, 18446744073709551615, 1234567.89, 0.1, 0.1, '2024-02-29', '2024-02-29 23:59:59.123', '2024-06-01 02:00:00', \
'Zürich', 'Zürich', 'x', '💡', 1999
NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
0, 0, 0, -0.01, -1.5e300, 16777216, '0000-00-00', '2024-00-10 00:00:00', '2024-01-01 00:00:00', 'zurich ', 'a ', \
'Y', '', 2155
""".strip().splitlines()
WARD = {"name": "ward", "kind": "categorical", "values": ["a", "b", "A"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 89]}


@pytest.fixture(scope="module")
def run(mariadb_server):
    """What runs statements as whoever owns the server."""
    import pymysql

    with pymysql.connect(**connection_of(mariadb_server), autocommit=True) as connection:

        def execute(*statements):
            for statement in statements:
                connection.cursor().execute(statement)

        yield execute


@pytest.fixture(scope="module")
def shop(mariadb_server, run):
    """The URL of a database with tables, without what stands behind `#`."""
    import pymysql

    columns = ", ".join(f"{pymysql_name(name)} {kind}" for name, (kind, _) in COLUMNS.items())
    run(
        "CREATE DATABASE shop CHARACTER SET utf8mb4",
        "SET sql_mode = '', time_zone = '+02:00'",
        f"CREATE TABLE shop.odd ({columns}, raw VARBINARY(8), huge DECIMAL(65,10))",
        *(f"INSERT INTO shop.odd VALUES ({row}, NULL, -1.50)" for row in ROWS),
        "CREATE TABLE shop.visits AS SELECT seq DIV 3 AS uid, substr('abA', 1 + seq % 3, 1) AS ward, seq % 90 AS age"
        " FROM mysql.seq_1_to_40000",
        f"CREATE VIEW shop.broken AS SELECT uid, IF(uid = 9000, (SELECT '{SECRET}' UNION SELECT 2), age) AS age"
        " FROM shop.visits",
        "CREATE USER ann@localhost IDENTIFIED BY 'word'",
    )
    assert pymysql.__version__
    return mariadb_server.replace("/mysql?", "/shop?")


def pymysql_name(name):
    return f"`{name.replace('`', '``')}`"


def read(url, columns, unit=ROW):
    return pa.Table.from_batches(list(Table(open_source(url), columns, unit).batches()))


@pytest.mark.slow
def test_every_value_arrives_exactly(shop):
    rows = read(f"{shop}#odd", tuple(COLUMNS)).to_pydict()
    assert rows == {name: values for name, (_, values) in COLUMNS.items()}
    types = open_source(f"{shop}#odd").source.types()
    assert types["price"] == "decimal(9,2)"
    assert types["kind"] == "enum"
    assert read(f"{shop}#odd", ("huge",))["huge"].to_pylist()[0]["dpress_text"] == "-1.5"


@pytest.mark.slow
def test_counts_are_those_of_the_same_rows_in_memory(shop):
    memory = read(f"{shop}#visits", ("ward", "age"))
    assert memory.num_rows == 40_000
    spec = {"privacy": {"epsilon": 1.0}, "release": {"kind": "histogram"}, "attribute": [WARD, AGE]}
    kept = [publish(from_dict(spec), rows, rng=rng.seeded(1)).kept for rows in (f"{shop}#visits", memory)]
    assert kept[0].tolist() == kept[1].tolist()
    assert len(set(memory["ward"].to_pylist())) == 3  # the collation takes two of them for equal
    persons = read(f"{shop}#visits", ("uid", "age"), Unit(column="uid", rows=2))
    assert persons.num_rows == 2 * (persons["uid"].to_numpy().max() - 1) + 2 + 2


@pytest.mark.slow
def test_rows_come_in_small_batches_and_all_passes_see_one_moment(shop, run):
    source = open_source(f"{shop}#visits")
    sizes = [batch.num_rows for batch in Table(source, ("age",), ROW).batches()]
    assert sizes == [mysql_rows.ROWS, mysql_rows.ROWS, 40_000 - 2 * mysql_rows.ROWS]
    run("INSERT INTO shop.visits VALUES (1, 'a', 1)")
    assert sum(batch.num_rows for batch in Table(source, ("age",), ROW).batches()) == 40_000
    assert read(f"{shop}#visits", ("age",)).num_rows == 40_001
    run("DELETE FROM shop.visits WHERE uid = 1 AND age = 1 LIMIT 1")


@pytest.mark.slow
def test_a_pass_that_is_left_early_leaves_the_connection_whole(shop):
    source = open_source(f"{shop}#visits")
    next(iter(Table(source, ("age",), ROW).batches()))
    assert sum(batch.num_rows for batch in Table(source, ("age",), ROW).batches()) == 40_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "columns", "error", "line"),
    [
        (
            "visit",
            ("age",),
            SchemaMismatch,
            r"no table or view 'visit' that can be read; it has broken, odd, visits; did",
        ),
        ("", ("age",), SchemaMismatch, r'the name of a table or view behind "#"'),
        ("visits", ("Aged",), SchemaMismatch, r"has no column 'Aged'; its columns are uid, ward, age"),
        ("odd", ("raw",), SchemaMismatch, r"^the column 'raw' of type varbinary has no texts, numbers or times"),
        ("visits join odd using (uid)", ("age",), SchemaMismatch, r"^tables of MariaDB and MySQL are not joined here"),
        (
            "broken",
            ("uid", "age"),
            OSError,
            r"cannot be read: the server refused it, code 1242 \(its message is withheld",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line(shop, table, columns, error, line):
    with pytest.raises(error, match=line) as refused:
        read(f"{shop}#{table}", columns)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


@pytest.mark.slow
def test_who_may_not_read_is_told_so_and_a_password_comes_from_the_environment(shop, monkeypatch):
    url = shop.replace("root@", "ann@")
    for word in ("", "word"):
        monkeypatch.setenv("MYSQL_PWD", word)
        with pytest.raises(PermissionError, match=r"no permission to read it, code 104[45]"):
            read(f"{url}#visits", ("age",))


@pytest.mark.slow
def test_a_lost_server_is_one_line(shop, run):
    source = open_source(f"{shop}#visits").source
    identity = source.snapshot.fetch("SELECT connection_id()")[0][0]
    run(f"KILL {identity}")
    with pytest.raises(OSError, match=r"no connection to the server, or it was lost; nothing was released"):
        source.columns()


@pytest.mark.parametrize(
    "url",
    ["mysql://host", "mysql://host/", "mysql://host:x/shop", "mysql://host/shop?password_file=a", "mysql://h/d?x"],
)
def test_what_is_no_url_is_refused_with_its_form(url):
    with pytest.raises(
        ValueError, match=r"^the URL of the rows is none of MariaDB or MySQL: mysql://USER@HOST:PORT/DATA"
    ):
        connection_of(url)


def test_a_url_is_what_the_driver_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MYSQL_PWD", "word")
    found = connection_of("mariadb://ann%40x@host:3307/shop?ssl_ca=ca.pem")
    assert {
        "host": "host",
        "port": 3307,
        "user": "ann@x",
        "database": "shop",
        "ssl_ca": "ca.pem",
    }.items() <= found.items()
    assert found["password"] == "word"
    (tmp_path / ".my.cnf").write_text("[client]\n")
    assert connection_of("mysql://host/shop")["read_default_file"] == str(tmp_path / ".my.cnf")


def test_a_password_in_the_url_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"holds a password; put it into MYSQL_PWD or ~/\.my\.cnf$"):
        open_source(f"mysql://ann:{SECRET}@host/shop#visits")


def test_without_the_driver_the_line_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(NotSupported, match=r"^rows in MariaDB or MySQL need: pip install 'dpress\[mysql\]'$"):
        Snapshot("mysql://host/shop", "rows").fetch("SELECT 1")
