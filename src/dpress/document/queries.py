"""The queries that a design's predicted error is about, as data: tables, ranges, boxes, areas of a map, predicates."""

from typing import ClassVar

import msgspec

from dpress.core.maps.ranges import AllRanges, Axis, Prefixes, Range, RangeList, RangesOfLength
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Areas, Boxes, Marginals, Predicates, Workload


class _Queries(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="queries"):
    """What the document names under `queries`."""

    of_all_cells: ClassVar[bool] = False  # whether the table of all cells is counted for them


class Cells(_Queries, frozen=True, kw_only=True, tag="cells"):
    """Every cell of some tables, given by their axes."""

    tables: tuple[tuple[int, ...], ...]

    def workload(self, shape: tuple[int, ...]) -> Marginals:
        """Return the workload over axes of these sizes."""
        return Marginals(shape, self.tables)


class AllOf(_Queries, frozen=True, tag="all"):
    """Every range of one attribute."""

    def over(self, size: int) -> Axis:
        """Return the ranges of so many cells."""
        return AllRanges(size)


class PrefixesOf(_Queries, frozen=True, tag="prefixes"):
    """The ranges of one attribute that begin with its first cell."""

    def over(self, size: int) -> Axis:
        """Return the ranges of so many cells."""
        return Prefixes(size)


class OfLength(_Queries, frozen=True, kw_only=True, tag="length"):
    """Every range of so many cells."""

    length: int

    def over(self, size: int) -> Axis:
        """Return the ranges of so many cells."""
        return RangesOfLength(size, self.length)


class Listed(_Queries, frozen=True, kw_only=True, tag="listed"):
    """Ranges one by one: the first and the last cell, counted from 1."""

    ranges: tuple[tuple[int, int], ...]

    def over(self, size: int) -> Axis:
        """Return the ranges of so many cells."""
        return RangeList(size, tuple(Range(left, right) for left, right in self.ranges))


class Ranges(_Queries, frozen=True, kw_only=True, tag="ranges"):
    """Ranges of every attribute; paired, the i-th of all attributes make the i-th box, else all combinations do."""

    of_all_cells: ClassVar[bool] = True
    axes: tuple[AllOf | PrefixesOf | OfLength | Listed, ...]
    paired: bool

    def workload(self, shape: tuple[int, ...]) -> Boxes:
        """Return the workload over axes of these sizes.

        Raises:
            ValueError: it does not fit them.
        """
        return Boxes(tuple(axis.over(size) for axis, size in zip(self.axes, shape, strict=True)), paired=self.paired)


class Rectangles(_Queries, frozen=True, kw_only=True, tag="areas"):
    """Rectangles of a map whose area is a share of the whole, from the least to the largest; the shares as texts."""

    low: str
    high: str

    def workload(self, _shape: tuple[int, ...]) -> Areas:
        """Return the workload, of whatever map."""
        return Areas(float(self.low), float(self.high))


class Holding(_Queries, frozen=True, kw_only=True, tag="predicates"):
    """The rows of which predicates hold: their texts, and of each the atoms, of so many, that it is the sum of."""

    texts: tuple[str, ...]
    atoms: int
    sets: tuple[tuple[int, ...], ...]

    def workload(self, _shape: tuple[int, ...]) -> Predicates:
        """Return the workload, over atoms of its own."""
        return Predicates(self.texts, SetSums(self.atoms, self.sets))


Queries = Cells | Ranges | Rectangles | Holding


def written(workload: Workload | Areas) -> Queries:
    """Return a workload as data."""
    return msgspec.convert(workload.stated, Queries)  # type: ignore[no-any-return]
