"""Attributes once a release has found what was not known of them: the names of one, the bounds of others."""

from collections.abc import Sequence
from typing import Any

import msgspec

from dpress.attributes.attribute import Attribute
from dpress.core.methods.table_sums import Found


def with_discovered(attributes: Sequence[Attribute], found: Found) -> tuple[Attribute, ...]:
    """Return attributes that list the names and have the bounds that were found; as they were where there are none.

    Names are texts, whatever held them; between bounds there are as many levels as before.

    Raises:
        ValueError: an attribute cannot have such bounds.
    """
    changes: dict[int, dict[str, Any]] = {place: {"values": names} for place, names in found.names.items() if names}
    changes |= {place: {"bounds": ends} for place, ends in found.bounds.items()}
    return tuple(
        msgspec.structs.replace(attribute, **changes[place]) if place in changes else attribute
        for place, attribute in enumerate(attributes)
    )
