"""Attributes with a public list of values, each of them a cell."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import msgspec
import numpy as np

from dpress.attributes.listed.labels import check_labels
from dpress.attributes.listed.places import cell_of
from dpress.attributes.named import WORDLESS
from dpress.attributes.policy import DROP, REJECT, unnamed
from dpress.attributes.protocol import Cells, Codes, Policies
from dpress.attributes.spread import falling
from dpress.attributes.value import Value
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from dpress.attributes.sql.engine_column import Column

Listable = str | int | bool
Reads = Literal["text", "truth", "number", ""]
HELD: dict[type, Reads] = {str: "text", bool: "truth", int: "number"}
NAMES = 500  # different ones that are made up, where nobody lists the values


class Categorical(Cells, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="categorical"):
    """A public list of values; each is a cell.

    Args:
        values: all of one type: strings, integers or booleans; or "discover", where nobody may list them.
        other: the name of the cell for anything else, or "reject" or "drop"; "other" where values are discovered.
        null: the name of the cell for missing values, or "reject" or "drop"; left out, a missing value is an `other`.
        hierarchy: a CSV file `value,level1,...`; once loaded, its rows.
        value_labels: for people, by the values' texts; a CSV file `value,label` before it is loaded.
    """

    beside: ClassVar[str] = "other"
    values: tuple[Listable, ...] | Literal["discover"]
    other: str = REJECT
    null: str | None = None
    hierarchy: str | tuple[tuple[str, ...], ...] | None = None
    value_labels: str | dict[str, str] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="labels")

    def __post_init__(self) -> None:
        if self.discovered:
            check_discovered(self, ordered=self.in_order)
            msgspec.structs.force_setattr(self, "other", "other" if self.other == REJECT else self.other)
        else:
            check_values(self.name, self.listed, self.labels)
        if isinstance(self.value_labels, dict):
            check_labels(self.name, self.value_labels, self.labels[: len(self.listed)], (*self.extra, *self.groups))
        if fault := self._fault():
            raise ValueError(f"attribute {self.name}: {fault}")

    def _fault(self) -> str:
        """Return what else is wrong, which the types cannot say; empty where nothing is."""
        return ""

    def cell_of(self, value: Value) -> int:
        """Return the cell of a value; a text is itself, or the integer or truth that it reads as."""
        return cell_of(self.listed, type(self.values[0]), value)

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every value of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.listed import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.checked_cells(self, column)

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a listed value; see `Cells.sql_cell`."""
        from dpress.attributes.listed import sql  # noqa: PLC0415  # sqlglot takes a while to import

        if self.discovered:
            return sql.only_cell(column, otherwise)
        return sql.listed_cell(self, column, otherwise) if sql.is_comparable(self, column) else None

    @property
    def in_order(self) -> bool:
        """Whether the values are listed in their order."""
        return False

    @property
    def discovered(self) -> bool:
        """Whether nobody may list the values: those that occur often are released."""
        return self.values == "discover"

    @property
    def listed(self) -> tuple[Listable, ...]:
        """The listed values; none where they are discovered."""
        return () if isinstance(self.values, str) else self.values

    @property
    def listing(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def reads(self) -> Reads:
        """What its column holds; texts where values are discovered."""
        return HELD[type(self.values[0])]

    @property
    def policies(self) -> Policies:
        """What becomes of a value that is not listed, and of a missing one."""
        return Policies(self.other, self.other if self.null is None else self.null)

    @property
    def labelled(self) -> bool:
        """Whether values have labels for people beside their names."""
        return bool(self.value_labels)

    def with_files(self, folder: Path) -> Self:
        """Return the attribute with the rows of its hierarchy and its labels; see `Named.with_files`."""
        from dpress.attributes.listed import codebook, hierarchy_file  # noqa: PLC0415  # devices read no files

        contents: dict[str, Any] = {}
        values = self.labels[: len(self.listed)]
        if isinstance(rows := self.hierarchy, str):
            contents["hierarchy"] = hierarchy_file.read(folder / rows, rows, self.name, values)
        if isinstance(titles := self.value_labels, str):
            contents["value_labels"] = codebook.read(folder / titles, titles, self.name, values)
        return msgspec.structs.replace(self, **contents)

    @property
    def plain(self) -> Self:
        """The attribute with only what decides the code of a value; see `Cells.plain`."""
        listed = self.labels[: len(self.listed)]
        null = None if self.null in (None, self.other) else self.null  # None: a missing value is an other
        wordless = msgspec.structs.replace(self, **WORDLESS, value_labels=msgspec.UNSET, hierarchy=None)
        other, null = unnamed(self.other, "other", listed), null and unnamed(null, "null", listed)
        return msgspec.structs.replace(wordless, other=other, null=null)

    def acting(self, coded: Cells) -> tuple[Cells, ...]:
        """Return the attribute as it is coded; see `Named.acting`."""
        return (coded.with_words_of(self),)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return listed values, the earlier the more often; names where nobody lists them."""
        texts = [f"name {place + 1}" for place in range(NAMES)] if self.discovered else list(map(str, self.listed))
        return {self.read_from: np.array(texts, dtype=object)[falling(rows, len(texts), rng)]}

    def for_script(self, longest: int) -> dict[str, Any]:
        """Return the attribute as the script of a page reads it, however many values are listed."""
        del longest
        plain = self._for_script | {"kind": "listed", "names": self.labels}
        if self.null in self.extra and self.null != self.other:
            plain["missing"] = self.null
        if self.captions != self.labels:
            plain["labels"] = self.captions
        return plain | ({"groups": self.groups, "ladder": self._ladder} if self.groups else {})

    @property
    def _ladder(self) -> list[list[str]]:
        """The groups of every level of the hierarchy that has several, each of them in that level alone."""
        levels = [[*dict.fromkeys(level)] for level in zip(*self.levels_of_groups, strict=True)][1:]
        named = Counter(label for level in levels for label in level)
        wanted = {label for label, times in named.items() if times == 1 and label in self.groups}
        return [level for level in levels if len(level) > 1 and wanted.issuperset(level)]

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the listed values: `other`, then `null`, where they are named."""
        names = [self.other, self.other if self.null is None else self.null]
        return tuple(dict.fromkeys(name for name in names if name not in (REJECT, DROP)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order."""
        return tuple(_text(value) for value in self.listed) + self.extra

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels)

    @cached_property
    def captions(self) -> tuple[str, ...]:
        """The label of every cell for people, its name where it has none."""
        titles = self.value_labels if isinstance(self.value_labels, dict) else {}
        return tuple(titles.get(label, label) for label in self.labels) if titles else self.labels

    def labels_between(self, start: int, stop: int) -> list[str]:
        """Return the names of the cells start..stop-1."""
        return list(self.labels[start:stop])

    def code(self, label: str) -> int | None:
        """Return the cell of that name or label, or None."""
        return self._codes.get(label)

    @cached_property
    def _codes(self) -> dict[str, int]:
        """The cell of every name and label; a name goes before a label, the first of several before the others."""
        places = first_places(self.labels)
        return places if self.captions is self.labels else first_places(self.captions) | places

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order; 0 for a list without one."""
        return len(self.listed) if self.in_order else 0

    @property
    def levels_of_groups(self) -> tuple[tuple[str, ...], ...]:
        """The rows of the hierarchy, once they are loaded."""
        return self.hierarchy if isinstance(self.hierarchy, tuple) else ()

    @cached_property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The codes behind every label of the hierarchy's upper levels."""
        return groups_of(self.levels_of_groups, self.labels)


class Ordinal(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="ordinal"):
    """A categorical attribute whose values are listed in their order, so that ranges make sense."""

    @property
    def in_order(self) -> bool:
        """Whether the values are listed in their order."""
        return True


ATTRIBUTES = (Categorical, Ordinal)
PLACE = 1  # of the room where kinds are listed


Listing = TypeVar("Listing", bound=Categorical)


def with_words(coded: Listing, listing: Categorical) -> Listing:
    """Return an attribute as devices code it, with the words for people of another."""
    words = {name: getattr(listing, name) for name in ("title", "unit", "column", "other", "null", "value_labels")}
    return msgspec.structs.replace(coded, **words)


def _text(value: Listable) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_values(attribute: str, values: Sequence[object], labels: Sequence[str]) -> None:
    """Refuse listed values that are none, of several types, or too large, and cells of one name.

    Raises:
        ValueError: naming the first fault.
    """
    if not values:
        raise ValueError(f"attribute {attribute}: `values` must list at least one value")
    if len({type(value) for value in values}) > 1:
        raise ValueError(f"attribute {attribute}: `values` must be all strings, all integers or all booleans")
    if max((abs(value) for value in values if isinstance(value, int)), default=0) > 2**53:
        raise ValueError(f"attribute {attribute}: integers in `values` must lie within 2^53")
    if len(set(labels)) != len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        names = "`values`, `other` and `null` must name different cells"
        raise ValueError(f"attribute {attribute}: {names}, got {twice!r} twice")


def check_discovered(attribute: Any, *, ordered: bool) -> None:
    """Refuse to discover values of which something must be known beforehand.

    Args:
        attribute: a list of values.
        ordered: whether they have an order.

    Raises:
        ValueError: naming the first fault.
    """
    needs = {"an order": ordered, "`hierarchy`": attribute.hierarchy, "`labels`": attribute.value_labels}
    fault = next((f"`values` must be listed where they have {name}" for name, need in needs.items() if need), "")
    if attribute.other == "drop":
        fault = fault or "`other` must name the rest where values are discovered, not drop it"
    if attribute.null not in (None, "reject", "drop"):
        fault = fault or '`null` must be "drop" or "reject" where values are discovered'
    if fault:
        raise ValueError(f"attribute {attribute.name}: {fault}")


def groups_of(rows: Sequence[Sequence[str]], labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the codes behind every label of a hierarchy's upper levels.

    Args:
        rows: `value, level 1, ...` for every value.
        labels: of the cells, in code order.
    """
    places, by_label = first_places(labels) if rows else {}, dict[str, list[int]]()
    for value, *levels in rows:
        for label in dict.fromkeys(levels) if value in places else ():
            by_label.setdefault(label, []).append(places[value])
    return {label: tuple(codes) for label, codes in by_label.items() if label not in places}


def first_places(texts: Sequence[str]) -> dict[str, int]:
    """Return the first place of every text in a sequence.

    >>> first_places(("a", "b", "a"))
    {'a': 0, 'b': 1}
    """
    return dict(zip(reversed(texts), reversed(range(len(texts))), strict=True))
