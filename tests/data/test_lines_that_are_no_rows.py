"""Titles, names in two lines and notes: left out by what [data] states, in every format of text and in sheets."""

import gzip
import io
import itertools

import msgspec
import pyarrow as pa
import pytest
import xlsxwriter

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources import transcoded
from dpress.data.sources.cut_lines import CutLines
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat, joined_names
from dpress.data.table import Table

TITLE = ['Table 1: "persons', "as of 2024; all"]
ROWS = [["3", "f"], ["4", "m"], ["x, y", "f"]]
NOTES = ["Source: the office", "n.a.: not asked"]


def values(path, columns, **stated):
    batches = Table(open_source(path, FileFormat(**stated)), columns, ROW).batches()
    return [list(map(plain, row)) for batch in batches for row in zip(*(batch.columns), strict=True)]


def plain(scalar):
    value = scalar.as_py()
    return value["dpress_text"] if isinstance(value, dict) else value


def text(names, sign=";"):
    fields = [*names, *ROWS]
    return "\n".join([*TITLE, "", *(sign.join(line) for line in fields), *NOTES, "", ""])


FILES = [
    ("rows.csv", "utf-8"),
    ("rows.csv", "utf-8-sig"),
    ("rows.csv", "windows-1252"),
    ("rows.csv", "utf-16"),
    ("rows.csv.gz", "utf-8"),
    ("rows.csv.zst", "latin-1"),
]


def write(path, content, encoding):
    raw = content.encode(encoding)
    raw = gzip.compress(raw) if path.suffix == ".gz" else raw
    path.write_bytes(pa.compress(raw, codec="zstd", asbytes=True) if path.suffix == ".zst" else raw)
    return path


@pytest.mark.parametrize("skip", [2, 3])
@pytest.mark.parametrize(("name", "encoding"), FILES)
def test_a_file_of_text(tmp_path, name, encoding, skip, monkeypatch):
    stated = {"separator": ";", "encoding": "utf-8" if encoding == "utf-8-sig" else encoding}
    path = write(tmp_path / name, text([["age", "sex"]]), encoding)
    for block in (transcoded.BLOCK, 9):  # whole, and in pieces that end anywhere
        monkeypatch.setattr(transcoded, "BLOCK", max(block, 64))
        assert values(path, ("age", "sex"), skip=skip, footer=2, **stated) == ROWS
    path = write(tmp_path / name, text([["Persons", ""], ["age", "sex"]]), encoding)
    two = values(path, ("Persons sex", "Persons age"), skip=skip, footer=2, header_rows=2, **stated)
    assert two == [line[::-1] for line in ROWS]
    assert values(path, ("a", "b"), skip=5, footer=2, header=("a", "b"), **stated) == ROWS


def test_tabs_and_lines_that_end_as_on_windows(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_bytes(text([["age", "sex"]], "\t").replace("\n", "\r\n").encode())
    assert values(path, ("age", "sex"), skip=2, footer=2) == ROWS


@pytest.mark.parametrize("names", [[["age", "sex"]], [["Persons", ""], ["age", "sex"]]])
def test_a_sheet(tmp_path, names):
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        lines = [[], [TITLE[0]], [], *names, *ROWS, [NOTES[0]], [], [NOTES[1]]]
        for row, line in enumerate(lines):
            sheet.write_row(row, 0, line)
        if len(names) > 1:
            sheet.merge_range(3, 0, 3, 1, "Persons")
    columns = ("age", "sex") if len(names) == 1 else ("Persons age", "Persons sex")
    assert values(path, columns, skip=3, footer=2, header_rows=len(names)) == ROWS
    assert values(path, columns, skip=2, footer=2, header_rows=len(names)) == ROWS
    with pytest.raises(SchemaMismatch, match=r"has all the columns with skip = 3 (and header_rows = 2 )?in \[data\]"):
        values(path, columns, header_rows=1)


@pytest.mark.parametrize(
    ("written", "stated", "wanted"),
    [
        ("T\n\nage,sex\n1,f\n", {}, "its line 3 has all the columns with skip = 2 in [data]"),
        ("T\n\nage;sex\n1;f\n", {}, 'its line 3 has all the columns with separator = ";" and skip = 2 in [data]'),
        ("age,sex\n1,f\n2,m\n3,f\n", {"skip": 1}, "its first line has all the columns with skip = 0 in [data]"),
        ("age,sex\n1,f\nSource\n", {}, "if what follows there is no row, footer = 1 in [data] leaves it out"),
        ("age,sex\n1,f\nSource\n\nNote\n", {"footer": 1}, "line 3 has 1 field, the header 2"),
        ("age,sex\n1,f\nSource\n\nNote\n", {"footer": 1}, "footer = 2 in [data] leaves it out"),
        ("T\nage,sex\n1,f\n2\n3,m\n", {"skip": 1}, "line 4 has 1 field, the header 2; every line needs as many"),
    ],
)
def test_a_refusal_says_what_to_state(tmp_path, written, stated, wanted):
    path = tmp_path / "rows.csv"
    path.write_text(written)
    with pytest.raises((OSError, SchemaMismatch)) as refused:
        values(path, ("age", "sex"), **stated)
    assert wanted in str(refused.value)
    assert "Source" not in str(refused.value)


def test_lines_amid_the_rows_are_no_footer(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("age,sex\n1,f\n2\n3,m\n")
    with pytest.raises(OSError, match="line 3 has 1 field") as refused:
        values(path, ("age", "sex"))
    assert "footer" not in str(refused.value)


def test_names_of_several_lines():
    assert joined_names([["a", "", "b"], ["", "x", ""], ["1", "2", "3"]]) == ["a 1", "a x 2", "b x 3"]
    assert joined_names([["a", "b"]]) == ["a", "b"]
    with pytest.raises(ValueError, match="header_rows: expected nothing where `header` lists the names"):
        FileFormat(header=("a",), header_rows=2)


@pytest.mark.parametrize("field", ["skip", "footer"])
def test_numbers_of_lines_are_whole_and_not_negative(field):
    with pytest.raises(msgspec.ValidationError, match=">= 0"):
        msgspec.convert({field: -1}, FileFormat)


CASES = [
    (lines, skip, footer, size, end)
    for length in range(5)
    for lines in itertools.product(["", " ", "b,c"], repeat=length)
    for skip, footer, size, end in itertools.product(range(3), range(3), (1, 2, 99), ("", "\n"))
]


def test_pieces_of_any_size_give_the_same_lines():
    """What is read in pieces is what whole lines say, in every short file: the reference is two loops over a list."""
    for lines, skip, footer, size, end in CASES:
        content = "\n".join(lines) + (end if lines else "")
        kept = content.splitlines(keepends=True)[skip:]
        while skip and kept and not kept[0].strip():
            kept = kept[1:]
        for _ in range(footer):
            while kept and not kept[-1].strip():
                kept = kept[:-1]
            kept = kept[:-1]
        cut = CutLines(io.BytesIO(content.encode()), skip=skip, footer=footer)
        pieces = iter(lambda cut=cut, size=size: cut.read(size), b"")
        assert b"".join(pieces).decode().strip() == "".join(kept).strip(), (lines, skip, footer, size, end)
    assert len(CASES) > 6000
