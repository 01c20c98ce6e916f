"""What the coefficients of a regression are of, whether cells or moments tell them, and how many there may be."""

from dpress.attributes.attribute import Tabular
from dpress.core.basics.errors import NotSupported
from dpress.query.query_tree import named, valued

DRAWN_ROWS = (
    "The interval is of the counted rows; with sampling it is of a population that they are drawn from, one by one"
)
MOST_TERMS = 64


def steps(attribute: Tabular) -> dict[str, int]:
    """Return the cells in which a regressor without a number is a step, by their names: of all values but the first.

    Raises:
        NotSupported: they are too many.
    """
    check_terms(attribute.name, attribute.proper - 1)
    labels = enumerate(attribute.labels_between(0, attribute.proper))
    return {f"{named(attribute.name)} = {valued(label)}": cell for cell, label in labels if cell > 0}


def check_terms(text: str, number: int) -> None:
    """Refuse more coefficients than are answered.

    Args:
        text: of what.
        number: how many it has.

    Raises:
        NotSupported: they are too many.
    """
    if number > MOST_TERMS:
        raise NotSupported(f"{text}: {number} coefficients are too many, at most {MOST_TERMS}")
