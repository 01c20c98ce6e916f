"""Statistics for statements of SQL: means, medians, quantiles and variances by the attributes that tell groups."""

from collections.abc import Sequence
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import Part

OF = ("mean", "median", "variance")


def _parameters(
    part: Part, statements: Sequence[Statement], attributes: Sequence[Attribute]
) -> tuple[str, dict[str, Any]]:
    """Return the groups and what is measured in them."""
    del statements
    names = [attribute.name for attribute in attributes]
    lists = {what: [name for name in names if (what, name) in part.measured] for what in OF}
    levels: dict[str, list[float]] = {}
    for what, name in sorted(part.measured):
        if what.startswith("0."):
            levels.setdefault(name, []).append(float(what))
    parameters: dict[str, Any] = {"by": [name for name in names if name in part.groups]}
    parameters |= {what: listed for what, listed in lists.items() if listed}
    parameters |= {"quantiles": levels} if levels else {}
    return "statistics", parameters | ({"persons": True} if ("persons", "") in part.measured else {})


PARAMETERS = _parameters
