"""Words for people about what is asked: titles and labels of values, which devices do not act on."""

from typing import Any

from dpress.attributes.attribute import Location
from dpress.attributes.listed_attribute import Listed
from dpress.document.design import Design


def words(design: Design) -> list[dict[str, Any]]:
    """Return for every attribute, beside what devices act on, its title, its labels, and whether it is a place."""
    return [
        {
            "kind": "location" if isinstance(one, Location) else "value",
            "columns": one.columns,
            "title": one.caption,
            **({"labels": one.captions} if isinstance(one, Listed) else {}),
        }
        for one in design.attributes
    ]
