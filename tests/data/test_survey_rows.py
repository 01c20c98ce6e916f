"""Files of Stata, SPSS and SAS: codes or their labels, every sort of missing value, chunk by chunk."""

import datetime as dt

import msgspec
import pandas as pd
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics import extras
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources import survey_rows
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.table import Table

SECRET = "4711-secret"
LABELS = {"sex": {1: "male", 2: "female", 9: "refused"}}
FRAME = pd.DataFrame(
    {
        "sex": [1.0, 2, 9, 3, None],
        "name": ["a", "é b", "", "a", "a"],
        "born": [dt.date(2020, 1, 1), dt.date(1960, 5, 5), None, dt.date(1900, 1, 1), None],
    }
)


@pytest.fixture(params=["sav", "zsav", "dta", "xpt", "por"])
def survey(request, tmp_path, monkeypatch):
    """The path of a sound file of one package, whose head needs no process of its own."""
    import pyreadstat

    monkeypatch.setattr(survey_rows, "FRAGILE", ())

    path = tmp_path / f"survey.{request.param}"
    if request.param in ("sav", "zsav"):
        missing = {"sex": [9]}
        compress = request.param == "zsav"
        pyreadstat.write_sav(FRAME, path, variable_value_labels=LABELS, missing_ranges=missing, compress=compress)
    elif request.param == "dta":
        pyreadstat.write_dta(FRAME, path, variable_value_labels=LABELS)
    elif request.param == "xpt":
        pyreadstat.write_xport(FRAME, path)
    else:
        pyreadstat.write_por(FRAME.assign(name=["a", "b", "", "a", "a"]).rename(columns=str.upper), path)
    return path


def cells(data, name, **attribute):
    own = msgspec.convert({"name": name, "null": "none", **attribute}, Attribute)
    rows = open_source(data, FileFormat(), [own])
    batches = Table(rows, (name,), ROW).batches()
    return [int(one) for batch in batches for one in codec.encode(Schema((own,)), batch)[0]]


def named(path, name):
    return name.upper() if path.suffix == ".por" else name


def test_codes_labels_texts_and_dates(survey):
    labelled, user_missing = survey.suffix in (".sav", ".zsav", ".dta"), survey.suffix in (".sav", ".zsav")
    name = named(survey, "sex")
    codes = cells(survey, name, kind="categorical", values=[1, 2, 9], other="other")
    assert codes == [0, 1, 4 if user_missing else 2, 3, 4]
    texts = ["male", "female", "refused", "3", "1", "2", "9"]
    found = cells(survey, name, kind="categorical", values=texts, other="other")
    assert found == ([0, 1, 8 if user_missing else 2, 3, 8] if labelled else [4, 5, 6, 3, 8])
    assert cells(survey, name, kind="integer", bounds=[1, 9]) == [0, 1, 9 if user_missing else 8, 2, 9]
    texts = ["a", "b" if survey.suffix == ".por" else "é b"]
    assert cells(survey, named(survey, "name"), kind="categorical", values=texts, other="other") == [0, 1, 3, 0, 0]
    days = ["2020-01-01", "1960-05-05", "1900-01-01"]
    assert cells(survey, named(survey, "born"), kind="categorical", values=days, other="other") == [0, 1, 4, 2, 4]


def test_a_file_is_read_chunk_by_chunk(survey, monkeypatch):
    name = named(survey, "sex")
    whole = cells(survey, name, kind="integer", bounds=[1, 9])
    for rows in (1, 2, 5):
        monkeypatch.setattr(survey_rows, "BATCH_ROWS", rows)
        batches = list(open_source(survey).source.parts([name])[0].batches())
        assert [one.num_rows for one in batches] == {1: [1] * 5, 2: [2, 2, 1], 5: [5]}[rows]
        assert cells(survey, name, kind="integer", bounds=[1, 9]) == whole


def test_tagged_missing_values_of_stata_are_missing(tmp_path):
    import pyreadstat

    frame = pd.DataFrame({"sex": [1.0, "a", 2.0, "z"]})
    pyreadstat.write_dta(frame, tmp_path / "a.dta", missing_user_values={"sex": ["a", "z"]})
    assert cells(tmp_path / "a.dta", "sex", kind="integer", bounds=[1, 2]) == [0, 2, 1, 2]


def test_files_only_table_have_the_same_columns(tmp_path):
    import pyreadstat

    pyreadstat.write_dta(FRAME, tmp_path / "a.dta")
    pyreadstat.write_dta(FRAME, tmp_path / "b.dta")
    assert len(cells(tmp_path, "sex", kind="integer", bounds=[1, 9])) == 10
    pyreadstat.write_dta(FRAME[["sex"]], tmp_path / "c.dta")
    with pytest.raises(SchemaMismatch, match=r"c.dta has other columns than .*a.dta"):
        cells(tmp_path, "sex", kind="integer", bounds=[1, 9])


@pytest.mark.parametrize("end", ["import os; os.abort()", "raise ValueError", ""])
def test_a_head_that_ends_the_process_that_reads_it_is_refused(tmp_path, monkeypatch, end):
    import pyreadstat

    pyreadstat.write_sav(FRAME, tmp_path / "a.sav")
    monkeypatch.setattr(survey_rows, "READ_HEAD", end)
    if "abort" in end:
        with pytest.raises(OSError, match=r"a.sav cannot be read as a file of Stata, SPSS or SAS"):
            cells(tmp_path / "a.sav", "sex", kind="integer", bounds=[1, 9])
    else:
        assert len(cells(tmp_path / "a.sav", "sex", kind="integer", bounds=[1, 9])) == 5


def test_what_is_no_such_file_is_refused_and_so_is_a_missing_extra(survey, monkeypatch):
    name, whole = named(survey, "sex"), survey.read_bytes()
    with pytest.raises(SchemaMismatch, match="has no column 'nope'; its columns are"):
        cells(survey, "nope", kind="integer", bounds=[1, 9])
    for held in (SECRET.encode() * 100, whole[: len(whole) // 2]):
        survey.write_bytes(held)
        with pytest.raises(OSError, match="cannot be read as a file of Stata, SPSS or SAS") as caught:
            cells(survey, name, kind="integer", bounds=[1, 9])
        assert SECRET not in str(caught.value)

    def missing(library):
        raise ImportError(library)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    with pytest.raises(NotSupported, match=r"pip install 'dpress\[survey\]'"):
        cells(survey, name, kind="integer", bounds=[1, 9])
