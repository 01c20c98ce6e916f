"""Which attributes the headline and the opening of a page are about: none that has, or `where` holds to, one value."""

from contextlib import suppress

from dpress.attributes.attribute import Tabular
from dpress.query.schema_queries import conditions_of
from dpress.release.plan.row_condition import other_columns
from dpress.reporting.facts import Facts


def headline(facts: Facts) -> tuple[Tabular, ...]:
    """Return the attributes that the first sentences of a page name.

    Where the specification lists no attributes, all are released, also those that are there for the sake of `where`:
    of one that `where` holds to one value nothing is found. Nor is of one of a single cell, such as a series' period.
    """
    schema, held = facts.schema, set[str]()
    several = tuple(column for column in schema.tabular if column.size > 1) or schema.tabular
    if not facts.where or facts.specification.get("release", {}).get("attributes"):
        return several
    with suppress(ValueError):  # of a release whose condition names what is no attribute of it
        tree = conditions_of(schema, facts.where, other_columns(facts.where, schema.words))
        parts = tree.parts if tree.word == "and" else (tree,)
        held = {part.attribute for part in parts if part.word == "=" and not part.level}
    return tuple(column for column in several if column.name not in held) or several
