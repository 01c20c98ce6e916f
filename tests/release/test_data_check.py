"""The check of rows before the budget is spent: every mistake that once cost one is seen, and nothing is written."""

import datetime as dt
import json

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import dpress
from dpress.cli.check import command
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.specification.spec import load_spec
from dpress.data.true_counts import true_counts
from dpress.release.truth.check_text import lines
from dpress.release.truth.data_check import check

SPEC = """
{data}
[[attribute]]
name = "city"
kind = "categorical"
values = ["Bonn", "Rome"]
other = "else"
[[attribute]]
name = "income"
kind = "numeric"
bounds = [0, 5000]
bins = 5
null = "no answer"
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]
null = "drop"
[privacy]
epsilon = 1.0
{unit}
[release]
kind = "marginals"
"""
GERMAN = '[data]\nseparator = ";"\ndecimal = ","\nnull_values = ["NA"]\n'


def spec(data="", unit=""):
    return load_spec(SPEC.format(data=data, unit=unit))


def written(path, *rows, header="city;income;age;who"):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def found(result, name):
    return next(one for one in result.attributes if one.name == name)


def test_every_value_is_counted_where_it_lands(tmp_path):
    rows = ["Bonn;1,5;30;a", "bonn;2.5;x;a", "Rome ;NA;100;b", "NA;;-1;b", "Rome;9999;7;c"]
    result = check(spec(GERMAN), written(tmp_path / "rows.csv", *rows))
    assert (result.rows, result.kept) == (5, 4)
    city, income, age = result.attributes
    assert (city.matched, city.other, city.missing) == (2, 2, 1)
    assert dict(city.texts) == {"bonn": 1, "Rome ": 1}
    assert (income.matched, income.missing, income.unread, income.high) == (1, 2, 1, 1)
    assert income.texts == (("2.5", 1),)
    assert (age.matched, age.unread, age.low, age.high) == (2, 1, 1, 1)
    assert not result.passed
    assert result.suspicious == ("city", "income", "age")


@pytest.mark.parametrize(
    ("row", "name", "remedy"),
    [
        ("Bonn;1.234,5;30;a", "income", "'1.234,5' is a number where [data] has decimal = \",\""),
        (" bonn ;1;30;a", "city", "' bonn ' is 'Bonn' but for blanks or capitals; a listed value matches no other"),
        ("Paris;1;30;a", "city", ""),
        ("Bonn;1,2,3;30;a", "income", ""),
        ("a,5;1;30;a", "city", ""),
        ("Bonn;1;30;a", "city", ""),
    ],
)
def test_what_would_give_a_value_its_cell_is_said(tmp_path, row, name, remedy):
    own = check(spec('[data]\nseparator = ";"'), written(tmp_path / "rows.csv", row))
    said = found(own, name).remedy
    assert said.startswith(remedy) is True
    assert bool(said) is bool(remedy)
    assert not remedy or any(line.strip() == said for line in lines(own))


def test_decimal_commas_that_would_all_be_no_answer_are_seen(tmp_path):
    """The mistake that put nearly all incomes under "no answer"; stated, the same file passes."""
    path = written(tmp_path / "rows.csv", *[f"Bonn;{number},5;30;a" for number in range(50)])
    wrong = check(spec('[data]\nseparator = ";"'), path)
    assert wrong.suspicious == ("income",)
    assert found(wrong, "income").unread == 50
    assert check(spec(GERMAN), path).passed


def test_missing_values_are_no_mistake_where_the_specification_names_their_cell():
    frame = pd.DataFrame({"city": ["Bonn"] * 10, "income": [None] * 9 + [1.0], "age": [1] * 10})
    result = check(spec(), frame)
    assert found(result, "income").missing == 9
    assert result.passed


def test_what_publish_would_refuse_is_named():
    strict = load_spec(SPEC.format(data="", unit="").replace('other = "else"', ""))
    result = check(strict, pa.table({"city": ["Bonn"] * 9 + ["Paris"], "income": [1.0] * 10, "age": [1] * 10}))
    assert result.refused == ("city",)
    assert result.suspicious == ()
    assert not result.passed
    with pytest.raises(SchemaMismatch):
        dpress.publish(strict, pa.table({"city": ["Paris"], "income": [1.0], "age": [1]}))


@pytest.mark.parametrize("memory", [False, True])
def test_persons_and_what_a_cap_keeps(tmp_path, memory):
    rows = ["Bonn;1;30;a"] * 7 + ["Bonn;1;30;b"] * 2 + ["Bonn;1;30;c"]
    data = written(tmp_path / "rows.csv", *rows)
    if memory:
        data = pd.read_csv(data, sep=";")
    result = check(spec(GERMAN, unit='unit = "who"\nrows_per_unit = 2'), data).persons
    assert (result.persons, result.rows, result.largest) == (3, 10, 7)
    assert {cap: result.kept[cap] for cap in (1, 2, 5, 10)} == {1: 3, 2: 5, 5: 8, 10: 10}


def test_a_cap_is_shown_with_what_it_keeps_and_what_it_costs(tmp_path):
    data = written(tmp_path / "rows.csv", *["Bonn;1;30;a"] * 997, *["Bonn;1;30;b"] * 3)
    shown = lines(check(spec(GERMAN, unit='unit = "who"\nrows_per_unit = 2'), data))
    assert "  rows_per_unit = 1    keeps     2 rows (  0.2%) at the least noise" in shown
    assert "  rows_per_unit = 100  keeps   103 rows ( 10.3%) at 100 times that noise" in shown


def test_exchanged_coordinates_are_seen():
    asked = load_spec(
        '[[attribute]]\nname = "place"\nkind = "location"\ncolumns = ["lon", "lat"]\n'
        'bounds = [[-74.3, -73.6], [40.4, 41.0]]\noutside = "drop"\n'
        '[privacy]\nepsilon = 1.0\n[release]\nkind = "spatial"\n'
    )
    places = {"lon": [-74.0, -73.9], "lat": [40.7, 40.8]}
    assert check(asked, pa.table(places)).passed
    turned = check(asked, pa.table({"lon": places["lat"], "lat": places["lon"]}))
    assert turned.exchanged == ("place",)
    assert turned.kept == 0


def test_a_column_that_is_not_there_names_those_near_it(tmp_path):
    frame = pd.DataFrame({"City": ["Bonn"], "income": [1.0], "age": [1]})
    with pytest.raises(SchemaMismatch, match="the data has no column 'city'; near it are 'City'"):
        check(spec(), frame)
    with pytest.raises(SchemaMismatch, match="no column 'city'; near it are 'citty'"):
        check(spec(GERMAN), written(tmp_path / "rows.csv", "a;1;2;b", header="citty;income;age;who"))


def test_the_command_says_on_every_line_that_it_is_not_private_and_writes_nothing(tmp_path):
    (tmp_path / "spec.toml").write_text(SPEC.format(data=GERMAN + 'source = "rows.csv"', unit='unit = "who"'))
    written(tmp_path / "rows.csv", *["Bonn;1,5;30;a"] * 9, "Paris;1,5;30;a")
    before = sorted(tmp_path.iterdir())
    done = CliRunner().invoke(command, [str(tmp_path / "spec.toml")])
    assert done.exit_code == 0, done.output
    assert all(line.startswith("not private |") for line in done.stdout.splitlines())
    assert "'Paris': 1" in done.stdout
    assert "nothing looks like a mistake" in done.stdout
    strict = CliRunner().invoke(command, [str(tmp_path / "spec.toml"), "--most", "0.05", "--json"])
    assert strict.exit_code == 1
    plain = json.loads(strict.stdout)
    assert (plain["private"], plain["passed"], plain["check"]["attributes"][0]["other"]) == (False, False, 1)
    assert sorted(tmp_path.iterdir()) == before


def test_a_design_is_checked_like_its_specification(tmp_path):
    path = written(tmp_path / "rows.csv", "Bonn;1,5;30;a", "Oslo;1,5;x;a")
    asked = spec(GERMAN)
    assert lines(check(dpress.plan(asked).design, path)) == lines(check(asked, path))


def test_the_figures_of_the_check_are_those_of_the_true_table(tmp_path):
    """What it says is counted where is what publishing counts."""
    rows = [f"{city};{income};{age};a" for city in ("Bonn", "Oslo") for income in ("1,5", "x") for age in (5, "", 120)]
    path = written(tmp_path / "rows.csv", *rows)
    result = check(spec(GERMAN), path)
    asked = spec(GERMAN)
    counts = true_counts(asked.schema, ((0,), (1,)), open_source(path, asked.data, asked.schema.tabular), ROW)
    assert counts[:3].sum() == result.kept
    assert counts[0] == 4
    assert result.kept == 8


@pytest.mark.parametrize(
    ("persons", "each", "few"),
    [(6, 1769, True), (1, 101, True), (1, 100, False), (20, 101, True), (20, 100, False), (1, 1, False)],
)
def test_a_column_that_probably_names_no_person_is_seen(persons, each, few):
    people = pa.table({"who": [f"w{row % persons}" for row in range(persons * each)]})
    rows = people.append_column("city", pa.array(["Bonn"] * (persons * each)))
    rows = rows.append_column("income", pa.array([1.0] * (persons * each)))
    rows = rows.append_column("age", pa.array([1] * (persons * each)))
    result = check(spec(unit='unit = "who"'), rows)
    assert result.passed is not few
    verdict = lines(result)[-1]
    if few:
        many = "1 person" if persons == 1 else f"{persons} persons"
        assert verdict.startswith(f"who: {many} with {each:,}.0 rows each: it probably names no person, but a place")
        assert 'as unit = ["household", "number"] does' in verdict
        assert "w0" not in verdict
    else:
        assert verdict == "nothing looks like a mistake"


def test_columns_that_name_a_person_together_pass_where_one_of_them_does_not():
    numbers = range(3000)
    rows = pa.table({"city": ["Bonn"] * 3000, "income": [1.0] * 3000, "age": [1] * 3000,
                     "hhid": [one // 3 for one in numbers], "pid": [one % 3 for one in numbers]})  # fmt: skip
    assert check(spec(unit='unit = ["hhid", "pid"]'), rows).persons.persons == 3000
    assert check(spec(unit='unit = ["hhid", "pid"]'), rows).passed
    assert check(spec(unit='unit = "pid"'), rows).few_persons
    with pytest.raises(SchemaMismatch, match="the data has no column 'pidd'; near it are 'pid'"):
        check(spec(unit='unit = ["hhid", "pidd"]'), rows)


def test_a_row_that_might_stand_where_the_header_was_taken_is_not_shown(tmp_path):
    path = written(tmp_path / "rows.csv", "secret;1;2;4711", header="city;income;age;who")
    with pytest.raises(SchemaMismatch, match=r"has no column 'city'; .*all the columns with skip = 0") as refused:
        check(spec(GERMAN + "skip = 1\n"), path)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["2001-04-23T10:00:00Z", "2001-04-23 10:00:00.5+02:00", "2001-04-23T10:00-0500"])
def test_an_instant_is_no_date(tmp_path, text):
    (tmp_path / "rows.csv").write_text(f"day\n{text}\n")
    day = {"name": "day", "kind": "date", "bounds": ["2001-01-01", "2001-12-31"], "cells": "month", "null": "drop"}
    plain = {"attribute": [day], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    assert check(plain, tmp_path / "rows.csv").attributes[0].remedy == (
        f'{text!r} is an instant, whose day depends on the place: kind = "datetime" with a `zone` reads it'
    )
    timed = {**day, "kind": "datetime", "zone": "Europe/Rome"}
    assert check({**plain, "attribute": [timed]}, tmp_path / "rows.csv").attributes[0].matched == 1


@pytest.mark.parametrize("text", ["NA", "n/a", "-", ".", "Null"])
def test_a_text_that_stands_for_a_missing_value_is_seen_in_files_of_text(tmp_path, text):
    rows = [f"Bonn;{text};30;a", f"{text};1;30;a"]
    path = written(tmp_path / "rows.csv", *rows)
    wanted = f"{text!r} is a missing value where [data] says so, as null_values = [{text!r}] does"
    city, income, _ = check(spec('[data]\nseparator = ";"\n'), path).attributes
    assert (city.remedy, income.remedy) == (wanted, wanted)
    stated = f'[data]\nseparator = ";"\nnull_values = ["{text}"]\n'
    city, income, _ = check(spec(stated), path).attributes
    assert (city.missing, income.missing, city.remedy, income.remedy) == (1, 1, "", "")
    frame = pd.DataFrame({"city": ["Bonn", text], "income": [1.0, 2.0], "age": [1, 2]})
    assert check(spec(), frame).attributes[0].remedy == ""


@pytest.mark.parametrize(
    ("text", "written"),
    [("23/04/2001", "%d/%m/%Y"), ("23.4.2001", "%d.%m.%Y"), ("2001/04/23 10:00", "%Y/%m/%d")],
)
def test_a_date_that_is_written_otherwise_names_its_own_signs(tmp_path, text, written):
    (tmp_path / "rows.csv").write_text(f"day\n{text}\n")
    day = {"name": "day", "kind": "date", "bounds": ["2001-01-01", "2001-12-31"], "cells": "month", "null": "drop"}
    plain = {"attribute": [day], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    (found,) = check(plain, tmp_path / "rows.csv").attributes
    assert f'date_format = "{written}"' in found.remedy


def test_rows_of_no_period_are_not_counted():
    day = {"name": "day", "kind": "date", "bounds": ["1999-01-01", "2001-12-31"], "cells": "year"}
    periods = {"periods": {"attribute": "day"}}
    plain = {"attribute": [day], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}} | periods
    rows = pa.table({"day": [dt.date(1997, 1, 1)] * 2 + [dt.date(2000, 1, 1)] * 60})
    found = check(plain, rows)
    assert (found.rows, found.kept, found.attributes[0].low) == (62, 60, 2)
    assert found.attributes[0].policies["outside"] == "drop"
