"""Queries of the query language written as SQL, to ask for the same in both."""

from dpress.query.query_tree import TOTAL, Condition, Query

QUANTILE = "percentile_cont({level}) within group (order by {name})"


def named(name: str) -> str:
    """A column."""
    return '"' + name.replace('"', '""') + '"'


def valued(value: str) -> str:
    """A value."""
    return "'" + value.replace("'", "''") + "'"


def condition(tree: Condition) -> str:
    """A condition."""
    if tree.word in ("and", "or"):
        return "(" + f" {tree.word} ".join(map(condition, tree.parts)) + ")"
    if tree.word == "not":
        return f"not {condition(tree.parts[0])}"
    if not tree.attribute:
        return "true"
    name, values = named(tree.attribute), [*map(valued, tree.values)]
    forms = {
        "missing": f"{name} is null",
        "between": f"{name} between {' and '.join(values)}",
        "in": f"{name} in ({', '.join(values)})",
    }
    return forms.get(tree.word, f"{name} {tree.word} {''.join(values)}")


def counted(tree: Condition) -> str:
    """How many rows fulfil a condition."""
    return "count(*)" if tree == TOTAL else f"count(*) filter (where {condition(tree)})"


def number(query: Query) -> str:
    """What is asked for of every group."""
    first, second = counted(query.first), counted(query.second)
    forms = {
        "count": first,
        "mean": f"avg({named(query.attribute)})",
        "sum": f"sum({named(query.attribute)})",
        "quantile": QUANTILE.format(level=query.level, name=named(query.attribute)),
        "share": f"{first} / count(*)",
        "ratio": f"{first} * 1.0 / nullif({second}, 0)",
        "difference": f"{first} - {second}",
    }
    return forms[query.of]


def statement(query: Query) -> str:
    """The statement."""
    where = "" if query.where is None else f" where {condition(query.where)}"
    by = ", ".join(map(named, query.by))
    return f"select {by}{', ' if by else ''}{number(query)} as x from release{where}" + (
        f" group by {by}" if by else ""
    )
