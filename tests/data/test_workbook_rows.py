"""Sheets of workbooks: every cell by itself, empty lines are none, and the first line is only shown if it may be."""

import datetime as dt
import zipfile

import pytest
import xlsxwriter

from dpress.attributes.arrow import objects
from dpress.attributes.value import read as value
from dpress.core.basics import extras
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.table import Table

SECRET = "4711-secret"
LINES = [
    ["age", " sex ", 2020, "", "when"],
    [39, "f", True, "x", dt.date(2020, 1, 1)],
    [0.1, "007", False, "x", dt.datetime(2020, 1, 1, 12)],
    [],
    ["n/a", "f", "", "x", dt.time(12, 30)],
]


@pytest.fixture
def workbook(tmp_path):
    """What writes the lines of sheets and returns the path of the workbook."""

    def write(name="book.xlsx", **sheets):
        path = tmp_path / name
        with xlsxwriter.Workbook(path) as book:
            formats = {
                dt.date: book.add_format({"num_format": "yyyy-mm-dd"}),
                dt.datetime: book.add_format({"num_format": "yyyy-mm-dd hh:mm"}),
                dt.time: book.add_format({"num_format": "hh:mm:ss"}),
            }
            for sheet, lines in sheets.items():
                own = book.add_worksheet(sheet)
                for place, line in enumerate(lines):
                    for column, cell in enumerate(line):
                        own.write(place, column, cell, formats.get(type(cell)))
        return path

    return write


def cells(data, *columns, header=None):
    """Return the values of every row, as the definition reads them."""
    rows = open_source(data, FileFormat(header=header))
    out = []
    for batch in Table(rows, columns, ROW).batches():
        own = [
            [one and objects._restored(one["dpress_kind"], one["dpress_text"]) for one in column.to_pylist()]
            if objects.is_ours(column.type)
            else [value(one) for one in column.to_pylist()]
            for column in batch.columns
        ]
        out += zip(*own, strict=True)
    return out


def wanted(*rows):
    return [tuple(value(one) for one in row) for row in rows]


def test_cells_are_read_by_themselves_and_empty_lines_are_none(workbook):
    path = workbook(Visits=LINES)
    assert cells(path, "when", "age", "sex", "2020") == wanted(
        (dt.date(2020, 1, 1), 39, "f", True),
        (dt.datetime(2020, 1, 1, 12), 0.1, "007", False),
        (dt.time(12, 30), "n/a", "f", None),
    )


def test_a_sheet_is_named_behind_the_path_and_is_else_the_first(workbook):
    path = workbook(Visits=[["x"], [1]], **{"Sheet two": [["x"], [2]]})
    assert cells(path, "x") == wanted((1,))
    assert cells(f"{path}#Sheet two", "x") == wanted((2,))
    with pytest.raises(SchemaMismatch, match="has no sheet 'visits'; it has Visits, Sheet two; did you mean 'Visits'"):
        cells(f"{path}#visits", "x")


def test_errors_and_the_rest_of_merged_cells_are_missing(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["x", "y"])
        sheet.write_formula(1, 0, "=NA()", None, "#N/A")
        sheet.write_formula(1, 1, "=1+1", None, 2)
        sheet.merge_range(2, 0, 2, 1, "merged")
        sheet.write_blank(9, 0, None, book.add_format({"bold": True}))
    assert cells(tmp_path / "book.xlsx", "x", "y") == wanted((None, 2), ("merged", None))


def test_the_first_line_is_shown_only_where_it_is_stated_to_be_names(workbook):
    path = workbook(Visits=[[SECRET, "b"], [1, 2]])
    with pytest.raises(SchemaMismatch, match="no column 'x'; it has 2 columns; does the sheet start") as caught:
        cells(path, "x")
    assert SECRET not in str(caught.value)
    with pytest.raises(SchemaMismatch, match=f"no column 'x'; its columns are {SECRET}, b"):
        cells(path, "x", header=True)
    assert cells(path, "x", header=("x", "y")) == wanted((SECRET,), (1,))
    with pytest.raises(SchemaMismatch, match=r"has 2 columns; .data. header names 1"):
        cells(path, "x", header=("x",))
    with pytest.raises(SchemaMismatch, match="no column 'x'; it has 2 columns; does the sheet start") as caught:
        cells(workbook(Visits=[[SECRET, SECRET], [1, 2]]), "x")
    assert SECRET not in str(caught.value)
    twice = workbook(Visits=[["x", "x", "y"], [1, 2, 3]])
    with pytest.raises(SchemaMismatch, match="has 2 columns called 'x'; rename all but one"):
        cells(twice, "x")
    assert cells(twice, "y") == wanted((3,))


def test_a_folder_of_workbooks_is_one_table(workbook, tmp_path):
    workbook("a.xlsx", Visits=[["x"], [1]])
    workbook("b.xlsx", Visits=[["x"], [2]])
    assert cells(f"{tmp_path}/*.xlsx#Visits", "x") == wanted((1,), (2,))
    workbook("c.xlsx", Visits=[["y"], [2]])
    with pytest.raises(SchemaMismatch, match=r"c.xlsx has other columns than .*a.xlsx"):
        cells(tmp_path, "x")


def test_a_file_of_opendocument_is_read(tmp_path):
    cell = '<table:table-cell office:value-type="{}" {}><text:p>{}</text:p></table:table-cell>'
    rows = [
        cell.format("string", "", "x"),
        cell.format("float", 'office:value="1.5"', "1.5"),
        cell.format("date", 'office:date-value="2020-01-01"', "1.1.20"),
    ]
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    with zipfile.ZipFile(tmp_path / "book.ods", "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", '<?xml version="1.0"?><manifest/>')
        book.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
            f'<table:table table:name="S">{lines}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    assert cells(tmp_path / "book.ods", "x") == wanted((1.5,), (dt.date(2020, 1, 1),))


def test_what_is_no_workbook_is_refused_and_so_is_a_missing_extra(workbook, tmp_path, monkeypatch):
    whole = workbook(Visits=LINES).read_bytes()
    for held in (SECRET.encode() * 100, whole[:1000], whole[: len(whole) // 2]):
        (tmp_path / "bad.xlsx").write_bytes(held)
        with pytest.raises(OSError, match="cannot be read as a workbook"):
            cells(tmp_path / "bad.xlsx", "x")
    (tmp_path / "empty.xlsx").touch()
    with pytest.raises(OSError, match="is empty"):
        cells(tmp_path / "empty.xlsx", "x")
    with pytest.raises(SchemaMismatch, match="has no rows"):
        cells(workbook(Visits=[["x"]]), "x")

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    with pytest.raises(NotSupported, match=r"workbooks need: pip install 'dpress\[excel\]'"):
        cells(workbook(Visits=LINES), "age")
