"""Words for people about what is asked: titles and labels of values, which devices do not act on."""

from typing import Any

from dpress.document.design import Design


def words(design: Design) -> list[dict[str, Any]]:
    """Return for every attribute, beside what devices act on, its title, its labels, and whether it is a place."""
    return [
        {
            "kind": "value" if attribute.box is None else "location",
            "columns": attribute.columns,
            "title": attribute.caption,
            **({"labels": attribute.listing.captions} if attribute.listing is not None else {}),
        }
        for attribute in design.attributes
    ]
