"""Linear maps from the cells of a table to the queries that a strategy measures; none of them forms a matrix.

Every map knows its sensitivity exactly, and the covariance of the reconstruction it defines. Arrays of cells have shape
(cells,), arrays of answers shape (rows,); a variance is one number for all rows or an array of shape (rows,).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Relation

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

    @property
    def step(self) -> float:
        """The unit of the answers, in counts: 1, or a power of two below it where rows are not whole numbers."""
        ...

    def apply(self, cells: Numbers) -> Numbers:
        """Return A x; integer cells give integer answers."""
        ...

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        ...

    def sensitivity(self, order: int, relation: Relation) -> int | Fraction:
        """Return the largest sum of |change|^order over the answers when one row of the table changes.

        Order 1 gives the L1 sensitivity, order 2 the square of the L2 sensitivity.
        """
        ...


@runtime_checkable
class Invertible(LinearMap, Protocol):
    """A linear map from whose answers every cell can be reconstructed."""

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the unbiased estimate A^+ y of the cells, A^+ A = I."""
        ...

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return Cov(A^+ y) w for answers with this variance, shape (cells,)."""
        ...

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of Cov(A^+ y), shape (cells,)."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Every cell is a query. Sensitivity 1 (add-remove), 2 (replace-one).

    Args:
        cells: the number of cells.
    """

    cells: int
    step: ClassVar[float] = 1.0

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

    def cell_variances(self, variance: Variance) -> Array:
        """Return the answers' variances."""
        return np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.cells,))


@dataclass(frozen=True, slots=True)
class Marginal:
    """The table over some axes of a larger table, summed over the others.

    Args:
        shape: the number of cells along every axis of the full table.
        axes: the axes that stay.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    step: ClassVar[float] = 1.0

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


@runtime_checkable
class OfPersons(Protocol):
    """A map of persons, who count once however many rows they have."""

    def person_sensitivity(self, order: int, relation: Relation, rows: int) -> int:
        """Return the L1 sensitivity (order 1) or the squared L2 sensitivity for a person of at most so many rows."""
        ...


Part = TypeVar("Part", bound=LinearMap)


@dataclass(frozen=True, slots=True)
class Stack(Generic[Part]):
    """Several maps of the same cells, one below the other.

    Args:
        parts: at least one map, all over the same cells.
    """

    parts: tuple[Part, ...]
    step: ClassVar[float] = 1.0

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

    def from_tables(self, counts: Numbers) -> Numbers:
        """Return the answers, given the published tables' counts one after the other: here the counts themselves."""
        return counts

    def apply(self, cells: Numbers) -> Numbers:
        """Return the answers of all parts, one after the other."""
        return np.concatenate([part.apply(cells) for part in self.parts])

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        parts = zip(self.parts, self.split(answers), strict=True)
        return np.asarray(sum(part.transpose(answered) for part, answered in parts))

    def sensitivity(self, order: int, relation: Relation) -> int | Fraction:
        """Return the sum of the parts' sensitivities; exact where one row can change all parts at their worst."""
        return sum(part.sensitivity(order, relation) for part in self.parts)
