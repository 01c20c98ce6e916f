"""Conditions in SQL: `where`, `filter` and the branches of `case` -> `query_tree.Condition`.

As in SQL a comparison with null is neither true nor false: a condition is made into the rows of which it is true, and
its negation into those of which it is false; a missing value is in neither.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from dpress.query.query_tree import TOTAL, Condition, Word, both
from dpress.query.sql import steps
from dpress.query.sql.columns import Columns, cells, missing
from dpress.query.sql.expressions import bare, literal, shown

COMPARED: Mapping[type[exp.Expr], Word] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
CONDITIONS = (*COMPARED, exp.Not, exp.And, exp.Or, exp.Between, exp.In, exp.Is, exp.Like, exp.ILike)
TURNED: Mapping[Word, Word] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
NOTHING = Condition(word="not", parts=(TOTAL,))


def condition(columns: Columns, node: exp.Expr, *, holds: bool = True) -> Condition:
    """Return the rows of which a condition is true, or of which it is false.

    Args:
        columns: of the table.
        node: the condition.
        holds: whether it is to be true.

    Raises:
        SqlRefusal: it is none, or of a form that has no answer; the message says what has.
    """
    if isinstance(node, exp.Paren):
        return condition(columns, node.this, holds=holds)
    if isinstance(node, exp.Not):
        return condition(columns, node.this, holds=not holds)
    if isinstance(node, exp.And | exp.Or):
        word: Word = "and" if isinstance(node, exp.And) == holds else "or"
        return joined(word, [condition(columns, part, holds=holds) for part in (node.this, node.expression)])
    if isinstance(node, exp.Boolean):
        return TOTAL if bool(node.this) == holds else NOTHING
    for kind, reader in READERS.items():
        if isinstance(node, kind):
            return reader(columns, node, holds=holds != bool(node.args.get("negate")))
    raise columns.refused(
        f"cannot read {shown(node)} as a condition; compare a column with values: =, <, in, between, "
        "like, is null, joined by and, or, not",
        node,
    )


def joined(word: Word, parts: Sequence[Condition]) -> Condition:
    """Return conditions joined by a word, those of the same word as one."""
    flat = [each for part in parts for each in (part.parts if part.word == word else (part,))]
    return flat[0] if len(flat) == 1 else Condition(word=word, parts=tuple(flat))


def opposite(rows: Condition) -> Condition:
    """Return all other rows, those of missing values among them."""
    return rows.parts[0] if rows.word == "not" else Condition(word="not", parts=(rows,))


def _compared(columns: Columns, node: exp.Expr, *, holds: bool) -> Condition:
    """Return the rows of a comparison of a column, or of a step function of one, with a value."""
    left, right, word = bare(node.this), bare(node.expression), COMPARED[type(node)]
    if literal(left) is not None:
        left, right, word = right, left, TURNED.get(word, word)
    value = literal(right)
    if value is None:
        raise columns.refused("a column is compared with a value, not with another column", node)
    if isinstance(left, exp.Column):
        return _test(columns, left, word, value, holds=holds)
    return _where_steps(columns, left, lambda step: _holds(step, word, value) == holds)


def _test(columns: Columns, column: exp.Column, word: Word, *values: str, holds: bool) -> Condition:
    """Return the rows of which a test of a column is true, or false; those that miss the column are in neither."""
    attribute, written = columns.of(column), ", ".join(values)
    if word == "!=":
        word, holds = "=", not holds
    test = Condition(word=word, attribute=attribute.name, level=attribute.level, values=values, written=written)
    return test if holds else _present(columns, column, opposite(test))


def _present(columns: Columns, column: exp.Column, rows: Condition) -> Condition:
    """Return those of some rows in which a column is not missing."""
    absent = missing(columns.of(column))
    return rows if absent is None else both(opposite(absent), rows)


def _truth(columns: Columns, node: exp.Column, *, holds: bool) -> Condition:
    """Return the rows in which a column of true and false is true."""
    attribute = columns.of(node)
    if attribute.listing is None or not {"true", "false"} <= {*attribute.labels_between(0, attribute.size)}:
        raise columns.refused(f"{attribute.name} is not true or false; compare it with values", node)
    return _test(columns, node, "=", "true", holds=holds)


def _between(columns: Columns, node: exp.Expr, *, holds: bool) -> Condition:
    low, high = literal(bare(node.args["low"])), literal(bare(node.args["high"]))
    if low is None or high is None:
        raise columns.refused("`between` needs two values", node)
    inner = bare(node.this)
    if not isinstance(inner, exp.Column):
        return _where_steps(
            columns, inner, lambda step: (_holds(step, ">=", low) and _holds(step, "<=", high)) == holds
        )
    return _test(columns, inner, "between", low, high, holds=holds)


def _listed(columns: Columns, node: exp.Expr, *, holds: bool) -> Condition:
    values = [literal(bare(value)) for value in node.expressions]
    listed = [value for value in values if value is not None]
    if not listed or len(listed) < len(values):
        raise columns.refused("`in` needs a list of values, such as in ('a', 'b')", node)
    inner = bare(node.this)
    if not isinstance(inner, exp.Column):
        return _where_steps(columns, inner, lambda step: any(_holds(step, "=", value) for value in listed) == holds)
    return _test(columns, inner, "in", *listed, holds=holds)


def _null(columns: Columns, node: exp.Expr, *, holds: bool) -> Condition:
    if isinstance(node.expression, exp.Boolean):
        return condition(columns, node.this, holds=bool(node.expression.this) == holds)
    attribute = columns.of(bare(node.this))
    if not isinstance(node.expression, exp.Null):
        raise columns.refused("`is` stands before null, true or false", node)
    absent = missing(attribute)
    if absent is None and attribute.policies.null in attribute.extra:
        raise columns.refused(f"missing values of {attribute.name} share a cell with others: nothing tells them", node)
    if absent is None:  # they have no rows
        return NOTHING if holds else TOTAL
    return absent if holds else opposite(absent)


def _like(columns: Columns, node: exp.Expr, *, holds: bool) -> Condition:
    column, pattern = bare(node.this), literal(bare(node.expression))
    attribute = columns.of(column)
    if attribute.listing is None or pattern is None:
        raise columns.refused("`like` compares a column of listed texts with a pattern, such as 'A%'", node)
    form = re.escape(pattern).replace("%", ".*").replace("_", ".")
    matches = re.compile(form, re.DOTALL | (re.IGNORECASE if isinstance(node, exp.ILike) else 0))
    labels = [label for label in attribute.labels_between(0, attribute.size) if matches.fullmatch(label)]
    if attribute.missing_cell is not None:
        absent = attribute.labels_between(attribute.missing_cell, attribute.missing_cell + 1)[0]
        labels = [label for label in labels if label != absent]
    within = cells(attribute, labels) if labels else NOTHING
    if holds:
        return within
    return _present(columns, column, opposite(within)) if isinstance(column, exp.Column) else opposite(within)


def _where_steps(columns: Columns, node: exp.Expr, test: Callable[[steps.Step], bool]) -> Condition:
    """Return the rows in which a step function of a column has a value that a test takes."""
    made = steps.steps(columns, node)
    labels = [label for value, names in made.labels.items() if value is not None and test(value) for label in names]
    return cells(made.column, labels) if labels else NOTHING


def _holds(step: steps.Step, word: Word, text: str) -> bool:
    """Say whether a comparison of a step's value with a text holds."""
    value = steps.read_like(step, text)
    order = {"=": step == value, "!=": step != value}
    if word in order:
        return order[word]
    smaller, equal = step < value, step == value  # type: ignore[operator]  # both of a kind
    return {"<": smaller, "<=": smaller or equal, ">": not smaller and not equal, ">=": not smaller}[word]


READERS: Mapping[type[exp.Expr], Callable[..., Condition]] = {
    **dict.fromkeys(COMPARED, _compared),
    exp.Column: _truth,
    exp.Between: _between,
    exp.In: _listed,
    exp.Is: _null,
    exp.Like: _like,
    exp.ILike: _like,
}
