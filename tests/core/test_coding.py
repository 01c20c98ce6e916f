"""The definition: the code of one value."""

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import msgspec
import numpy as np
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.coding import codes
from dpress.attributes.domain import Schema
from dpress.attributes.policy import DROPPED, MISSING
from dpress.attributes.text.attribute import StringCandidates
from dpress.attributes.value import Kind, Value, number, read, readings, text_of, written
from dpress.core.basics.errors import SchemaMismatch


def attribute(**fields):
    return msgspec.convert({"name": "x", **fields}, Attribute)


AGE = attribute(kind="integer", bounds=[17, 20], null="none")
TEXTS = attribute(kind="categorical", values=["1.50", "b", "1.5", "2020-01-01", "007", "true"], other="else")


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (18, 1), (18.9, 1), (Decimal("18.99999999999999999999999"), 1), ("18.99999999999999999999999", 1), (2**70, 3),
        ("-1e-999", 0), ("1e999999999999999999999", 3), (float("inf"), 3), (np.float32(18.5), 1), (True, 0), ("x", 4),
        (None, 4), (float("nan"), 4), (dt.date(2020, 1, 1), 4), ([18], 4), (b"18", 1), (np.timedelta64(18, "s"), 4),
    ],
)  # fmt: skip
def test_integers_are_floors_of_exact_numbers(value, cell):
    assert AGE.codes(value)[0] == cell


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("1.50", 0), ("1.5", 2), (1.5, 2), (Decimal("1.500"), 2), (np.float16(1.5), 2), ("7", 6), (7, 6), (True, 5),
        (dt.date(2020, 1, 1), 3), (dt.datetime(2020, 1, 1), 3), (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), 6),
        (object(), 6), (1, 6),
    ],
)  # fmt: skip
def test_listed_texts_stand_for_the_value_that_they_write_out(value, cell):
    assert TEXTS.codes(value)[0] == cell


def test_a_float_that_may_be_another_integer_is_no_listed_value():
    listed = attribute(kind="categorical", values=[2**53 - 1, 2**53], other="else")
    assert [listed.codes(one)[0] for one in (2**53 - 1, float(2**53 - 1), 2**53, float(2**53), str(2**53))] == [
        0,
        0,
        1,
        2,
        1,
    ]


def test_numbers_in_bins_are_the_nearest_floats():
    bins = attribute(kind="numeric", edges=[0.0, 0.1, 0.2], null="none")
    assert [bins.codes(one)[0] for one in (0.1, Decimal("0.1"), "0.1", np.float32(0.1), Decimal("0.09"), "1e-400")] == [
        1, 1, 1, 1, 0, 0,
    ]  # fmt: skip


def test_codes_of_a_device_are_those_of_all_attributes_in_order():
    schema = Schema((AGE, msgspec.structs.replace(TEXTS, name="y", other="drop")))
    assert codes(schema, {"y": "b", "x": "19", "z": 1}) == (2, 1)
    with pytest.raises(SchemaMismatch, match="attribute y: a value is one that the specification drops"):
        codes(schema, {"x": 18, "y": "secret"})
    with pytest.raises(SchemaMismatch, match="attribute y: the data has no column 'y'"):
        codes(schema, {"x": 18})
    assert schema.tabular[1].codes("z")[0] == DROPPED


def test_what_the_specification_rejects_is_refused_without_the_value():
    with pytest.raises(
        SchemaMismatch, match="a value is missing or not of its type; say what to do in `null`"
    ) as caught:
        msgspec.structs.replace(AGE, null="reject").codes("secret")[0]
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("one", ["007", "1e3", "+1", "1.", ".5", " 1", "1_0"])
def test_a_text_with_another_spelling_stands_for_no_number(one):
    assert list(readings(one)) == [Value(Kind.TEXT, one)]


def test_one_value_has_one_text():
    for same in ([1, 1.0, True and 1, Decimal("1.00"), np.int8(1)], [0.1, Decimal("0.10")], [1e22, 10**22], [-0.0, 0]):
        assert len({written(read(one)) for one in same}) == 1
    assert written(read(Decimal("-1E+500"))) == "-1E+500"
    assert number("1" * 5000) == Decimal("1" * 5000)


def test_an_integer_of_any_length_has_its_text():
    large = 10**29
    for value in (large, Decimal(large), Decimal("1E+29"), Decimal(f"{large}.00")):
        assert text_of(read(value)) == str(large)
    assert text_of(read(10**5000)) == "1E+5000"
    assert [text_of(read(Decimal(one))) for one in ("1E+999999", f"{large}.5", "1E-999999", "-Infinity")] == [
        "1E+999999", None, None, None,
    ]  # fmt: skip
    strings = StringCandidates(name="x", longest=30, known=240, bits=0, prefixes=(), strings=(str(large),))
    assert [strings.cell(one) for one in (large, Decimal(large), str(large), "a", Decimal("Infinity"))] == [
        0, 0, 0, 1, MISSING,
    ]  # fmt: skip


def test_a_device_needs_no_reader_of_tables():
    script = "import sys, dpress.attributes.coding; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "duckdb", "pandas", "narwhals", "scipy"} & set(done.stdout.split())
