"""Linear maps from the cells of a table to the queries that a strategy measures; none of them forms a matrix.

Every map knows its sensitivity exactly, and the covariance of the reconstruction it defines. Arrays of cells have shape
(cells,), arrays of answers shape (rows,); a variance is one number for all rows or an array of shape (rows,).
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core import check
from dpress.core.claim import Relation

Numbers = npt.NDArray[Any]  # integers or floats
Array = npt.NDArray[np.float64]
Variance = float | Array


@runtime_checkable
class LinearMap(Protocol):
    """A matrix A of shape (rows, cells), by what it does."""

    @property
    def cells(self) -> int:
        """The number of columns."""
        ...

    @property
    def rows(self) -> int:
        """The number of rows."""
        ...

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x; integer cells give integer answers."""
        ...

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        ...

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the largest sum of |change|^order over the answers when one row of the table changes.

        Order 1 gives the L1 sensitivity, order 2 the square of the L2 sensitivity.
        """
        ...


@runtime_checkable
class Invertible(LinearMap, Protocol):
    """A linear map from whose answers every cell can be reconstructed."""

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the unbiased estimate R y of the cells, R A = I."""
        ...

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return Cov(R y) w for answers with this variance, shape (cells,)."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Every cell is a query. Sensitivity 1 (add-remove), 2 (replace-one).

    Args:
        cells: the number of cells.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.cells

    def apply(self, cells: Numbers) -> Numbers:
        """Return x."""
        return cells

    def transpose(self, answers: Array) -> Array:
        """Return y."""
        return answers

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return 1, or 2 where a row moves from one cell to another."""
        del order  # every change is by one
        return 1 if relation is Relation.ADD_REMOVE else min(2, 2 * (self.cells - 1))

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the answers themselves."""
        del variance
        return np.asarray(answers, dtype=np.float64)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return w times the variance."""
        return weights * variance


@dataclass(frozen=True, slots=True)
class Tree:
    """All nodes of a complete tree over the cells, the root first, then level by level (Hay et al. 2010).

    Nodes that hold no cell are left out, so that `cells` need not be a power of the branching.
    With height h = ceil(log_branching(cells)) a row touches h + 1 nodes.

    Args:
        cells: the number of leaves.
        branching: the number of children of a node.
    """

    cells: int
    branching: int = 2

    def __post_init__(self) -> None:
        check.count("cells", self.cells)
        check.count("branching", self.branching, least=2)

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of nodes of every level, the root's first."""
        sizes = [self.cells]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // self.branching))
        return tuple(reversed(sizes))

    @property
    def height(self) -> int:
        """The number of levels below the root."""
        return len(self.levels) - 1

    @property
    def rows(self) -> int:
        """The number of nodes."""
        return sum(self.levels)

    def children(self, values: Numbers) -> Numbers:
        """Return the values of one level as a row of children for every parent, zeros where a child is left out."""
        missing = -len(values) % self.branching
        return np.pad(values, (0, missing)).reshape(-1, self.branching)

    def spread(self, values: Numbers, size: int) -> Numbers:
        """Return every parent's value once for each of its children, of which there are `size` in all."""
        return np.repeat(values, self.branching)[:size]

    def split(self, answers: Numbers) -> list[Numbers]:
        """Return the answers level by level, the root's first; no copy is made."""
        return np.split(answers, np.cumsum(self.levels)[:-1])

    def apply(self, cells: Numbers) -> Numbers:
        """Return the sum of every node."""
        sums = [cells]
        for _ in range(self.height):
            sums.append(self.children(sums[-1]).sum(axis=1))
        return np.concatenate(sums[::-1])

    def transpose(self, answers: Array) -> Array:
        """Return for every leaf the sum of the answers above it."""
        total, *levels = self.split(answers)
        for level in levels:
            total = level + self.spread(total, len(level))
        return np.asarray(total)

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return h + 1, or 2 h where a row moves (the root does not see it)."""
        del order
        return self.height + 1 if relation is Relation.ADD_REMOVE else 2 * self.height

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the weighted least-squares estimate of the leaves; an inner node of infinite variance is ignored.

        Raises:
            ValueError: a leaf was not measured.
        """
        weighted = answers / np.broadcast_to(variance, answers.shape)
        return self.covariance(self.transpose(weighted), variance)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return (A^T V^-1 A)^-1 w in one pass up and one down, O(rows).

        With s_u = 1^T M_u^-1 1 and t_u = 1^T M_u^-1 w over the subtree u, the Sherman-Morrison formula gives
        s_u = S v_u / (v_u + S), t_u = T v_u / (v_u + S), S and T the sums over the children.
        """
        variances = self.split(np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.rows,)))
        if not np.isfinite(variances[-1]).all():
            raise ValueError("every leaf must have been measured: without it the cells are not determined")
        above: list[tuple[Array, Array]] = []
        size, total = np.array(variances[-1]), weights * variances[-1]
        for level in reversed(variances[:-1]):
            sizes, totals = self.children(size).sum(axis=1), self.children(total).sum(axis=1)
            keep = 1 / (1 + sizes / level)
            above.append((sizes, totals))
            size, total = sizes * keep, totals * keep
        shift = np.zeros(1)
        for level, (sizes, totals), below in zip(variances[:-1], reversed(above), self.levels[1:], strict=True):
            shift = self.spread(shift + (totals - shift * sizes) / (level + sizes), below)
        return np.asarray((weights - shift) * variances[-1])


@dataclass(frozen=True, slots=True)
class Haar:
    """The unnormalised Haar wavelet: the total, then for every inner node left sum minus right sum (Xiao et al. 2010).

    Rows: the total, the root's difference, then the differences level by level, n' rows for n' = 2^h >= cells;
    cells beyond `cells` are empty by definition and reconstruct to nothing. A row of the table touches h + 1 rows.

    Args:
        cells: the number of cells.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def height(self) -> int:
        """The number of levels of inner nodes, h."""
        return (self.cells - 1).bit_length()

    @property
    def rows(self) -> int:
        """The number of rows, 2^h."""
        return 1 << self.height

    @property
    def support(self) -> Array:
        """The number of padded cells that every row touches, which is its squared L2 norm; shape (rows,)."""
        levels = [np.full(1 << level, 1 << (self.height - level)) for level in range(self.height)]
        return np.concatenate([np.array([self.rows]), *levels]).astype(np.float64)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the total and all differences."""
        sums = np.pad(cells, (0, self.rows - self.cells))
        levels = []
        for _ in range(self.height):
            pairs = sums.reshape(-1, 2)
            levels.append(pairs[:, 0] - pairs[:, 1])
            sums = pairs[:, 0] + pairs[:, 1]
        return np.concatenate([sums, *reversed(levels)])

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        total = answers[:1]
        for level in range(self.height):
            difference = answers[1 << level : 2 << level]
            total = np.stack([total + difference, total - difference], axis=1).ravel()
        return total[: self.cells]

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return h + 1; where a row moves 2 h (order 1) or 2 h + 2 (order 2).

        A move between the halves of a node of height k changes its difference by two, and one difference by one on
        each side at each of the k - 1 levels below; nothing above changes.
        """
        if relation is Relation.ADD_REMOVE:
            return self.height + 1
        return 2 * self.height if order == 1 else min(2 * self.height + 2, 4 * self.height)

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return A^-1 y = A^T D^-1 y, D the squared row norms: the rows are orthogonal."""
        del variance  # A is square
        return self.transpose(answers / self.support)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return A^-1 V A^-T w."""
        return self.transpose(self.apply(weights) * (variance / self.support**2))


@dataclass(frozen=True, slots=True)
class Marginal:
    """The table over some axes of a larger table, summed over the others.

    Args:
        shape: the number of cells along every axis of the full table.
        axes: the axes that stay.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.axes)) != len(self.axes) or not set(self.axes) <= set(range(len(self.shape))):
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {self.axes}")

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the marginal table."""
        return tuple(self.shape[axis] for axis in self.axes)

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return math.prod(self.shape)

    @property
    def rows(self) -> int:
        """The number of cells of the marginal table."""
        return math.prod(self.kept)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the marginal table of a full table, both flat."""
        others = tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)
        table = np.asarray(cells).reshape(self.shape).sum(axis=others)
        return np.asarray(table.transpose(np.argsort(np.argsort(self.axes)))).ravel()

    def transpose(self, answers: Array) -> Array:
        """Return for every cell of the full table the answer it counts in."""
        table = answers.reshape(self.kept).transpose(np.argsort(self.axes))
        sizes = [size if axis in self.axes else 1 for axis, size in enumerate(self.shape)]
        return np.broadcast_to(table.reshape(sizes), self.shape).ravel()

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return 1, or 2 where a row moves from one cell to another."""
        return Identity(self.rows).sensitivity(order, relation)


@dataclass(frozen=True, slots=True)
class Stack:
    """Several maps of the same cells, one below the other.

    Args:
        parts: at least one map, all over the same cells.
    """

    parts: tuple[LinearMap, ...]

    def __post_init__(self) -> None:
        if len({part.cells for part in self.parts}) != 1:
            raise ValueError(f"stacked maps must share their cells, got {[part.cells for part in self.parts]}")

    @property
    def cells(self) -> int:
        """The number of columns."""
        return self.parts[0].cells

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(part.rows for part in self.parts)

    def split(self, answers: Numbers) -> list[Numbers]:
        """Return the answers of every part; no copy is made."""
        return np.split(answers, np.cumsum([part.rows for part in self.parts])[:-1])

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers of all parts, one after the other."""
        return np.concatenate([part.apply(cells) for part in self.parts])

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        parts = zip(self.parts, self.split(answers), strict=True)
        return np.asarray(sum(part.transpose(own) for part, own in parts))

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return the sum of the parts' sensitivities; exact where one row can change all parts at their worst."""
        return sum(part.sensitivity(order, relation) for part in self.parts)
