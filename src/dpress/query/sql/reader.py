"""Reads statements: text -> sqlglot's tree -> `statement.Statement`s over the columns of a table.

What has no answer is refused with its place, and with what is asked instead.
"""

from collections.abc import Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from dpress.query.sql.columns import Columns
from dpress.query.sql.conditions import condition
from dpress.query.sql.expressions import DIALECT
from dpress.query.sql.over_values import OverValues
from dpress.query.sql.selected import Selected
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.statement import Statement

NESTED = "this is nested too deeply to be read; write `in (a, b)` instead of many conditions"
CONTEXT = 100  # characters before a fault that sqlglot keeps
REFUSED: dict[type[exp.Expr], str] = {
    exp.Join: "a release is one table, which is joined to nothing; ask for counts and means of its own columns",
    exp.Window: "window functions need rows in order; ask for numbers by group, ratios and differences of counts",
    exp.Subquery: "a statement has no subquery; send it as a statement of its own, and conditions as `in (a, b)`",
    exp.CTE: "a statement has no `with`; send each part as a statement of its own",
    exp.Distinct: "`distinct` lists values, which the specification already does; group by the column and count",
    exp.Qualify: "`qualify` needs window functions; use `having`",
    exp.TableSample: "a release is not sampled: its answers are of all rows",
    exp.SetOperation: "send the parts of a union, intersection or difference as statements of their own",
}


def statements(text: str, columns: Columns, *, only: Sequence[int] | None = None) -> tuple[Statement, ...]:
    """Return what a text asks for, a statement after the other.

    Args:
        text: of SQL, statements divided by `;`, in the common words of DuckDB and PostgreSQL.
        columns: of the table.
        only: the places of the statements that are read, from 0; all unless stated.

    Raises:
        SqlRefusal: it cannot be read, or there is no answer of such a form.
    """
    parsed = trees(text)
    chosen = parsed if only is None else [parsed[place] for place in only]
    try:
        return tuple(_statement(_checked(tree, columns), columns) for tree in chosen)
    except RecursionError:
        raise SqlRefusal(NESTED, text) from None


def trees(text: str) -> list[exp.Expr]:
    """Return the statements of a text as sqlglot has them.

    Raises:
        SqlRefusal: it cannot be read, or there is none.
    """
    try:
        parsed = [tree for tree in sqlglot.parse(text, read=DIALECT) if tree is not None]
    except ParseError as error:
        raise _unread(error, text) from None
    except RecursionError:
        raise SqlRefusal(NESTED, text) from None
    except SqlglotError:
        raise SqlRefusal("this is no SQL: a quote or a comment is not closed", text) from None
    if not parsed:
        raise SqlRefusal("there is no statement; write select ward, count(*) from release group by ward", text)
    return parsed


def _unread(error: ParseError, text: str) -> SqlRefusal:
    """Return where a text stops being SQL."""
    fault = error.errors[0] if error.errors else {}
    word, before = str(fault.get("highlight") or ""), str(fault.get("start_context") or "")
    start = len(before) if len(before) < CONTEXT else text.find(before) + len(before)
    return SqlRefusal(f"cannot read this as SQL at {word!r}", text, start, len(word))


def _checked(tree: exp.Expr, columns: Columns) -> exp.Select:
    """Return a statement that is none of those that no release answers."""
    for kind, message in REFUSED.items():
        for node in tree.find_all(kind):
            counted = kind is exp.Distinct and isinstance(node.parent, exp.Count)
            if not counted and not (kind is exp.Join and columns.joined and node.parent is tree):
                raise columns.refused(message, node)
    if not isinstance(tree, exp.Select):
        raise columns.refused("only `select` is answered: nothing in a release is changed", tree)
    if any(isinstance(column, exp.Star) for column in tree.expressions):
        raise columns.refused("there are no rows to show; ask for numbers, such as select count(*) from release", tree)
    return tree


def _statement(tree: exp.Select, columns: Columns) -> Statement:
    selected = Selected(columns=columns, tree=tree)
    keys, sets = selected.grouped()
    numbers, names = selected.listed(keys)
    over = OverValues(selected=selected, keys=keys, numbers=numbers)
    behind, where = over.sql(), tree.args.get("where")
    return Statement(
        text=tree.sql(dialect=DIALECT, comments=False),
        keys=keys,
        sets=sets,
        numbers=(*numbers, *over.hidden),
        shown=names,
        where=None if where is None else condition(columns, where.this),
        behind=behind,
    )
