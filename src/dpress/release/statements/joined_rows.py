"""Whose rows statements are over: those of the source, or of tables of its database that are joined by their persons.

statements, unit -> the tables, the same of every statement -> the source that names them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlglot import exp

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.joined_tables import Joined, JoinRefusal, joined_of, read, same
from dpress.data.sources.open_source import is_database
from dpress.data.sources.table_name import is_joined, split
from dpress.data.specification.spec import Spec
from dpress.query.sql.reader import trees
from dpress.query.sql.sql_refusal import refused

NO_DATABASE = (
    "statements join tables of a database: name it as the source, shop.duckdb or postgresql://host/shop; tables "
    "elsewhere are joined before they are handed over, in Spark visits.join(persons, on=[{}])"
)


def over_joined(spec: Spec, text: str) -> Spec:
    """Return a specification whose source, if it names one, is the tables that statements join.

    Raises:
        SqlRefusal: they are not joined by the unit, or not the same in every statement.
        SchemaMismatch: the source is other rows.
    """
    if spec.data is None or not spec.data.source:
        joined_rows(text, spec.privacy.protected.columns)
        return spec
    source = rows_over(spec, text, spec.data.source)
    return msgspec.structs.replace(spec, data=msgspec.structs.replace(spec.data, source=source))


def rows_over(spec: Spec, text: str, data: Any) -> Any:
    """Return where the rows are that statements are over.

    Args:
        spec: whose unit joins tables.
        text: the statements.
        data: what names rows, or the database of the tables.

    Raises:
        SqlRefusal: tables are not joined by the unit, or not the same in every statement.
        SchemaMismatch: the data are not in a database, or other rows.
    """
    joined = joined_rows(text, spec.privacy.protected.columns)
    if joined is None or data is None:
        return data
    place, named = split(str(data)) if isinstance(data, str | Path) else ("", "")
    if not is_database(place):
        raise SchemaMismatch(NO_DATABASE.format(", ".join(map(repr, joined.unit))))
    first = Joined(tables=joined.tables[:1], outer=(), unit=joined.unit)
    if named and not any(same(_named(named, joined), each) for each in (first, joined)):
        raise SchemaMismatch(
            f"the statements are over {joined.text}, and the source is {named}; name the database alone"
        )
    return f"{place}#{joined.text}"


def _named(named: str, joined: Joined) -> Joined:
    """Return what a source names behind `#`."""
    if is_joined(named):
        return read(named, "the source", joined.unit)
    return Joined(tables=(named,), outer=(), unit=joined.unit)


def joined_rows(text: str, unit: Sequence[str]) -> Joined | None:
    """Return the tables that statements join; None where they are over the source as it is.

    Args:
        text: the statements.
        unit: the columns that name a person; none where rows are protected.

    Raises:
        SqlRefusal: they are not joined by the unit, or not the same in every statement.
    """
    selects = [tree for tree in trees(text) if isinstance(tree, exp.Select)]
    if not any(tree.args.get("joins") for tree in selects):
        return None
    try:
        rows = [joined_of(tree, unit) for tree in selects]
    except JoinRefusal as refusal:
        raise refused(str(refusal), text, refusal.node) from None
    for tree, each in zip(selects, rows, strict=True):
        if not same(rows[0], each):
            message = f"all statements are over the same rows, and others are over {rows[0].text}; plan this by itself"
            raise refused(message, text, tree.args["from_"])
    return rows[0]
