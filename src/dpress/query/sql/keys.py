"""What rows are grouped by: a column, a step function of one, the branches of `case`, whether a condition holds."""

from collections.abc import Sequence

from sqlglot import exp

from dpress.query.query_tree import TOTAL, Condition, both
from dpress.query.sql.columns import Columns, cell, cells, labelled_values
from dpress.query.sql.conditions import CONDITIONS, condition, joined, opposite
from dpress.query.sql.expressions import written
from dpress.query.sql.statement import Key, Value
from dpress.query.sql.steps import steps

Pairs = Sequence[tuple[Value, Condition]]


def key_of(columns: Columns, node: exp.Expr, name: str) -> Key:
    """Return what an expression groups rows by.

    Args:
        columns: of the table.
        node: the expression.
        name: of its column in the answer.

    Raises:
        SqlRefusal: nothing can be grouped by it.
    """
    pairs = _pairs(columns, node)
    return Key(
        name=name,
        values=tuple(value for value, _ in pairs),
        conditions=tuple(rows for _, rows in pairs),
        attributes=tuple(dict.fromkeys(columns.of(column).name for column in node.find_all(exp.Column))),
        written=written(node),
    )


def _pairs(columns: Columns, node: exp.Expr) -> Pairs:
    """Return every value of a key with its rows."""
    if isinstance(node, exp.Paren):
        return _pairs(columns, node.this)
    if isinstance(node, exp.Column):
        column = columns.of(node)
        return [(value, cell(column, label)) for value, label in labelled_values(column)]
    if isinstance(node, exp.Case):
        return _branches(columns, node)
    if isinstance(node, CONDITIONS):
        holds, fails = condition(columns, node), condition(columns, node, holds=False)
        rest: Pairs = [(None, opposite(joined("or", [holds, fails])))] if _may_miss(columns, node) else []
        return [(True, holds), (False, fails), *rest]
    made = steps(columns, node)
    return [(value, cells(made.column, labels)) for value, labels in made.labels.items()]


def _may_miss(columns: Columns, node: exp.Expr) -> bool:
    """Say whether a condition may be neither true nor false."""
    return any(columns.of(column).missing_cell is not None for column in node.find_all(exp.Column))


def _branches(columns: Columns, node: exp.Case) -> Pairs:
    """Return the rows of every branch: those of its condition that are in no earlier one."""
    pairs: dict[Value, list[Condition]] = {}
    before: list[Condition] = []
    for branch in node.args["ifs"]:
        test = exp.EQ(this=node.this, expression=branch.this) if node.this is not None else branch.this
        rows = condition(columns, test)
        pairs.setdefault(_constant(columns, branch.args["true"]), []).append(_without(rows, before))
        before.append(rows)
    rest = node.args.get("default")
    pairs.setdefault(None if rest is None else _constant(columns, rest), []).append(_without(TOTAL, before))
    return [(value, joined("or", rows)) for value, rows in pairs.items()]


def _without(rows: Condition, before: Sequence[Condition]) -> Condition:
    """Return those of some rows that are in no earlier branch."""
    return both(opposite(joined("or", before)), rows) if before else rows


def _constant(columns: Columns, node: exp.Expr) -> Value:
    """Return the value of a branch: a text, a number, true, false or null."""
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else float(node.this) if "." in node.this else int(node.this)
    raise columns.refused("a branch of `case` needs a text or a number behind `then` and `else`", node)
