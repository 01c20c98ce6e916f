"""Dates in cells, in SQL: a column is compared with the edges of the cells, as values of its own type.

Days of a calendar without a zone, and instants on the clocks of UTC. On other clocks an hour that comes twice would
have to be found, which the codec does.
"""

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dpress.attributes.dates.attribute import Date
from dpress.attributes.dates.calendar_cells import DAY
from dpress.attributes.numbers.sql import MOST_EDGES, search
from dpress.attributes.sql.engine_column import Column, whole


def is_dated(attribute: Date, column: Column) -> bool:
    """Return whether SQL compares a column's values with dates as the codec does, which reads or refuses the rest."""
    kind = column.kind
    if attribute.cyclic or kind is None or not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return False
    if attribute.cells == "hour" and pa.types.is_date(kind):  # whose edges are no dates
        return False
    return getattr(kind, "tz", None) is None or attribute.clocks == "UTC"


def dated_cell(attribute: Date, column: Column, otherwise: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a date.

    Args:
        attribute: with bounds, for which the column `is_dated`.
        column: as the engine declares it.
        otherwise: the code of what is missing, and of what lies outside the bounds unless dates are clamped.

    Returns:
        None where there are too many cells to compare with.
    """
    first, last = (_constant(column, hour) for hour in attribute.ends)
    if (cell := _cell(attribute, column, first)) is None:
        return None
    branches = exp.case().when(exp.and_(column.value >= first, column.value < last), cell)
    if attribute.outside == "clamp":  # an infinite date is missing, so that is asked before
        branches = branches.when(column.missing, otherwise.copy()).when(column.value < first, whole(0))
        return branches.else_(whole(attribute.ordered - 1))
    return branches.else_(otherwise)


def _cell(attribute: Date, column: Column, first: exp.Expr) -> exp.Expr | None:
    """Return the SQL of the cell of a date within bounds."""
    if attribute.ordered <= MOST_EDGES:
        return search(column.value, [_constant(column, hour) for hour in attribute.edges.tolist()[1:-1]], 0)
    if attribute.cells != "day" or not pa.types.is_date(column.kind):
        return None
    if column.dialect == "spark":
        return exp.Anonymous(this="datediff", expressions=[column.value, first])
    return exp.paren(column.value - first)


def _constant(column: Column, hour: int) -> exp.Expr:
    """Return the column's value that begins with an hour; both lie within the years that engines write."""
    days = pa.types.is_date(column.kind)
    written = column.written(np.datetime64(hour // DAY, "D") if days else np.datetime64(hour * 3600, "s"))
    if written is None:
        raise ValueError("an edge beyond the years 1 to 9999")
    return column.constant(written)
