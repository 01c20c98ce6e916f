"""What users want answered: ranges, all ranges, marginal tables."""

import math
from dataclasses import dataclass

import numpy as np

from dpress.core import check
from dpress.core.linear import Array


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


@dataclass(frozen=True, slots=True)
class AllRanges:
    """Every range of `cells` cells, each equally likely.

    Args:
        cells: n; there are n (n + 1) / 2 ranges.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return self.cells * (self.cells + 1) // 2

    @property
    def singular_values(self) -> tuple[Array, Array]:
        """The singular values, largest first, and how often each occurs.

        Their squares are (n + 1) / (4 sin^2(pi k / (2 (n + 1)))), k = 1..n.
        """
        angles = np.arange(1, self.cells + 1) * (math.pi / (2 * (self.cells + 1)))
        return math.sqrt(self.cells + 1) / (2 * np.sin(angles)), np.ones(self.cells)


@dataclass(frozen=True, slots=True)
class Marginals:
    """Every cell of several marginal tables.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table.
    """

    shape: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    @property
    def queries(self) -> int:
        """The number of cells of all tables together."""
        return sum(math.prod(self.shape[axis] for axis in table) for table in self.tables)

    @property
    def singular_values(self) -> tuple[Array, Array]:
        """The singular values, largest first, and how often each occurs.

        The Gram matrix is a sum of Kronecker products of I and the all-ones J, which share their eigenspaces: for a set
        T of axes the eigenvalue is the sum over the tables S that contain T of the product of the sizes outside S,
        with multiplicity prod_{i in T} (n_i - 1).
        """
        subsets = {frozenset(part) for table in self.tables for part in _subsets(table)}
        pairs = [(math.sqrt(self._eigenvalue(part)), math.prod(self.shape[i] - 1 for i in part)) for part in subsets]
        values, times = np.array(sorted(pairs, reverse=True), dtype=np.float64).T
        return values, times

    def _eigenvalue(self, subset: frozenset[int]) -> int:
        axes = range(len(self.shape))
        return sum(
            math.prod(self.shape[axis] for axis in axes if axis not in table)
            for table in self.tables
            if subset <= set(table)
        )


Workload = AllRanges | Marginals


def _subsets(table: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [tuple(a for i, a in enumerate(table) if mask >> i & 1) for mask in range(1 << len(table))]
