"""Attributes, found by walking the rooms: which types there are, by the words of a specification and of a design.

A room is a folder with `attribute.py`: its structs in `ATTRIBUTES`, whose tags are the kinds that are written, and its
`PLACE` among the kinds of a specification; one without a place is of what only devices are asked.
"""

import functools
import operator
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

import dpress.attributes
from dpress.attributes.named import Named
from dpress.attributes.protocol import Cells

_ROOMS = [
    import_module(f"{info.name}.attribute")
    for info in pkgutil.iter_modules(dpress.attributes.__path__, "dpress.attributes.")
    if info.ispkg and find_spec(f"{info.name}.attribute") is not None
]
_SPECIFIED = sorted((room for room in _ROOMS if hasattr(room, "PLACE")), key=lambda room: int(room.PLACE))

_WITH_CELLS = [struct for room in _ROOMS for struct in room.ATTRIBUTES if issubclass(struct, Cells)]

KINDS: dict[str, type[Named]] = {
    str(struct.__struct_config__.tag): struct for room in _SPECIFIED for struct in room.ATTRIBUTES
}
"""The types of attributes of a specification, by the word that it has for them."""

if TYPE_CHECKING:  # who asks an attribute knows the protocol alone
    Tabular = Cells
    Attribute = Named
    Coded = Cells
else:
    Attribute = functools.reduce(operator.or_, KINDS.values())
    Tabular = functools.reduce(operator.or_, (struct for struct in _WITH_CELLS if struct in KINDS.values()))
    Coded = functools.reduce(operator.or_, _WITH_CELLS)
    """What devices code by: attributes with cells, and those that only devices are asked."""
