"""Each source of rows that cannot be read gives one clear line and exit code 1; nothing is charged or written."""

import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from dpress.data.sources.parquet_rows import ParquetPart
from dpress.data.sources.postgres_rows import PostgresPart

SECRET = "4711-secret"
ROWS = pa.table({"age": np.arange(20_000) % 10, "sex": ["F", "M"] * 10_000})


def write_arrow(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)


WRITERS = {"parquet": pq.write_table, "arrow": write_arrow, "csv": pyarrow.csv.write_csv}


@pytest.fixture(params=WRITERS)
def three(request, folder, spec):
    """A folder of three files of one kind."""
    spec()
    (folder / "rows").mkdir()
    for name in "abc":
        WRITERS[request.param](ROWS, folder / "rows" / f"{name}.{request.param}")
    return folder / "rows"


def second(three):
    return next(path for path in three.iterdir() if path.name.startswith("b"))


def test_a_file_with_other_columns_amid_a_folder(three, publish_refused):
    path = second(three)
    WRITERS[path.suffix[1:]](ROWS.rename_columns(["Age", "sex"]), path)
    line = publish_refused("spec.toml", "--data", "rows")
    assert line.startswith(
        tuple(f"rows/{path.name} has {one} than rows/a" for one in ("another schema", "other columns"))
    )


def test_a_file_that_is_cut_short_amid_a_folder(three, publish_refused):
    path = second(three)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + (b',"' + SECRET.encode() if path.suffix == ".csv" else b""))
    assert f"rows/{path.name} cannot be read" in publish_refused("spec.toml", "--data", "rows")


def test_damaged_pages_behind_a_sound_footer(folder, spec, publish_refused):
    spec()
    (folder / "rows").mkdir()
    for name in "ab":
        pq.write_table(ROWS, folder / "rows" / f"{name}.parquet", use_dictionary=False)
    damaged = bytearray((folder / "rows" / "b.parquet").read_bytes())
    damaged[4:200] = (SECRET.encode() * 20)[:196]
    (folder / "rows" / "b.parquet").write_bytes(damaged)
    assert "rows/b.parquet cannot be read as a Parquet file" in publish_refused("spec.toml", "--data", "rows")


def test_encrypted_parquet(folder, spec, publish_refused):
    spec()
    (folder / "rows.parquet").write_bytes(b"PARE" + SECRET.encode() * 10 + b"PARE")
    assert (
        publish_refused("spec.toml", "--data", "rows.parquet") == "rows.parquet is encrypted Parquet; decrypt it first"
    )


@pytest.mark.parametrize("what", ["touch", "unlink"])
def test_a_file_of_a_folder_that_changes_or_goes_while_it_is_read(folder, spec, publish_refused, monkeypatch, what):
    spec()
    (folder / "rows").mkdir()
    for name in "ab":
        pq.write_table(ROWS, folder / "rows" / f"{name}.parquet")
    read = ParquetPart.batches

    def changed(self):
        for batch in read(self):
            if self.path.name == "b.parquet":
                getattr(self.path, what)()
            yield batch

    monkeypatch.setattr(ParquetPart, "batches", changed)
    line = publish_refused("spec.toml", "--data", "rows", "--engine", "threads")
    wanted = "changed while it was read; nothing was released" if what == "touch" else ": No such file or directory"
    assert line.startswith("rows/b.parquet")
    assert line.endswith(wanted)


def test_a_database_of_duckdb(folder, spec, publish_refused):
    with duckdb.connect(folder / "shop.duckdb") as engine:
        engine.execute(f"CREATE TABLE visits AS SELECT 1 AS age, 'F' AS sex, '{SECRET}' AS name")
        engine.execute("CREATE VIEW broken AS SELECT name::INTEGER AS age, sex FROM visits")
    spec()
    line = publish_refused("spec.toml", "--data", "shop.duckdb#visit")
    assert line == (
        "shop.duckdb has no table or view 'visit' that can be read; it has broken, visits; did you mean 'visits'?"
    )
    assert "it has broken, visits" in publish_refused("spec.toml", "--data", "shop.duckdb")
    assert "message is withheld" in publish_refused("spec.toml", "--data", "shop.duckdb#broken", "--engine", "threads")
    for query in ("shop.duckdb#SELECT * FROM visits", "SELECT * FROM visits"):
        assert "a query is not read" in publish_refused("spec.toml", "--data", query)
    assert publish_refused("spec.toml", "--data", "nope.duckdb#visits") == "nope.duckdb: No such file or directory"
    (folder / "other.db").write_text(SECRET)
    assert "cannot be opened as a DuckDB database" in publish_refused("spec.toml", "--data", "other.db#visits")


def test_a_missing_extra(folder, spec, publish_refused, monkeypatch):
    spec()
    (folder / "rows.sav").write_bytes(b"$FL2")
    with xlsxwriter.Workbook(folder / "rows.xlsx") as book:
        book.add_worksheet()
    for library in ("python_calamine", "pyreadstat", "adbc_driver_postgresql.dbapi"):
        monkeypatch.setitem(sys.modules, library, None)
    assert publish_refused("spec.toml", "--data", "rows.xlsx") == "workbooks need: pip install 'dpress[excel]'"
    assert publish_refused("spec.toml", "--data", "rows.sav").endswith("need: pip install 'dpress[survey]'")
    assert publish_refused("spec.toml", "--data", "postgresql:///x#t").endswith("need: pip install 'dpress[postgres]'")


def test_a_password_on_the_command_line_is_not_shown(spec, publish_refused):
    spec()
    line = publish_refused("spec.toml", "--data", f"postgresql://u:{SECRET}@h/x#t")
    assert line == "the URL of the rows holds a password; put it into PGSERVICEFILE, PGPASSFILE or PGPASSWORD"


def test_a_password_in_a_specification_is_not_shown(folder, publish_refused):
    text = (folder / "ages.toml").read_text()
    (folder / "ages.toml").write_text(text.replace("rows.csv", f"postgresql://u:{SECRET}@h/x#t"))
    assert "holds a password" in publish_refused("ages.toml")


def test_no_server(spec, publish_refused):
    spec()
    line = publish_refused("spec.toml", "--data", "postgresql:///x?host=127.0.0.1&port=1#t")
    assert line == "the table 't' in PostgreSQL: no connection to the server, or it was lost; nothing was released"


@pytest.mark.slow
def test_a_table_of_postgres_and_a_connection_that_is_lost(spec, publish_refused, new_database, monkeypatch):
    import psycopg

    url = new_database()
    read = PostgresPart.batches

    def lost(self):
        for batch in read(self):
            with psycopg.connect(url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            yield batch

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT i % 10 AS age, repeat('F', 2000) AS sex, '{SECRET}' AS name "
            "FROM generate_series(1, 50000) AS i; CREATE VIEW broken AS SELECT name::integer AS age, sex FROM t"
        )
    spec(attributes=ANY)
    assert "has no table or view 'visits' that can be read; it has broken, t" in publish_refused(
        "spec.toml", "--data", f"{url}#visits"
    )
    assert "message is withheld" in publish_refused("spec.toml", "--data", f"{url}#broken", "--engine", "threads")
    monkeypatch.setattr(PostgresPart, "batches", lost)
    line = publish_refused("spec.toml", "--data", f"{url}#t", "--engine", "threads")
    assert line == "the table 't' in PostgreSQL: no connection to the server, or it was lost; nothing was released"


ANY = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
other = "other"
"""
