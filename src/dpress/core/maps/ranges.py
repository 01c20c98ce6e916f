"""Ranges of one ordered attribute: one, many as arrays, and the collections that users ask for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.maps.cosecants import cosecants
from dpress.core.maps.linear import Array

Places = npt.NDArray[np.int64]

EXACT_SPECTRUM = 1 << 11  # queries or cells up to which singular values are computed one by one
EXACT_CIRCULANT = 1 << 22  # cells up to which a circulant's singular values are added up one by one
END_LOBE = 1.851937051982466  # Si(pi), the integral of sin(x) / x from 0 to pi
LONG = 1 << 20  # cells of a range beyond which a Gram matrix of doubles no longer holds its small eigenvalues


@dataclass(frozen=True, slots=True)
class Range:
    """The cells from `left` to `right`, counted from 1, both included.

    Args:
        left: at least 1.
        right: at least `left`.
    """

    left: int
    right: int

    def __post_init__(self) -> None:
        if not 1 <= self.left <= self.right:
            raise ValueError(f"a range must have 1 <= left <= right, got {self.left}:{self.right}")

    def within(self, cells: int) -> "Range":
        """Return the range itself, if it ends within the cells."""
        if self.right > cells:
            raise ValueError(f"range {self.left}:{self.right} must end within {cells} cells")
        return self

    def weights(self, cells: int) -> Array:
        """Return the 0/1 row vector of the query, shape (cells,)."""
        self.within(cells)
        out = np.zeros(cells)
        out[self.left - 1 : self.right] = 1.0
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Many ranges of one attribute, as arrays.

    Args:
        cells: n.
        left: the first cells, counted from 1, shape (m,).
        right: the last cells, included, shape (m,).
    """

    cells: int
    left: Places
    right: Places

    def __post_init__(self) -> None:
        if self.left.shape != self.right.shape or self.left.ndim != 1:
            raise ValueError(f"left and right must have one shape (m,), got {self.left.shape} and {self.right.shape}")
        if not all(np.issubdtype(ends.dtype, np.integer) for ends in (self.left, self.right)):
            raise ValueError("left and right must be whole numbers: cells are counted from 1")
        wrong = np.flatnonzero((self.left < 1) | (self.right < self.left) | (self.right > self.cells))
        if wrong.size:
            at = int(wrong[0])
            raise ValueError(
                f"range {at + 1} is {self.left[at]}:{self.right[at]}; expected 1 <= left <= right <= {self.cells}"
            )

    @classmethod
    def of(cls, cells: int, ranges: Sequence[Range]) -> Self:
        """Return listed ranges as arrays."""
        ends = np.array([(listed.left, listed.right) for listed in ranges], dtype=np.int64).reshape(-1, 2)
        return cls(cells, ends[:, 0], ends[:, 1])

    @property
    def size(self) -> int:
        """The number of ranges, m."""
        return self.left.size

    def weights(self, place: int) -> Array:
        """Return the 0/1 row vector of one of the ranges, counted from 0, shape (cells,)."""
        return Range(int(self.left[place]), int(self.right[place])).weights(self.cells)


@dataclass(frozen=True, slots=True)
class AllRanges:
    """Every range of `cells` cells, each equally likely.

    Args:
        cells: n; there are n (n + 1) / 2 ranges.
    """

    cells: int
    form: ClassVar[str] = "all"
    every: ClassVar[bool] = True  # whether strategies know the mean over them without a list
    listed: ClassVar[tuple[Range, ...]] = ()

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return self.cells * (self.cells + 1) // 2

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": self.form}

    def ranges(self, start: int = 0, stop: int | None = None) -> Ranges:
        """Return the ranges number start..stop-1, from 0, those that begin first first; left out, all of them."""
        left, right = np.triu_indices(self.cells)
        return Ranges(self.cells, left[start:stop] + 1, right[start:stop] + 1)

    @property
    def trace_norm(self) -> float:
        """The sum of the singular values; their squares are (n + 1) / (4 sin^2(pi k / (2 (n + 1)))), k = 1..n."""
        return math.sqrt(self.cells + 1) / 2 * cosecants(self.cells, 1.0, math.pi / (2 * (self.cells + 1)))

    @property
    def spectral_norm(self) -> float:
        """The largest singular value."""
        return math.sqrt(self.cells + 1) / 2 / math.sin(math.pi / (2 * (self.cells + 1)))


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The ranges 1:1, 1:2, ..., 1:n, each equally likely.

    Args:
        cells: n, which is also the number of ranges.
    """

    cells: int
    form: ClassVar[str] = "prefixes"
    every: ClassVar[bool] = False
    listed: ClassVar[tuple[Range, ...]] = ()

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return self.cells

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": self.form}

    def ranges(self, start: int = 0, stop: int | None = None) -> Ranges:
        """Return the ranges number start..stop-1, from 0; left out, all of them."""
        right = np.arange(start, self.cells if stop is None else min(stop, self.cells)) + 1
        return Ranges(self.cells, np.ones_like(right), right)

    @property
    def trace_norm(self) -> float:
        """The sum of the singular values 1 / (2 sin((2 k - 1) pi / (4 n + 2))), k = 1..n."""
        return _triangle_norm(self.cells)

    @property
    def spectral_norm(self) -> float:
        """The largest singular value."""
        return 1 / (2 * math.sin(math.pi / (4 * self.cells + 2)))


@dataclass(frozen=True, slots=True)
class RangesOfLength:
    """Every range of a fixed number of cells, each equally likely.

    Args:
        cells: n.
        length: of every range; there are n - length + 1 of them.
    """

    cells: int
    length: int
    form: ClassVar[str] = "length"
    every: ClassVar[bool] = False
    listed: ClassVar[tuple[Range, ...]] = ()

    def __post_init__(self) -> None:
        check.count("cells", self.cells)
        if check.count("length", self.length) > self.cells:
            raise ValueError(f"length must be at most the {self.cells} cells there are, got length={self.length}")

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return self.cells - self.length + 1

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": self.form, "length": self.length}

    def ranges(self, start: int = 0, stop: int | None = None) -> Ranges:
        """Return the ranges number start..stop-1, from 0; left out, all of them."""
        left = np.arange(start, self.queries if stop is None else min(stop, self.queries)) + 1
        return Ranges(self.cells, left, left + (self.length - 1))

    @property
    def trace_norm(self) -> float:
        """The sum of the singular values; for more than 2^11 ranges, or long ones, a number that is not above it.

        Three such numbers: the triangles of length x length that the matrix holds on its diagonal (cutting blocks out
        never adds to a trace norm); the circulant matrix around it less the rows that were added; and for fewer ranges
        than they have cells, `_long_norm`.
        """
        if self.queries <= EXACT_SPECTRUM and self.length <= LONG:
            return _trace_norm(self.ranges())
        whole, rest = divmod(self.queries, self.length)
        triangles = whole * _triangle_norm(self.length) + (_triangle_norm(rest) if rest else 0.0)
        circulant = _circulant_norm(self.cells, self.length) - (self.length - 1) * math.sqrt(self.length)
        return max(triangles, circulant, _long_norm(self.length, self.queries))

    @property
    def spectral_norm(self) -> float:
        """A number that the largest singular value does not exceed: the geometric mean of row and column sums."""
        return math.sqrt(self.length * min(self.length, self.queries))


@dataclass(frozen=True, slots=True)
class RangeList:
    """Listed ranges, each equally likely.

    Args:
        cells: n.
        listed: at least one and at most 2^11; a range may occur more than once.
    """

    cells: int
    listed: tuple[Range, ...]
    form: ClassVar[str] = "listed"
    every: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check.count("cells", self.cells)
        if not 1 <= len(self.listed) <= EXACT_SPECTRUM:
            raise ValueError(f"list between 1 and {EXACT_SPECTRUM} ranges, got {len(self.listed)}")
        for listed in self.listed:
            listed.within(self.cells)

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return len(self.listed)

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data, without the cells."""
        return {"queries": self.form, "ranges": tuple((span.left, span.right) for span in self.listed)}

    def ranges(self, start: int = 0, stop: int | None = None) -> Ranges:
        """Return the ranges number start..stop-1, from 0; left out, all of them."""
        return Ranges.of(self.cells, self.listed[start:stop])

    @property
    def trace_norm(self) -> float:
        """The sum of the singular values."""
        return _trace_norm(self.ranges())

    @property
    def spectral_norm(self) -> float:
        """A number that the largest singular value does not exceed: the Frobenius norm."""
        return math.sqrt(sum(listed.right - listed.left + 1 for listed in self.listed))


Axis = AllRanges | Prefixes | RangesOfLength | RangeList


def _triangle_norm(size: int) -> float:
    """Return the trace norm of the lower triangle of ones."""
    return 0.5 * cosecants(size, 0.5, math.pi / (2 * size + 1))


def _circulant_norm(cells: int, length: int) -> float:
    """Return the sum of f(x) = |sin(L x) / sin(x)| at x = pi k / n, k = 0..n-1; beyond 2^22 cells a number below it.

    The sum is at least n / pi times the integral less the variation of f, at most 2 L (2 + ln L). In the integral every
    lobe weighs 2 / L, and as 1 / sin is convex it counts at least as if all of it lay in its middle (Jensen); each of
    the two at the ends, as sin x <= x, at least Si(pi).
    """
    if cells <= EXACT_CIRCULANT:
        angles = np.arange(1, cells) * (math.pi / cells)
        return length + float(np.sum(np.abs(np.sin(angles * length)) / np.sin(angles)))
    middles = 2 * cosecants(length // 2, 0.5, math.pi / length) + length % 2 - 2 / math.sin(math.pi / (2 * length))
    return cells / math.pi * (2 / length * middles + 2 * END_LOBE) - 2 * length * (2 + math.log(length))


def _long_norm(length: int, queries: int) -> float:
    """Return a number not above the trace norm of m ranges of one length L, 0 unless L > m.

    W W^T = T + (L - m) J with T that of length m, J all ones. No eigenvalue is below T's at the same place (Weyl), and
    the largest is not below the mean of all entries times m, (L - m) m + (2 m^2 + 1) / 3.
    """
    if length <= queries:
        return 0.0
    short = RangesOfLength(2 * queries - 1, queries)
    largest = math.sqrt((length - queries) * queries + (2 * queries**2 + 1) / 3)
    return largest + max(0.0, short.trace_norm - short.spectral_norm)


def _trace_norm(ranges: Ranges) -> float:
    """Return the trace norm of ranges, by the smaller of the two Gram matrices."""
    return root_trace(overlaps(ranges) if ranges.size <= ranges.cells else gram(ranges))


def root_trace(matrix: Array) -> float:
    """Return the trace of the square root of a positive semidefinite matrix."""
    return float(np.sum(np.sqrt(np.maximum(np.linalg.eigvalsh(matrix), 0.0))))


def overlaps(ranges: Ranges) -> Array:
    """Return W W^T: how many cells two ranges share, shape (m, m)."""
    first = np.maximum.outer(ranges.left, ranges.left)
    last = np.minimum.outer(ranges.right, ranges.right)
    return np.maximum(last - first + 1.0, 0.0)


def gram(ranges: Ranges) -> Array:
    """Return W^T W: how many ranges hold both of two cells, shape (cells, cells)."""
    ends = np.zeros((ranges.cells + 1, ranges.cells + 1))
    np.add.at(ends, (ranges.left - 1, ranges.right - 1), 1.0)
    holding = np.cumsum(np.cumsum(ends, axis=0)[:, ::-1], axis=1)[:, ::-1][:-1, :-1]  # left <= i and right >= j
    return np.triu(holding) + np.triu(holding, 1).T
