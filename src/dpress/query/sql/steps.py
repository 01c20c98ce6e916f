"""Step functions of a column: `age // 10 * 10`, `floor(cost / 100)`, `date_trunc('month', visited)`, `year(visited)`.

expression of one column -> its value in every cell, which must be one -> the cells of every value.
"""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.query.sql.columns import Columns
from dpress.query.sql.expressions import constant, shown

Step = int | float | str | dt.date | dt.datetime
LEVEL = "level"
Numbers = npt.NDArray[Any]
MOST = 1 << 22  # numbers that a function is evaluated at
TRUNCATED = {"YEAR": "Y", "MONTH": "M", "DAY": "D", "HOUR": "h"}
PARTS: Mapping[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Month: "MONTH",
    exp.Quarter: "QUARTER",
    exp.Day: "DAY",
    exp.Hour: "HOUR",
}
ALONE: Mapping[type[exp.Expr], Callable[[Numbers], Numbers]] = {
    exp.Paren: lambda numbers: numbers,
    exp.Neg: np.negative,
    exp.Floor: np.floor,
    exp.Ceil: np.ceil,
}
ARITHMETIC: Mapping[type[exp.Expr], Callable[[Numbers, Numbers], Numbers]] = {
    exp.Add: np.add,
    exp.Sub: np.subtract,
    exp.Mul: np.multiply,
    exp.Div: np.true_divide,
    exp.IntDiv: lambda left, right: np.trunc(np.true_divide(left, right)),
    exp.Mod: np.fmod,
}
DIVISIONS = (exp.Div, exp.IntDiv, exp.Mod)
FORMS = (
    "column // 10 * 10, floor(column / 10), column % 10, date_trunc('month', column), extract(year from column) or "
    "level(column, 1)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A function of a column that has one value in every cell.

    Args:
        column: whose function it is.
        labels: the cells of every value, in the order of the cells; of None those without a number.
    """

    column: Tabular
    labels: Mapping[Step | None, tuple[str, ...]]


def steps(columns: Columns, node: exp.Expr) -> Steps:
    """Return a function of a column by its values.

    Raises:
        SqlRefusal: it is none of a form that is understood, or has several values in a cell.
    """
    if isinstance(node, exp.Anonymous) and node.name.lower() == LEVEL:
        return _level(columns, node)
    used = list(node.find_all(exp.Column))
    if not used or any(columns.of(column) != columns.of(used[0]) for column in used):
        raise columns.refused(f"expected a function of one column, such as {FORMS}", node)
    column = columns.of(used[0])
    if column.line is None:
        raise columns.refused(f"{column.name} has no numbers or dates in order: group by the column itself", node)
    values = _values(columns, node, column, column.line, single=len(used) == 1)
    labels: dict[Step | None, list[str]] = {}
    for value, label in zip(values, column.labels_between(0, column.ordered), strict=True):
        labels.setdefault(value, []).append(label)
    if column.size > column.ordered:
        labels[None] = column.labels_between(column.ordered, column.size)
    return Steps(column=column, labels={value: tuple(names) for value, names in labels.items()})


def _level(columns: Columns, node: exp.Anonymous) -> Steps:
    """Return the groups of a level of a column's hierarchy, `level(ward, 1)`, counted from the values up."""
    parts = [*node.expressions, exp.Null(), exp.Null()]
    column, level = columns.of(parts[0]), constant(parts[1])
    rows = column.levels_of_groups
    highest = len(rows[0]) - 1 if rows else 0
    if level is None or level not in range(1, highest + 1):
        has = f"{column.name} has levels 1 to {highest}" if highest else f"{column.name} has no hierarchy"
        raise columns.refused(f"{has}; write level(column, 1)", node)
    group = {row[0]: row[int(level)] for row in rows}
    labels: dict[Step | None, list[str]] = {}
    for label in column.labels_between(0, column.size):
        labels.setdefault(group.get(label), []).append(label)
    return Steps(column=column, labels={value: tuple(names) for value, names in labels.items()})


def _values(columns: Columns, node: exp.Expr, column: Tabular, line: ByEdges, *, single: bool) -> list[Step]:
    """Return the value of a function in every cell."""
    edges = np.asarray(line.edges_at(np.arange(column.ordered + 1)))
    if column.calendar is not None or column.whole:
        if int(edges[-1] - edges[0]) > MOST:
            raise columns.refused(f"{column.name} has too many numbers for a function: at most {MOST:,}", node)
        points = np.arange(edges[0], edges[-1])
        starts = (edges[:-1] - edges[0]).astype(np.int64)
    else:
        if not single or node.find(exp.Mod) is not None:
            raise columns.refused(
                f"expected a rising function of {column.name}, such as floor({column.name} / 10)", node
            )
        points = np.stack([edges[:-1], np.nextafter(edges[1:], edges[:-1])], axis=1).ravel()
        starts = np.arange(0, points.size, 2)
    if column.calendar is not None:
        points = points.astype("datetime64[h]")
    values = _evaluated(columns, node, points)
    least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    if (cut := np.flatnonzero(least != most)).size:
        label = column.labels_between(int(cut[0]), int(cut[0]) + 1)[0]
        raise columns.refused(f"{shown(node)} has several values in the cell {label} of {column.name}", node)
    return [_plain(value) for value in least]


def _evaluated(columns: Columns, node: exp.Expr, points: Numbers) -> Numbers:
    """Return a function of the numbers, or the hours, of a column."""
    made: Numbers | None = None
    if isinstance(node, exp.Column):
        made = points
    elif isinstance(node, exp.Literal) and not node.is_string:
        made = np.asarray(float(node.this) if set(node.this) & set(".eE") else int(node.this))
    elif type(node) in ALONE:
        made = np.asarray(ALONE[type(node)](_evaluated(columns, node.this, points)))
    elif type(node) in ARITHMETIC:
        made = _arithmetic(columns, node, points)
    elif points.dtype.kind == "M":
        made = _of_dates(columns, node, points)
    if made is None:
        raise columns.refused(f"cannot read {shown(node)} as a function of a column; write {FORMS}", node)
    return made


def _arithmetic(columns: Columns, node: exp.Expr, points: Numbers) -> Numbers:
    if isinstance(node, exp.Div) and node.find_ancestor(exp.Floor, exp.Ceil) is None:
        whole = f"{node.this.sql(dialect='duckdb')} // {node.expression.sql(dialect='duckdb')}"
        raise columns.refused(
            f"whether `/` leaves a rest differs between databases: write {whole} or floor(a / b)", node
        )
    left, right = (_evaluated(columns, part, points) for part in (node.this, node.expression))
    if "M" in left.dtype.kind + right.dtype.kind:
        raise columns.refused(
            "dates are no numbers: write date_trunc('month', column) or extract(year from column)", node
        )
    if isinstance(node, DIVISIONS) and not np.all(right):
        raise columns.refused("division by zero", node)
    return np.asarray(ARITHMETIC[type(node)](left, right))


def _of_dates(columns: Columns, node: exp.Expr, points: Numbers) -> Numbers | None:
    """Return the period of every hour, or a part of its date; None for other functions."""
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return _truncated(columns, node, _evaluated(columns, node.this, points), _unit(node.args.get("unit")))
    if isinstance(node, exp.Extract):
        return _part(columns, node, _evaluated(columns, node.expression, points), _unit(node.this))
    if type(node) in PARTS:
        return _part(columns, node, _evaluated(columns, node.this, points), PARTS[type(node)])
    return None


def _unit(node: Any) -> str:
    return str(getattr(node, "name", "")).upper()


def _truncated(columns: Columns, node: exp.Expr, hours: Numbers, unit: str) -> Numbers:
    """Return the beginning of the period in which every hour lies."""
    if unit in TRUNCATED:
        return hours.astype(f"datetime64[{TRUNCATED[unit]}]").astype(
            "datetime64[h]" if unit == "HOUR" else "datetime64[D]"
        )
    if unit == "QUARTER":
        months = hours.astype("datetime64[M]").astype(np.int64)
        return (months - months % 3).astype("datetime64[M]").astype("datetime64[D]")
    if unit == "WEEK":
        days = hours.astype("datetime64[D]").astype(np.int64)
        return (days - (days + 3) % 7).astype("datetime64[D]")  # 1970-01-01 was a Thursday
    raise columns.refused("date_trunc knows 'hour', 'day', 'week', 'month', 'quarter' and 'year'", node)


def _part(columns: Columns, node: exp.Expr, hours: Numbers, unit: str) -> Numbers:
    """Return a number of every date."""
    months, days = hours.astype("datetime64[M]").astype(np.int64), hours.astype("datetime64[D]").astype(np.int64)
    parts = {
        "YEAR": months // 12 + 1970,
        "QUARTER": months % 12 // 3 + 1,
        "MONTH": months % 12 + 1,
        "DAY": (hours.astype("datetime64[D]") - hours.astype("datetime64[M]")).astype(np.int64) + 1,
        "DOW": (days + 4) % 7,
        "ISODOW": (days + 3) % 7 + 1,
        "HOUR": hours.astype(np.int64) % 24,
    }
    if unit not in parts:
        raise columns.refused(f"extract knows {', '.join(name.lower() for name in parts)}", node)
    return np.asarray(parts[unit])


def _plain(value: Any) -> Step:
    """Return a number or a date as Python has it; whole numbers of a rounding as such."""
    plain = value.item()
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def read_like(value: Step, text: str) -> Step:
    """Return the value that a text names, of the kind of another; `ValueError` where it names none."""
    if isinstance(value, int | float | str):
        return type(value)(text)
    return dt.datetime.fromisoformat(text) if isinstance(value, dt.datetime) else dt.date.fromisoformat(text)
