"""The code of an attribute's value as one SQL expression, equal to the codec's for every value of the declared type."""

from sqlglot import exp

from dpress.attributes.attribute import Tabular
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.sql.engine_column import Column, whole
from dpress.core.basics.errors import SchemaMismatch

LARGEST_CODE = (1 << 31) - 1


def code_expression(attribute: Tabular, column: Column) -> exp.Expr | None:
    """Return the SQL of an attribute's code: a cell, or DROPPED; OUTSIDE or MISSING where the specification rejects it.

    Whoever finds one of the last two calls `Cells.settled`, which refuses it in words.

    Args:
        attribute: with cells of its own.
        column: its column, as the engine declares it.

    Returns:
        None where the engine cannot code this type as the codec does; then the codec is to read the raw column. That
        depends on the attribute and the declared type alone, never on a row.
    """
    if attribute.size > LARGEST_CODE or column.kind is None:
        return None
    cell = attribute.sql_cell(column, _otherwise(attribute, column))
    if cell is None or column.dialect != "duckdb" or not column.maybe_nan:
        return cell
    return exp.case().when(column.nan, whole(settled(attribute, MISSING)), copy=False).else_(cell, copy=False)


def _otherwise(attribute: Tabular, column: Column) -> exp.Expr:
    """Return the code of a value without a cell of its own."""
    outside, missing = settled(attribute, OUTSIDE), settled(attribute, MISSING)
    if attribute.policies.outside == "clamp" and attribute.scale is not None:
        return whole(missing)
    absent = attribute.sql_missing(column)
    return whole(missing) if outside == missing else exp.case().when(absent, whole(missing)).else_(whole(outside))


def settled(attribute: Tabular, beside: int) -> int:
    """Return the code of what is outside or missing, itself where the specification rejects it; 0 where none is."""
    if beside == OUTSIDE and attribute.scale is not None and attribute.policies.outside == "clamp":
        return 0
    try:
        return attribute.settled(beside)
    except SchemaMismatch:
        return beside


def beside_cells(attribute: Tabular) -> set[int]:
    """Return which codes without a cell a value of the attribute can have: DROPPED, OUTSIDE, MISSING."""
    return {code for code in (settled(attribute, OUTSIDE), settled(attribute, MISSING)) if code < 0}
