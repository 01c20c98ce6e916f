"""Files of hierarchies: both forms, what is refused, and the real ones of Adult."""

import os
from pathlib import Path

import pytest

from dpress.attributes.listed.hierarchy_file import read
from dpress.attributes.mixed import lowest_common
from dpress.core.basics.errors import SchemaMismatch

PLACE = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[3] / "shared" / "data")) / "adult" / "hierarchies"
ROWS = (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"))


def made(tmp_path, text, values=("a", "b", "c")):
    (tmp_path / "h.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(tmp_path / "h.csv", "h.csv", "work", values)


@pytest.mark.parametrize(
    "text",
    [
        "value,level1,level2\na,x,*\nb,x,*\nc,y,*\n",
        "value,level1,level2\r\na,x,*\r\nb,x,*\r\nc,y,*\r\n\r\n",
        "a;x;*\nb;x;*\nc;y;*",
        "\ufeffa;x;*\nb;x;*\nc;y;*\n",
        "value;level1;level2\na;x;*\nb;x;*\nc;y;*\n",
    ],
    ids=["csv", "windows", "arx", "mark", "semicolons with a header"],
)
def test_both_forms_are_read(tmp_path, text):
    assert made(tmp_path, text) == ROWS


def test_a_value_may_hold_the_other_separator(tmp_path):
    assert made(tmp_path, "value,level1\na;b,*\n", ("a;b",)) == (("a;b", "*"),)
    assert made(tmp_path, "a,b;*\n", ("a,b",)) == (("a,b", "*"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("value,level1\na,*\nb,*\n", "h.csv: no row for the value 'c' of work"),
        ("a;x;*\nb;*\nc;y;*\n", "h.csv: expected 2 levels in every row, as in the first, not so for 'b'"),
        ("a;x;m\nb;x;n\nc;y;n\n", "h.csv: the level 1 label 'x' lies in both 'm' and 'n' of level 2"),
        ("a;x;*\na;y;*\nb;x;*\nc;y;*\n", "h.csv: the value 'a' lies in both 'x' and 'y' of level 1"),
        ("a;x;*\na;x;*\nb;x;*\nc;y;*\n", "h.csv: expected one row a value, 1 more were found"),
        ("a;x;y;*\nb;y;x;*\nc;z;z;*\n", "h.csv: a cycle: "),
        ("a;x;y;x\nb;x;y;x\nc;x;y;x\n", "h.csv: a cycle: "),
        ("a\nb\nc\n", "h.csv: expected a CSV with the header value,level1,... (or `;` between fields and no header)"),
        ("", "h.csv: expected a CSV with the header value,level1,... (or `;` between fields and no header)"),
        ("value\na\nb\nc\n", "h.csv: expected a value and at least one level in every row"),
        ("value,level1\n", "h.csv: expected a value and at least one level in every row"),
        (b"a;\xff\n", "h.csv: expected a hierarchy, this is no text in UTF-8"),
    ],
)
def test_what_is_no_hierarchy_is_refused_in_one_line(tmp_path, text, message):
    with pytest.raises(SchemaMismatch) as caught:
        made(tmp_path, text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_label_may_stay_the_same_from_level_to_level(tmp_path):
    assert made(tmp_path, "a;a;*\nb;x;*\nc;x;*\n")[0] == ("a", "a", "*")


def test_the_hierarchies_of_adult_are_read_in_both_forms():
    if not PLACE.is_dir():
        pytest.skip(f"no reference data in {PLACE}; set DPRESS_DATA to run this test")
    files = sorted((PLACE / "arx").glob("*.csv"))
    assert len(files) >= 9
    for file in files:
        name = file.stem.removeprefix("adult_hierarchy_").replace("-", "_").replace("salary_class", "income")
        ours = read(PLACE / f"{name}.csv", name, name, ())
        theirs = read(file, name, name, ())
        assert set(theirs) == set(ours)
    rows = read(PLACE / "education.csv", "education", "education", ("Bachelors", "11th"))
    labels = ("Bachelors", "Some-college", "Masters", "11th")
    assert lowest_common(labels, rows)[0].round(3).tolist() == [0.0, 0.333, 0.667, 1.0]
