"""Files as offices write them: what their format states is read value by value, and nothing is guessed."""

import gzip

import numpy as np
import pyarrow as pa
import pytest

from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec.codec import encode
from dpress.data.sources.open_source import open_source
from dpress.data.specification.file_format import FileFormat
from dpress.data.specification.spec import as_dict, load_spec
from dpress.data.table import Table

SCHEMA = Schema(
    (
        Categorical(name="city", values=("Köln", "Zürich"), other="else", null="none"),
        Numeric(name="income", bounds=(0.0, 10_000.0), bins=10_000, null="none"),
        Integer(name="rooms", bounds=(0, 5000), null="none"),
        Categorical(name="day", values=("2024-01-31", "2024-12-01"), other="else", null="none"),
    )
)
GERMAN = FileFormat(separator=";", decimal=",", thousands=".", null_values=("k. A.", "-"), date_format="%d.%m.%Y")
LINES = "city;income;rooms;day\nKöln;1.234,5;1.000;31.01.2024\nZürich; 7,25 ;3;1.12.2024\nk. A.;-;k. A.;-\n"
CODES = [[0, 1, 3], [1234, 7, 10_000], [1000, 3, 5001], [0, 1, 3]]


def codes(path, form, unit=ROW, schema=SCHEMA):
    table = Table(open_source(path, form, schema.tabular), schema.names, unit)
    return np.concatenate([encode(schema, batch) for batch in table.batches()], axis=1).tolist()


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *[("rows.csv", encoding) for encoding in ("utf-8", "latin-1", "utf-16", "windows-1252", "mac_roman")],
        ("rows.csv.gz", "utf-8"),
        ("rows.csv.gz", "utf-16"),
        ("rows.csv.zst", "latin-1"),
    ],
)
def test_a_european_file_is_read_as_it_says(tmp_path, name, encoding):
    path, raw = tmp_path / name, LINES.encode(encoding)
    if name.endswith("gz"):
        raw = gzip.compress(raw)
    if name.endswith("zst"):
        raw = pa.compress(raw, codec="zstd", asbytes=True)
    path.write_bytes(raw)
    assert codes(path, GERMAN.__class__(**{**as_fields(GERMAN), "encoding": encoding})) == CODES


def as_fields(form):
    return {name: getattr(form, name) for name in form.__struct_fields__}


def test_without_the_format_the_same_file_is_read_otherwise(tmp_path):
    """What is not stated is not guessed: the numbers of this file are none by the default."""
    path = tmp_path / "rows.csv"
    path.write_text(LINES, encoding="utf-8")
    found = codes(path, FileFormat(separator=";"))
    assert found[1][0] == 10_000
    assert found[1] != CODES[1]


@pytest.mark.parametrize("number", ["1.5", "1,234.5", "12.34,5", "1.2345", "1,5,5", "", "x", "1 234,5", "--1,5"])
def test_a_number_that_is_written_otherwise_is_none(tmp_path, number):
    path = tmp_path / "rows.csv"
    path.write_text(f'city;income;rooms;day\nKöln;1,5;1;31.01.2024\nKöln;"{number}";1;31.01.2024\n', encoding="utf-8")
    assert codes(path, GERMAN)[1] == [1, 10_000]


@pytest.mark.parametrize(
    ("number", "value"), [("1.234", 1234), ("1234", 1234), ("1.234.567,9", 9999), (",5", 0), ("+7,", 7), ("1e3", 1000)]
)
def test_numbers_with_and_without_their_thousands(tmp_path, number, value):
    path = tmp_path / "rows.csv"
    path.write_text(f"city;income;rooms;day\nKöln;{number};1;31.01.2024\n", encoding="utf-8")
    assert codes(path, GERMAN)[1] == [value]


def test_a_row_is_coded_alike_whatever_stands_beside_it(tmp_path):
    """Every line beside every other one, among them what makes readers infer other types."""
    lines = [*LINES.splitlines()[1:], "1;2;3;4", "x;1.5;1,5;2024-01-31", ";;;", '"a;b";"1.000";"9";"32.01.2024"']
    path = tmp_path / "rows.csv"

    def read(*own):
        path.write_text("\n".join(["city;income;rooms;day", *own]) + "\n", encoding="utf-8")
        return codes(path, GERMAN)

    alone = {line: [axis[0] for axis in read(line)] for line in lines}
    for first in lines:
        for second in lines:
            both = read(first, second)
            assert [[axis[row] for axis in both] for row in (0, 1)] == [alone[first], alone[second]]


def test_tabs_and_files_without_a_header_line(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("Köln\t1.5\t7\t2024-01-31\n", encoding="utf-8")
    assert codes(path, FileFormat(header=SCHEMA.names)) == [[0], [1], [7], [0]]
    path.write_text("city\tincome\trooms\tday\nKöln\t1.5\t7\t2024-01-31\n", encoding="utf-8")
    assert codes(path, FileFormat()) == [[0], [1], [7], [0]]
    schema = Schema(SCHEMA.attributes[:3])
    with pytest.raises(SchemaMismatch, match=r"has 4 columns; \[data\] header names 3"):
        codes(path, FileFormat(header=schema.names), schema=schema)
    with pytest.raises(OSError, match=r"has 4 columns; \[data\] header names 5"):
        codes(path, FileFormat(header=(*SCHEMA.names, "more")))


def test_persons_are_bounded_in_a_file_with_a_format(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("who;city;income;rooms;day\n" + "a;Köln;1,5;1;31.01.2024\n" * 3, encoding="utf-8")
    unit = Unit(relation=Relation.ADD_REMOVE, column="who", rows=2)
    assert codes(path, GERMAN, unit) == [[0, 0], [1, 1], [1, 1], [0, 0]]


def test_a_missing_column_names_the_likely_cause_and_shows_no_line_that_may_be_a_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(LINES, encoding="utf-8")
    with pytest.raises(OSError, match=r'all the columns with separator = ";" in \[data\]') as refused:
        codes(path, FileFormat())
    assert "income;" not in str(refused.value)
    path.write_text("city;income;rooms;day\n1;2;3;4\n", encoding="utf-8")
    with pytest.raises(SchemaMismatch, match=r'it has 1 columns.*all the columns with separator = ";" in \[data\]'):
        codes(path, FileFormat())
    path.write_text("secret,row\n", encoding="utf-8")
    with pytest.raises(SchemaMismatch, match=r"it has 2 columns; does it start with a header line") as refused:
        codes(path, FileFormat())
    assert "secret" not in str(refused.value)
    with pytest.raises(SchemaMismatch, match="its columns are secret, row"):
        codes(path, FileFormat(header=True))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('decimal = ","\nthousands = ","', r"\$\.data\.thousands: expected another sign than `decimal`"),
        ("header = false", r"\$\.data\.header: expected true, or the names"),
        ('header = ["a", "a"]', r"\$\.data\.header: expected names that differ"),
        ('separator = ";;"', r"\$\.data\.separator"),
        ('encoding = "ebcdic"', r"\$\.data\.encoding: expected the name of an encoding of text.*got 'ebcdic'"),
        ('encoding = "cp1252"\nseparator = "§"', r"\$\.data\.separator: expected an ASCII sign"),
        ('encoding = "base64"', r"\$\.data\.encoding: expected the name"),
        ("encoding = 8", r"\$\.data\.encoding"),
        ('decimals = ","', r"decimals"),
    ],
)
def test_a_format_that_cannot_be_is_refused_by_its_place(lines, words):
    with pytest.raises(SchemaMismatch, match=words):
        load_spec(SPEC.format(lines))


SPEC = """
[data]
source = "rows.csv"
{}
[[attribute]]
name = "rooms"
kind = "integer"
bounds = [0, 9]
[privacy]
epsilon = 1.0
[release]
kind = "histogram"
"""


def test_the_format_travels_with_the_specification_and_the_place_does_not():
    plain = as_dict(load_spec(SPEC.format('decimal = ","')))
    assert plain["data"] == {"decimal": ","}
    assert "data" not in as_dict(load_spec(SPEC.format("")))
    assert load_spec(plain | {"data": {"decimal": ","}}).hash == load_spec(SPEC.format('decimal = ","')).hash


@pytest.mark.parametrize("inner", ["line, one\n", "7,x\n", 'a ""quoted"" b\n'])
@pytest.mark.parametrize("before", [5, 100_000])
def test_one_very_long_quoted_value_is_a_value(tmp_path, inner, before):
    """4 MB over many lines, wherever it stands; by the reader's own defaults it is refused."""
    path, long = tmp_path / "rows.csv", inner * ((1 << 22) // len(inner))
    path.write_text("city,rooms\n" + "Bonn,3\n" * before + f'"{long}",4\n' + "Rome,5\n" * 5, encoding="utf-8")
    schema = Schema((Categorical(name="city", values=("Bonn", "Rome"), other="else"), SCHEMA.attributes[2]))
    found = codes(path, FileFormat(), schema=schema)
    assert [len(axis) for axis in found] == [before + 6] * 2
    assert (found[0].count(2), found[1].count(4)) == (1, 1)


QUOTED = "city,income\n{0}Köln{0},{0}1,5{0}\n{0}a{0}{0}b\nc{0},2\nZürich,3\n"
CITIES = Schema(
    (
        Categorical(name="city", values=("Köln", "Zürich", "a'b\nc"), other="else", null="none"),
        Categorical(name="income", values=("1,5", "2", "3"), other="else", null="none"),
    )
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize(("quote", "found"), [("'", [[0, 2, 1], [0, 1, 2]]), ("|", [[0, 3, 1], [0, 1, 2]])])
def test_another_quote_is_stated(tmp_path, encoding, quote, found):
    path = tmp_path / "rows.csv"
    path.write_text(QUOTED.format(quote), encoding=encoding)
    assert codes(path, FileFormat(quote=quote, encoding=encoding), schema=CITIES) == found
    with pytest.raises(OSError, match="cannot be read as a table"):
        codes(path, FileFormat(encoding=encoding), schema=CITIES)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_where_no_sign_is_a_quote_each_stands_for_itself(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_text('city,income\n"Köln,2\n5" pipe,3\n"a",3\n', encoding=encoding)
    schema = Schema(
        (
            Categorical(name="city", values=('"Köln', '5" pipe', '"a"'), other="else"),
            Categorical(name="income", values=("2", "3"), other="else"),
        )
    )
    assert codes(path, FileFormat(quote="", encoding=encoding), schema=schema) == [[0, 1, 2], [0, 1, 1]]
    with pytest.raises(OSError, match="cannot be read as a table"):
        codes(path, FileFormat(encoding=encoding), schema=schema)


@pytest.mark.parametrize("quote", ["ab", "a", " ", "\\", "ä", ","])
def test_what_is_no_quote_is_refused(quote):
    with pytest.raises(ValueError, match="quote: expected one sign that is no letter"):
        FileFormat(quote=quote, separator=",")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize("header", ["city,income", '"city","income"'])
def test_a_mark_of_byte_order_is_no_part_of_the_first_name(tmp_path, encoding, header):
    path = tmp_path / "rows.csv"
    mark = "" if encoding in ("utf-16", "latin-1") else "\ufeff"  # Python writes one by itself, or cannot
    path.write_text(f'{mark}{header}\n"Köln",2\n', encoding=encoding)
    assert codes(path, FileFormat(encoding=encoding), schema=CITIES) == [[0], [1]]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_files_of_a_folder_have_the_same_header(tmp_path, encoding):
    for name, header in (("a.csv", "city,income"), ("b.csv", "city,income")):
        (tmp_path / name).write_text(f"{header}\nKöln,2\n", encoding=encoding)
    assert codes(tmp_path, FileFormat(encoding=encoding), schema=CITIES) == [[0, 0], [1, 1]]
    (tmp_path / "c.csv").write_text("income,city\n2,Köln\n", encoding=encoding)
    with pytest.raises(SchemaMismatch, match=r"c.csv has other columns than .*a.csv"):
        codes(tmp_path, FileFormat(encoding=encoding), schema=CITIES)
