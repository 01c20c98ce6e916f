"""What users want answered: boxes (ranges of one attribute or of several), marginal tables, and lists of predicates."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array
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
    relative_norms: ClassVar[tuple[float, float]] = (0.0, math.inf)

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
    def trace_norm(self) -> float:
        """A number that is not above the sum of the singular values, and equal to it for listed boxes."""
        if not self.paired:
            return math.prod(axis.trace_norm for axis in self.axes)
        return root_trace(functools.reduce(np.multiply, (overlaps(axis.ranges()) for axis in self.axes)))

    @property
    def spectral_norm(self) -> float:
        """A number that the largest singular value does not exceed."""
        if not self.paired:
            return math.prod(axis.spectral_norm for axis in self.axes)
        sizes = math.prod(axis.ranges().right - axis.ranges().left + 1.0 for axis in self.axes)
        return math.sqrt(float(np.sum(sizes)))

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
    def trace_norm(self) -> float:
        """The sum of the singular values."""
        return math.fsum(math.sqrt(eigenvalue) * times for eigenvalue, times in self._spectrum)

    @property
    def spectral_norm(self) -> float:
        """The largest singular value."""
        return math.sqrt(max(eigenvalue for eigenvalue, _ in self._spectrum))

    @property
    def relative_norms(self) -> tuple[float, float]:
        """The trace norm and the spectral norm over the root of the number of cells, which may be beyond any float."""
        roots = [(math.sqrt(eigenvalue / self.cells), times) for eigenvalue, times in self._spectrum]
        return math.fsum(root * times for root, times in roots), max(root for root, _ in roots)

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
    relative_norms: ClassVar[tuple[float, float]] = (0.0, math.inf)

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
    def trace_norm(self) -> float:
        """The sum of the singular values."""
        return float(self._singular_values.sum())

    @property
    def spectral_norm(self) -> float:
        """The largest singular value."""
        return float(self._singular_values.max())

    @property
    def _singular_values(self) -> Array:
        return np.asarray(np.linalg.svd(self.sums.matrix, compute_uv=False))


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
