"""Which attributes the headline and the opening of a page are about: not those that `where` holds to one value."""

from contextlib import suppress

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.query.schema_queries import conditions_of
from dpress.release.plan.row_condition import other_columns
from dpress.reporting.facts import Facts


def headline(facts: Facts) -> tuple[Tabular, ...]:
    """Return the attributes that the first sentences of a page name.

    Where the specification lists no attributes, all are released, also those that are there for the sake of `where`:
    of one that `where` holds to one value nothing is found.
    """
    if not facts.where or facts.specification.get("release", {}).get("attributes"):
        return facts.schema.tabular
    alone = _held(facts.schema, facts.where)
    return tuple(column for column in facts.schema.tabular if column.name not in alone) or facts.schema.tabular


def _held(schema: Schema, where: str) -> set[str]:
    """Return the attributes of which a condition lets one value pass."""
    with suppress(ValueError):  # of a release whose condition names what is no attribute of it
        tree = conditions_of(schema, where, other_columns(where, schema.words))
        parts = tree.parts if tree.word == "and" else (tree,)
        return {part.attribute for part in parts if part.word == "=" and not part.level}
    return set()
