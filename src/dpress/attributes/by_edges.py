"""Attributes whose cells lie between increasing edges, within public bounds.

Nothing that is as long as an axis is kept: an axis may have 2^53 cells, whose edges and labels are made on demand.
"""

import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec
import numpy as np
import numpy.typing as npt

from dpress.attributes.named import WORDLESS
from dpress.attributes.policy import DROP, OUTSIDE, REJECT, Outside, unnamed
from dpress.attributes.protocol import Cells, Codes, Policies

if TYPE_CHECKING:
    import pyarrow as pa

Edges = npt.NDArray[Any]  # int64 for integers, float64 for numbers
Places = npt.NDArray[np.int64]

LARGEST_AXIS = 1 << 53  # cells of one attribute
WALKED = 1 << 16  # cells up to which neighbouring edges are compared one by one
FINEST = 16  # units of the last place: the narrowest of very many bins
LARGEST_SQUARE = 1 << 31  # cells whose square fits 64 bits


class ByEdges(Cells, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What integers, numbers and dates share: cells by increasing edges, then one for missing values if it is named."""

    whole: ClassVar[bool] = True  # whether the numbers between edges are integers
    outside: Outside = "clamp"
    null: str = REJECT

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the numbers: `null`, where it is named."""
        return () if self.null in (REJECT, DROP) else (self.null,)

    @property
    def scale(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def policies(self) -> Policies:
        """What becomes of a value outside the bounds, and of a missing one."""
        return Policies(self.outside, self.null)

    def cut_off(self, first: int, last: int) -> bool:
        """Return whether the numbers of some cells are all that is counted there: none is clamped into them."""
        return self.outside != "clamp" or (first > 0 and last < self.ordered - 1)

    @property
    def left_out(self) -> dict[str, str]:
        """What becomes of other rows, where the rows of some cells are all: missing values may still be refused."""
        return {"outside": DROP, "null": REJECT if self.null == REJECT else DROP}

    @property
    def strict(self) -> Self:
        """The attribute whose values outside the bounds have no cell."""
        return msgspec.structs.replace(self, outside=DROP)

    @property
    def plain(self) -> Self:
        """The attribute with only what decides the code of a value; see `Cells.plain`."""
        return msgspec.structs.replace(self, **WORDLESS, null=unnamed(self.null, "null"))

    @property
    def middle(self) -> str:
        """A range over the middle half of the cells, as a query writes it."""
        return self.spanning(self.ordered // 4, (self.ordered + 1) // 2)

    def spanning(self, start: int, stop: int) -> str:
        """Return the range of the cells start..stop-1, as a query writes it."""
        low, high = self.edges_at(np.array([start, stop])).tolist()
        return "..".join(self.inclusive(low, high))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.ordered + len(self.extra)

    @property
    def edges(self) -> Edges:
        """The lower edge of every cell, then the upper edge of the last; made anew each time."""
        return self.edges_at(np.arange(self.ordered + 1))

    @property
    def ends(self) -> tuple[Any, Any]:
        """The first and the last edge."""
        first, last = self.edges_at(np.array([0, self.ordered])).tolist()
        return first, last

    def edges_at(self, places: Places) -> Edges:
        """Return some of the edges, numbered from 0 to `ordered`."""
        raise NotImplementedError

    def _guess(self, numbers: Edges) -> Places:
        """Return the last edge that is not above each number, or one near it."""
        low, high = self.ends
        return np.asarray((numbers - low) / (high - low) * self.ordered, dtype=np.int64)

    def edge_below(self, numbers: Edges) -> Places:
        """Return the place of the last edge that is not above each number; the numbers lie between the outer edges."""
        places = np.clip(self._guess(numbers), 0, self.ordered)
        while (above := self._at(places) > numbers).any():
            places -= above
        while (below := (places < self.ordered) & (self._at(np.minimum(places + 1, self.ordered)) <= numbers)).any():
            places += below
        return places

    def _between(self, numbers: Edges) -> Codes:
        """Return the cell of every number within the outer edges; the last edge belongs to the last cell."""
        return np.asarray(np.minimum(self.edge_below(numbers), self.ordered - 1), dtype=np.int32)

    def _beyond(self, codes: Codes, outside: npt.NDArray[np.bool_]) -> Codes:
        """Return codes of clamped values, OUTSIDE where they lie outside unless the specification clamps them."""
        if self.outside != "clamp":
            codes[outside] = OUTSIDE
        return codes

    def below(self, column: "pa.Array") -> npt.NDArray[np.bool_]:
        """Return which values of an Arrow column lie below the bounds; anything where one is missing."""
        raise NotImplementedError

    @cached_property
    def _table(self) -> Edges:
        return self.edges

    def _at(self, places: Places) -> Edges:
        return np.asarray(self._table[places]) if self.ordered <= WALKED else self.edges_at(places)

    def labels_between(self, start: int, stop: int) -> list[str]:
        """Return the names of the cells start..stop-1."""
        last = min(stop, self.ordered)
        names = self._names(start, last) if start < last else []
        return names + list(self.extra[max(0, start - self.ordered) : max(0, stop - self.ordered)])

    def _names(self, start: int, stop: int) -> list[str]:
        raise NotImplementedError

    def code(self, label: str) -> int | None:
        """Return the cell of that name, or None."""
        return self.ordered if label in self.extra else self._ordered_code(label)

    def _ordered_code(self, label: str) -> int | None:
        """Return the cell of that name among those with an order: it lies where its first number says."""
        match = re.match(r"\[?([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)", label)
        try:
            number = float(match[1] if match else "")
        except ValueError:
            return None
        low, high = self.ends
        near = int(self.edge_below(np.array([min(max(number, low), high)]))[0])
        around = range(max(0, near - 1), min(self.ordered, near + 2))
        return next((cell for cell in around if self._names(cell, cell + 1) == [label]), None)

    @property
    def expected(self) -> str:
        """What a query names."""
        return "a number"

    def named(self, text: str) -> tuple[float, float]:
        """Return the first number that a text of a query stands for, and the end of what it stands for.

        Raises:
            ValueError: it stands for none.
        """
        number = float(text)
        if math.isnan(number):
            raise ValueError(f"expected {self.expected}")
        return number, number + self.whole

    def inclusive(self, low: float, high: float) -> tuple[str, str]:
        """Return the ends of the range between two edges as a query writes them, both included."""
        return f"{low:.10g}", f"{high - self.whole:.10g}"

    @property
    def limits(self) -> tuple[str, str] | None:
        """The bounds for people, both included; None where there are none."""
        return self.inclusive(*self.ends)

    def ticks_between(self, start: int, stop: int) -> list[str]:
        """Return a short name of each of the cells start..stop-1: its lower edge, beside the numbers its name."""
        outer = self.edges_at(np.array([0, self.ordered - 1]))
        separator = "," if np.abs(outer).max() >= 10_000 else ""  # 1990 is a year, 19,900 is not
        edges = self.edges_at(np.arange(start, min(stop, self.ordered))).tolist()
        beside = self.labels_between(max(start, self.ordered), stop)
        return [*(f"{edge:{separator}.6g}" for edge in edges), *beside]

    def edge_column(self, numbers: Edges, beside: npt.NDArray[np.bool_]) -> "pa.Array":
        """Return numbers of the attribute as a column of Arrow: those of dates as days, those of times as time stamps.

        Args:
            numbers: as its edges are, shape (m,).
            beside: which are null, shape (m,).
        """
        import pyarrow as pa  # noqa: PLC0415  # devices write no tables

        return pa.array(numbers, mask=beside)

    def for_script(self, longest: int) -> dict[str, Any] | None:
        """Return the attribute as the script of a page reads it; None where it has too many cells."""
        short = self.size <= longest
        names: dict[str, Any] = {"names": self.labels} if short else {"missing": next(iter(self.extra), None)}
        edges = self._edges_for_script(short=short)
        return None if edges is None else self._for_script | names | edges

    def _edges_for_script(self, *, short: bool) -> dict[str, Any] | None:
        """Return the edges as the script of a page reads them; None where they are too many."""
        raise NotImplementedError

    def _check_extra(self) -> None:
        if self.extra and self._ordered_code(self.null) is not None:
            raise ValueError(f"attribute {self.name}: `null` must not be the name of another cell, got {self.null!r}")
