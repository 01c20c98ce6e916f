"""Schemas: which attributes a table has, in the order of its axes."""

import itertools
import math
from collections.abc import Iterable, Sequence

import msgspec

from dpress.attributes.attribute import Attribute, Tabular
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.near import meant
from dpress.core.basics.visible import visible


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attributes of a table, in the order of their axes.

    Args:
        attributes: with different names.
        places: locations that two of these are the sides of: the name, that across, that up.
    """

    attributes: tuple[Attribute, ...]
    places: tuple[tuple[str, str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        names = [attribute.name for attribute in self.attributes]
        if not all(names):
            raise ValueError("attributes must have different, non-empty names, got an empty one")
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"attributes must have different, non-empty names, got {twice!r} twice")
        for name in names:
            if name != name.strip() or name != visible(name):
                raise ValueError(f"an attribute's name can be seen and has no space at its ends, got {name!r}")
        words = [*names, *itertools.chain.from_iterable(attribute.tree_levels for attribute in self.attributes)]
        if len({*words}) < len(words):
            twice = next(word for word in words if words.count(word) > 1)
            raise ValueError(f"attributes and the levels of their trees must have different names, got {twice!r} twice")

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def owners_of_levels(self) -> dict[str, str]:
        """The attribute whose level each is, by their names."""
        return {level: attribute.name for attribute in self.attributes for level in attribute.tree_levels}

    @property
    def words(self) -> tuple[str, ...]:
        """The names of attributes, of levels and of places: what conditions may be about."""
        return (*self.names, *self.owners_of_levels, *self.sides)

    @property
    def sides(self) -> dict[str, tuple[str, str]]:
        """The attributes across and up of every place whose name is none of theirs."""
        return {name: (across, up) for name, across, up in self.places if name not in self.names}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the attributes read, each once."""
        return tuple(dict.fromkeys(column for attribute in self.attributes for column in attribute.columns))

    @property
    def captions(self) -> tuple[str, ...]:
        """What the attributes are called before people."""
        return tuple(attribute.caption for attribute in self.attributes)

    @property
    def tabular(self) -> tuple[Tabular, ...]:
        """The attributes, if every one has cells of its own.

        Raises:
            NotSupported: one is a location.
        """
        return tuple(attribute.with_cells for attribute in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis; of a set of values, of its words."""
        return tuple(size for attribute in self.tabular for size in attribute.sizes)

    @property
    def owners(self) -> tuple[int, ...]:
        """The attribute of every axis, by its place."""
        return tuple(place for place, attribute in enumerate(self.tabular) for _ in attribute.sizes)

    @property
    def size(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    def subset(self, names: Iterable[str]) -> "Schema":
        """Return the schema of these attributes, in the order given."""
        return Schema(tuple(self.attribute(name) for name in names))

    def attribute(self, name: str) -> Attribute:
        """Return the attribute of that name.

        Raises:
            SchemaMismatch: there is none.
        """
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise SchemaMismatch(
            f"there is no attribute {name!r}; the attributes are {', '.join(self.names)}{meant(name, self.names)}"
        )

    def axes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the axis of every name."""
        return tuple(self.names.index(self.attribute(name).name) for name in names)
