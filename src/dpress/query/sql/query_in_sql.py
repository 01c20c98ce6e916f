"""Queries written as SQL, for messages to whoever asked in SQL.

`query_tree.Query` -> `avg(cost) where ward = 'ear'`.
"""

import re

from dpress.query.query_tree import TOTAL, Condition, Query

NUMBER = re.compile(r"-?\d+(\.\d+)?")
NAME = re.compile(r"[^\W\d]\w*")
FORMS = {"mean": "avg({})", "sum": "sum({})", "variance": "var_pop({})", "persons": "the number of persons"}


def in_sql(query: Query) -> str:
    """Return what a query asks for as SQL has it, its rows behind `where`.

    >>> from dpress.query.grammar import read
    >>> in_sql(read(("cost", "ward"), "mean cost where ward in (ear, eyes) or cost < 20"))
    "avg(cost) where ward in ('ear', 'eyes') or cost < 20"
    >>> in_sql(read(("cost", "ward"), "share ward = ear"))
    "count(*) filter (where ward = 'ear') / count(*)"
    """
    first, second = _counted(query.first), _counted(query.second)
    column = name_in_sql(query.attribute)
    forms = {
        "count": first,
        "quantile": f"percentile_cont({query.level:g}) within group (order by {column})",
        "share": f"{first} / count(*)",
        "ratio": f"{first} / {second}",
        "difference": f"{first} - {second}",
        "relation": query.attribute,
    }
    number = forms.get(query.of) or FORMS.get(query.of, query.of).format(column)
    return number if query.where is None else f"{number} where {condition_in_sql(query.where)}"


def condition_in_sql(rows: Condition) -> str:
    """Return a condition as SQL has it."""
    if rows.word in ("and", "or"):
        return f" {rows.word} ".join(_operand(part) for part in rows.parts)
    if rows.word == "not":
        return f"not {_operand(rows.parts[0])}"
    if rows == TOTAL:
        return "true"
    name, values = name_in_sql(rows.attribute), [*map(_value, rows.values)]
    forms = {
        "missing": f"{name} is null",
        "between": f"{name} between {' and '.join(values)}",
        "in": f"{name} in ({', '.join(values)})",
        "!=": f"{name} <> {''.join(values)}",
    }
    return forms.get(rows.word) or f"{name} {rows.word} {''.join(values)}"


def _operand(rows: Condition) -> str:
    text = condition_in_sql(rows)
    return f"({text})" if rows.parts else text


def _counted(rows: Condition) -> str:
    return "count(*)" if rows == TOTAL else f"count(*) filter (where {condition_in_sql(rows)})"


def shortened(statements: str, longest: int) -> str:
    """Return statements as a message has them, cut off where they have more than so many characters."""
    return statements if len(statements) <= longest else statements[: longest - 3] + "..."


def name_in_sql(name: str) -> str:
    """Return a column as SQL has it, in quotes where it is no plain word."""
    return name if NAME.fullmatch(name) else quoted_name(name)


def quoted_name(name: str) -> str:
    """Return a column, a view or a schema as SQL has it, in quotes whatever it is."""
    return '"' + name.replace('"', '""') + '"'


def text_in_sql(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def _value(text: str) -> str:
    return text if NUMBER.fullmatch(text) else text_in_sql(text)
