"""Integers and numbers between public bounds, each with means and sums."""

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt

from dpress.attributes.by_edges import FINEST, LARGEST_AXIS, LARGEST_SQUARE, WALKED, ByEdges, Edges, Places
from dpress.attributes.numbers.wider_cells import integer_cells
from dpress.attributes.policy import MISSING, unnamed
from dpress.attributes.protocol import Codes
from dpress.attributes.spread import bell
from dpress.attributes.value import Kind, Value, number
from dpress.core.basics.rng import Generator

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from dpress.attributes.sql.engine_column import Column

PLACE = 2  # of the room where kinds are listed
FAR = 1 << 62  # beyond all bounds


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
            wanted = f"`bounds` are [low, high], -2^53 < low <= high < 2^53, got {[low, high]}"
            raise ValueError(f"attribute {self.name}: {wanted}")
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

    def coarser(self, cuts: frozenset[int]) -> Sequence[Self]:
        """Return the attribute in two cells where there is one cut, and in cells of one width; see `Cells.coarser`."""
        ways = integer_cells(self.bounds, cuts, clamped=self.outside == "clamp") if self.unbinned else ()
        return [msgspec.structs.replace(self, bounds=bounds, bins=bins) for bounds, bins in ways]

    def within(self, first: int, last: int) -> Self | None:
        """Return the integers of some cells; None where others are clamped into them. See `Cells.within`."""
        low, high = self.edges_at(np.array([first, last + 1])).tolist()
        alone = msgspec.structs.replace(self, bounds=(low, high - 1), bins=1, **self.left_out)
        return alone if self.cut_off(first, last) else None

    def cell_of(self, value: Value) -> int:
        """Return the cell of the floor of a number; see `Cells.cell_of`."""
        exact = number_of(value)
        if exact is None:
            return MISSING
        whole = math.floor(exact) if -FAR < exact < FAR else FAR if exact > 0 else -FAR
        return int(self.cells(np.array([whole]))[0])

    def cells(self, numbers: npt.NDArray[Any]) -> Codes:
        """Return the cell of every number, OUTSIDE outside the bounds unless values are clamped.

        Args:
            numbers: whole ones, as 64-bit integers or floats.
        """
        low, high = self.bounds
        near = np.clip(numbers, low, high)
        if self.bins is None:
            codes = np.asarray(near - low, dtype=np.int32)
        elif self.span <= WALKED:
            codes = _cells_of_integers(self)[np.asarray(near - low, dtype=np.int64)]
        else:
            codes = self._between(near)
        return self._beyond(codes, (numbers < low) | (numbers > high))

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every number of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.numbers import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.integers(self, column)

    def below(self, column: "pa.Array") -> npt.NDArray[np.bool_]:
        """Return which numbers of an Arrow column lie below the bounds; see `ByEdges.below`."""
        from dpress.attributes.numbers import arrow  # noqa: PLC0415  # devices read no columns

        return np.asarray(arrow.nearest(self.name, column) < self.ends[0])

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a number; see `Cells.sql_cell`."""
        from dpress.attributes.numbers import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.bounded_cell(self, column, otherwise) if sql.is_countable(self, column) else None

    def sql_missing(self, column: "Column") -> "exp.Expr":
        """Return the SQL of whether a value has no number."""
        from dpress.attributes.numbers import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.has_none(self, column)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return integers around the middle of the bounds."""
        low, high = self.ends
        return {self.read_from: np.floor(low + (high - low) * bell(rows, rng)).astype(np.int64)}

    def _edges_for_script(self, *, short: bool) -> dict[str, Any]:
        del short
        return {"kind": "integer", "bounds": self.bounds}

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return self.bins or self.span

    def edges_at(self, places: Places) -> Edges:
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
    decimals: ClassVar[tuple[str, ...]] = ("bounds", "edges")
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

    def coarser(self, cuts: frozenset[int]) -> Sequence[Self]:
        """Return the attribute with the edges at the cuts alone; see `Cells.coarser`."""
        inner = sorted(cut for cut in cuts if 0 < cut < self.ordered)
        return (self.with_edges(tuple(self.edges_at(np.array([0, *inner, self.ordered])).tolist())),)

    def within(self, first: int, last: int) -> Self | None:
        """Return the numbers of some cells; None where others are clamped into them. See `Cells.within`."""
        if not self.cut_off(first, last):
            return None
        low, high = self.edges_at(np.array([first, last + 1])).tolist()
        high = high if last + 1 == self.ordered else math.nextafter(high, low)  # the edge is the next cell's
        return msgspec.structs.replace(self.with_edges((low, high)), **self.left_out)

    def with_edges(self, edges: tuple[float, ...]) -> Self:
        """Return the attribute with other edges."""
        return msgspec.structs.replace(self, bounds=None, bins=None, cuts=edges)

    def cell_of(self, value: Value) -> int:
        """Return the bin of the nearest 64-bit float; see `Cells.cell_of`."""
        exact = number_of(value)
        return MISSING if exact is None else int(self.cells(np.array([float(exact)]))[0])

    def cells(self, numbers: npt.NDArray[Any]) -> Codes:
        """Return the bin of every 64-bit float, OUTSIDE outside the bounds unless values are clamped."""
        low, high = self.ends
        return self._beyond(self._between(np.clip(numbers, low, high)), (numbers < low) | (numbers > high))

    def arrow_cells(self, column: "pa.Array") -> Codes:
        """Return the cell of every number of an Arrow column; see `Cells.arrow_cells`."""
        from dpress.attributes.numbers import arrow  # noqa: PLC0415  # devices read no columns

        return arrow.bins(self, column)

    def below(self, column: "pa.Array") -> npt.NDArray[np.bool_]:
        """Return which numbers of an Arrow column lie below the bounds; see `ByEdges.below`."""
        from dpress.attributes.numbers import arrow  # noqa: PLC0415  # devices read no columns

        return np.asarray(arrow.nearest(self.name, column) < self.ends[0])

    def sql_cell(self, column: "Column", otherwise: "exp.Expr") -> "exp.Expr | None":
        """Return the SQL of the cell of a number; see `Cells.sql_cell`."""
        from dpress.attributes.numbers import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.bounded_cell(self, column, otherwise) if sql.is_countable(self, column) else None

    def sql_missing(self, column: "Column") -> "exp.Expr":
        """Return the SQL of whether a value has no number."""
        from dpress.attributes.numbers import sql  # noqa: PLC0415  # sqlglot takes a while to import

        return sql.has_none(self, column)

    def made_up(self, rows: int, rng: Generator) -> dict[str, Any]:
        """Return numbers around the middle of the bounds."""
        low, high = self.ends
        return {self.read_from: low + (high - low) * bell(rows, rng)}

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

    def edges_at(self, places: Places) -> Edges:
        """Return the lower edge of each of these bins; beyond the last bin, its upper edge."""
        if self.cuts is not None:
            return np.asarray(self._cuts[places])
        low, high = self.bounds or (0.0, 0.0)
        edges = low + (high - low) * places / self.ordered
        return np.where(places == self.ordered, high, edges)

    def _guess(self, numbers: Edges) -> Places:
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
ATTRIBUTES = (Integer, Numeric)


@lru_cache(maxsize=64)
def _cells_of_integers(attribute: Integer) -> Codes:
    """Return the cell of every integer between the bounds."""
    low, high = attribute.bounds
    return np.minimum(attribute.edge_below(np.arange(low, high + 1)), attribute.ordered - 1).astype(np.int32)


def number_of(value: Value) -> Decimal | None:
    """Return the exact number of a value: true is 1, a text what it reads as; None where it has none."""
    if isinstance(value.content, Decimal):
        return value.content
    if isinstance(value.content, str):
        return number(value.content)
    return Decimal(value.content) if value.kind is Kind.TRUTH else None
