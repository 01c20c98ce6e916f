"""Attributes and schemas: which cells a table has. Everything here is public and comes from the specification."""

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np

from dpress.core.errors import NotSupported, SchemaMismatch

Value = str | int | bool
Outside = Literal["clamp", "drop", "reject"]

LARGEST_AXIS = 1 << 26  # cells of one attribute
REJECT = "reject"
DROP = "drop"


class _Attribute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", dict=True):
    """What every attribute has: a name, which is also the column unless the kind names its columns."""

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.name,)


class Categorical(_Attribute, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="categorical"):
    """A public list of values; each is a cell.

    Args:
        values: all of one type: strings, integers or booleans.
        other: the name of the cell for anything else, or "reject" or "drop".
        null: the name of the cell for missing values, or "reject" or "drop"; left out, a missing value is an `other`.
        hierarchy: a CSV file `value,level1,...`; once loaded, its rows.
    """

    values: tuple[Value, ...]
    other: str = REJECT
    null: str | None = None
    hierarchy: str | tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not self.values:
            raise ValueError(f"attribute {self.name}: `values` must list at least one value")
        if len({type(value) for value in self.values}) > 1:
            raise ValueError(f"attribute {self.name}: `values` must be all strings, all integers or all booleans")
        if isinstance(self.values[0], int) and max(abs(int(value)) for value in self.values) > 2**53:
            raise ValueError(f"attribute {self.name}: integers in `values` must lie within 2^53")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"attribute {self.name}: `values`, `other` and `null` must name different cells")

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the listed values: `other`, then `null`, where they are named."""
        names = [self.other, self.other if self.null is None else self.null]
        return tuple(dict.fromkeys(name for name in names if name not in (REJECT, DROP)))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order."""
        return tuple(_text(value) for value in self.values) + self.extra

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.labels)

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order; 0 for a list without one."""
        return 0

    @property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The codes behind every label of the hierarchy's upper levels."""
        found: dict[str, list[int]] = {}
        rows = self.hierarchy if isinstance(self.hierarchy, tuple) else ()
        for value, *levels in rows:
            for label in dict.fromkeys(levels):
                if value in self.labels:
                    found.setdefault(label, []).append(self.labels.index(value))
        return {label: tuple(codes) for label, codes in found.items() if label not in self.labels}


class Ordinal(Categorical, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="ordinal"):
    """A categorical attribute whose values are listed in their order, so that ranges make sense."""

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return len(self.values)


class _Bounded(_Attribute, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What integers and numbers share: cells by increasing edges, then a cell for missing values if it is named."""

    outside: Outside = "clamp"
    null: str = REJECT

    @property
    def extra(self) -> tuple[str, ...]:
        """The cells beside the numbers: `null`, where it is named."""
        return () if self.null in (REJECT, DROP) else (self.null,)


class Integer(_Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="integer"):
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
            raise ValueError(f"attribute {self.name}: {self.ordered} cells are more than 2^26; set fewer `bins`")
        if self.extra:
            _check_extra(self.name, self.extra, self.labels)

    @property
    def span(self) -> int:
        """The number of integers between the bounds."""
        return self.bounds[1] - self.bounds[0] + 1

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return self.bins or self.span

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.ordered + len(self.extra)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The lowest integer of every cell, then one more than the highest integer."""
        cells, low = self.ordered, self.bounds[0]
        if self.bins is None:
            return tuple(range(low, self.bounds[1] + 2))
        return tuple(low - (-cell * self.span // cells) for cell in range(cells + 1))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order."""
        if self.bins is None:
            return (*map(str, self.edges[:-1]), *self.extra)
        pairs = itertools.pairwise(self.edges)
        return (*(str(low) if high == low + 1 else f"{low}..{high - 1}" for low, high in pairs), *self.extra)


class Numeric(_Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="numeric"):
    """Real numbers between public bounds in bins [edge, next edge); the last bin is closed.

    Args:
        bounds: the lowest and the highest number; left out, the first and the last edge.
        bins: the number of bins of equal width.
        cuts: increasing edges instead of `bins`; written `edges` in the specification.
        outside: what happens to a value outside the bounds: "clamp", "drop" or "reject".
        null: the name of the cell for missing values, or "reject" or "drop".
    """

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
            raise ValueError(f"attribute {self.name}: `bins` must lie between 1 and 2^26, got {self.bins}")
        edges = np.asarray(self.edges)
        if len(edges) < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
            raise ValueError(f"attribute {self.name}: bounds and edges must be finite and strictly increasing")
        if self.bounds is not None and (self.edges[0], self.edges[-1]) != self.bounds:
            raise ValueError(f"attribute {self.name}: the first and the last of `edges` must equal `bounds`")
        if self.extra:
            _check_extra(self.name, self.extra, self.labels)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The lower edge of every bin, then the upper edge of the last."""
        if self.cuts is not None:
            return self.cuts
        low, high = self.bounds or (0.0, 0.0)
        bins = self.bins or 1
        return (*(low + (high - low) * cell / bins for cell in range(bins)), high)

    @property
    def ordered(self) -> int:
        """The number of leading cells that have an order."""
        return len(self.edges) - 1

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.ordered + len(self.extra)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The name of every cell, in code order."""
        texts = [f"{edge:.10g}" for edge in self.edges]
        if len(set(texts)) < len(texts):
            texts = [f"{edge:.17g}" for edge in self.edges]
        bins = [f"[{low}, {high})" for low, high in itertools.pairwise(texts)]
        return (*bins[:-1], bins[-1][:-1] + "]", *self.extra)


class Location(_Attribute, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="location"):
    """A position in a public bounding box, read from two columns; its grid is the spatial method's choice.

    Args:
        pair: the two columns, horizontal first; written `columns` in the specification.
        bounds: `[[low, high], [low, high]]` of the two columns.
        outside: what happens to a position outside the box: "clamp", "drop" or "reject".
    """

    pair: tuple[str, str] = msgspec.field(name="columns")
    bounds: tuple[tuple[float, float], tuple[float, float]]
    outside: Outside = "clamp"

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        if not all(math.isfinite(low) and math.isfinite(high) and low < high for low, high in self.bounds):
            raise ValueError(f"attribute {self.name}: `bounds` must be [[low, high], [low, high]] with low < high")

    @property
    def columns(self) -> tuple[str, ...]:
        """The two columns it reads."""
        return self.pair


Listed = Categorical | Ordinal
Bounded = Integer | Numeric
Tabular = Categorical | Ordinal | Integer | Numeric
Attribute = Categorical | Ordinal | Integer | Numeric | Location


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The attributes of a table, in the order of their axes.

    Args:
        attributes: with different names.
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        """Check what the types cannot say."""
        names = [attribute.name for attribute in self.attributes]
        if len(set(names)) != len(names) or not all(names):
            raise ValueError(f"attributes must have different, non-empty names, got {names}")

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def tabular(self) -> tuple[Tabular, ...]:
        """The attributes, if every one has cells of its own.

        Raises:
            NotSupported: one is a location.
        """
        return tuple(_with_cells(attribute) for attribute in self.attributes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return tuple(attribute.size for attribute in self.tabular)

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
        raise SchemaMismatch(f"there is no attribute {name!r}; the attributes are {', '.join(self.names)}")

    def axes(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the axis of every name."""
        return tuple(self.names.index(self.attribute(name).name) for name in names)


def _with_cells(attribute: Attribute) -> Tabular:
    if isinstance(attribute, Location):
        raise NotSupported(f'attribute {attribute.name}: a location has no cells of its own; use kind = "spatial"')
    return attribute


def _check_extra(name: str, extra: tuple[str, ...], labels: tuple[str, ...]) -> None:
    if labels.count(extra[0]) > 1:
        raise ValueError(f"attribute {name}: `null` must not be the name of another cell, got {extra[0]!r}")


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
