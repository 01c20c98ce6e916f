"""What every attribute with cells answers: which cells, their names, and what becomes of a value that has none."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from dpress.attributes.named import Named
from dpress.attributes.policy import DROP

if TYPE_CHECKING:
    from dpress.attributes.bounded_attribute import ByEdges, Numeric
    from dpress.attributes.listed_attribute import Categorical


class Policies(NamedTuple):
    """What becomes of a value outside the cells, and of a missing one: a cell's name, "reject", "drop" or "clamp"."""

    outside: str
    null: str


class Cells(Named, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attribute with cells of its own; a type of column states the first seven, the others where it knows better."""

    whole: ClassVar[bool] = False  # whether the numbers between edges are integers

    @property
    def size(self) -> int:
        """The number of cells."""
        raise NotImplementedError

    @property
    def extra(self) -> tuple[str, ...]:
        """The last cells, which lie beside the values: for others, for missing ones."""
        raise NotImplementedError

    @property
    def policies(self) -> Policies:
        """What becomes of a value outside, and of a missing one."""
        raise NotImplementedError

    def labels_between(self, start: int, stop: int) -> list[str]:
        """Return the names of the cells start..stop-1."""
        raise NotImplementedError

    def code(self, label: str) -> int | None:
        """Return the cell of that name or label, or None."""
        raise NotImplementedError

    @property
    def plain(self) -> Self:
        """The attribute with only what decides the code of a value: no groups, no words for people, no other names.

        The name of the cell for other or missing values changes no code, so it stands there as "other" or "null".
        """
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order; made anew each time."""
        return tuple(self.labels_between(0, self.size))

    @property
    def captions(self) -> tuple[str, ...]:
        """The label of every cell for people, its name where it has none."""
        return self.labels

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many different codes a value has along each of its axes."""
        return (self.size,)

    @property
    def groups(self) -> Mapping[str, tuple[int, ...]]:
        """The codes behind every name of several values."""
        return {}

    @property
    def labelled(self) -> bool:
        """Whether values have labels for people beside their names."""
        return False

    @property
    def cyclic(self) -> bool:
        """Whether the cells come round."""
        return False

    @property
    def line(self) -> "ByEdges | None":
        """The attribute as cells that follow each other between edges; None where they come round, or have no edges."""
        return None if self.cyclic else self.scale

    @property
    def unbinned(self) -> bool:
        """Whether every integer between two bounds is a cell."""
        return False

    @property
    def movable(self) -> "Numeric | None":
        """The attribute as numbers of which a release may choose other bounds, where it may."""
        return None

    @property
    def limits(self) -> tuple[str, str] | None:
        """The bounds for people, both included; None where there are none."""
        return None

    @property
    def middle(self) -> str | None:
        """A range over the middle half of the cells, as a query writes it; None without an order of numbers."""
        return None

    @property
    def when_missing(self) -> str:
        """What a missing value counts as, where neither a cell nor a refusal says it."""
        return ""

    @property
    def levels_of_groups(self) -> Sequence[Sequence[str]]:
        """The rows `value, level 1, ...` of a hierarchy; none without one."""
        return ()

    @property
    def drops(self) -> bool:
        """Whether the specification leaves a row out for what it holds here, so that rows are not all counted."""
        return DROP in self.policies

    @property
    def strict(self) -> Self:
        """The attribute whose values outside have no cell."""
        return self

    @property
    def sides(self) -> "tuple[Cells, ...]":
        """The attributes of its columns, each with cells."""
        return (self,)

    @property
    def with_cells(self) -> Self:
        """The attribute itself."""
        return self

    def with_words_of(self, listing: "Categorical") -> "Cells":
        """Return an attribute as devices code it, with the words for people of the one that the specification has."""
        return listing

    def ticks_between(self, start: int, stop: int) -> list[str]:
        """Return a short name of each of the cells start..stop-1."""
        return list(self.captions[start:stop])

    def for_script(self, longest: int) -> dict[str, Any] | None:
        """Return the attribute as the script of a page reads it; None where it has too many cells.

        Args:
            longest: the most cells whose names are listed.
        """
        return self._for_script | {"kind": "listed", "names": self.labels} if self.size <= longest else None

    @property
    def _for_script(self) -> dict[str, Any]:
        return {"name": self.name, "caption": self.caption, "size": self.size, "ordered": self.ordered}
