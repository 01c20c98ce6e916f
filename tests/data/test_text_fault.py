"""A file of text that is refused says in which line and why, and no word of a row; what is read has no fault."""

import gzip

import pytest

from dpress.core.basics.claim import ROW
from dpress.data.sources.open_source import open_source
from dpress.data.sources.text_fault import Dialect, first_fault, lines_of
from dpress.data.specification.file_format import FileFormat
from dpress.data.table import Table

SECRET = "Mallory"
FAULTS = {
    f"age,sex,\n1,{SECRET}\n2,f\n": "line 2 has 2 fields, the header 3; every line needs as many (the header ends in",
    f"age,sex\n1,m\n\n{SECRET}\n": "line 4 has 1 field, the header 2; every line needs as many",
    f"age,sex\r\n1,m\r\n2,f,{SECRET}\r\n": "line 3 has 3 fields, the header 2; every line needs as many",
    f'age,sex\n"1\n\n",m\n2,f,{SECRET}\n': "line 5 has 3 fields, the header 2",
    f'age,sex\n1,"{SECRET}"x\n': 'line 2 has a " amid a value in quotes; double it',
    f'age,sex\n1,m\n2,"{SECRET}\n': 'line 3 has a " that is never closed; close it, or double it within a value',
    f'age,sex\n1,m\n2,"{SECRET * 30_000}\n': 'line 3 has a value beyond 131,072 characters; is a " never closed?',
    f"age\n1,{SECRET}\n": "line 2 has 2 fields, the header 1",
}
ENCODINGS = ("utf-8", "utf-16", "cp1252")


def read(path, **how):
    rows = Table(open_source(path, FileFormat(**how)), ("age",), ROW)
    return [one for batch in rows.batches() for one in batch["age"].to_pylist()]


def refusal(path, **how):
    with pytest.raises(OSError, match="cannot be read as a table") as caught:
        read(path, **how)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", FAULTS)
def test_a_refusal_names_the_line_and_the_reason(text, encoding, tmp_path):
    (tmp_path / "rows.csv").write_bytes(text.encode(encoding))
    assert f"rows.csv cannot be read as a table: {FAULTS[text]}" in refusal(tmp_path / "rows.csv", encoding=encoding)


def test_other_signs_files_and_headers(tmp_path):
    (tmp_path / "rows.tsv").write_text(f"age\tsex\t\n1\t{SECRET}\n")
    assert r'(the header ends in "\t": take that away)' in refusal(tmp_path / "rows.tsv")
    (tmp_path / "rows.csv").write_text(f"1;{SECRET}\n2\n")
    assert "line 2 has 1 field, the first line 2" in refusal(
        tmp_path / "rows.csv", separator=";", header=("age", "sex")
    )
    with gzip.open(tmp_path / "rows.csv.gz", "wt") as file:
        file.write(f"age,sex\n1,m\n{SECRET}\n")
    assert "line 3 has 1 field" in refusal(tmp_path / "rows.csv.gz")
    (tmp_path / "stray.csv").write_text(f'age,sex\n1,m\n2,{SECRET[0]}"{SECRET}\n', encoding="cp1252")
    assert 'line 3 has a " amid a value; write' in refusal(tmp_path / "stray.csv", encoding="cp1252")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_quote_that_is_never_closed_swallows_no_rows(encoding, tmp_path):
    """Else one line would be all others' too: the last value would hold them."""
    (tmp_path / "rows.csv").write_bytes('age,sex\n1,"m\n2,f\n3,m\n'.encode(encoding))
    assert "line 2 has a" in refusal(tmp_path / "rows.csv", encoding=encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_read_has_no_fault(encoding, tmp_path):
    text = 'age,sex\n1,"m, or\n ""f"""\n\n2,\n3,"f"'
    (tmp_path / "rows.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "rows.csv", encoding=encoding) == ["1", "2", "3"]
    for strict in (True, False):
        written = Dialect(encoding=encoding, separator=",", quote='"', named=True, strict=strict)
        assert first_fault(tmp_path / "rows.csv", written) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_also_of_what_is_compressed_or_damaged(end, tmp_path):
    text = end.join(["age,sex", *["1,m"] * 10]).encode()
    for name, content in (("a.csv", text), ("a.csv.gz", gzip.compress(text)), ("b.csv.gz", text), ("c.csv", b"")):
        (tmp_path / name).write_bytes(content)
    assert [lines_of(tmp_path / name) for name in ("a.csv", "a.csv.gz", "b.csv.gz", "c.csv")] == [11, 11, 1, 1]
