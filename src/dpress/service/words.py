"""Words for people about what is asked: titles and labels of values, which devices do not act on."""

from typing import Any

from dpress.core.attribute import Location
from dpress.core.design import Design
from dpress.core.listed_attribute import Listed


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
