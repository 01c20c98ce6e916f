"""Numbers in cells, in SQL: the same IEEE operations as `attributes.attribute` makes, on values that are within bounds.

An integer's cell is a quotient of integers. A number's is the nearest edge's, or the one below it where that edge is
above the number: the nearest edge is found by arithmetic, then compared as NumPy computes it.
"""

import math
from typing import Any

import pyarrow as pa
from sqlglot import exp

from dpress.attributes.arrow import numbers
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.attributes.sql.engine_column import TEXT, Column, number, whole
from dpress.attributes.value import BLANKS

LARGEST = 1 << 63
UNITS = 32  # of the last place that a bin must be wide, so that arithmetic errs by less than half a bin
MOST_EDGES = 256  # that are compared one by one
EXACT_DIGITS = 15  # of a decimal that DuckDB turns into the nearest float without a detour


def is_countable(attribute: Integer | Numeric, column: Column) -> bool:
    """Return whether SQL has a column's numbers as exactly as the codec, which reads or refuses what else there is.

    Of text only DuckDB reads every number that the codec reads, and as the nearest float; a text's exact floor no
    engine has.
    """
    if column.kind == TEXT:
        return column.dialect == "duckdb" and not attribute.whole
    return column.kind is not None and numbers.has_numbers(column.kind)


def number_value(attribute: Integer | Numeric, column: Column) -> exp.Expr:
    """Return the SQL of a column's number: exact for integers, otherwise the nearest 64-bit float.

    Args:
        attribute: for which the column `is_countable`.
        column: as the engine declares it.
    """
    kind: Any = column.kind
    value = column.value
    if pa.types.is_boolean(kind):
        value = exp.cast(value, "int")
    if attribute.whole:
        if pa.types.is_floating(kind):
            return exp.cast(value, "double")
        return exp.Floor(this=value) if pa.types.is_decimal(kind) and kind.scale else value
    if kind == TEXT:
        return _read(value)
    if column.dialect == "duckdb" and pa.types.is_decimal(kind) and kind.precision > EXACT_DIGITS:
        value = exp.cast(value, "text")  # whose cast rounds once
    return value if kind == pa.float64() else exp.cast(value, "double")


def has_none(attribute: Integer | Numeric, column: Column) -> exp.Expr:
    """Return the SQL of whether a value has no number."""
    return number_value(attribute, column).is_(exp.null()) if column.kind == TEXT else column.missing


def _read(value: exp.Expr) -> exp.Expr:
    """Return the number that a text reads as, NULL where it reads as none."""
    readable = exp.Anonymous(this="regexp_full_match", expressions=[value, exp.Literal.string(numbers.READABLE[1:-1])])
    trimmed = exp.Trim(this=value.copy(), expression=exp.Literal.string(BLANKS))
    double = exp.TryCast(this=trimmed, to=exp.DataType.build("double"))
    return exp.case().when(readable, double)


def bounded_cell(attribute: Integer | Numeric, column: Column, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a number.

    Most rows lie within bounds, and take the first branch; one without a number is neither within them nor, as all
    engines order NaN above infinity, below.

    Args:
        attribute: integers, or numbers in bins, for which the column `is_countable`.
        column: as the engine declares it.
        otherwise: the code of what has no number, and of what lies outside the bounds unless values are clamped.

    Returns:
        None where the engine's arithmetic would overflow or round otherwise.
    """
    value = number_value(attribute, column)
    cell = _integer(attribute, value, column) if isinstance(attribute, Integer) else _binned(attribute, value, column)
    if cell is None:
        return None
    low, high = attribute.ends
    if attribute.whole:
        bound = whole(low)
        inside = exp.and_(value >= bound, value < whole(high))
    else:
        bound = number(low)
        inside = exp.and_(value >= bound, value <= number(high))
    branches = exp.case().when(inside, cell, copy=False)
    if attribute.outside == "clamp":
        last = whole(attribute.ordered - 1)
        branches = branches.when(value < bound, whole(0), copy=False)
        branches = branches.when(exp.not_(has_none(attribute, column)), last, copy=False)
    return branches.else_(otherwise, copy=False)


def _integer(attribute: Integer, value: exp.Expr, column: Column) -> exp.Expr | None:
    """Return floor((x - low) cells / span), which is the last cell whose lowest integer is not above x."""
    cells, span = attribute.ordered, attribute.span
    if pa.types.is_floating(column.kind):
        value = exp.Floor(this=value)
    place = exp.cast(value, "bigint") - whole(attribute.bounds[0])
    if span == cells:
        return place
    if span % cells == 0:
        return _quotient(place, span // cells, column)
    return _quotient(place * whole(cells), span, column) if span * cells < LARGEST else None


def _quotient(value: exp.Expr, divisor: int, column: Column) -> exp.Expr:
    """Return a quotient of integers that are not negative, without its fraction."""
    if column.dialect == "postgres":
        return exp.Div(this=exp.paren(value), expression=whole(divisor), typed=True)
    return value // whole(divisor)


def _binned(attribute: Numeric, value: exp.Expr, column: Column) -> exp.Expr | None:
    """Return the bin of a number within bounds.

    An edge is off by less than 5 units of 2^-53 of the larger bound, a quotient by less than 3 of the number of bins:
    together less than half a bin where bins are UNITS units of the last place wide. So the nearest edge by
    arithmetic is the one below the number or the one above it.
    """
    low, high = attribute.ends
    bins, width = attribute.ordered, high - low
    if bins <= MOST_EDGES and (attribute.cuts is not None or column.dialect == "postgres"):
        return _above(value, attribute.edges.tolist()[1:-1], column)
    wide = width / bins >= UNITS * math.ulp(max(abs(low), abs(high)))
    if attribute.cuts is None and wide and math.isfinite(width * bins):
        return _nearest(value, low, width, bins)
    return _above(value, attribute.edges.tolist()[1:-1], column) if bins <= MOST_EDGES else None


def _nearest(value: exp.Expr, low: float, width: float, bins: int) -> exp.Expr:
    """Return the nearest edge's place, less one where that edge, low + width place / bins, is above the number."""
    place = exp.Floor(this=(value - number(low)) / number(width) * number(bins) + number(0.5))
    edge = number(low) + number(width) * exp.cast(place, "double") / number(bins)
    cell = exp.cast(place.copy() - exp.cast(edge > value, "int"), "bigint")
    return exp.Least(this=cell, expressions=[whole(bins - 1)], ignore_nulls=True)


def _above(value: exp.Expr, edges: list[float], column: Column) -> exp.Expr:
    """Return how many of some increasing edges are not above the number."""
    if column.dialect == "postgres" and edges:
        among = exp.cast(exp.Literal.string("{" + ",".join(map(repr, edges)) + "}"), "double[]", dialect="postgres")
        return exp.Anonymous(this="width_bucket", expressions=[value, among])
    return search(value, [number(edge) for edge in edges], 0)


def search(value: exp.Expr, edges: list[exp.Expr], start: int) -> exp.Expr:
    """Return `start` and how many of some increasing edges are not above a value, found by halving."""
    if not edges:
        return whole(start)
    middle = len(edges) // 2
    below = search(value, edges[:middle], start)
    above = search(value, edges[middle + 1 :], start + middle + 1)
    return exp.case().when(value < edges[middle], below, copy=False).else_(above, copy=False)
