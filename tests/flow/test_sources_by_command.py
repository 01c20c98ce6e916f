"""Every command reads every source that can be named on a command line or in a specification."""

import re

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.flow.same_rows import FILES, ROWS, to_postgres

from dpress.data.sources.postgres_snapshot import Snapshot
from dpress.kinds.microdata import evaluate as records

ATTRIBUTES = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 82]
null = "drop"
[[attribute]]
name = "sex"
kind = "categorical"
values = ["M", "F", "x"]
other = "else"
[[attribute]]
name = "place"
kind = "location"
columns = ["lon", "lat"]
bounds = [[-74.01, -73.7], [40.59, 40.9]]
"""
TABLE = 'kind = "histogram"\nattributes = ["sex"]'
PERSON = 'epsilon = 1.0\nunit = "uid"\nrows_per_unit = 3'
RELEASES = {
    "table": ("epsilon = 1.0", TABLE),
    "person": (PERSON, TABLE),
    "map": ("epsilon = 1.0", 'kind = "spatial"\nattributes = ["place"]\nmethod = "uniform_grid"'),
    "records": ("epsilon = 1.0", 'kind = "microdata"\nattributes = ["age", "sex"]\nmethod = "dp_prototypes"'),
}
NAMED = [name for name in FILES if name in ("parquet", "folder", "pattern", "csv", "arrow", "duckdb", "view")]


@pytest.fixture(
    params=[*NAMED, pytest.param("visits", marks=pytest.mark.slow), pytest.param("seen", marks=pytest.mark.slow)]
)
def source(request, tmp_path):
    if request.param in FILES:
        return FILES[request.param][0](tmp_path)
    url = request.getfixturevalue("new_database")()
    to_postgres(url)
    return f"{url}#{request.param}"


def written(path, privacy, release, source=""):
    data = f'[data]\nsource = "{source}"\n' if source else ""
    path.write_text(f"{data}{ATTRIBUTES}[privacy]\n{privacy}\n[release]\n{release}\n")
    return path


def done(result):
    assert (result.code, result.err) == (0, "")
    return result


@pytest.mark.slow
def test_a_table_is_checked_published_and_evaluated(here, tmp_path, source, monkeypatch):
    """But for what a classifier makes of the held-out rows, which `test_microdata` tells."""
    monkeypatch.setattr(records, "_accuracy", lambda _, train, test: float(train.shape == test.shape))
    for name, (privacy, release) in RELEASES.items():
        spec = written(tmp_path / f"{name}.toml", privacy, release)
        done(here("check", spec, "--data", source, "--quiet"))
        out = tmp_path / f"{name}.out"
        done(here("publish", spec, "--data", source, "--out", out, "--ledger", tmp_path / f"{name}.db", "--quiet"))
        more = ["--held-out", source] if name == "records" else []
        told = done(here("evaluate", out, "--data", source, *more, "--quiet")).out
        assert "NOT PRIVATE" in told
        assert ("classifier" in told) == (name == "records")
    person = tmp_path / "person.toml"
    assert "rows_per_unit = " in done(here("check", person, "--data", source, "--private-cap", 0.5, "--quiet")).out


@pytest.mark.slow
def test_people_report_and_are_estimated(here, tmp_path, source):
    spec = written(tmp_path / "local.toml", 'epsilon = 1.0\nmodel = "local"', TABLE)
    done(here("perturb", spec, "--data", source, "--out", tmp_path / "reports.parquet", "--quiet"))
    done(here("estimate", spec, "--reports", tmp_path / "reports.parquet", "--out", tmp_path / "out", "--quiet"))


def test_a_specification_names_its_source_from_where_it_is(here, tmp_path, source):
    (tmp_path / "specs").mkdir()
    own = str(source) if "://" in str(source) else str(source).replace(str(tmp_path), "..")
    spec = written(tmp_path / "specs" / "own.toml", *RELEASES["person"], own)
    done(here("publish", spec, "--out", tmp_path / "out", "--quiet"))


def test_a_file_whose_name_reads_like_a_query(here, tmp_path):
    pyarrow.csv.write_csv(ROWS, tmp_path / "table 1.csv")
    spec = written(tmp_path / "spec.toml", *RELEASES["table"])
    done(here("publish", spec, "--data", "table 1.csv", "--out", "out", "--quiet"))
    assert "a query is not read" in here("publish", spec, "--data", "table 2.csv", "--out", "other").err


def test_a_list_of_files_is_for_python_alone(refused, tmp_path):
    spec = written(tmp_path / "spec.toml", *RELEASES["table"], "rows.csv")
    spec.write_text(spec.read_text().replace('"rows.csv"', '["rows.csv"]'))
    assert "$.data.source: expected a string, got ['rows.csv']" in refused("publish", spec, "--out", "out")


@pytest.mark.parametrize("name", ["csv", "arrow", "folder"])
def test_what_no_engine_of_sql_reads(refused, tmp_path, name):
    spec, source = written(tmp_path / "spec.toml", *RELEASES["table"]), FILES[name][0](tmp_path)
    line = refused("publish", spec, "--out", "out", "--data", source, "--engine", "sql")
    assert line.endswith("engine sql counts Parquet files and tables of DuckDB, PostgreSQL or Spark; use threads")


def without_a_person(tmp_path, new_database):
    rows = ROWS.set_column(0, "uid", pa.array([*ROWS["uid"].to_pylist()[1:], None]))
    pyarrow.csv.write_csv(rows, tmp_path / "null.csv")
    pq.write_table(rows, tmp_path / "null.parquet")
    with duckdb.connect(tmp_path / "null.duckdb") as engine:
        engine.register("given", rows)
        engine.execute("CREATE TABLE t AS SELECT * FROM given")
    url = new_database()
    to_postgres(url)
    asked(url, "UPDATE visits SET uid = NULL WHERE uid = 'p 0'")
    return {"null.csv": ("threads",), "null.parquet": ENGINES, "null.duckdb#t": ENGINES, f"{url}#visits": ENGINES}


ENGINES = ("threads", "sql")


def asked(url, statement):
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def unpaid(refused, folder):
    """Publish of persons with a ledger, which must be refused and cost nothing."""
    from dpress import Ledger, PureDP, Unit

    own = Ledger.create(folder / "persons.db", limit=PureDP(epsilon=9), unit=Unit(column="uid", rows=3))

    def run(spec, source, engine):
        line = refused("publish", spec, "--data", source, "--engine", engine, "--out", "out", "--ledger", "persons.db")
        assert own.summary().spent == {"epsilon": 0}
        return line

    return run


@pytest.mark.slow
def test_a_row_without_its_person_is_one_line_and_free(unpaid, tmp_path, new_database):
    spec = written(tmp_path / "spec.toml", *RELEASES["person"])
    for source, engines in without_a_person(tmp_path, new_database).items():
        for engine in engines:
            assert unpaid(spec, source, engine).endswith("a row has no 'uid'; every row needs its person")


KILL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
LOST = "the table 'visits' in PostgreSQL: no connection to the server, or it was lost; nothing was released"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("fault", "lines"), [
    (f"{KILL} AND datname = current_database()", {LOST}),
    ("DROP TABLE visits CASCADE", {
        "the database has no table or view 'visits' that can be read; it has none",
        ("the table 'visits' in PostgreSQL cannot be read: the server knows a table or an expression of ours not; "
        "PostgreSQL 13 and later do, code 42P01 (the server's message is withheld: it may quote rows)"),
    }),
])  # fmt: skip
def test_a_server_that_fails_at_any_statement_is_one_line_and_free(
    unpaid, tmp_path, new_database, monkeypatch, engine, fault, lines
):
    spec, url, fetch = written(tmp_path / "spec.toml", *RELEASES["person"]), new_database(), Snapshot.fetch
    for failing in range(2, 5):  # the first one connects
        asked(url, "DROP TABLE IF EXISTS visits CASCADE")
        to_postgres(url)
        statements = []

        def failed(own, statement, statements=statements, failing=failing):
            statements.append(statement)
            if len(statements) == failing:
                asked(url, fault)
            return fetch(own, statement)

        monkeypatch.setattr(Snapshot, "fetch", failed)
        line = unpaid(spec, f"{url}#visits", engine)
        assert re.sub(r" at character \d+ of the statement", "", line) in lines
        assert len(statements) >= failing
