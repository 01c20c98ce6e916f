"""Records for Stata, SPSS and Excel: the same rows as in Parquet, with the labels of columns and of values."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest
from python_calamine import CalamineWorkbook

import dpress
from dpress.attributes.listed.attribute import Categorical
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.query import labelled_files, made_records
from dpress.release.curator.publish import publish

SEX = {
    "name": "sex",
    "kind": "categorical",
    "values": [1, 2],
    "labels": {"1": "Woman", "2": "Man"},
    "title": "Sex at birth",
}
STATE = {"name": "day of week", "kind": "categorical", "values": ["=1+1", "Tue"]}
SAME = {"name": "day_of week", "kind": "integer", "bounds": [0, 3], "title": "Visits"}
DAY = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-01-04"], "cells": "day"}
ROWS = pa.table(
    {
        "sex": [1, 2] * 20,
        "day of week": ["=1+1", "Tue"] * 20,
        "day_of week": [0, 3] * 20,
        "day": [dt.date(2024, 1, 2), dt.date(2024, 1, 3)] * 20,
    }
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write ten records, always the same ones, to a file of this ending; return its path and the release's."""
    monkeypatch.setattr(made_records, "secure", lambda: rng.seeded(3))
    plain = {"attribute": [SEX, STATE, SAME, DAY], "privacy": {"epsilon": 100}, "release": {"kind": "histogram"}}
    release = publish(dpress.load_spec(plain), ROWS, rng=rng.seeded(5))
    return lambda ending: made_records.write_records(release, 10, tmp_path / f"r{ending}")


@pytest.mark.parametrize(("ending", "read"), [(".dta", pyreadstat.read_dta), (".sav", pyreadstat.read_sav)])
def test_packages_read_the_same_rows_as_codes_with_labels(write, ending, read):
    expected = pq.read_table(write(".parquet"))
    frame, meta = read(str(write(ending)))
    assert list(frame.columns) == ["sex", "day_of_week", "day_of_week_2", "day"]
    assert meta.column_names_to_labels["sex"] == "Sex at birth"
    assert meta.column_names_to_labels["day_of_week"] == "day of week"
    assert meta.column_names_to_labels["day_of_week_2"] == "Visits"
    assert meta.variable_value_labels == {"sex": {1: "Woman", 2: "Man"}, "day_of_week": {1: "=1+1", 2: "Tue"}}
    assert frame["sex"].astype(int).astype(str).tolist() == expected["sex"].to_pylist()
    assert frame["day_of_week"].map({1: "=1+1", 2: "Tue"}).tolist() == expected["day of week"].to_pylist()
    assert frame["day_of_week_2"].astype(int).tolist() == expected["day_of week"].to_pylist()
    assert frame["day"].tolist() == expected["day"].to_pylist()


def test_a_workbook_has_a_sheet_of_labels_and_no_formulas(write):
    expected = pq.read_table(write(".parquet"))
    book = CalamineWorkbook.from_path(str(write(".xlsx")))
    names, *rows = book.get_sheet_by_name("records").to_python()
    assert names == expected.column_names
    assert [row[1] for row in rows] == expected["day of week"].to_pylist()
    assert [row[3] for row in rows] == expected["day"].to_pylist()
    assert ["sex", "1", "Woman"] in book.get_sheet_by_name("labels").to_python()
    assert ["sex", "", "Sex at birth"] in book.get_sheet_by_name("labels").to_python()


def test_more_rows_than_a_sheet_has_are_refused_and_nothing_is_left(write, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST_LINES", 9)
    with pytest.raises(NotSupported, match="a sheet has 9 rows, got 10"):
        write(".xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_package_that_is_not_installed_is_named(write, monkeypatch):
    def missing(_, **words):
        raise NotSupported(f"{words['need']}: pip install 'dpress[{words['extra']}]'")

    monkeypatch.setattr(labelled_files, "load", missing)
    for ending, extra in ((".xlsx", "excel"), (".sav", "survey")):
        with pytest.raises(NotSupported, match=rf"pip install 'dpress\[{extra}\]'"):
            write(ending)


def test_a_long_list_stays_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_files, "MOST_CODED", 2)
    axis = Categorical(name="x", values=("a", "b", "c"))
    labelled_files.write_stata(tmp_path / "x.dta", [pa.record_batch({"x": ["c", "a"]})], [axis])
    frame, meta = pyreadstat.read_dta(str(tmp_path / "x.dta"))
    assert frame["x"].tolist() == ["c", "a"]
    assert meta.variable_value_labels == {}
