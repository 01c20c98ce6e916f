"""Files of numbers that parameters name: read beside the specification, refused in one line that names them."""

from pathlib import Path

import pytest

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.parameter_tables import with_tables


def test_a_file_stands_as_its_numbers_and_all_else_stays(tmp_path: Path) -> None:
    (tmp_path / "totals.csv").write_text('\ufeffstate,total\n01,5\n"a, b",0\n\n', encoding="utf-8")
    given = {"invariants": {"state": "totals.csv", "county": "rows"}, "tables": [["totals.csv"]], "users": 4}
    assert with_tables(given, tmp_path) == {
        "invariants": {"state": {"01": 5, "a, b": 0}, "county": "rows"},
        "tables": [["totals.csv"]],
        "users": 4,
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected the columns state,total, got none"),
        ("state\n1\n", "expected the columns state,total, got state"),
        ("total,state\n1,2\n", "expected the columns state,total, got total,state"),
        ("state,total\n1,-4\n", "row 2: expected a code and a whole number >= 0"),
        ("state,total\n1,4,5\n", "row 2: expected a code and a whole number >= 0"),
        ("state,total\n1,4\n1,5\n", "row 3: the code '1' stands twice"),
    ],
)
def test_what_is_no_such_file_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "totals.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SchemaMismatch, match=rf"^totals\.csv: {words}"):
        with_tables({"invariants": {"state": "totals.csv"}}, tmp_path)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "totals.csv").write_bytes(b"\xff\xfe,")
    with pytest.raises(SchemaMismatch, match=r"totals\.csv: expected a CSV of two columns, this is no text in UTF-8"):
        with_tables({"invariants": {"state": "totals.csv"}}, tmp_path)
    with pytest.raises(OSError, match="none"):
        with_tables({"invariants": {"state": "none.csv"}}, tmp_path)
