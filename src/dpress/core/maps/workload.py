"""What users want answered: boxes (ranges of one attribute or of several), marginal tables, and lists of predicates."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.ranges import AllRanges, Axis, RangesOfLength, overlaps, root_trace
from dpress.core.maps.set_sums import SetSums

MOST_SUBSETS = 1 << 18  # of attributes, over which the spectrum of several tables is added up


@dataclass(frozen=True, slots=True)
class Boxes:
    """Ranges of one ordered attribute, or boxes of several: one range of every attribute.

    Args:
        axes: the ranges of every attribute.
        paired: whether the i-th ranges of all attributes (which are lists) make the i-th box; else every combination
            is a box.
    """

    axes: tuple[Axis, ...]
    paired: bool = False
    tables: ClassVar[tuple[tuple[int, ...], ...]] = ()
    sums: ClassVar[None] = None

    def __post_init__(self) -> None:
        lengths = {len(axis.listed) for axis in self.axes}
        if self.paired and (0 in lengths or len(lengths) != 1):
            raise ValueError("paired axes must be lists of one length")

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of cells along every axis."""
        return tuple(axis.cells for axis in self.axes)

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    @property
    def queries(self) -> int:
        """The number of boxes."""
        return self.axes[0].queries if self.paired else math.prod(axis.queries for axis in self.axes)

    @property
    def log_norms(self) -> tuple[float, float]:
        """Logarithms of two norms, which may themselves be beyond any float.

        Of a number that is not above the trace norm, the sum of the singular values, and equal to it for listed boxes;
        and of one that the spectral norm, the largest of them, does not exceed.
        """
        if not self.paired:
            norms = [(axis.trace_norm, axis.spectral_norm) for axis in self.axes]
            return math.fsum(math.log(trace) for trace, _ in norms), math.fsum(math.log(most) for _, most in norms)
        shared = functools.reduce(np.multiply, (overlaps(axis.ranges()) for axis in self.axes))
        sizes = math.prod(axis.ranges().right - axis.ranges().left + 1.0 for axis in self.axes)
        return math.log(root_trace(shared)), math.log(float(np.sum(sizes))) / 2

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": "ranges", "axes": [axis.stated for axis in self.axes], "paired": self.paired}


@dataclass(frozen=True)
class Marginals:
    """Every cell of several marginal tables.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """

    shape: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]
    axes: ClassVar[tuple[Axis, ...]] = ()
    paired: ClassVar[bool] = False
    sums: ClassVar[None] = None

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": "cells", "tables": self.tables}

    @property
    def queries(self) -> int:
        """The number of cells of all tables together."""
        return sum(math.prod(self.shape[axis] for axis in table) for table in self.tables)

    @property
    def log_norms(self) -> tuple[float, float]:
        """The logarithms of the trace norm, the sum of the singular values, and of the spectral norm, the largest."""
        logs = [(math.log(eigenvalue) / 2, math.log(times)) for eigenvalue, times in self._spectrum]
        most = max(root + times for root, times in logs)
        trace = most + math.log(math.fsum(math.exp(root + times - most) for root, times in logs))
        return trace, max(root for root, _ in logs)

    @functools.cached_property
    def _spectrum(self) -> list[tuple[int, int]]:
        """The eigenvalues of the Gram matrix and how often each occurs.

        It is a sum of Kronecker products of I and the all-ones J, which share their eigenspaces: for a set T of axes
        the eigenvalue is the sum over the tables S that contain T of the product of the sizes outside S, with
        multiplicity prod_{i in T} (n_i - 1). Axes of one cell are in no T that counts; of one table all are equal.

        Raises:
            NotSupported: there are more than 2^18 sets T.
        """
        wide = [tuple(axis for axis in table if self.shape[axis] > 1) for table in self.tables]
        if len(wide) == 1:
            return [(self.cells // self.queries, self.queries)]
        if sum(1 << len(table) for table in wide) > MOST_SUBSETS:
            raise NotSupported(f"tables of so many attributes have too many marginals, at most {MOST_SUBSETS:,} of all")
        eigenvalues: dict[frozenset[int], int] = {}
        for table in wide:
            outside = self.cells // math.prod(self.shape[axis] for axis in table)
            for part in map(frozenset, _subsets(table)):
                eigenvalues[part] = eigenvalues.get(part, 0) + outside
        return [(times, math.prod(self.shape[i] - 1 for i in part)) for part, times in eigenvalues.items()]


@dataclass(frozen=True, slots=True)
class Predicates:
    """Counts of the rows of which each of several predicates holds.

    Args:
        texts: the predicates, as they were asked for.
        sums: the same as sums of their atoms.
    """

    texts: tuple[str, ...]
    sums: SetSums
    axes: ClassVar[tuple[Axis, ...]] = ()
    paired: ClassVar[bool] = False
    tables: ClassVar[tuple[tuple[int, ...], ...]] = ()

    def __post_init__(self) -> None:
        if len(self.texts) != self.sums.rows:
            raise ValueError(f"{self.sums.rows} predicates must have as many texts, got {len(self.texts)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The atoms, as one axis."""
        return (self.sums.cells,)

    @property
    def cells(self) -> int:
        """The number of atoms."""
        return self.sums.cells

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data."""
        return {"queries": "predicates", "texts": self.texts, "atoms": self.cells, "sets": self.sums.sets}

    @property
    def queries(self) -> int:
        """The number of predicates."""
        return self.sums.rows

    @property
    def log_norms(self) -> tuple[float, float]:
        """The logarithms of the sum of the singular values, and of the largest."""
        values = np.linalg.svd(self.sums.matrix, compute_uv=False)
        return math.log(values.sum()), math.log(values.max())


@dataclass(frozen=True, slots=True)
class Areas:
    """Rectangles at random places of a map, their area drawn from a range of shares of the whole.

    Args:
        low: the smallest share, above 0.
        high: the largest share, at most 1.
    """

    low: float
    high: float
    axes: ClassVar[tuple[Axis, ...]] = ()
    tables: ClassVar[tuple[tuple[int, ...], ...]] = ()
    sums: ClassVar[None] = None

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high <= 1:
            raise ValueError(f"shares of the area must satisfy 0 < low <= high <= 1, got {self.low:g}, {self.high:g}")

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data."""
        return {"queries": "areas", "low": repr(self.low), "high": repr(self.high)}


Workload = Boxes | Marginals | Predicates


def boxes_of(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> list[Boxes]:
    """Return the cells of every table as boxes: one cell along every axis of the table, all cells along every other."""
    return [Boxes(tuple(_cells(size, whole=axis not in table) for axis, size in enumerate(shape))) for table in tables]


def _cells(size: int, *, whole: bool) -> Axis:
    """Return every single cell of an axis, or all of them together."""
    return AllRanges(1) if size == 1 else RangesOfLength(size, size if whole else 1)


def _subsets(table: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [tuple(a for i, a in enumerate(table) if mask >> i & 1) for mask in range(1 << len(table))]
