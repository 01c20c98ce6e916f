"""Names for statements of SQL: how often values occur that nobody lists."""

from collections.abc import Sequence
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import Part


def _parameters(
    part: Part, statements: Sequence[Statement], attributes: Sequence[Attribute]
) -> tuple[str, dict[str, Any]]:
    """Return that there is nothing to set."""
    del part, statements, attributes
    return "names", {}


PARAMETERS = _parameters
