"""How a file of text is probably written: by how many separators stand in its lines, whatever stands between them."""

import gzip

import pytest

from dpress.data.sources.first_bytes import Proposal, proposed

ROWS = "a;b;c\n" + "1,5;2,5;3,5\n" * 9
COMMAS = ROWS.replace(",", ".").replace(";", ",")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROWS, {}),
        (f"Prices, in euro\n{ROWS}", {"skip": 1}),
        (f"\nPrices\n\n{ROWS}", {"skip": 3}),
        (f"{ROWS}Source: the office\nas of May\n\n", {"footer": 2}),
        (f"Prices;;\nof 2024\n{ROWS}", {"skip": 2}),  # as sheets are saved
        (ROWS.replace("a;b;c", "a;b;\n;x;y"), {"header_rows": 2}),
        (ROWS.replace("a;b;c", ";b;c"), {}),  # the index that a data frame writes has no name
        (COMMAS, {"separator": ","}),
        (f"\ufeff{ROWS}", {}),
        ("a\n1\n2\n", {"separator": ","}),
        ("", {"separator": ","}),
        ("words\n" * 99, {"separator": ","}),
        ("title\n" * 10 + ROWS * 3, {"separator": ","}),  # too far down to be a title
    ],
)
def test_the_first_line_with_as_many_separators_as_most_has_the_names(tmp_path, text, expected):
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    assert proposed(tmp_path / "rows.csv") == Proposal(**({"encoding": "utf-8", "separator": ";"} | expected))


def test_a_few_lines_without_a_separator_are_behind_the_rows_and_many_are_not(tmp_path):
    for number, footer in ((9, 9), (10, 0)):
        (tmp_path / "rows.csv").write_text(ROWS + "note\n" * number, encoding="utf-8")
        assert proposed(tmp_path / "rows.csv").footer == footer


def test_a_large_or_compressed_file_is_looked_at_where_it_begins_and_ends(tmp_path):
    text = f"title\n{ROWS * 9999}note\n".encode()
    (tmp_path / "rows.csv").write_bytes(text)
    assert proposed(tmp_path / "rows.csv") == Proposal(encoding="utf-8", separator=";", skip=1, footer=1)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text))
    assert proposed(tmp_path / "rows.csv.gz") == Proposal(encoding="utf-8", separator=";", skip=1)


def test_no_text_of_a_row_is_proposed(tmp_path):
    (tmp_path / "rows.csv").write_text("a;quetzal\n" * 9, encoding="utf-8")
    assert "quetzal" not in repr(proposed(tmp_path / "rows.csv"))
