"""Files in other encodings than UTF-8: the same codes as in UTF-8, in bounded memory, and no byte taken for another."""

import gzip
import io
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec.codec import encode
from dpress.data.sources import transcoded
from dpress.data.sources.open_source import open_source
from dpress.data.sources.quotes import QuotesChecked
from dpress.data.specification.file_format import FileFormat
from dpress.data.table import Table

WORDS = ("Zürich", "Čáslav", "x;y", 'a "b"', "line\nbreak", "", " ", "NA", "€")
SCHEMA = Schema(
    (
        Categorical(name="city", values=WORDS[:5], other="else", null="none"),
        Integer(name="rooms", bounds=(0, 9), outside="clamp", null="none"),
    )
)
ENCODINGS = ("cp1250", "windows-1252", "iso-8859-15", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "gb18030", "cp500")
ROWS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(("1", " 2 ", "3.9", "x", ""))), min_size=1)


def read(path, form, unit=None):
    """Return the codes of all rows, sorted: the same rows in any order."""
    table = Table(open_source(path, form, SCHEMA.tabular), SCHEMA.names, unit or Unit())
    return sorted(code for batch in table.batches() for code in zip(*encode(SCHEMA, batch).tolist(), strict=True))


def written(rows, ending):
    lines = [f'"{city.replace(chr(34), chr(34) * 2)}";{rooms}' for city, rooms in rows]
    return ending.join(["city;rooms", *lines, ""])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example(rows=[(city, "1") for city in WORDS], encoding="utf-16", packed=True, ending="\r\n")
@given(rows=ROWS, encoding=st.sampled_from(ENCODINGS), packed=st.booleans(), ending=st.sampled_from(("\n", "\r\n")))
def test_the_codes_are_those_of_the_same_text_in_utf_8(tmp_path, rows, encoding, packed, ending):
    rows = [row for row in rows if encodable(row[0], encoding)] or [("NA", "1")]
    text = written(rows, ending)
    (tmp_path / "utf8.csv").write_bytes(text.encode())
    other = tmp_path / ("other.csv.gz" if packed else "other.csv")
    raw = text.encode(encoding)
    other.write_bytes(gzip.compress(raw) if packed else raw)
    own = {"separator": ";", "null_values": ("NA",)}
    assert read(other, FileFormat(encoding=encoding, **own)) == read(tmp_path / "utf8.csv", FileFormat(**own))


def encodable(text, encoding):
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def test_the_wrong_encoding_gives_other_codes(tmp_path):
    """The negative control: the property above can fail."""
    path = tmp_path / "rows.csv"
    path.write_bytes("city;rooms\nČáslav;1\n".encode("cp1250"))
    assert read(path, FileFormat(separator=";", encoding="cp1250")) == [(1, 1)]
    assert read(path, FileFormat(separator=";", encoding="windows-1252")) == [(5, 1)]


def test_persons_are_bounded_and_columns_named_in_any_encoding(tmp_path):
    """Persons are counted in passes of their own."""
    path = tmp_path / "rows.csv"
    path.write_bytes("ü;city;rooms\n".encode("cp1252") + "ä;Zürich;1\n".encode("cp1252") * 5)
    unit = Unit(relation=Relation.ADD_REMOVE, column="ü", rows=2)
    assert read(path, FileFormat(separator=";", encoding="cp1252"), unit) == [(0, 1), (0, 1)]
    path.write_bytes("Zürich;1;7\n".encode("cp1252"))
    named = FileFormat(separator=";", encoding="cp1252", header=("city", "rooms", "more"))
    assert read(path, named) == [(0, 1)]
    with pytest.raises(SchemaMismatch, match=r"has 3 columns; .* header names 2"):
        read(path, FileFormat(separator=";", encoding="cp1252", header=("city", "rooms")))


def test_lines_and_values_across_blocks_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(transcoded, "BLOCK", 1 << 12)
    path, long = tmp_path / "rows.csv", "€\n" * 500
    lines = [f'"{long if number % 7 == 0 else "Zürich"}";{number % 10}\n' for number in range(2000)]
    path.write_bytes(("city;rooms\n" + "".join(lines)).encode("cp1252"))
    expected = sorted((5 if number % 7 == 0 else 0, number % 10) for number in range(2000))
    assert read(path, FileFormat(separator=";", encoding="cp1252")) == expected


@pytest.mark.parametrize("block", [1, 2, 7, 1 << 24])
@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ('"Zürich;1\n"Bonn;2\n', False),  # the second quote would end what the first begins
        ('"Zürich"x;1\n', False),
        ('"Zürich" ;1\n', False),
        ('Zür"ich;1\n', False),
        (' "Zürich";1\n', False),
        ('"a ""b""";1\n', True),
        ('"";1\n""""";1\n'.replace('""""";', '"""";'), True),
        ('"line\nbreak";1\n', True),
        ('"x;y";"1"', True),
        ('"x;y";"1"\r\n', True),
    ],
)
def test_a_stray_quote_is_refused_wherever_blocks_end(line, whole, block):
    raw = io.BytesIO(b"\xef\xbb\xbf" * (block > 3) + ('"city";rooms\n' + line).encode())
    own, found = QuotesChecked(raw, ";"), b""
    try:
        while part := own.read(block):
            found += part
    except ValueError:
        assert not whole
    else:
        assert whole
        assert found.decode() == '"city";rooms\n' + line


def test_a_file_with_a_stray_quote_is_no_table_in_either_parser(tmp_path):
    path, text = tmp_path / "rows.csv", 'city;rooms\n"Zürich;1\n"Bonn;2\n'
    for encoding in ("utf-8", "windows-1252"):
        path.write_bytes(text.encode(encoding))
        with pytest.raises(OSError, match="cannot be read as a table"):
            read(path, FileFormat(separator=";", encoding=encoding))


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16"])
def test_bytes_that_are_no_text_are_refused_in_a_line_without_them(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes("city;rooms\nsecret".encode(encoding) + b"\xff\xdc\x81\x00" + ";1\nZürich;1\n".encode(encoding))
    with pytest.raises(
        OSError, match=rf"has bytes that are no text in {encoding}; state its true `encoding` in "
    ) as refused:
        read(path, FileFormat(separator=";", encoding=encoding))
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_damaged_archive_is_no_question_of_the_encoding(tmp_path):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"city;rooms\n" + bytes(range(32, 127)) * 999)[:-99])
    with pytest.raises(OSError, match="cannot be read as a table"):
        read(path, FileFormat(separator=";", encoding="cp1252"))


MEMORY = """
import sys
from pathlib import Path
import pyarrow as pa
from dpress.data.sources.transcoded import Transcoded
own = Transcoded(path=Path(sys.argv[1]), encoding="cp1252", separator=";")
rows = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(own))
print(rows, next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
"""


@pytest.mark.slow
def test_memory_does_not_follow_the_size_of_the_file(tmp_path):
    """Four times the rows, which would be 450 MB more, take less than 150 MB more."""
    found = []
    for million in (1, 4):
        path = tmp_path / f"{million}.csv"
        with path.open("wb") as file:
            file.write(b"city;rooms\n")
            for _ in range(100 * million):
                file.write((b"Z\xfcrich " * 16 + b";1\n") * 10_000)
        done = subprocess.run([sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True)
        found.append([int(one) for one in done.stdout.split()])
        path.unlink()
    assert [rows for rows, _ in found] == [1_000_000, 4_000_000]
    assert found[1][1] - found[0][1] < 150
