"""Tables for statements of SQL: one for each set of attributes that a statement is about."""

from collections.abc import Sequence
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import Part


def _parameters(
    part: Part, statements: Sequence[Statement], attributes: Sequence[Attribute]
) -> tuple[str, dict[str, Any]]:
    """Return the tables, attributes in the order of the specification."""
    del statements
    names = [attribute.name for attribute in attributes]
    tables = dict.fromkeys(tuple(name for name in names if name in need.by) for need in part.needs if need.by)
    return "marginals", {"tables": [*map(list, tables)]}


PARAMETERS = _parameters
