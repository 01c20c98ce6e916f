"""The position that a map is about, and the cells of a grid over its box."""

from collections.abc import Sequence

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.attributes.location.attribute import Location


def location(attributes: Sequence[Attribute]) -> Location:
    """Return the only attribute of a map.

    Raises:
        ValueError: there is another one, or it is no location.
    """
    box = attributes[0].box if len(attributes) == 1 else None
    if box is None:
        names = ", ".join(attribute.name for attribute in attributes)
        raise ValueError(f'$.release.attributes: kind = "spatial" needs one attribute of kind "location", got {names}')
    return box


def on_grid(attributes: Sequence[Attribute], side: int) -> Schema:
    """Return both columns of a map's location as axes of so many cells."""
    place = location(attributes)
    return Schema(place.axes(side), ((place.name, *place.pair),))
