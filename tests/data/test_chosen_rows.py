"""`where` of [data]: the rows of a release by a public condition, the same for every source, engine and kind."""

import datetime as dt
import itertools
import zipfile
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.data.written_rows import csv, database, feather, parquet

import dpress
from dpress.cli.main import cli
from dpress.core.basics import rng as generators
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.toml import as_toml
from dpress.data.true_counts import true_counts
from dpress.release.source_rows import chosen_rows
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.truth.check_text import lines

PLACE = np.arange(400)
ROWS = pa.table(
    {
        "age": PLACE * 7 % 90,
        "sex": pa.array(["F", "M", None]).take(pa.array(PLACE % 3)),
        "year": pa.array(2020 + PLACE % 6, mask=PLACE % 11 == 0),
        "delay": pa.array((PLACE % 40 - 20) / 4, mask=PLACE % 13 == 0),
        "seen": pa.array(np.datetime64("2024-01-01") + PLACE % 200),
        "Persons men": PLACE % 5,
        "uid": pa.array([f"p {each}" for each in PLACE % 60], mask=PLACE % 17 == 0),
    }
)
AGE = {"name": "age", "kind": "integer", "bounds": [0, 79], "bins": 8}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"], "other": "drop"}
KNOWN = {
    "year = 2024": lambda row: row["year"] == 2024,
    "year != 2024": lambda row: row["year"] not in (None, 2024),
    "not year = 2024": lambda row: row["year"] not in (None, 2024),
    "not (year = 2024 or delay > 0)": lambda row: (
        None not in (row["year"], row["delay"]) and row["year"] != 2024 and row["delay"] <= 0
    ),
    "year in (2021, 2023) and sex = F": lambda row: row["year"] in (2021, 2023) and row["sex"] == "F",
    "year >= 2022 and year < 2024": lambda row: row["year"] in (2022, 2023),
    "year is missing or sex is missing": lambda row: row["year"] is None or row["sex"] is None,
    "not year is missing": lambda row: row["year"] is not None,
    "delay > 0.25": lambda row: row["delay"] is not None and row["delay"] > 0.25,
    "delay >= 0.25": lambda row: row["delay"] is not None and row["delay"] >= 0.25,
    "delay <= -4.75": lambda row: row["delay"] is not None and row["delay"] <= -4.75,
    "delay in -1..1.5": lambda row: row["delay"] is not None and -1 <= row["delay"] <= 1.5,
    "delay between 0 and 2.25": lambda row: row["delay"] is not None and 0 <= row["delay"] <= 2.25,
    "delay = 1.5": lambda row: row["delay"] == 1.5,
    "delay < -4.75 or delay != -5": lambda row: row["delay"] is not None,
    "age < 20": lambda row: row["age"] < 20,
    "age >= 70": lambda row: row["age"] >= 70,  # those above the bounds are clamped
    "seen in 2024-02..2024-03": lambda row: row["seen"].month in (2, 3),
    "seen > 2024-05-31": lambda row: row["seen"] > dt.date(2024, 5, 31),
    "seen = 2024-01-07": lambda row: row["seen"] == dt.date(2024, 1, 7),
    "'Persons men' = 3": lambda row: row["Persons men"] == 3,
    "'F' = sex and uid = 'p 6'": lambda row: row["sex"] == "F" and row["uid"] == "p 6",
}


def spec(where, privacy=None, **release):
    return {
        "data": {"where": where} if where else {},
        "attribute": [AGE, SEX],
        "privacy": {"epsilon": 3, **(privacy or {})},
        "release": {"kind": "histogram", "attributes": ["age"], **release},
    }


def fulfilling(where, rows=ROWS):
    return pa.Table.from_pylist([row for row in rows.to_pylist() if KNOWN[where](row)], schema=rows.schema)


SOURCES = {
    "csv": (csv, "threads"),
    "parquet": (parquet, "threads"),
    "parquet by SQL": (parquet, "sql"),
    "feather": (feather, "threads"),
    "database": (database, "sql"),
    "database by threads": (database, "threads"),
    "relation": (lambda _, rows: duckdb.from_arrow(rows), "sql"),
    "arrow": (lambda _, rows: rows, "threads"),
    "pandas of objects": (lambda _, rows: rows.to_pandas().astype(object).where(pd.notna, None), "threads"),
    "polars": (lambda _, rows: pl.from_arrow(rows), "threads"),
}


def tables(asked, data, out, engine):
    dpress.publish(asked, data, out=out, engine=engine, rng=generators.seeded(2))
    return [pq.read_table(path) for path in sorted(out.glob("*.parquet"))]


def counted(where, data, engine):
    """Return the counts of ages, before any noise."""
    asked = dpress.load_spec(spec(where))
    rows = chosen_rows(asked, data, asked.schema.tabular, engine=engine).rows
    return true_counts(asked.schema, ((0,),), rows, ROW).tolist()


def expected(where):
    cells = [min(row["age"], 79) // 10 for row in ROWS.to_pylist() if KNOWN[where](row)]
    return np.bincount(cells, minlength=8).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_the_rows_counted_are_those_of_which_the_condition_holds(tmp_path, source):
    make, engine = SOURCES[source]
    data = make(tmp_path, ROWS)
    for where in KNOWN:
        assert counted(where, data, engine) == expected(where), where


@pytest.mark.parametrize("source", ["csv", "parquet by SQL", "database"])
def test_the_release_is_that_of_the_other_rows(tmp_path, source):
    make, engine = SOURCES[source]
    where = "year in (2021, 2023) and sex = F"
    left = tables(spec(""), fulfilling(where), tmp_path / "left", "threads")
    assert tables(spec(where), make(tmp_path, ROWS), tmp_path / "whole", engine) == left


def test_the_conditions_tell_rows_apart():
    counts = {where: fulfilling(where).num_rows for where in KNOWN}
    assert all(0 < rows < 400 for rows in counts.values())
    for here, there in itertools.combinations(KNOWN, 2):
        if {here, there} != {"year != 2024", "not year = 2024"}:
            assert fulfilling(here) != fulfilling(there), (here, there)


CITY = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 9], [0, 9]]}
TOWN = {"name": "town", "kind": "categorical", "values": "discover"}
KINDS = {
    "marginals": ({"kind": "marginals", "attributes": ["age", "sex"]}, ()),
    "ranges": ({"kind": "ranges", "attributes": ["age"]}, ()),
    "joint": ({"kind": "joint", "attributes": ["age", "sex"]}, ()),
    "microdata": ({"kind": "microdata", "attributes": ["age", "sex"], "method": "graphical"}, ()),
    "statistics": ({"kind": "statistics", "attributes": ["age"], "parameters": {"mean": ["age"]}}, ()),
    "queries": ({"kind": "queries", "attributes": ["age"], "parameters": {"queries": ["age < 20"]}}, ()),
    "spatial": ({"kind": "spatial", "attributes": ["place"], "method": "uniform_grid"}, (CITY,)),
    "names": ({"kind": "names", "attributes": ["town"]}, (TOWN,)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "unit"), [*((kind, "row") for kind in KINDS), ("marginals", "uid"), ("names", "uid")])
def test_every_kind_counts_them(tmp_path, kind, unit):
    release, others = KINDS[kind]
    towns = pa.array(["A", "B", "C"]).take(pa.array(PLACE % 3))
    rows = ROWS.append_column("town", towns).append_column("lon", pa.array(PLACE % 9 + 0.5))
    rows = rows.append_column("lat", pa.array(PLACE % 7 + 0.5))
    where = "year in (2021, 2023) and sex = F"
    asked = {"data": {"where": where, "missing_unit": "drop"}, "attribute": [AGE, SEX, *others]}
    delta = {"delta": 1e-6} if kind in ("names", "microdata") else {}
    persons = {"unit": "uid", "rows_per_unit": 50} if unit == "uid" else {}
    asked |= {"privacy": {"epsilon": 3, **delta, **persons}, "release": release}
    whole = tables(asked, rows, tmp_path / "whole", None)
    left = tables(asked | {"data": {"missing_unit": "drop"}}, fulfilling(where, rows), tmp_path / "left", None)
    assert whole == left
    assert whole != tables(asked | {"data": {"missing_unit": "drop"}}, rows, tmp_path / "every", None)


REFUSED = {
    "yaer = 2024": "the data has no column 'yaer'; near it are 'year'",
    "sex > F": "sex has no order; use = or in (a, b)",
    "sex = X": "sex has no value 'X'; it has F, M",
    "age < 25": "age: the condition cuts through a cell; the nearest range around it is 0..29",
    "year > soon": "year is ordered by numbers, or by dates such as 2024-12-31, got 'soon'; other columns are compared",
    "delay in 3..1": "delay: the ends of 3..1 are reversed",
    "delay > 1e999": "delay is ordered by numbers, or by dates such as 2024-12-31, got '1e999'",
    "total": "`total` holds of every row; leave `where` out for all rows",
    "year": "cannot read 'year'; write e.g. `NAME in 30..40 and NAME = VALUE`",
    "Persons men = 3": "cannot read 'Persons men = 3'",
    "year == 2024": "`==` is no operator; did you mean `year = 2024`?",
    "year = 2024 and": "cannot read '2024 and'; a condition is missing at the end; a value with such signs or words",
    "year in (2021 or 2023)": "did you mean `year in (",
    "(year = 2024": "a parenthesis is not closed",
}


@pytest.mark.parametrize("where", REFUSED)
def test_a_condition_that_cannot_be_read_is_refused_in_a_line(where):
    with pytest.raises(SchemaMismatch) as refused:
        dpress.check(spec(where), ROWS)
    assert REFUSED[where] in str(refused.value)
    assert "\n" not in str(refused.value)
    if "yaer" not in where:
        with pytest.raises(SchemaMismatch, match=r"^\$\.data\.where: "):
            dpress.plan(spec(where))


WHERE = "year = 2023 and sex = F"


@pytest.mark.parametrize(
    ("privacy", "why"),
    [
        ({"model": "local"}, r"a device that reports would show that it holds; set model = \"central\""),
        (
            {"relation": "replace-one"},
            r"expected relation = \"add-remove\": under \"replace-one\" the number of rows counts",
        ),
    ],
)
def test_where_it_would_tell_something_it_is_refused(privacy, why):
    with pytest.raises(SchemaMismatch, match=rf"^\$\.data\.where: {why}"):
        dpress.load_spec(spec(WHERE, privacy))
    assert dpress.load_spec(spec("", privacy)).where == ""


def test_check_counts_the_others_and_no_release_does(tmp_path):
    report = dpress.check(spec(WHERE), ROWS)
    left = sum(row["year"] == 2023 and row["sex"] == "F" for row in ROWS.to_pylist())
    assert (report.rows, report.kept, report.others, report.where) == (left, left, 400 - left, WHERE)
    assert f"{400 - left} more rows are left out, of which `{WHERE}` does not hold" in lines(report)
    assert dpress.check(spec(""), ROWS).others == 0
    dpress.publish(spec(WHERE), ROWS, out=tmp_path / "out", rng=generators.seeded(2))
    written = "".join(path.read_text() for path in (tmp_path / "out").glob("*.json"))
    assert WHERE in written
    assert "others" not in written


def test_rows_without_a_person_are_those_among_them():
    asked = spec(WHERE, {"unit": "uid", "rows_per_unit": 5})
    asked["data"]["missing_unit"] = "drop"
    report = dpress.check(asked, ROWS)
    inside = [row for row in ROWS.to_pylist() if row["year"] == 2023 and row["sex"] == "F"]
    assert report.nameless == sum(row["uid"] is None for row in inside) > 0
    assert report.persons.persons == len({row["uid"] for row in inside} - {None})
    assert report.others == 400 - len(inside)


def run(*arguments):
    result = CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_plan_publication_answers_and_page_state_it(tmp_path):
    (tmp_path / "spec.toml").write_text(as_toml(spec(WHERE)))
    data, out = csv(tmp_path, ROWS), tmp_path / "out"
    assert f"Only rows of which `{WHERE}` holds are counted." in run(
        "plan", tmp_path / "spec.toml", "--out", tmp_path / "d.json"
    )
    published = run("publish", tmp_path / "d.json", "--data", data, "--out", out, "--bundle", tmp_path / "all.zip")
    assert f"Rows:    those of which `{WHERE}` holds" in published
    assert f"Only rows of which `{WHERE}` holds are counted." in run("query", out, "total")
    run("report", out)
    run("report", out, "--registry", "--out", tmp_path / "record.yaml")
    page = (out / "report.html").read_text()
    assert f"Rows of which <code>{WHERE}</code> holds" in page
    assert f"Only rows of which <code>{WHERE}</code> holds are counted. The condition is public" in page
    assert f", of which {WHERE} holds" in (tmp_path / "record.yaml").read_text()
    with zipfile.ZipFile(tmp_path / "all.zip") as bundle:
        assert f"those of which {WHERE} holds" in bundle.read("README.txt").decode()
    assert dpress.load_release(out).design.where == WHERE
    assert "Only rows of which" in dpress.plan(spec(WHERE))._repr_html_()
    assert "Only rows of which" not in dpress.plan(spec(""))._repr_html_()


def test_what_the_release_was_is_evaluated_over_the_same_rows():
    release = dpress.publish(spec(WHERE, {"epsilon": 1000}), ROWS)
    left = [row for row in ROWS.to_pylist() if row["year"] == 2023 and row["sex"] == "F"]
    assert abs(release.query("total").value - len(left)) < 5
    same, every = (
        dpress.evaluate(of, ROWS)["cell_root_mean_squared_error"]
        for of in (release, replace(release, design=dpress.plan(spec("")).design))
    )
    assert same < 2 < every


def test_statements_leave_its_attributes_as_they_are():
    asked = spec("age < 20 and year = 2021")
    asked["attribute"] = [AGE, SEX, {"name": "delay", "kind": "numeric", "bounds": [-5, 5], "bins": 10}]
    planned = plan_statements(asked, "select sex, count(*) from t where age < 40 group by sex")
    assert {part.planned.spec.where for part in planned.parts} == {"age < 20 and year = 2021"}
    with pytest.raises(NotSupported, match=r"^\$\.data\.where: it names age, of which the statement counts a range"):
        plan_statements(asked, "select avg(delay) from t where age between 20 and 39")


def test_a_database_that_reads_no_numbers_in_texts_says_so(tmp_path):
    with duckdb.connect(tmp_path / "rows.duckdb") as engine:
        engine.execute("CREATE TABLE visits AS SELECT 3 AS age, [1, 2] AS many")
    asked = spec("many = 3")
    with pytest.raises(
        NotSupported, match=r"^\$\.data\.where: duckdb cannot compare many, a column of INTEGER\[\], as files"
    ):
        dpress.publish(asked, f"{tmp_path / 'rows.duckdb'}#visits")


@pytest.mark.slow
def test_postgres(new_database):
    psycopg = pytest.importorskip("psycopg")
    url = new_database()
    with psycopg.connect(url, autocommit=True) as connection:
        types = 'age int, sex text, year int, delay double precision, seen date, "Persons men" int, uid text'
        connection.execute(f"CREATE TABLE visits ({types})")
        with connection.cursor().copy("COPY visits FROM STDIN") as copy:
            for row in ROWS.to_pylist():
                copy.write_row(tuple(row.values()))
    for where in KNOWN:
        assert counted(where, f"{url}#visits", None) == expected(where), where
    assert dpress.check(spec(WHERE), f"{url}#visits").plain == dpress.check(spec(WHERE), ROWS).plain


@pytest.mark.long
@pytest.mark.slow
def test_spark(tmp_path, spark_session):
    types = "age int, sex string, year int, delay double, seen date, `Persons men` int, uid string"
    frame = spark_session.createDataFrame(ROWS.to_pylist(), types)
    for where in KNOWN:
        assert counted(where, frame, None) == expected(where), where
    assert counted("year in (2021, 2023) and sex = F", parquet(tmp_path, ROWS), "spark") == expected(
        "year in (2021, 2023) and sex = F"
    )


@pytest.mark.parametrize("source", ["csv", "parquet by SQL", "database"])
def test_where_it_holds_of_no_row_nothing_is_released(tmp_path, source):
    make, engine = SOURCES[source]
    with pytest.raises(SchemaMismatch, match="has no rows to count"):
        dpress.publish(spec("year = 1999"), make(tmp_path, ROWS), out=tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()
