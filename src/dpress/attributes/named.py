"""What an attribute is called: its name for programs; a title, a unit and labels of its values for people.

Nothing but pages, tables and queries depends on the words for people: no code of a value, no collection's name.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, UnsetType

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:
    from dpress.attributes.attribute import Location, Tabular
    from dpress.attributes.bounded_attribute import ByEdges, Number
    from dpress.attributes.dated_attribute import Date
    from dpress.attributes.listed_attribute import Categorical
    from dpress.attributes.set_members import SetMembers

WORDLESS = {"title": UNSET, "unit": UNSET}
Words = str | UnsetType  # left out of what is written where it is not set, so that documents without it keep their hash


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", dict=True):
    """What every attribute has: a name, which is also the column unless the kind names its columns.

    Args:
        name: in queries, tables and files.
        title: for people, on pages.
        unit: of its numbers, for people.
    """

    missing: ClassVar[str] = "null"  # the field that says what happens to a missing value
    beside: ClassVar[str] = "outside"  # the field that says what happens to a value without a cell
    no_device: ClassVar[str] = ""  # why no device codes it, and what to use there; empty where devices do
    for_devices: ClassVar[str] = ""
    name: str
    title: Words = UNSET
    unit: Words = UNSET

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.name,)

    @property
    def reads(self) -> Literal["text", "truth", "number", "time", ""]:
        """What its columns hold, for files that do not say it; empty where that is open."""
        return ""

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return 0

    @property
    def discovered(self) -> bool:
        """Whether nobody may list the values: those that occur often are released."""
        return False

    @property
    def listing(self) -> "Categorical | None":
        """The attribute as a list of values, where it is one."""
        return None

    @property
    def held(self) -> "SetMembers | None":
        """The attribute as a set of listed values, where everybody holds one."""
        return None

    @property
    def scale(self) -> "ByEdges | None":
        """The attribute as cells between increasing edges, where it has some."""
        return None

    @property
    def numbers(self) -> "Number | None":
        """The attribute as numbers with means and sums, where it has some."""
        return None

    @property
    def calendar(self) -> "Date | None":
        """The attribute as cells of a calendar, where they are some."""
        return None

    @property
    def box(self) -> "Location | None":
        """The attribute as a position in a box, where it is one."""
        return None

    @property
    def sides(self) -> "tuple[Tabular, ...]":
        """The attributes of its columns, each with cells."""
        raise NotImplementedError

    @property
    def with_cells(self) -> "Tabular":
        """The attribute with cells of its own.

        Raises:
            NotSupported: it has none.
        """
        raise NotSupported(f"attribute {self.name}: it has no cells of its own")

    def acting(self, coded: "Tabular") -> "tuple[Tabular, ...]":
        """Return the attribute as it is coded, one for every column.

        Args:
            coded: how devices or tables code the first of its columns.
        """
        del coded
        return (self.with_cells,)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return made-up values of its columns, about nobody, for rows to look at before anything is spent."""
        raise NotImplementedError

    @property
    def caption(self) -> str:
        """The title, or the name without one, and the unit in parentheses."""
        return str(self.title or self.name) + (f" ({self.unit})" if self.unit else "")


def check_labels(attribute: str, labels: Mapping[str, str], values: Collection[str], others: Collection[str]) -> None:
    """Refuse labels that belong to no value, or that a query could take for another value.

    Args:
        attribute: whose they are.
        labels: of values, by the values' texts.
        values: the texts that have a label.
        others: what else a query may name: cells beside the values, groups of a hierarchy.

    Raises:
        ValueError: naming the first fault.
    """
    distinct, taken = {*values}, {*others, *values}
    for value, label in labels.items():
        if value not in distinct:
            known = ", ".join(list(values)[:8]) + (", ..." if len(values) > 8 else "")
            raise ValueError(f"attribute {attribute}: `labels` names {value!r}, which is none of its values ({known})")
        if not label.strip():
            raise ValueError(f"attribute {attribute}: the label of {value!r} is empty; leave it out")
        if label in taken and label != value:
            raise ValueError(
                f"attribute {attribute}: the label {label!r} of {value!r} is also another value, label or group; "
                "labels must tell values apart"
            )
        taken.add(label)
