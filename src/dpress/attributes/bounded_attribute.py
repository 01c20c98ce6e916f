"""Attributes whose cells lie between increasing edges, within public bounds.

Nothing that is as long as an axis is kept: an axis may have 2^53 cells, whose edges and labels are made on demand.
"""

import itertools
import math
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt

from dpress.attributes.cells import Cells, Policies
from dpress.attributes.made_up import bell
from dpress.attributes.named import WORDLESS
from dpress.attributes.policy import DROP, REJECT, Outside, unnamed
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:
    import pyarrow as pa

Edges = npt.NDArray[Any]  # int64 for integers, float64 for numbers
Codes = npt.NDArray[np.int64]

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
        places = np.array([self.ordered // 4, (self.ordered + 1) // 2])
        low, high = self.edges_at(places).tolist()
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

    def edges_at(self, places: Codes) -> Edges:
        """Return some of the edges, numbered from 0 to `ordered`."""
        raise NotImplementedError

    def _guess(self, numbers: Edges) -> Codes:
        """Return the last edge that is not above each number, or one near it."""
        low, high = self.ends
        return np.asarray((numbers - low) / (high - low) * self.ordered, dtype=np.int64)

    def edge_below(self, numbers: Edges) -> Codes:
        """Return the place of the last edge that is not above each number; the numbers lie between the outer edges."""
        places = np.clip(self._guess(numbers), 0, self.ordered)
        while (above := self._at(places) > numbers).any():
            places -= above
        while (below := (places < self.ordered) & (self._at(np.minimum(places + 1, self.ordered)) <= numbers)).any():
            places += below
        return places

    @cached_property
    def _table(self) -> Edges:
        return self.edges

    def _at(self, places: Codes) -> Edges:
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


class Integer(ByEdges, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="integer"):
    """Integers between public bounds, both included; every integer is a cell unless `bins` groups them.

    Args:
        bounds: the lowest and the highest integer.
        bins: the number of cells, as equal as integers allow.
        outside: what happens to a value outside the bounds: "clamp", "drop" or "reject".
        null: the name of the cell for missing values, or "reject" or "drop".
    """

    bounds: tuple[int, int]
    bins: int | None = None

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        low, high = self.bounds
        if low > high or max(abs(low), abs(high)) >= 2**53:
            raise ValueError(f"attribute {self.name}: `bounds` must be [low, high] with low <= high below 2^53")
        if self.bins is not None and not 1 <= self.bins <= high - low + 1:
            raise ValueError(f"attribute {self.name}: `bins` must lie between 1 and {high - low + 1}, got {self.bins}")
        if self.ordered > LARGEST_AXIS:
            raise ValueError(f"attribute {self.name}: {self.ordered} cells are more than 2^53; set fewer `bins`")
        self._check_extra()

    @property
    def numbers(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def reads(self) -> Literal["number"]:
        """What its column holds."""
        return "number"

    @property
    def span(self) -> int:
        """The number of integers between the bounds."""
        return self.bounds[1] - self.bounds[0] + 1

    @property
    def unbinned(self) -> bool:
        """Whether every integer between the bounds is a cell."""
        return self.bins is None

    @property
    def even(self) -> bool:
        """Whether the cells are as equal as integers allow."""
        return True

    def levels(self, most: int) -> int:
        """Return the number of levels that moments are taken over, where there may be `most`."""
        return most

    def with_levels(self, levels: int) -> Self:
        """Return the attribute with so many cells, or with every integer where these are fewer."""
        return msgspec.structs.replace(self, bins=None if self.span <= levels else levels)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return integers around the middle of the bounds."""
        low, high = self.ends
        return {self.name: np.floor(low + (high - low) * bell(rows, rng)).astype(np.int64)}

    def _edges_for_script(self, *, short: bool) -> dict[str, Any]:
        del short
        return {"kind": "integer", "bounds": self.bounds}

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return self.bins or self.span

    def edges_at(self, places: Codes) -> Edges:
        """Return the lowest integer of each of these cells; beyond the last cell, one more than the highest integer.

        Formula: low + ceil(cell span / cells); with span = q cells + r that is low + cell q + ceil(cell r / cells).
        """
        cells = self.ordered
        each, rest = divmod(self.span, cells)
        if cells <= LARGEST_SQUARE:
            return np.asarray(self.bounds[0] + places * each - (-places * rest // cells), dtype=np.int64)
        exact = [place * each - (-place * rest // cells) for place in places.tolist()]
        return self.bounds[0] + np.asarray(exact, dtype=np.int64)

    def _names(self, start: int, stop: int) -> list[str]:
        edges = self.edges_at(np.arange(start, stop + 1)).tolist()
        if self.bins is None:
            return list(map(str, edges[:-1]))
        return [str(low) if high == low + 1 else f"{low}..{high - 1}" for low, high in itertools.pairwise(edges)]


class Numeric(ByEdges, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="numeric"):
    """Real numbers between public bounds in bins [edge, next edge); the last bin is closed.

    Args:
        bounds: the lowest and the highest number; left out, the first and the last edge.
        bins: the number of bins of equal width.
        cuts: increasing edges instead of `bins`; written `edges` in the specification.
        outside: what happens to a value outside the bounds: "clamp", "drop" or "reject".
        null: the name of the cell for missing values, or "reject" or "drop".
    """

    whole: ClassVar[bool] = False
    bounds: tuple[float, float] | None = None
    bins: int | None = None
    cuts: tuple[float, ...] | None = msgspec.field(default=None, name="edges")

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if (self.bins is None) == (self.cuts is None):
            raise ValueError(f"attribute {self.name}: set either `bins` (with `bounds`) or `edges`")
        if self.cuts is None and self.bounds is None:
            raise ValueError(f"attribute {self.name}: `bins` need `bounds`")
        if self.bins is not None and not 1 <= self.bins <= LARGEST_AXIS:
            raise ValueError(f"attribute {self.name}: `bins` must lie between 1 and 2^53, got {self.bins}")
        if not self._increasing:
            raise ValueError(f"attribute {self.name}: bounds and edges must be finite and strictly increasing")
        if self.bounds is not None and self.ends != self.bounds:
            raise ValueError(f"attribute {self.name}: the first and the last of `edges` must equal `bounds`")
        self._check_extra()

    @property
    def numbers(self) -> Self:
        """The attribute itself."""
        return self

    @property
    def reads(self) -> Literal["number"]:
        """What its column holds."""
        return "number"

    @property
    def movable(self) -> Self | None:
        """The attribute itself, unless its edges are stated."""
        return self if self.cuts is None else None

    @property
    def span(self) -> None:
        """The number of values between the bounds is that of no integers."""

    @property
    def even(self) -> bool:
        """Whether the cells have one width."""
        return self.cuts is None

    @property
    def plain(self) -> "Numeric":
        """The attribute with only what decides the code of a value, of a location's side, too; see `Cells.plain`."""
        fields = {name: getattr(self, name) for name in ("name", "outside", "bounds", "bins", "cuts")}
        return Numeric(**fields, null=unnamed(self.null, "null"))

    def levels(self, most: int) -> int:
        """Return the number of levels that moments are taken over, where there may be `most`; bins are parted alike."""
        bins = self.bins or 1
        return bins * max(1, most // bins)

    def with_levels(self, levels: int) -> Self:
        """Return the attribute with so many cells of one width."""
        low, high = map(float, self.ends)
        return msgspec.structs.replace(self, bounds=(low, high), cuts=None, bins=levels)

    def with_edges(self, edges: tuple[float, ...]) -> Self:
        """Return the attribute with other edges."""
        return msgspec.structs.replace(self, bounds=None, bins=None, cuts=edges)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return numbers around the middle of the bounds."""
        low, high = self.ends
        return {self.name: low + (high - low) * bell(rows, rng)}

    def _edges_for_script(self, *, short: bool) -> dict[str, Any]:
        del short
        return {"kind": "numeric"} | ({"bounds": self.ends} if self.cuts is None else {"edges": self.cuts})

    def carried(self, low: float, high: float) -> bool:
        """Whether floats between these bounds are fine enough for all bins, however many.

        Where that holds of two intervals with a common end, it holds of both together: the width grows, and the unit
        of the last place is that of one of them.
        """
        return (high - low) / self.ordered >= FINEST * math.ulp(max(abs(low), abs(high)))

    @property
    def _increasing(self) -> bool:
        """Whether all edges are finite and each is above the one before.

        Many bins must be at least `FINEST` units of the last place wide: an edge is off by less than 6 of them.
        """
        if self.cuts is None and self.ordered > WALKED:
            low, high = self.bounds or (0.0, 0.0)
            return math.isfinite((high - low) * self.ordered) and self.carried(low, high)
        with np.errstate(over="ignore", invalid="ignore"):
            edges = self.edges
            return len(edges) > 1 and bool(np.isfinite(edges).all() and (np.diff(edges) > 0).all())

    @property
    def _step(self) -> float:
        low, high = self.bounds or (0.0, 0.0)
        return (high - low) / self.ordered

    @cached_property
    def _cuts(self) -> Edges:
        return np.asarray(self.cuts, dtype=np.float64)

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return len(self.cuts) - 1 if self.cuts is not None else self.bins or 1

    def edges_at(self, places: Codes) -> Edges:
        """Return the lower edge of each of these bins; beyond the last bin, its upper edge."""
        if self.cuts is not None:
            return np.asarray(self._cuts[places])
        low, high = self.bounds or (0.0, 0.0)
        edges = low + (high - low) * places / self.ordered
        return np.where(places == self.ordered, high, edges)

    def _guess(self, numbers: Edges) -> Codes:
        if self.cuts is None:
            return super()._guess(numbers)
        return np.searchsorted(self._cuts, numbers, side="right") - 1

    @cached_property
    def _format(self) -> str:
        """Ten digits where they tell all edges apart, else seventeen.

        Two numbers that are further apart than one unit of the tenth digit differ in ten digits. Where the bins are
        narrower than that, the texts are compared, unless there are very many.
        """
        low, high = self.ends
        unit = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high)))) - 9)
        if self.cuts is None and self._step > 2 * unit:
            return ".10g"
        if self.cuts is None and self.ordered > WALKED:
            return ".17g"
        texts = {f"{edge:.10g}" for edge in self.edges.tolist()}
        return ".10g" if len(texts) == self.ordered + 1 else ".17g"

    def _names(self, start: int, stop: int) -> list[str]:
        texts = [format(edge, self._format) for edge in self.edges_at(np.arange(start, stop + 1)).tolist()]
        bins = [f"[{low}, {high})" for low, high in itertools.pairwise(texts)]
        return bins if stop < self.ordered else [*bins[:-1], bins[-1][:-1] + "]"]


Number = Integer | Numeric
