"""The code of a row is the same in every table that holds it: nothing is inferred from the other rows."""

import datetime as dt
import itertools
from decimal import Decimal

import msgspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest
from nasty_values import ATTRIBUTES, NASTY, SPECS, as_objects, as_polars, coded

from dpress.attributes import coding
from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.attributes.listed import arrow as listed
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.sets.attribute import SetMembers
from dpress.attributes.value import read
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.sources import frames
from dpress.data.table import Table

OF_DAYS = {"bounds": ["2020-01-01", "2020-12-31"], "cells": "month", "null": "none", "outside": "drop"}
EVERY = (
    ATTRIBUTES
    | {
        name: msgspec.convert({"name": "x", **plain}, Attribute)
        for name, plain in {
            "days": {"kind": "date", **OF_DAYS},
            "instants": {"kind": "datetime", "zone": "Europe/Berlin", **OF_DAYS},
            "names": {"kind": "categorical", "values": "discover", "other": "else"},
        }.items()
    }
    | {
        "sets": SetMembers(name="x", values=("1", "a", "true", "1.5"), other="else", separator=";"),
        "sets of integers": SetMembers(name="x", values=(1, 18), other="else", null="none", separator=";"),
    }
)
FEW = [
    None, float("nan"), pd.NaT, True, 1, 18, 2**53, 2**60 + 1, 2**63 + 1, 10**29, 1.5, 1e300, float("inf"), 1j,
    Decimal("1.5"), Decimal(10**29), "1", "a;1", "2020-03-01", b"\xff", dt.date(2020, 3, 1),
    dt.datetime(2020, 3, 1, 7, tzinfo=dt.UTC), np.float32(0.1), np.uint64(2**64 - 1), [1, "a"], [1.5, 10**29],
]  # fmt: skip
PARTNERS = [None, 0.5, Decimal("2.25"), "x", 2**60, True, dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 1), b"\xff", 1j]


def as_pandas(values):
    return pd.DataFrame({"x": pd.Series(values)})


def as_categories(values):
    return pd.DataFrame({"x": pd.Categorical.from_codes(range(len(values)), categories=pd.Index(values, dtype=object))})


def as_arrow(values):
    if any(isinstance(one, np.generic) for one in values) and len(set(map(type, values))) > 1:
        raise TypeError("pyarrow 26 crashes on some NumPy scalars beside other values")
    return pa.table({"x": pa.array(values)})


def as_dictionary(values):
    return pa.table({"x": as_arrow(values)["x"].combine_chunks().dictionary_encode()})


FREE = (pl.Object, pl.Int128)  # polars reads each of these by itself
INFERRING = [as_pandas, as_objects, as_categories, as_polars, as_arrow, as_dictionary]


def built(make, values):
    """Return the container, or None where its library does not make one of these values."""
    try:
        return make(values)
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  # whatever a library does not take
        return None


def holds(data, place, value):
    """Return whether a container still holds a value: a library may make another of it, before anything is read.

    polars and Arrow make a number a date, or a date a time stamp. pandas puts integers of 2^53 and more into floats,
    and so they are read as floats, whatever else is in their column.
    """
    column = data["x"]
    if isinstance(data, pd.DataFrame):
        return True
    try:
        return read(column[place].as_py() if isinstance(data, pa.Table) else column[place]) == read(value)
    except (OverflowError, ValueError):  # a number that was made a time which Python does not know
        return False


def declares(data, value):
    """Return whether the library declares a type: then a column of dates, say, is refused, and one of nulls is not."""
    return (
        value is None if isinstance(data, pa.Table) else isinstance(data, pl.DataFrame) and data["x"].dtype not in FREE
    )


def cells(data):
    """Return what each row of a table is under every attribute, of most before outside or missing is settled."""
    batches = list(Table(data, ("x",), ROW).batches())
    return {name: cells_of(attribute, batches) for name, attribute in EVERY.items()}


def cells_of(attribute, batches):
    try:
        return [cell for batch in batches for cell in each_row(attribute, batch)]
    except SchemaMismatch as error:
        if "of type" not in str(error):
            raise
        return "refused"


def each_row(attribute, batch):
    """Return the words of a set, the text of a name, the cell of anything else."""
    if attribute is EVERY["names"]:
        return codec.texts_of("x", batch).to_pylist()
    if isinstance(attribute, SetMembers):
        return codec.encode_all(Schema((attribute,)), batch)[0].T.tolist()
    return codec.cells_of(attribute, batch).tolist()


def alone(make, value):
    """Return a value's cells in a table of its own and whether that declares a type; None where it holds no such."""
    data = built(make, [value])
    return (cells(data), declares(data, value)) if data is not None and holds(data, 0, value) else None


def changed(make, values, others):
    """Return where a value has another cell in a table of two than alone, each table made once.

    Every pair in both orders; of values beside one another in one order, by turns, so that two types meet in both.
    """
    firsts, seconds = [alone(make, one) for one in values], [alone(make, one) for one in others]
    found = []
    for (i, one), (j, other) in itertools.product(enumerate(values), enumerate(others)):
        singles, both = (firsts[i], seconds[j]), values is not others
        if both or i == j or (i < j) == ((i + j) % 2 == 0):
            found += apart(make, (one, other), singles)
        if both:
            found += apart(make, (other, one), singles[::-1])
    return found


def apart(make, pair, singles):
    data = built(make, [*pair])
    held = [place for place in (0, 1) if singles[place] and data is not None and holds(data, place, pair[place])]
    after = cells(data) if held else {}
    return [(name, place, *pair) for place in held for name in EVERY
            if differ(singles[place][0][name], after[name], place)
            and not ("refused" in (singles[place][0][name], after[name])
                     and (singles[place][1] or unnamed(name, data)))]  # fmt: skip


def unnamed(name, data):
    """Return whether Arrow or polars has declared that integers are decimals, which name nobody."""
    return name == "names" and not isinstance(data, pd.DataFrame)


def differ(before, after, place):
    """Return whether the first row has another cell, or the table is refused in one case only."""
    return before != after if "refused" in (before, after) else before[0] != after[place]


@pytest.mark.parametrize("attribute", ATTRIBUTES.values(), ids=SPECS)
def test_object_columns_are_coded_as_the_definition_says(attribute):
    wanted = [code for one in NASTY if (code := attribute.codes(as_pandas_may_hold(one))[0]) >= 0]
    assert coded(as_objects(NASTY), attribute) == wanted
    for one in NASTY:
        if (single := built(as_categories, [one])) is not None:
            code = attribute.codes(as_pandas_may_hold(one))[0]
            assert coded(single, attribute) == [code for code in [code] if code >= 0]


def as_pandas_may_hold(value):
    """Return an integer of 2^53 and more as the float that pandas makes of it beside a missing value."""
    if not isinstance(value, (int, np.integer)) or not read(value) or not -(2**63) <= int(value) < 2**64:
        return value
    return float(value) if abs(int(value)) >= 2**53 else value


@pytest.mark.parametrize("make", INFERRING)
def test_a_second_row_changes_no_cell(make):
    """Values beside ten that make libraries infer other types."""
    assert changed(make, NASTY[::8], PARTNERS) == []


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("make", INFERRING)
def test_no_second_row_changes_any_cell(make):
    assert changed(make, NASTY, NASTY) == []


@pytest.mark.slow
@pytest.mark.parametrize("make", [as_pandas, as_objects, as_categories])
def test_pandas_codes_and_refuses_no_value_by_its_company(make):
    """Every ordered pair, under every kind of attribute; no table is refused by a type that was inferred."""
    singles = {place: cells(data) for place, one in enumerate(FEW) if (data := built(make, [one])) is not None}
    assert len(singles) >= 20
    compared = 0
    for (i, one), (j, other) in itertools.product(enumerate(FEW), repeat=2):
        data = built(make, [one, other])
        if data is None or i not in singles or j not in singles:
            continue
        compared += 1
        for name, together in cells(data).items():
            assert together != "refused", (name, one, other)
            assert together == singles[i][name] + singles[j][name], (name, one, other)
    assert compared >= 400


@pytest.mark.parametrize("name", ["sets", "sets of integers"])
def test_sets_of_objects_are_those_of_the_definition(name):
    attribute = EVERY[name]
    for one in [*map(as_pandas_may_hold, FEW), [1, float("nan")], [None, 18], [object(), "a"], [pd.NA], []]:
        assert cells(as_objects([one]))[name] == [list(coding.codes(Schema((attribute,)), {"x": one}))]


def test_a_date_that_is_refused_by_an_inferred_type_is_found(monkeypatch):
    monkeypatch.setattr(codec.inferred, "without_numbers", lambda column: column)
    assert {name for name, *_ in changed(as_pandas, [float("nan")], ["2020-03-01"])} == {"days", "instants"}
    assert {name for name, *_ in changed(as_pandas, [True], [None])} == {"days", "instants"}


@pytest.mark.parametrize("kind", ["days", "instants"])
def test_dates_of_a_declared_type_are_refused_by_it(kind):
    for make in (as_arrow, as_polars):
        assert cells(make([5, 6]))[kind] == "refused"
        assert cells(make([1.5, None]))[kind] == "refused"
    for rows in ([float("nan")] * 3, [5] * 3, [True, False], [5, 6]):
        assert cells(as_pandas(rows))[kind] == [MISSING] * len(rows)


def inferring(series):
    """A pandas column as Arrow infers it from all its rows: the fault that these tests are there to find."""
    return pa.chunked_array([pa.array(series, from_pandas=True)])


def test_a_reader_that_infers_is_found(monkeypatch):
    monkeypatch.setattr(frames, "_column", inferring)
    monkeypatch.setattr(listed, "cells", as_text)
    assert changed(as_pandas, [Decimal("1.5")], [Decimal("2.25")])
    assert changed(as_objects, [np.float32(0.1)], [0.1])


def as_text(attribute, column):
    """Listed values as the text of a column's type."""
    found = pc.index_in(column.cast(pa.string()), value_set=pa.array(list(map(str, attribute.values))))
    return np.array(pc.fill_null(found, OUTSIDE), dtype=np.int32)


def test_a_codec_that_goes_by_the_column_s_type_is_found(monkeypatch):
    monkeypatch.setattr(listed, "cells", as_text)
    assert changed(as_arrow, [Decimal("1.5")], [Decimal("2.25")])
    assert changed(as_arrow, [1.5], [None]) == []


@pytest.mark.parametrize("make", [as_pandas, as_objects, as_polars, as_arrow])
def test_one_more_decimal_moves_no_other(make):
    attribute = msgspec.convert({"name": "x", "kind": "categorical", "values": ["1.5"], "other": "else"}, Attribute)
    rows = [Decimal("1.5")] * 1000
    assert coded(make(rows), attribute) == [0] * 1000
    assert coded(make([*rows, Decimal("2.25")]), attribute) == [0] * 1000 + [1]
