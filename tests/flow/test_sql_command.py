"""`dpress query --sql`: tables for people and scripts, files, and refusals with their place."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dpress import load_spec, publish

SPEC = """
[[attribute]]
name = "age"
title = "Age"
unit = "years"
kind = "integer"
bounds = [0, 9]

[[attribute]]
name = "sex"
kind = "categorical"
values = ["f", "=m"]

[privacy]
epsilon = 1

[release]
kind = "histogram"
"""
BY_AGE = "select age, count(*) from release where age < 3 group by age"


pytestmark = pytest.mark.usefixtures("release")


@pytest.fixture
def release(tmp_path):
    (tmp_path / "rows.csv").write_text("age,sex\n" + "1,f\n2,=m\n" * 50)
    return publish(load_spec(SPEC), tmp_path / "rows.csv", out=tmp_path / "release")


def test_every_statement_has_its_table_and_nothing_is_charged(here) -> None:
    done = here("query", "release", "--sql", f"{BY_AGE}; select avg(age) from release")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["age", "count", "count_error", "count_low", "count_high"]
    assert [line.split()[0] for line in lines[1:4]] == ["0", "1", "2"]
    assert lines[4].split() == ["avg", "avg_error", "avg_low", "avg_high"]
    assert lines[-1] == "Nothing is charged: the answer follows from what is released."


def test_json_and_files_hold_what_queries_say(here, tmp_path) -> None:
    (tmp_path / "ask.sql").write_text("select sex, count(*) as n from release group by sex")
    files = ("--csv", "n.csv", "--parquet", "n.parquet", "--confidence", "0.9")
    done = here("query", "release", "--sql", "ask.sql", *files, "--json")
    assert done.code == 0, done.err
    (answer,) = json.loads(done.out)
    asked = json.loads(here("query", "release", "count by sex", "--confidence", "0.9", "--json").out)
    assert [(row["sex"], row["n"], [row["n_low"], row["n_high"]]) for row in answer["rows"]] == [
        (entry["group"]["sex"], entry["value"], entry["interval"]) for entry in asked
    ]
    assert answer["charged"] == 0
    assert pq.read_table(tmp_path / "n.parquet").to_pylist() == answer["rows"]
    with (tmp_path / "n.csv").open() as file:
        assert [row["sex"] for row in csv.DictReader(file)] == ["f", "'=m"]


def test_a_file_has_titles_where_they_are_asked_for(here, tmp_path) -> None:
    done = here("query", "release", "--sql", BY_AGE, "--csv", "n.csv", "--titles")
    assert done.code == 0, done.err
    assert (tmp_path / "n.csv").read_text().startswith('"Age (years)","count",')


def test_a_refusal_has_a_mark_below_its_place(here) -> None:
    done = here("query", "release", "--sql", "select count(*) from release where agee = 3")
    assert done.code == 1
    statement, mark, line = done.err.splitlines()
    assert statement.index("agee") == mark.index("^^^^")
    assert line.startswith("dpress: there is no column 'agee'; the columns are age, sex; did you mean 'age'?")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ((), 2, "ask queries, such as 'age in 30..40', or --sql 'select ...'"),
        (("total", "--sql", BY_AGE), 2, "ask queries, such as"),
        (("total", "--csv", "n.csv"), 2, "--csv and --parquet are for the answer to --sql"),
        (("--sql", BY_AGE, "--titles"), 2, "--titles is for the file of --csv"),
        (("--sql", f"{BY_AGE};{BY_AGE}", "--csv", "n.csv"), 1, "a file holds the answer to one statement, got 2"),
        (("--sql", BY_AGE, "--csv", "rows.csv"), 1, "rows.csv exists already; an answer is never overwritten"),
        (("--sql", BY_AGE, "--csv", "no/n.csv"), 1, "cannot write in no"),
        (("--sql", "no.sql"), 1, "no.sql"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_written(here, tmp_path, words, code, line) -> None:
    before = sorted(tmp_path.iterdir())
    done = here("query", "release", *words)
    assert (done.code, line in done.err) == (code, True), done.err
    assert sorted(tmp_path.iterdir()) == before


def test_an_answer_is_explained(here) -> None:
    done = here("query", "release", "age < 3", "mean age by sex", "--explain")
    assert done.code == 0, done.err
    of_count, of_mean = (
        next(line for line in done.out.split("if independent")[1].splitlines() if name in line)
        for name in ("age < 3", "mean age by sex (2 groups)")
    )
    assert "age-sex.parquet" in of_count
    assert "6 cells" in of_count
    assert "10 cells" in of_mean
    assert "age < 3: The noise of these is independent" in done.out
    plain = json.loads(here("query", "release", "age < 3", "agee", "--explain", "--json").out)
    assert plain[0]["explained"]["sources"][0]["independent"] == plain[0]["standard_error"]
    assert "explained" not in plain[1]


def test_a_statement_is_explained(here) -> None:
    done = here("query", "release", "--sql", f"{BY_AGE}; select -2 * count(*) as n from release", "--explain")
    assert done.code == 0, done.err
    assert "count (3 groups)" in done.out
    assert "2 cells" in done.out
    plain = json.loads(here("query", "release", "--sql", "select -2 * count(*) as n from r", "--explain", "--json").out)
    (told,) = plain[0]["explained"]
    assert told["standard_error"] == [plain[0]["rows"][0]["n_error"]] * 2
    assert (told["sources"][0]["parts"], told["sources"][0]["file"]) == (20, "age-sex.parquet")
    assert "explained" not in json.loads(here("query", "release", "--sql", BY_AGE, "--json").out)[0]


def test_statements_behind_a_budget_are_explained_with_the_folder_of_their_release(here, tmp_path) -> None:
    sql = "select sex, count(*) from t group by sex; select sex, avg(age) from t group by sex"
    (tmp_path / "spec.toml").write_text(SPEC.partition("[release]")[0])
    assert here("publish", "spec.toml", "--sql", sql, "--data", "rows.csv", "--out", "answers").code == 0
    done = here("query", "answers", "--statement", "2", "--explain", "--json")
    (told,) = json.loads(done.out)[0]["explained"]
    assert (tmp_path / "answers" / told["sources"][0]["file"]).is_file()
    assert told["sources"][0]["sums"] == ["sum age", "count"]
    further = json.loads(here("query", "answers", "--sql", "select count(*) from t", "--explain", "--json").out)
    source = further[0]["explained"][0]["sources"][0]
    assert source["file"].endswith("/statistics.parquet")
    assert source["parts"] == 2


def test_of_a_series_one_period_is_explained(here) -> None:
    series = Path(__file__).parents[1] / "formats" / "stored_series" / "separate" / "series"
    done = here("query", str(series), "total", "--explain")
    assert (done.code, "--explain explains those of one period" in done.err) == (1, True), done.err


def test_a_plan_for_a_statement_that_is_refused_has_a_mark_too(here, tmp_path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    done = here("plan", "spec.toml", "--sql", "select agee, count(*) from visits group by agee")
    assert done.code == 1
    statement, mark, line = done.err.splitlines()
    assert statement.rindex("agee") == mark.index("^^^^")
    assert line.startswith("dpress: there is no column 'agee'")
