"""Wrong inputs as people type them: one line each, which names the place and what would be right."""

import contextlib
import datetime as dt
import json
import shutil
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.flow.conftest import ATTRIBUTES, ROWS
from tests.flow.wrong_queries import OF_STATISTICS, QUERIES, STATEMENTS, STATISTICS
from tests.flow.wrong_specifications import FIELDS, PLANS, RANGES, SIZE, SPEC, TEXTS

import dpress as release
from dpress.core.basics import rng as generators

PLACES = [
    (
        "https://example.org/rows.csv",
        "https://example.org/rows.csv: expected a file of this computer; save the rows as one first",
    ),
    ("~/rows.csv", "not with ~"),
    ("rows.csv#age", "a file of text is one table; leave out what stands behind #"),
    ("semicolons.csv", "the data has no column 'age'; near it are 'age;sex'; its first line has all the columns with"),
    ("ragged.csv", "line 12 has 3 fields, the header 2; every line needs as many"),
    ("missing.csv", "dpress: missing.csv: No such file or directory"),
    ("empty.csv", "dpress: empty.csv is empty"),
    ("names.csv", "dpress: names.csv has no rows to count"),
    ("tabs.csv", 'its first line has all the columns with separator = "\\t" in [data]'),
    ("utf16.csv", "has bytes that are no text in utf-8; state its true `encoding` in [data]"),
    ("capitals.csv", "the data has no column 'age'; near it are 'Age'; column = \"Age\" of age reads what is there"),
    ("years.csv", "the data has no column 'age'; near it are 'age_in_years'; column = \"age_in_years\" of age reads"),
    ("twice.csv", "twice.csv has 2 columns called 'age'; rename all but one"),
    ("open.csv", 'line 2 has a " that is never closed'),
    ("comma.csv", 'every line needs as many (the header ends in ",": take that away)\n'),
    ("title.csv", "every line needs as many; its line 2 has all the columns with skip = 1 in [data]"),
    (
        "note.csv",
        "line 4 has 1 field, the header 2; every line needs as many; if what follows there is no row, footer = 1",
    ),
    ("plain.csv.gz", "plain.csv.gz is not compressed, as its name says; name it without .gz"),
    ("rows.json", "JSON is not read; save the rows as CSV or Parquet first"),
    ("rows.jsonl", "JSON is not read; save the rows as CSV or Parquet first"),
    ("rows.txt", "name a file of text .csv or .tsv, and state its `separator` in [data]"),
    ("rows.zip", "an archive is not read; unpack it"),
    ("rows.parquet", "rows.parquet cannot be read as a Parquet file: it is none, damaged or cut short"),
    ("rows.xlsx", "rows.xlsx cannot be read as a workbook: it is none, damaged or protected by a password"),
    ("rows.ods", "rows.ods cannot be read as a workbook"),
    ("rows.feather", "rows.feather cannot be read as an Arrow file"),
    ("rows.dta", "rows.dta cannot be read as a file of Stata, SPSS or SAS"),
    ("rows.duckdb#visits", "rows.duckdb cannot be opened as a DuckDB database: it is none"),
    ("shop.duckdb", 'expected the name of a table or view behind "#", as in shop.duckdb#visits; it has visits'),
    ("shop.duckdb#visit", "it has visits; did you mean 'visits'?"),
    ("shop.duckdb#select * from visits", "a query is not read, for it may mix the rows of several persons unseen"),
    ("lite.sqlite#visits", "a database of SQLite is not read; save the rows as CSV or Parquet first"),
    ("lite.db#visits", "lite.db is a database of SQLite; save its table as CSV or Parquet, or copy it"),
    (
        "oracle://host/base#visits",
        "a database is one of PostgreSQL, postgresql://HOST/DATABASE#TABLE, of MariaDB or MySQL, mysql://",
    ),
    ("postgresql://me:word@host/base#visits", "holds a password; put it into PGSERVICEFILE, PGPASSFILE or PGPASSWORD"),
    ("s3://bucket/rows.parquet", "expected a file of this computer; save the rows as one first"),
    ("nothing", "dpress: the folder nothing holds no file of rows"),
    ("*.none", "dpress: no file fits *.none"),
    ("kinds", "expected a .csv file as kinds/a.csv is; name files of one kind"),
    ("columns", "columns/b.csv has other columns than columns/a.csv; name files of one table"),
    ("lists.parquet", "attribute age: a column of type list<"),
    ("days.parquet", "attribute age: a column of type date32[day] holds no numbers; convert it first"),
]
COMMANDS = [
    (("publsh",), 2, "No such command 'publsh'."),
    (("plan", "nope.toml"), 1, "dpress: nope.toml: No such file or directory"),
    (("plan", "."), 1, "dpress: .: Is a directory"),
    (("plan", "spec.toml", "--epsilon", "1"), 2, "No such option '--epsilon'"),
    (("plan", "spec.toml", "--error", "-5"), 1, "error: expected a number above 0, got -5"),
    (("plan", "spec.toml", "--delta", "1e-8"), 2, "--shuffled and --delta go together: --shuffled --delta 1e-8"),
    (("plan", "spec.toml", "--out", "rows.csv"), 1, "rows.csv exists already; a design is never overwritten"),
    (
        ("plan", "spec.toml", "--out", "no/d.json"),
        1,
        "cannot write in no: there is no such folder; choose another folder",
    ),
    (("plan", "spec.toml", "--sql", "no.sql"), 1, "dpress: no.sql: No such file or directory"),
    (
        ("plan", "spec.toml", "--sql", "select count(*) from t", "--weights", "1,2"),
        1,
        "expected 1 weight above 0, one for",
    ),
    (("plan", "spec.toml", "--sql", "select count(*) from t", "--weights", "a"), 2, "such as 2,1, got 'a'"),
    (("publish", "spec.toml"), 2, "Missing option '--out'"),
    (
        ("publish", "spec.toml", "--out", "."),
        1,
        ". exists already; a release is never overwritten, choose another name",
    ),
    (("publish", "spec.toml", "--out", "o", "--engine", "dask"), 2, "'dask' is not one of 'threads', 'sql', 'spark'"),
    (
        ("publish", "spec.toml", "--out", "o", "--engine", "sql"),
        1,
        "engine sql counts Parquet files and tables of DuckDB",
    ),
    (
        ("publish", "spec.toml", "--out", "o", "--ledger", "no/l"),
        1,
        "cannot create the ledger no/l: the folder no does not",
    ),
    (("publish", "spec.toml", "--out", "o", "--ledger", "rows.csv"), 1, "rows.csv is not a ledger: not a SQLite file"),
    (
        ("publish", "spec.toml", "--out", "o", "--period", "2024-01"),
        1,
        "$.periods: the specification has no such section",
    ),
    (
        ("query", "spec.toml", "total"),
        1,
        "spec.toml is a file, no release: name a folder that `dpress publish --out` wrote, with its",
    ),
    (("query", "out", "total", "--confidence", "95%"), 2, "expected a number such as 0.95, got '95%'"),
    (("query", "out", "total", "--confidence", "0,9"), 2, "expected a number such as 0.9, got '0,9'"),
    (("query", "out", "total", "--confidence", "inf"), 2, "expected a number, got 'inf'"),
    (("query", "out", "total", "--confidence", "95"), 1, "confidence must lie strictly between 0 and 1"),
    (("query", "out"), 2, "ask queries, such as 'age in 30..40', or --sql 'select ...'"),
    (("report", "out", "--out", "x.pdf"), 2, "the report is a page of HTML, which a browser prints: name it x.html"),
    (("report", "out", "--query", "age = 3"), 1, 'only a map, kind = "spatial", draws queries'),
    (("evaluate", "out"), 2, "Missing option '--data'"),
    (("audit", "identiy"), 2, "; did you mean 'identity'?"),
    (("list", "--family", "x"), 1, "there is no family 'x'; the families are choice,"),
    (("error", "identity", "--cells", "0"), 1, "cells must be an integer >= 1, got cells=0"),
    (("error", "identity", "--cells", "8", "--range", "3"), 1, "a range is written LEFT:RIGHT, e.g. 3:7, got '3'"),
    (("error", "identity", "--cells", "8", "--range", "1:9"), 1, "range 1:9 must end within 8 cells"),
    (("ledger", "show", "nope"), 1, "no ledger at nope; create it first"),
    (("ledger", "create", "L"), 2, "a ledger needs a limit: --epsilon, --rho, or --epsilon and --delta"),
    (("ledger", "create", "L", "--epsilon", "-1"), 1, "epsilon must be > 0, got epsilon=-1"),
    (("perturb", "spec.toml", "--out", "x"), 1, 'reports need model = "local"; `dpress publish` releases a table'),
    (("estimate", "spec.toml", "--reports", "nope", "--out", "x"), 1, 'reports need model = "local"'),
    (("perturb", "nope.json", "--out", "x"), 1, "nope.json: No such file or directory; `dpress plan SPEC --out nope"),
    (("publish", "nope.json", "--out", "x"), 1, "nope.json: No such file or directory; `dpress plan SPEC --out nope"),
    (("serve", "nope.json"), 1, "No such file or directory; `dpress plan SPEC --out nope.json` makes a design"),
    (("check", "nope.toml"), 1, "dpress: nope.toml: No such file or directory"),
    (("init", "nope.csv", "--out", "new.toml"), 1, "dpress: nope.csv: No such file or directory"),
    (("collection", "list", "--store", "nope"), 1, "the store must be sqlite:///FILE or postgresql://..., got 'nope'"),
    (("collection", "delete", "abc"), 1, "there is no store reports.db"),
]
DAMAGES = [
    (
        lambda out: (out / "release.json").unlink(),
        "out holds no release: name a folder that `dpress publish --out` wrote, with its release.json",
    ),
    (
        lambda out: (out / "release.json").write_text(""),
        "out/release.json is truncated or was edited; publish again or",
    ),
    (lambda out: (out / "release.json").write_text("[]"), "out/release.json is truncated or was edited"),
    (lambda out: (out / "age-sex.parquet").unlink(), "age-sex.parquet is missing; publish again or restore the file"),
    (lambda out: (out / "age-sex.parquet").write_text("x"), "age-sex.parquet differs from its checksum"),
    (lambda out: edit(out / "release.json", format=99), "format 99 is not known; this version reads format"),
    (
        lambda out: edit(out / "release.json", design={}),
        "out/release.json: no design: it has no `format`; publish again or",
    ),
]
DESIGNS = [
    ({"method": "nope"}, "the design is wrong: $.method: expected a candidate, identity, got 'nope'"),
    ({"format": 9}, "design.json: a design of format 9; this version reads format 1"),
    ({"budget": {"epsilon": "-1"}}, "the design is wrong: $.budget: epsilon must be > 0, got epsilon=-1"),
    ({"more": 1}, "the design is wrong: Object contains unknown field `more`"),
]


@pytest.mark.parametrize(("old", "new", "wanted"), [*TEXTS, *FIELDS])
def test_a_specification(here, folder, old, new, wanted):
    assert old in SPEC
    (folder / "spec.toml").write_text(SPEC.replace(old, new), encoding="utf-8")
    done = here("plan", "spec.toml")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("dpress: spec.toml: ")
    assert wanted in done.err
    assert "(at line " in done.err or "at end of document" in done.err


@pytest.mark.parametrize(("names", "parameters", "wanted"), RANGES)
def test_the_ranges_that_a_specification_asks_for(here, spec, names, parameters, wanted):
    attributes = ", ".join(f'"{name}"' for name in names.split(","))
    release = f'kind = "ranges"\nattributes = [{attributes}]\n[release.parameters]\n{parameters}'
    spec(attributes=ATTRIBUTES + SIZE, release=release)
    done = here("plan", "spec.toml")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert wanted in done.err


@pytest.mark.parametrize(("old", "new", "wanted"), PLANS)
def test_what_no_plan_is_made_of(here, folder, old, new, wanted):
    (folder / "spec.toml").write_text(SPEC.replace(old, new))
    done = here("plan", "spec.toml")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert done.err.startswith("dpress: spec.toml: $.")
    assert wanted in done.err
    assert "(at line " in done.err


FILES = {
    "semicolons.csv": "age;sex\n1;F\n",
    "ragged.csv": "age,sex\n" + "1,F\n" * 10 + "1,F,2\n" + "1,F\n" * 10,
    "empty.csv": "",
    "names.csv": "age,sex\n",
    "tabs.csv": "age\tsex\n1\tF\n",
    "capitals.csv": "Age,sex\n1,F\n",
    "years.csv": "age_in_years,sex\n1,F\n",
    "twice.csv": "age,age,sex\n1,1,F\n",
    "open.csv": 'age,sex\n1,"F\n2,M\n',
    "comma.csv": "age,sex,\n1,F\n2,M\n",
    "title.csv": "People of 2024\nage,sex\n1,F\n2,M\n",
    "note.csv": "age,sex\n1,F\n2,M\nSource: the office\n",
    "plain.csv.gz": "age,sex\n1,F\n",
    **dict.fromkeys(
        (f"rows.{kind}" for kind in ("json", "jsonl", "txt", "zip", "parquet", "xlsx", "ods")), "age,sex\n1,F\n"
    ),
    **dict.fromkeys((f"rows.{kind}" for kind in ("feather", "dta", "duckdb")), "age,sex\n1,F\n"),
    "kinds/a.csv": "age,sex\n1,F\n",
    "kinds/b.parquet": "",
    "columns/a.csv": "age,sex\n1,F\n",
    "columns/b.csv": "age,gender\n1,F\n",
}


@pytest.fixture(scope="module")
def wrong_files(tmp_path_factory):
    """A folder of files that are no tables, or not those that the specification is of."""
    place = tmp_path_factory.mktemp("wrong")
    for folder in ("nothing", "kinds", "columns"):
        (place / folder).mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "utf16.csv").write_text("age,sex\n1,F\n", encoding="utf-16")
    pq.write_table(pa.table({"age": [[1], [2]], "sex": ["F", "M"]}), place / "lists.parquet")
    pq.write_table(pa.table({"age": [dt.date(2024, 1, 1)], "sex": ["F"]}), place / "days.parquet")
    with duckdb.connect(place / "shop.duckdb") as engine:
        engine.execute("CREATE TABLE visits AS SELECT 1 AS age, 'F' AS sex")
    for name in ("lite.sqlite", "lite.db"):
        with contextlib.closing(sqlite3.connect(place / name)) as engine:
            engine.execute("CREATE TABLE visits (age int)")
    return place


@pytest.mark.parametrize(("place", "wanted"), PLACES)
def test_a_place(here, folder, wrong_files, place, wanted):
    (folder / "spec.toml").write_text(SPEC)
    for path in wrong_files.iterdir():
        (folder / path.name).symlink_to(path)
    done = here("check", "spec.toml", "--data", place)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert wanted in done.err


def test_names_that_are_more_than_the_columns(here, folder):
    (folder / "spec.toml").write_text(SPEC.replace("source =", 'header = ["age", "sex", "size", "x"]\nsource ='))
    assert here("check", "spec.toml").err == "dpress: rows.csv has 3 columns; [data] header names 4\n"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A folder with a release."""
    place = tmp_path_factory.mktemp("published")
    (place / "rows.csv").write_text(ROWS)
    (place / "spec.toml").write_text(SPEC)
    release.publish(str(place / "spec.toml"), out=place / "out", rng=generators.seeded(2))
    (place / "statistics.toml").write_text(STATISTICS)
    release.publish(str(place / "statistics.toml"), out=place / "means", rng=generators.seeded(3))
    release.save_design(release.plan(str(place / "spec.toml")).design, place / "design.json")
    return place


@pytest.fixture
def copy(published, folder):
    """A copy of that folder, where commands run."""
    return shutil.copytree(published, folder, dirs_exist_ok=True)


def edit(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(("statement", "wanted"), STATEMENTS)
def test_a_statement(here, copy, statement, wanted):
    assert copy.exists()
    done = here("plan", "spec.toml", "--sql", statement)
    assert (done.code, done.out) == (1, "")
    assert wanted in done.err.splitlines()[-1]
    assert done.err.count("\n") in (1, 3)  # beside the statement, where something in it is marked


@pytest.mark.parametrize(("arguments", "code", "wanted"), COMMANDS)
def test_a_command(here, copy, arguments, code, wanted):
    assert copy.exists()
    done = here(*arguments)
    assert (done.code, done.out) == (code, "")
    assert wanted in done.err.splitlines()[-1]
    assert done.err.count("\n") == (1 if code == 1 else 4)  # behind the usage, where that is wrong


@pytest.mark.parametrize(("damage", "wanted"), DAMAGES)
def test_a_damaged_release(here, copy, damage, wanted):
    damage(copy / "out")
    done = here("query", "out", "total")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert wanted in done.err


@pytest.mark.parametrize(("fields", "wanted"), DESIGNS)
def test_an_edited_design(here, copy, fields, wanted):
    edit(copy / "design.json", **fields)
    done = here("publish", "design.json", "--data", "rows.csv", "--out", "new", "--quiet")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert wanted in done.err
    assert not (copy / "new").exists()


def test_there_are_as_many_as_it_is_said():
    lists = (TEXTS, FIELDS, RANGES, PLANS, PLACES, QUERIES, STATEMENTS, COMMANDS, DAMAGES, DESIGNS, OF_STATISTICS)
    assert sum(map(len, lists)) >= 330


@pytest.mark.parametrize(
    ("folder_of", "query", "wanted"),
    [*(("out", *each) for each in QUERIES), *(("means", *each) for each in OF_STATISTICS)],
)
def test_a_query(here, copy, folder_of, query, wanted):
    assert copy.exists()
    done = here("query", folder_of, query)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert wanted in done.err


def test_rows_instead_of_a_specification(here, folder):
    assert folder.exists()
    wanted = "if it holds rows, `dpress init rows.csv` begins a specification of them"
    assert wanted in here("plan", "rows.csv").err


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_mark_of_byte_order_is_no_fault(here, folder, mark):
    (folder / "spec.toml").write_bytes(mark + SPEC.encode())
    assert here("plan", "spec.toml").code == 0


def test_a_budget_that_hides_every_count_is_told_with_its_error(here, folder):
    (folder / "spec.toml").write_text(SPEC.replace("epsilon = 1", "epsilon = 1e-6"))
    wanted = "note: epsilon = 1e-06 is very little: even a single count is typically off by +- 1,414,214"
    assert wanted in here("plan", "spec.toml").err
    assert wanted in here("publish", "spec.toml", "--out", "out").err
    (folder / "spec.toml").write_text(SPEC)
    assert "very little" not in here("plan", "spec.toml").err


@pytest.mark.parametrize(("users", "wanted"), [("", "10,000 of 1,000,000"), ("users = 500, ", "5 of 500")])
def test_a_large_delta_is_told_with_its_odds(here, folder, users, wanted):
    spec = STATISTICS.replace("mean = [", f"{users}mean = [")
    (folder / "spec.toml").write_text(spec.replace("epsilon = 1", "epsilon = 1\ndelta = 0.01"))
    odds = f"note: delta = 0.01 is large: for each person the promise may fail with odds of 1 in 100, so for {wanted}"
    assert odds in here("plan", "spec.toml").err
    assert odds in here("publish", "spec.toml", "--out", "out").err
    (folder / "spec.toml").write_text(spec.replace("epsilon = 1", "epsilon = 1\ndelta = 1e-5"))
    assert "is large" not in here("plan", "spec.toml").err


def test_texts_among_a_workbooks_numbers_are_shown_as_they_stand(here, folder):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    (folder / "spec.toml").write_text(SPEC)
    with xlsxwriter.Workbook(folder / "book.xlsx") as book:
        sheet = book.add_worksheet()
        for row, line in enumerate([["age", "sex"], [3, "F"], [4, "M"], ["Source: office", ""]]):
            sheet.write_row(row, 0, line)
    out = here("check", "spec.toml", "--data", "book.xlsx").out
    assert "'Source: office': 1" in out
    assert "the last line looks like a note, no rows: footer = 1 in [data] leaves it out" in out
    (folder / "spec.toml").write_text(SPEC.replace("source =", "footer = 1\nsource ="))
    assert "looks like a note" not in here("check", "spec.toml", "--data", "book.xlsx").out
    assert "dpress_text" not in out
