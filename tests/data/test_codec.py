import datetime as dt
import decimal
import math

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.codec.codec import encode


def schema(**fields):
    return Schema((msgspec.convert({"name": "x", **fields}, Attribute),))


def codes(column, /, *, arrow=None, **fields):
    return encode(schema(**fields), pa.record_batch({"x": pa.array(column, type=arrow)}))[0].tolist()


AGE = {"kind": "integer", "bounds": [17, 20]}
NUMBER = {"kind": "numeric", "bounds": [0.0, 10.0], "bins": 4}
LETTER = {"kind": "categorical", "values": ["b", "a"]}


def test_integers_are_clamped_to_their_bounds_by_default():
    assert codes([17, 18, 20, 5, 99, -(2**60)], **AGE) == [0, 1, 3, 0, 3, 0]
    assert codes([17.9, math.inf, -math.inf], **AGE) == [0, 3, 0]


def test_integers_are_grouped_into_bins_that_match_the_edges():
    attribute = schema(kind="integer", bounds=[17, 90], bins=15).tabular[0]
    values = list(range(17, 91))
    found = codes(values, kind="integer", bounds=[17, 90], bins=15)
    for value, code in zip(values, found, strict=True):
        assert attribute.edges[code] <= value < attribute.edges[code + 1]
    assert sorted(set(found)) == list(range(15))


@given(st.integers(-50, 50), st.integers(1, 60), st.data())
def test_every_integer_of_the_bounds_falls_into_exactly_one_bin(low, span, data):
    bins = data.draw(st.integers(1, span))
    values = list(range(low, low + span))
    found = codes(values, kind="integer", bounds=[low, low + span - 1], bins=bins)
    assert found == sorted(found)
    assert set(found) == set(range(bins))


def test_numeric_bins_are_closed_below_and_the_last_one_above():
    assert codes([0.0, 2.4999, 2.5, 7.5, 10.0, 11.0, -1.0], **NUMBER) == [0, 0, 1, 3, 3, 3, 0]
    edges = {"kind": "numeric", "edges": [0.0, 1.0, 100.0]}
    assert codes([0.5, 1.0, 100.0], **edges) == [0, 1, 1]


def test_values_outside_can_be_dropped_or_rejected():
    assert codes([16, 17, 21], outside="drop", **AGE) == [0]
    with pytest.raises(SchemaMismatch, match=r"attribute x: a value is not in its cells; .* `outside`"):
        codes([16], outside="reject", **AGE)


def test_listed_values_keep_the_order_of_the_spec():
    assert codes(["a", "b", "a"], **LETTER) == [1, 0, 1]
    assert codes(["a", "z"], other="drop", **LETTER) == [1]
    assert codes(["a", "z", None], other="else", **LETTER) == [1, 2, 2]
    with pytest.raises(SchemaMismatch, match="attribute x: a value is not in its cells"):
        codes(["z"], **LETTER)


def test_missing_values_have_a_policy_of_their_own():
    assert codes(["a", None, "z"], other="else", null="missing", **LETTER) == [1, 3, 2]
    assert codes([18, None, math.nan], null="missing", **AGE) == [1, 4, 4]
    assert codes([18, None], null="drop", **AGE) == [1]
    for fields in (AGE, NUMBER, LETTER):
        with pytest.raises(SchemaMismatch, match="attribute x: a value is missing"):
            codes([None], arrow=pa.string(), **fields)


def test_text_is_read_as_numbers_and_anything_else_is_missing():
    assert codes(["18", " 19 ", "1.8e1", "abc", "", "1_8", "0x12"], null="missing", **AGE) == [1, 2, 1, 4, 4, 4, 4]


def test_listed_integers_and_booleans():
    integers = {"kind": "categorical", "values": [3, 1, -2], "other": "else"}
    assert codes([1, 3, -2, 7, None], **integers) == [1, 0, 2, 3, 3]
    assert codes(["1", "3.0", "2.5", "x"], **integers) == [1, 0, 3, 3]
    booleans = {"kind": "categorical", "values": [False, True], "other": "else"}
    assert codes([True, False, None], **booleans) == [1, 0, 2]
    assert codes(["TRUE", "0", "1", "no"], **booleans) == [1, 0, 1, 2]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", "a", "b"]).dictionary_encode(),
        pa.array(["b", "a", "b"], pa.large_string()),
        pa.array(["b", "a", "b"], pa.string_view()),
    ],
)
def test_text_may_come_in_any_arrow_form(column):
    assert encode(schema(**LETTER), pa.record_batch({"x": column}))[0].tolist() == [0, 1, 0]


def test_numbers_may_come_in_any_arrow_form():
    assert codes([decimal.Decimal("18.5")], **AGE) == [1]
    assert codes([18], arrow=pa.uint8(), **AGE) == [1]
    assert codes([2**63], arrow=pa.uint64(), **AGE) == [3]


def test_true_is_one_and_false_is_zero():
    assert codes([True, False], kind="integer", bounds=[0, 1]) == [1, 0]
    assert codes([True, False, None], kind="categorical", values=[1, 0, 7], other="else") == [0, 1, 3]


def test_a_column_of_a_type_without_numbers_is_refused_by_its_type():
    for column in ([dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1)], [dt.timedelta(1)]):
        with pytest.raises(SchemaMismatch, match=r"attribute x: a column of type \S+ holds no numbers"):
            codes(column, null="missing", **AGE)


def test_dates_are_text_whatever_engine_brings_them():
    days = {"kind": "ordinal", "values": ["2023-01-01", "2023-01-02"], "other": "else"}
    stamps = [dt.datetime(2023, 1, 2), dt.datetime(2023, 1, 1, 12)]
    assert codes(stamps, **days) == [1, 2]
    assert codes(stamps, arrow=pa.timestamp("ns"), **days) == [1, 2]
    assert codes([dt.date(2023, 1, 1)], **days) == [0]
    assert codes(["2023-01-02"], **days) == [1]


def test_a_row_is_dropped_as_a_whole():
    both = Schema((*schema(**AGE).attributes, msgspec.convert({"name": "y", **LETTER, "other": "drop"}, Attribute)))
    batch = pa.record_batch({"x": [17, 18, 19], "y": ["a", "z", "b"]})
    assert np.array_equal(encode(both, batch), [[0, 2], [1, 0]])


def test_a_missing_column_is_named():
    with pytest.raises(SchemaMismatch, match="attribute x: the data has no column 'x'"):
        encode(schema(**AGE), pa.record_batch({"y": [1]}))


def test_a_location_has_no_cells_of_its_own():
    place = {"kind": "location", "columns": ["a", "b"], "bounds": [[0, 1], [0, 1]]}
    with pytest.raises(NotSupported, match="a location has no cells"):
        encode(schema(**place), pa.record_batch({"a": [0.5], "b": [0.5]}))


@pytest.mark.parametrize("fields", [AGE | {"outside": "reject"}, NUMBER, LETTER])
def test_no_message_quotes_a_value(fields):
    secret = "4711-secret"
    with pytest.raises(SchemaMismatch) as caught:
        codes([secret], **fields)
    assert secret not in str(caught.value)
    assert caught.value.__context__ is None
