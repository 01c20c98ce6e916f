"""The queries that a design's predicted error is about, as data: tables, ranges, boxes, areas of a map, predicates."""

import msgspec

from dpress.core.maps.ranges import AllRanges, Axis, Prefixes, Range, RangeList, RangesOfLength
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Areas, Boxes, Marginals, Predicates


class _Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="queries"):
    """What the document names under `queries`."""


class Cells(_Queries, frozen=True, kw_only=True, tag="cells"):
    """Every cell of some tables, given by their axes."""

    tables: tuple[tuple[int, ...], ...]


class AllOf(_Queries, frozen=True, tag="all"):
    """Every range of one attribute."""


class PrefixesOf(_Queries, frozen=True, tag="prefixes"):
    """The ranges of one attribute that begin with its first cell."""


class OfLength(_Queries, frozen=True, kw_only=True, tag="length"):
    """Every range of so many cells."""

    length: int


class Listed(_Queries, frozen=True, kw_only=True, tag="listed"):
    """Ranges one by one: the first and the last cell, counted from 1."""

    ranges: tuple[tuple[int, int], ...]


class Ranges(_Queries, frozen=True, kw_only=True, tag="ranges"):
    """Ranges of every attribute; paired, the i-th of all attributes make the i-th box, else all combinations do."""

    axes: tuple[AllOf | PrefixesOf | OfLength | Listed, ...]
    paired: bool


class Rectangles(_Queries, frozen=True, kw_only=True, tag="areas"):
    """Rectangles of a map whose area is a share of the whole, from the least to the largest; the shares as texts."""

    low: str
    high: str


class Holding(_Queries, frozen=True, kw_only=True, tag="predicates"):
    """The rows of which predicates hold: their texts, and of each the atoms, of so many, that it is the sum of."""

    texts: tuple[str, ...]
    atoms: int
    sets: tuple[tuple[int, ...], ...]


Queries = Cells | Ranges | Rectangles | Holding
Asked = Marginals | Boxes | Areas | Predicates


def written(workload: Asked) -> Queries:
    """Return a workload as data."""
    if isinstance(workload, Marginals):
        return Cells(tables=workload.tables)
    if isinstance(workload, Areas):
        return Rectangles(low=repr(workload.low), high=repr(workload.high))
    if isinstance(workload, Predicates):
        return Holding(texts=workload.texts, atoms=workload.cells, sets=workload.sums.sets)
    return Ranges(axes=tuple(map(_axis, workload.axes)), paired=workload.paired)


def _axis(axis: Axis) -> AllOf | PrefixesOf | OfLength | Listed:
    if isinstance(axis, AllRanges):
        return AllOf()
    if isinstance(axis, Prefixes):
        return PrefixesOf()
    if isinstance(axis, RangesOfLength):
        return OfLength(length=axis.length)
    return Listed(ranges=tuple((span.left, span.right) for span in axis.listed))


def workload(queries: Queries, shape: tuple[int, ...]) -> Asked:
    """Return the workload over axes of these sizes; predicates have atoms of their own.

    Raises:
        ValueError: it does not fit them.
    """
    if isinstance(queries, Cells):
        return Marginals(shape, queries.tables)
    if isinstance(queries, Rectangles):
        return Areas(float(queries.low), float(queries.high))
    if isinstance(queries, Holding):
        return Predicates(queries.texts, SetSums(queries.atoms, queries.sets))
    pairs = zip(queries.axes, shape, strict=True)
    return Boxes(tuple(_ranges(axis, size) for axis, size in pairs), paired=queries.paired)


def _ranges(axis: AllOf | PrefixesOf | OfLength | Listed, size: int) -> Axis:
    if isinstance(axis, AllOf):
        return AllRanges(size)
    if isinstance(axis, PrefixesOf):
        return Prefixes(size)
    if isinstance(axis, OfLength):
        return RangesOfLength(size, axis.length)
    return RangeList(size, tuple(Range(left, right) for left, right in axis.ranges))
