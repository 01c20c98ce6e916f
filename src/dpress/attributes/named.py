"""What every attribute answers, those without cells of their own among them; `protocol` adds what those with cells do.

A title and a unit are for people: no code of a value and no collection's name depends on them, nor on the column.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, UnsetType

if TYPE_CHECKING:
    import pyarrow as pa

    from dpress.attributes.by_edges import ByEdges
    from dpress.attributes.dates.attribute import Date
    from dpress.attributes.hierarchy.tree import Tree
    from dpress.attributes.listed.attribute import Categorical
    from dpress.attributes.location.attribute import Location
    from dpress.attributes.numbers.attribute import Number
    from dpress.attributes.protocol import Cells
    from dpress.attributes.sets.attribute import SetMembers
    from dpress.core.basics.rng import Generator
    from dpress.core.maps.spine import Spine

WORDLESS = {"title": UNSET, "unit": UNSET, "column": UNSET}
Words = str | UnsetType  # left out of what is written where it is not set, so that documents without it keep their hash


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", dict=True):
    """What every attribute has: a name, which is also the column unless the kind names its columns.

    Args:
        name: in queries, tables and files.
        title: for people, on pages.
        unit: of its numbers, for people.
        column: of the rows that it is read from, where that is called otherwise.
    """

    missing: ClassVar[str] = "null"  # the field that says what happens to a missing value
    beside: ClassVar[str] = "outside"  # the field that says what happens to a value without a cell
    decimals: ClassVar[tuple[str, ...]] = ()  # the fields whose numbers stand as texts in a design
    no_device: ClassVar[str] = ""  # why no device codes it, and what to use there; empty where devices do
    for_devices: ClassVar[str] = ""
    kept_as: ClassVar[str] = ""  # what the file is called that a release keeps of it; empty where it keeps nothing
    name: str
    title: Words = UNSET
    unit: Words = UNSET
    column: Words = UNSET

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (str(self.column or self.name),)

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
    def few_values(self) -> bool:
        """Whether its column has few different values beside its rows, so that an engine groups by them."""
        return False

    @property
    def spine(self) -> "Spine | None":
        """The tree of its cells, where it has one: down to the level whose nodes they are."""
        return None

    @property
    def spine_tree(self) -> "Tree | None":
        """The public tree whose codes it holds, where it holds some."""
        return None

    @property
    def tree_levels(self) -> tuple[str, ...]:
        """The names of the levels of its tree, coarse to fine, by which conditions and groups may be asked."""
        return ()

    @property
    def level(self) -> str:
        """The level whose nodes are its cells; empty without levels."""
        return ""

    def at(self, level: str) -> Self:
        """Return the attribute with the nodes of another of its levels as cells.

        Raises:
            ValueError: it has no such level.
        """
        raise ValueError(f"attribute {self.name}: it has no levels, got {level!r}")

    @property
    def box(self) -> "Location | None":
        """The attribute as a position in a box, where it is one."""
        return None

    @property
    def sides(self) -> "tuple[Cells, ...]":
        """The attributes of its columns, each with cells."""
        raise NotImplementedError

    @property
    def with_cells(self) -> "Cells":
        """The attribute with cells of its own.

        Raises:
            NotSupported: it has none.
        """
        raise NotImplementedError

    def acting(self, coded: "Cells") -> "tuple[Cells, ...]":
        """Return the attribute as it is coded, one for every column.

        Args:
            coded: how devices or tables code the first of its columns.
        """
        del coded
        return (self.with_cells,)

    def coarser(self, cuts: frozenset[int]) -> Sequence[Self]:
        """Return the attribute with wider cells, the widest first, at whose borders all cuts lie; empty without any.

        Args:
            cuts: borders between its cells, numbered from 0.
        """
        del cuts
        return ()

    def within(self, first: int, last: int) -> Self | None:
        """Return the attribute of the rows in neighbouring cells alone, as one cell; None where it knows no such.

        Args:
            first: of the cells.
            last: of them.
        """
        del first, last
        return None

    def made_up(self, rows: int, rng: "Generator") -> dict[str, Any]:
        """Return made-up values of its columns, about nobody, for rows to look at before anything is spent."""
        raise NotImplementedError

    def with_files(self, folder: Path) -> Self:
        """Return the attribute with what the files hold that it names.

        Args:
            folder: where they are looked up.

        Raises:
            OSError: one cannot be read.
            SchemaMismatch, ValueError: one is not what it should be; one line says why.
        """
        del folder
        return self

    def kept(self) -> "pa.Table":
        """Return what a release holds beside its tables so that the attribute can be read again; see `kept_as`."""
        raise NotImplementedError

    def restored(self, read: "Callable[[], pa.Table]") -> None:
        """Take what a release holds of `kept`, before anything else is asked.

        Args:
            read: returns it; not called where it is at hand.

        Raises:
            SchemaMismatch: it is not what the attribute needs.
        """

    @property
    def caption(self) -> str:
        """The title, or the name without one, and the unit in parentheses."""
        return str(self.title or self.name) + (f" ({self.unit})" if self.unit else "")
