"""Which attributes the headline and the opening of a page are about: none that has a single cell."""

from dpress.attributes.attribute import Tabular
from dpress.reporting.facts import Facts


def headline(facts: Facts) -> tuple[Tabular, ...]:
    """Return the attributes that the first sentences of a page name: of one of a single cell nothing is found."""
    return tuple(column for column in facts.schema.tabular if column.size > 1) or facts.schema.tabular
