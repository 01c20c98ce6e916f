"""What rows are grouped by instead of a code, so that an engine does little for a row and the rest for a group.

a code -> what is named first (steps), what rows are grouped by (keys) -> the same code of a group's keys.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedCode:
    """A code in three queries, each of the one before it.

    Args:
        steps: of a row, by name: what the keys use more than once.
        keys: of a row, by name; as few values as the code or two for each of them.
        code: of a group, by the names of its keys.
    """

    steps: dict[str, exp.Expr]
    keys: dict[str, exp.Expr]
    code: exp.Expr


def grouped_code(code: exp.Expr, name: str, kind: str, *, closed: bool) -> GroupedCode:
    """Return how rows are grouped so that each group has one code.

    DuckDB keeps an enumeration as the place of its name, so a text is grouped by that and by whether it is missing, as
    a number: it groups short numbers and enumerations without hashing them. Other engines group by the text itself
    where the specification refuses every other one: there are no more groups than values, or no release. Engines
    compute a branch of a CASE anew wherever it stands, so what a float's bin uses twice is a column of its own.

    Args:
        code: of a row.
        name: a name of this code's own in the query.
        kind: the type of a code.
        closed: whether a value that is not listed is refused.
    """
    if names := _distinct(cast for cast in code.find_all(exp.TryCast) if cast.to.this == exp.DataType.Type.ENUM):
        replaced, keys = _named(code, names, name)
        replaced, absent = _named(replaced, _distinct(code.find_all(exp.Is)), f"{name}_missing", truth=True)
        return GroupedCode(steps={}, keys=keys | absent, code=exp.cast(replaced, kind))
    if closed and (texts := _distinct(code.find_all(exp.Collate))):
        return _by_text(code, texts[0], name, kind)
    floors: list[exp.Expr] = list(code.find_all(exp.Floor))
    replaced, steps = _named(code, [floor for floor in _distinct(floors) if floors.count(floor) > 1], f"{name}_step")
    return GroupedCode(steps=steps, keys={name: exp.cast(replaced, kind)}, code=exp.column(name))


def ungrouped(code: exp.Expr, name: str, kind: str) -> GroupedCode:
    """Return a code that rows are grouped by as it is; see `grouped_code`."""
    return GroupedCode(steps={}, keys={name: exp.cast(code, kind)}, code=exp.column(name))


def _by_text(code: exp.Expr, text: exp.Expr, name: str, kind: str) -> GroupedCode:
    replaced, keys = _named(code, [text], name)
    for null in list(replaced.find_all(exp.Is)):
        null.this.replace(exp.column(name + "_0"))
    return GroupedCode(steps={}, keys=keys, code=exp.cast(replaced, kind))


def _named(
    code: exp.Expr, parts: list[exp.Expr], name: str, *, truth: bool = False
) -> tuple[exp.Expr, dict[str, exp.Expr]]:
    """Return a code with columns in place of some of its parts, and these by the columns' names; truths as 0 and 1."""
    named = {f"{name}_{place}": part for place, part in enumerate(parts)}
    columns = {part: exp.column(column) for column, part in named.items()}
    replaced = code.copy()
    for node in [node for node in replaced.walk() if node in columns]:
        column = columns[node].copy()
        node.replace(column.eq(exp.Literal.number(1)) if truth else column)
    if truth:
        return replaced, {column: exp.cast(part, exp.DataType.Type.UTINYINT) for column, part in named.items()}
    return replaced, named


def _distinct(parts: Iterable[exp.Expr]) -> list[exp.Expr]:
    return list(dict.fromkeys(parts))
