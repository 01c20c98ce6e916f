"""Words for people about what is asked: titles and labels of values, which devices do not act on."""

from typing import Any

from dpress.document.design import Design


def words(design: Design) -> list[dict[str, Any]]:
    """Return for every attribute, beside what devices act on, its title, its labels, and whether it is a place."""
    return [
        {
            "kind": "value" if one.box is None else "location",
            "columns": one.columns,
            "title": one.caption,
            **({"labels": one.listing.captions} if one.listing is not None else {}),
        }
        for one in design.attributes
    ]
