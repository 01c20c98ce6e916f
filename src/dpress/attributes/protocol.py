"""What every attribute answers, and what most of them answer alike: the only place with defaults.

Whoever asks an attribute knows this protocol alone, never which type of column it is. A type of column states what it
knows better; what costs a library is imported where it is asked. An attribute is called by its name in programs; a
title, a unit and labels of its values are for people: no code of a value and no collection's name depends on them.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from dpress.attributes.named import Named
from dpress.attributes.policy import DROP, DROPPED, MISSING, REJECT
from dpress.attributes.value import Value, read
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.runs import Runs

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from dpress.attributes.by_edges import ByEdges
    from dpress.attributes.listed.attribute import Categorical
    from dpress.attributes.numbers.attribute import Numeric
    from dpress.attributes.sql.engine_column import Column

Codes = npt.NDArray[np.int32]


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
    def read_from(self) -> str:
        """The column that its values are read from."""
        return self.columns[0]

    @property
    def extra(self) -> tuple[str, ...]:
        """The last cells, which lie beside the values: for others, for missing ones."""
        raise NotImplementedError

    @property
    def proper(self) -> int:
        """How many cells are those of values; `extra` stand behind them."""
        return self.size - len(self.extra)

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

    def spanning(self, start: int, stop: int) -> str:
        """Return the range of the ordered cells start..stop-1, as a query writes it."""
        first, last = (self.labels_between(cell, cell + 1)[0] for cell in (start, stop - 1))
        return f"{first}..{last}"

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
    def missing_cell(self) -> int | None:
        """The cell that missing values have to themselves; None where there is none."""
        name, outside = self.policies.null, self.policies.outside
        return self.code(name) if name in self.extra and name != outside else None

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

    def cells_named(self, text: str) -> Sequence[int] | None:
        """Return the cells that a text names in a condition, where a type of column has its own rule for it.

        Raises:
            ValueError: it names none, or several of which one is meant.
        """
        del text
        return None

    def coarsened(self, level: str) -> "Cells":
        """Return the attribute with the nodes of a level as its cells, of which each is a run of its own ones.

        Raises:
            ValueError: there is no such level at or above its own.
        """
        return self.at(level)

    def widened(self, level: str, cells: Runs) -> Runs:
        """Return which of its cells are those of `coarsened(level)`, as runs."""
        del level
        return cells

    def with_words_of(self, listing: "Categorical") -> "Cells":
        """Return an attribute as devices code it, with the words for people of the one that the specification has."""
        return listing

    def remedy(self, texts: Mapping[str, int]) -> str:
        """Return what is known of texts without a cell, showing none of them, for the curator; empty for nothing.

        Args:
            texts: how many rows have each.
        """
        del texts
        return ""

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

    def cell_of(self, value: Value) -> int:
        """Return the cell of what a value is, OUTSIDE where it has none, MISSING where it is not of its type."""
        raise NotImplementedError

    def cell(self, value: Any) -> int:
        """Return the cell of a value, OUTSIDE where it has none, MISSING where it is missing or not of its type."""
        parsed = read(value)
        return MISSING if parsed is None else self.cell_of(parsed)

    def settled(self, beside: int) -> int:
        """Return the cell that the specification gives to OUTSIDE or MISSING values, or DROPPED.

        Raises:
            SchemaMismatch: it rejects them.
        """
        policy = self.policies.null if beside == MISSING else self.policies.outside
        if policy == REJECT:
            fault = (
                f"a value is missing or not of its type; say what to do in `{self.missing}`"
                if beside == MISSING
                else f"a value is not in its cells; say what to do in `{self.beside}`"
            )
            raise SchemaMismatch(f"attribute {self.name}: {fault}, or clean the data; `dpress check` counts them first")
        return DROPPED if policy == DROP else self.proper + self.extra.index(policy)

    def codes(self, value: Any) -> tuple[int, ...]:
        """Return the code of a value along each of its axes, DROPPED where the specification leaves its row out.

        Raises:
            SchemaMismatch: the specification rejects the value (it is not shown).
        """
        cell = self.cell(value)
        return (cell if cell >= 0 else self.settled(cell),)

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every value of an Arrow column, as `cell_of` has it, OUTSIDE or MISSING.

        Args:
            column: whose values stand in their own places, in a type that Arrow's functions know.

        Raises:
            SchemaMismatch: the column's type is not coded.
        """
        from dpress.attributes.arrow import columns  # noqa: PLC0415  # devices read no columns

        return columns.each_by_itself(self, column)

    def arrow_codes(self, column: "pa.Array") -> Codes:
        """Return the code of every value of an Arrow column along each axis, shape (axes, rows); see `codes`."""
        from dpress.attributes.arrow import columns  # noqa: PLC0415  # devices read no columns

        return columns.settled(self, column)

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a value; None where the rows are to be read by `arrow_cells` instead.

        Args:
            column: as the engine declares it.
            otherwise: the code of what is missing, and of what has no cell.
        """
        del column, otherwise
        return None

    def sql_missing(self, column: "Column") -> "exp.Expr":
        """Return the SQL of whether a value is missing or not of the attribute's type."""
        return column.missing
