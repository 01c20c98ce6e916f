"""Values that libraries infer types from, attributes that tell them apart, and the codes of a table."""

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pandas as pd
import polars as pl

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import codec
from dpress.data.table import Table

BERLIN, YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NUMBERS = ["0", "1", "1.50", "2.25", "0.1", "-3", "7000", "18", "100000000000000000", "0.10000000149011612", "1.0E3"]
TIMES = ["2020-01-01", "2020-01-01 12:00:00", "2020-01-01 12:00:00.5", "2020-01-01 12:00:00Z", "12:30:00"]
TEXTS = [*NUMBERS, *TIMES, "a", "true", "false", "007", "1.5 ", "", "é"]
SPECS = {
    "texts": {"kind": "categorical", "values": TEXTS, "other": "else", "null": "none"},
    "integers": {"kind": "ordinal", "values": [0, 1, -3, 7000, 18, 2**53], "other": "else", "null": "none"},
    "truths": {"kind": "categorical", "values": [False, True], "other": "else", "null": "none"},
    "integer": {"kind": "integer", "bounds": [-4, 20], "null": "none"},
    "wide": {"kind": "integer", "bounds": [-(2**53) + 1, 2**53 - 1], "bins": 1000, "null": "none"},
    "numeric": {"kind": "numeric", "edges": [-5.0, 0.1, 0.3, 1.5, 2.25, 18.0, 1e18], "null": "none"},
    "strict": {"kind": "integer", "bounds": [0, 5], "null": "drop", "outside": "drop"},
    "codes": {"kind": "hierarchy", "levels": ["head", "code"], "prefix": [1, 4], "level": "head",
              "values": ["1", "18", "a", "7000", "007", "true", "1.5", "é", "-3", "it's"], "other": "else",
              "null": "none"},
    "places": {"kind": "hierarchy", "levels": ["head", "code"], "prefix": [1, 3], "values": ["007", "018", "101"],
               "other": "else", "null": "drop"},
}  # fmt: skip
ATTRIBUTES = {
    name: msgspec.convert({"name": "x", **plain}, Attribute).with_files(Path()) for name, plain in SPECS.items()
}
NASTY = [
    None, float("nan"), Decimal("NaN"), pd.NA, pd.NaT, True, False, np.True_,
    0, 1, -3, 18, 7000, 10**15, 10**17, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30,
    np.int8(1), np.uint64(2**64 - 1), np.int64(18),
    0.0, -0.0, 1.0, 1.5, 0.1, 0.3, 2.25, 17.999999999999996, 1e17, 1e300, 5e-324, -1e-300, float("inf"), float("-inf"),
    np.float16(0.1), np.float32(0.1), np.float32(1.5), np.float64(0.1), 1 + 0j, 2j,
    Decimal("1.5"), Decimal("1.50"), Decimal("2.25"), Decimal("0.1"), Decimal("0.10000000149011612"), Decimal(18),
    Decimal("1E+3"), Decimal("17.99999999999999999999999"), Decimal("-0.00"), Decimal("1E-40"), Decimal("Infinity"),
    "a", "A", "", " ", "1", "1.5", "1.50", "1.5 ", "01", "007", "+1",
    "1e3", "1e999", "-1e-999", "1e99999999999999999999",
    "17.99999999999999999999999", "9007199254740993", "9007199254740992", "18.0000000000000000", "0x10", "1_8", "nan",
    "inf", "TRUE", "true", " False ", "é", "\ud800", "2020-01-01", "٣", "1\n", "1\x0b", "\xa01",
    dt.date(2020, 1, 1), dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12),
    dt.datetime(2020, 1, 1, 12, 0, 0, 500_000),
    dt.datetime(2020, 1, 1, 13, tzinfo=BERLIN), dt.datetime(2020, 1, 1, 7, tzinfo=YORK), dt.datetime(1, 1, 1),
    dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC), pd.Timestamp("2020-01-01 12:00:00.000000001"),
    np.datetime64("2020-01-01"), np.datetime64("2020-01-01T12", "ms"), np.datetime64("NaT", "s"),
    dt.time(12, 30), dt.timedelta(1), np.timedelta64(1, "s"),
    b"a", b"\xff", b"1", [1], {"a": 1}, (1, 2), uuid.UUID(int=1), object(),
]  # fmt: skip


def coded(data, attribute):
    """Return the codes of a table in the order of its rows; the declared type's refusal as text."""
    try:
        parts = [codec.encode(Schema((attribute,)), batch) for batch in Table(data, ("x",), ROW).batches()]
    except SchemaMismatch as error:
        if "of type" not in str(error):
            raise
        return "refused"
    return np.concatenate(parts, axis=1)[0].tolist()


def as_objects(values):
    return pd.DataFrame({"x": pd.Series(values, dtype=object)})


def as_polars(values):
    return pl.DataFrame({"x": pl.Series(values)})
