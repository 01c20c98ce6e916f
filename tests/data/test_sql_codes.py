"""Codes by SQL are the codec's, value for value, in three engines; what cannot be is left to the codec."""

import math

import msgspec
import numpy as np
import pytest
from nasty_values import ATTRIBUTES
from sql_engines import differing
from sqlglot import exp

from dpress.attributes.attribute import Attribute
from dpress.attributes.listed import sql as listed_code
from dpress.attributes.numbers import sql as bin_code
from dpress.attributes.sql.engine_column import Column
from dpress.data.sql.code_expression import code_expression


def attribute(**plain):
    return msgspec.convert({"name": "x", **plain}, Attribute)


OWN = {
    **ATTRIBUTES,
    "bins": attribute(kind="integer", bounds=[-4, 20], bins=7, null="drop", outside="drop"),
    "halves": attribute(kind="integer", bounds=[-5, 20], bins=13),
    "thousands": attribute(kind="integer", bounds=[-(2**40), 2**40], bins=1000, outside="reject", null="none"),
    "tenths": attribute(kind="numeric", bounds=[0.0, 1.0], bins=10),
    "fifty": attribute(kind="numeric", bounds=[-3.0, 1000.0], bins=50, outside="reject", null="drop"),
    "many": attribute(kind="numeric", bounds=[-3.0, 1000.0], bins=5000, outside="drop", null="none"),
    "narrow": attribute(kind="numeric", bounds=[0.1, 0.1 + 5 * math.ulp(0.1)], bins=5, null="none"),
    "refused": attribute(kind="categorical", values=["a", "1", "é", "e\u0301", "it's", "back\\slash", "a b "]),
    "dropped": attribute(kind="categorical", values=["true", "18", "2020-01-01"], other="drop", null="none"),
    "marked": attribute(kind="categorical", values=[True, False], other="drop"),
}
INTEGERS = ["0", "1", "-1", "-3", "-4", "-5", "17", "18", "20", "21", "100", "7000", str(2**31 - 1), str(-(2**31)),
            str(2**53 - 1), str(2**53), str(2**53 + 1), str(-(2**53) - 1), str(2**40), str(2**63 - 1), str(-(2**63)),
            str(2**64 - 1), str(2**127 - 1), str(-(2**127))]  # fmt: skip
EDGES = [0.0, 1.0, 0.1, 0.2, 0.3, 0.6, 0.7, 1.5, 2.25, 18.0, 20.0, 21.0, -4.0, -5.0, -3.0, 17.06, 979.94, 1000.0, 1e18]
NEAR = [own for edge in EDGES for own in (edge, np.nextafter(edge, -np.inf), np.nextafter(edge, np.inf))]
FLOATS = [*map(repr, map(float, NEAR)), "NaN", "Infinity", "-Infinity", "-0.0", "5e-324", "-5e-324", "1e300",
          "-1e300", "2.2250738585072014e-308", str(2**53 + 2), str(2**53), "7000",
          "0.10000000149011612"]  # fmt: skip
SINGLE = [one for one in FLOATS if not 0 < abs(float(one)) < 1e-30 and abs(float(one)) != 1e300]
DECIMALS = ["0", "1.5", "1.50", "2.25", "0.1", "-3", "-3.01", "-0.01", "17.99", "18", "20.99", "21", "7000",
            "99999999.99", "-99999999.99", "0.30", "0.29"]  # fmt: skip
LONG = [*DECIMALS, "0.10000000149011612", "17.99999999999999999999", "0.29999999999999998890", "90071992547409.93"]
TEXTS = ["a", "A", "á", "a ", "a  ", "b", "", " ", "é", "e\u0301", "É", "1", "1.5", "1.50", "1.5 ", "007", "true",
         "TRUE", " False ", "tru", "\u212aey", "it's", "back\\slash", "a b ", "a b", "1e3", "1.0E3", " 2.25\t", ".5",
         "5.", "+1", "1e999", "-1e-999", "1e99999999999999999999", "1_8", "0x10", "nan", "inf", "18\n", "18\x0b",
         "0.30000000000000000000001", "2020-01-01", "-3", "\n", "0.1"]  # fmt: skip
DAYS = ["2020-01-01", "2020-01-02", "0001-01-01", "9999-12-31", "1969-12-31"]
TIMES = ["2020-01-01 00:00:00", "2020-01-01 12:00:00", "2020-01-01 12:00:00.5", "2020-01-01 12:00:00.500001",
         "2020-10-25 02:30:00", "1582-10-10 00:00:00"]  # fmt: skip
INSTANTS = ["2020-01-01 12:00:00+00:00", "2020-01-01 13:00:00+01:00", "2020-01-01 12:00:00.5+00:00",
            "2020-10-25 00:30:00+00:00", "2020-10-25 01:30:00+00:00"]  # fmt: skip
TRUTHS = ["true", "false"]
CASES = {
    "duckdb": [("BIGINT", INTEGERS), ("UTINYINT", INTEGERS), ("UBIGINT", INTEGERS), ("HUGEINT", INTEGERS),
               ("SMALLINT", INTEGERS), ("DOUBLE", FLOATS), ("FLOAT", FLOATS),
               ("DECIMAL(10,2)", DECIMALS), ("DECIMAL(38,20)", LONG), ("DECIMAL(18,0)", INTEGERS), ("BOOLEAN", TRUTHS),
               ("VARCHAR", [*TEXTS, "a\0", "\0"]), ("DATE", DAYS), ("TIMESTAMP", TIMES), ("TIMESTAMP_NS", TIMES[:-1]),
               ("TIMESTAMP_S", TIMES), ("TIMESTAMP_MS", TIMES), ("TIMESTAMP WITH TIME ZONE", INSTANTS),
               ("ENUM('a', 'A', '1', 'true')", ["a", "A", "1", "true"]),
               ("UUID", ["00000000-0000-0000-0000-000000000001"])],
    "postgres": [("bigint", INTEGERS), ("smallint", INTEGERS), ("integer", INTEGERS), ("double precision", FLOATS),
                 ("real", SINGLE), ("numeric(10,2)", [*DECIMALS, "NaN"]), ("numeric(38,20)", [*LONG, "NaN"]),
                 ("numeric(45)", INTEGERS), ("boolean", TRUTHS), ("text", TEXTS), ("character(5)", TEXTS),
                 ("character varying(30)", TEXTS), ("date", DAYS), ("timestamp", TIMES), ("timestamp(0)", TIMES),
                 ("timestamptz", INSTANTS), ("uuid", ["00000000-0000-0000-0000-000000000001"])],
    "spark": [("bigint", INTEGERS), ("tinyint", INTEGERS), ("int", INTEGERS), ("double", FLOATS), ("float", FLOATS),
              ("decimal(10,2)", DECIMALS), ("decimal(38,20)", LONG), ("decimal(38,0)", INTEGERS), ("boolean", TRUTHS),
              ("string", [*TEXTS, "a\0"]), ("date", DAYS), ("timestamp_ntz", TIMES), ("timestamp", INSTANTS)],
}  # fmt: skip
BITS = {"tinyint": 8, "utinyint": -8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64, "ubigint": -64,
        "hugeint": 128, "decimal(18,0)": 56, "decimal(38,0)": 120, "numeric(45)": 140}  # fmt: skip
NO_NUMBERS = {"integers", "integer", "wide", "strict", "bins", "halves", "thousands"}  # exact floors of texts
LEFT = {"wide"}  # whose products would overflow
CODES = {"codes", "places"}  # whole numbers and texts


def held(texts, declared):
    """Return the texts that a type holds: whole numbers within its bits."""
    bits = BITS.get(declared.lower())
    if bits is None:
        return [*texts, None]
    low, high = (0, 2**-bits) if bits < 0 else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return [*(one for one in texts if low <= int(one) < high), None]


def left_to_codec(declared):
    if declared.lower().startswith(("date", "timestamp")):
        return set(OWN) - {"texts", "refused", "dropped"}
    if declared in ("VARCHAR", "UUID") or declared.startswith("ENUM"):
        return NO_NUMBERS
    if any(declared.startswith(one) for one in ("text", "character", "string", "uuid")):
        return NO_NUMBERS | {"numeric", "tenths", "fifty", "many", "narrow"}
    fractions = any(part in declared.lower() for part in ("double", "float", "real", ",2)", ",20)", "boolean"))
    return LEFT | (CODES if fractions else set())


def check(engine, declared, texts):
    relation = engine.table(held(texts, declared), declared)
    wrong, left = differing(engine, relation, OWN)
    assert wrong == []
    assert left - LEFT == left_to_codec(declared) - LEFT


@pytest.mark.parametrize(("declared", "texts"), CASES["duckdb"], ids=[one for one, _ in CASES["duckdb"]])
def test_duckdb_codes_as_the_codec_does(duck, declared, texts):
    check(duck, declared, texts)


@pytest.mark.slow
@pytest.mark.parametrize(("declared", "texts"), CASES["postgres"], ids=[one for one, _ in CASES["postgres"]])
def test_postgres_codes_as_the_codec_does(postgres, declared, texts):
    check(postgres, declared, texts)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of Spark's own
@pytest.mark.parametrize(("declared", "texts"), CASES["spark"], ids=[one for one, _ in CASES["spark"]])
def test_spark_codes_as_the_codec_does(spark, declared, texts):
    check(spark, declared, texts)


def texts_differ(engine, declared, collation):
    relation = engine.table([*TEXTS, None], declared, collation)
    return differing(engine, relation, OWN)[0]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT", "DE"])
def test_duckdb_compares_by_bytes_under_any_collation(duck, collation):
    assert texts_differ(duck, "VARCHAR", f"COLLATE {collation}") == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_spark_compares_by_bytes_under_any_collation(spark, monkeypatch):
    if spark.session.version < "4.1":
        pytest.skip("Spark 4.1 was the first to have these collations")
    assert texts_differ(spark, "string", " COLLATE UTF8_LCASE") == []
    assert texts_differ(spark, "string", " COLLATE UNICODE_CI_RTRIM") == []
    monkeypatch.setattr(Column, "value", Column.raw)
    assert texts_differ(spark, "string", " COLLATE UTF8_LCASE")


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 10, 49, 1000, 65537])
@pytest.mark.parametrize("low", [0.0, 0.1, -1.0, 1 / 3, 1e15, -1e300, 1e-300, 5e-324])
def test_edges_and_their_neighbours_have_their_bins(duck, low, bins):
    for width in (1.0, 1e-3, 1 / 3, 1e5, 2.5e300, 1e-290):
        high = low + width
        try:
            own = attribute(kind="numeric", bounds=[low, high], bins=bins, null="none")
        except msgspec.ValidationError:  # bins as narrow as floats are
            continue
        edges = own.edges_at(np.unique(np.linspace(0, bins, 60).astype(np.int64)))
        near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
        relation = duck.table([*map(repr, near.tolist()), None], "DOUBLE")
        wrong, left = differing(duck, relation, {"own": own})
        assert wrong == []
        assert not left or bins > bin_code.MOST_EDGES


def test_a_wrong_comparison_is_found(duck, monkeypatch):
    relation = duck.table(held(FLOATS, "DOUBLE"), "DOUBLE")
    right = bin_code._nearest

    def inclusive(*arguments):
        return right(*arguments).transform(
            lambda node: exp.GTE(this=node.this, expression=node.expression) if isinstance(node, exp.GT) else node
        )

    def unchecked(value, low, width, bins):
        return exp.cast(exp.Floor(this=(value - bin_code.number(low)) / bin_code.number(width / bins)), "bigint")

    for planted in (inclusive, unchecked):
        monkeypatch.setattr(bin_code, "_nearest", planted)
        assert differing(duck, relation, {"tenths": OWN["tenths"]})[0]


@pytest.mark.parametrize("null", ["reject", "drop", None])
def test_what_is_no_name_yet_has_the_only_cell(duck, null):
    stated = {} if null is None else {"null": null}
    names = {"unlisted": attribute(kind="categorical", values="discover", other="else", **stated)}
    for declared, texts in (("VARCHAR", ["a", None, ""]), ("INTEGER", ["7", None]), ("BOOLEAN", ["true", None])):
        assert differing(duck, duck.table(texts, declared), names) == ([], set())
    assert differing(duck, duck.table(["1.5", None], "DOUBLE"), names) == ([], {"unlisted"})


def test_nan_that_is_not_missing_is_found(duck, monkeypatch):
    relation = duck.table(held(FLOATS, "DOUBLE"), "DOUBLE")
    monkeypatch.setattr(Column, "nan", property(lambda _: exp.false()))
    assert {name for name, *_ in differing(duck, relation, OWN)[0]} >= {"integer", "numeric", "texts"}


def test_a_comparison_under_the_column_s_collation_is_found(duck, monkeypatch):
    def alike(value, pairs, otherwise):
        return listed_code._cases(value, [(exp.Literal.string(own), code) for own, code in pairs], otherwise)

    monkeypatch.setattr(listed_code, "_among_names", alike)
    assert texts_differ(duck, "VARCHAR", "") == []
    assert texts_differ(duck, "VARCHAR", "COLLATE NOCASE")


@pytest.mark.parametrize("declared", ["UHUGEINT", "BLOB", "INTERVAL", "INTEGER[]", "STRUCT(a INTEGER)", "TIME", "BIT"])
def test_other_types_are_left_to_the_codec(declared):
    column = Column("x", declared, "duckdb")
    assert all(code_expression(own, column) is None for own in OWN.values())
