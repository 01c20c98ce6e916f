"""A list of counts for statements of SQL: every number of every group is a query, each once."""

import itertools
from collections.abc import Sequence
from typing import Any

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.maps.set_sums import MOST_SETS
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import Part, texts_of


def _parameters(
    part: Part, statements: Sequence[Statement], attributes: Sequence[Attribute]
) -> tuple[str, dict[str, Any]] | None:
    """Return the list; None where it is too long."""
    del part
    schema = Schema(tuple(attributes))
    texts = dict.fromkeys(itertools.chain.from_iterable(texts_of(statement, schema) for statement in statements))
    return ("queries", {"queries": [*texts]}) if len(texts) < MOST_SETS else None


PARAMETERS = _parameters
