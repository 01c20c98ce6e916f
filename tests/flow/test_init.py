"""`dpress init`: what a person answers becomes a specification that plans; no row is read."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import dpress
from dpress.cli.main import cli

NUMBERS = ["skip", "integer", "five", "99", "", "integer", "0", "99", "10"]
ANSWERS = [*NUMBERS, "categorical", "f, m", "", "person", "uid", "3", "", "0.5"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with rows in it, of which one is a secret."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"uid": [1, 1, 2], "age": [30, 40, 71], "sex": ["f", "m", "quetzal"]}), "rows.parquet")
    return tmp_path


def begun(answers, *arguments):
    return CliRunner().invoke(cli, ["init", *arguments], input="".join(f"{one}\n" for one in answers))


@pytest.mark.usefixtures("folder")
def test_answers_become_a_spec_that_plans():
    done = begun(ANSWERS, "rows.parquet")
    assert done.exit_code == 0, done.output
    assert "$.attribute[age].bounds[#1]: expected an integer, got 'five'" in done.output
    assert "quetzal" not in done.output
    spec = dpress.load_spec("spec.toml")
    assert [one.name for one in spec.attribute] == ["age", "sex"]
    assert (spec.attribute[0].bounds, spec.attribute[0].bins, spec.attribute[1].values) == ((0, 99), 10, ("f", "m"))
    assert (spec.privacy.unit, spec.privacy.rows_per_unit, spec.privacy.epsilon) == ("uid", 3, 0.5)
    assert dpress.plan(spec).chosen.predicted_error > 0
    again = begun([], "rows.parquet")
    assert isinstance(again.exception, OSError)
    assert "never overwritten" in str(again.exception)


def test_codes_with_levels_are_asked_for_their_public_file(folder):
    (folder / "towns.csv").write_text("state,town\nA,A1\nB,B1\n", encoding="utf-8")
    towns = ["hierarchy", "state, town", "nowhere.csv", "", "hierarchy", "state, town", "towns.csv", "elsewhere"]
    done = begun(["skip", "skip", *towns, "row", "", "1"], "rows.parquet")
    assert done.exit_code == 0, done.output
    assert ": there is no file nowhere.csv" in done.output
    (place,) = dpress.load_spec("spec.toml").attribute
    assert (place.name, place.column, place.levels, place.other) == ("sex_code", "sex", ("state", "town"), "elsewhere")


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        (["skip"] * 3, "every column was skipped"),
        ([*ANSWERS[:-1], "much"], "$.privacy.epsilon"),
        ([*ANSWERS[:-1], "0"], "$.privacy.epsilon"),
    ],
)
def test_what_is_no_spec_is_refused_and_not_written(folder, answers, line):
    done = begun(answers, "rows.parquet")
    assert line in str(done.exception)
    assert not (folder / "spec.toml").exists()


@pytest.mark.usefixtures("folder")
def test_whom_to_protect_has_no_default():
    answers = [*ANSWERS[:12], "", "", "row", "", "1"]
    done = begun(answers, "rows.parquet", "--json")
    assert done.output.count("Whom do you protect?") == 3
    assert dpress.load_spec("spec.toml").privacy.unit == "row"


def test_a_codebook_lists_the_values(folder):
    (folder / "book.csv").write_text("column,value,label\nsex,f,female\nsex,m,\n", encoding="utf-8")
    done = begun(["skip", "skip", "categorical", "unknown", "row", "", "1"], "rows.parquet", "--codebook", "book.csv")
    assert done.exit_code == 0, done.output
    (sex,) = dpress.load_spec("spec.toml").attribute
    assert (sex.values, sex.other) == (("f", "m"), "unknown")
    assert "female" in sex.captions


@pytest.mark.parametrize(
    ("name", "raw", "encoding", "separator"),
    [
        ("rows.csv", "größe,ort\n3,f\n".encode(), "utf-8", ","),
        ("rows.csv", "größe;ort\n3;f\n".encode("utf-8-sig"), "utf-8", ";"),
        ("rows.csv", "größe;ort\n3;f\n".encode("latin-1"), "windows-1252", ";"),
        ("rows.csv", "größe|ort\n3|f\n".encode("utf-16"), "utf-16", "|"),
        ("rows.tsv", "größe\tort\n3\tf\n".encode(), "utf-8", "\t"),
        ("rows.csv", b"g,o\n" + b"3,f\n" * (1 << 14) + "3,ö\n".encode(), "utf-8", ","),
        ("rows.csv", b"g,o\n" + ("3,a\n" * 16382 + "3,ö\n").encode(), "utf-8", ","),
    ],
)
def test_what_the_first_bytes_look_like_is_proposed_and_stated_as_it_is_answered(
    folder, name, raw, encoding, separator
):
    (folder / name).write_bytes(raw)
    done = begun(["y", "", "", "integer", "0", "9", "", "skip", "row", "", "1"], name)
    assert done.exit_code == 0, done.output
    assert f"The first bytes look like {encoding}; the specification, which is public, states it." in done.output
    written = dpress.load_spec("spec.toml").data
    assert (written.encoding, written.separator) == (encoding, separator)


def test_lines_that_are_no_rows_are_proposed_and_stated(folder):
    text = "Visits, of 2024\n\nage;Persons;\n;men;women\n3;1;0\n4;0;1\nSource: the town\n"
    (folder / "rows.csv").write_text(text, encoding="utf-8")
    done = begun(["", "y", "", "", "", "", "integer", "0", "9", "", "skip", "skip", "row", "", "1"], "rows.csv")
    assert "Does line 3 hold the names of the columns?" in done.output
    assert done.exit_code == 0, done.output
    data = dpress.load_spec("spec.toml").data
    assert (data.separator, data.skip, data.header_rows, data.footer) == (";", 2, 2, 1)
    assert dpress.check(dpress.load_spec("spec.toml")).kept == 2


def test_what_is_answered_is_stated_and_not_what_was_proposed(folder):
    (folder / "rows.csv").write_bytes("größe;ort\n3;f\n".encode("latin-1"))
    done = begun(["y", ";", "iso-8859-15", "integer", "0", "9", "", "skip", "row", "", "1"], "rows.csv")
    assert done.exit_code == 0, done.output
    assert dpress.load_spec("spec.toml").data.encoding == "iso-8859-15"
    assert "windows-1252" not in (folder / "spec.toml").read_text(encoding="utf-8")


def test_names_of_a_text_file_are_read_once_somebody_says_that_they_are_names(folder):
    (folder / "rows.csv").write_text("age;sex\n3;f\n", encoding="utf-8")
    refused = begun(["n", "", ""], "rows.csv")
    assert "say that the first line of the file holds the names" in str(refused.exception)
    assert "age" not in refused.output
    done = begun(["y", "", "", "integer", "0", "9", "", "skip", "row", "", "1"], "rows.csv")
    assert done.exit_code == 0, done.output
    assert dpress.check(dpress.load_spec("spec.toml")).kept == 1


@pytest.mark.parametrize(
    ("lines", "asked", "stated"),
    [
        ([["age", "sex"], [3, "f"], [4, "m"]], [], (0, 1, 0)),
        ([["Visits of 2024"], [], ["age", "sex"], [3, "f"], [4, "m"]], [""], (2, 1, 0)),
        ([["age", "sex"], [3, "f"], [4, "m"], [], ["Source: the town"]], [""], (0, 1, 1)),
        ([["age", "Persons", ""], ["", "men", "women"], [3, 1, 0], [4, 0, 1]], [""], (0, 2, 0)),
        (
            [["Visits"], ["age", "Persons", ""], ["", "men", "women"], [3, 1, 0], [4, 0, 1], ["a"], ["b"]],
            [""] * 3,
            (1, 2, 2),
        ),
    ],
)
def test_lines_of_a_sheet_that_are_no_rows_are_proposed_and_stated(folder, lines, asked, stated):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(folder / "book.xlsx") as book:
        sheet = book.add_worksheet("Visits")
        for row, line in enumerate(lines):
            sheet.write_row(row, 0, line)
    skipped = ["skip"] * (max(map(len, lines)) - 1)
    done = begun([*asked, "integer", "0", "9", "", *skipped, "row", "", "1"], "book.xlsx#Visits")
    assert done.exit_code == 0, done.output
    spec = dpress.load_spec("spec.toml")
    assert (spec.data.skip, spec.data.header_rows, spec.data.footer) == stated
    assert dpress.check(spec).kept == 2


def test_a_sheet_that_is_not_there_is_refused(folder):
    assert folder.exists()
    assert "none.xlsx" in str(begun([], "none.xlsx").exception)


@pytest.mark.usefixtures("folder")
def test_where_nobody_answers_one_line_says_what_to_do_instead():
    done = begun([], "rows.parquet")
    assert isinstance(done.exception, ValueError)
    assert "at a terminal, and nobody answers: write the specification by hand, or use `dpress" in str(done.exception)
    assert done.output.endswith("\n")
    assert not Path("spec.toml").exists()
