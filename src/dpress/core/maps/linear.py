"""Linear maps from the cells of a table to the queries that a strategy measures; none of them forms a matrix.

Every map knows its sensitivity exactly, and the covariance of the reconstruction it defines. Arrays of cells have shape
(cells,), arrays of answers shape (rows,); a variance is one number for all rows or an array of shape (rows,).
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Relation

Numbers = npt.NDArray[Any]  # integers or floats
Array = npt.NDArray[np.float64]
Variance = float | Array


@runtime_checkable
class LinearMap(Protocol):
    """A matrix A of shape (rows, cells), by what it does: a base of every map, which states what it knows better."""

    __slots__ = ()
    if TYPE_CHECKING:  # fields of some, whose defaults properties would be

        @property
        def cells(self) -> int:
            """The number of columns."""

        @property
        def step(self) -> float:
            """The unit of the answers, in counts: 1, or a power of two below it where rows are not whole numbers."""
            return 1.0

    else:
        step = 1.0

    @property
    def rows(self) -> int:
        """The number of rows: as many as columns, where it is square."""
        return self.cells

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

    def unit_sensitivity(self, order: int, relation: Relation, rows: int) -> int | Fraction:
        """Return the same where so many rows change: at worst all of them change the same answers."""
        times: int = rows**order
        return self.sensitivity(order, relation) * times

    @property
    def stacked(self) -> "tuple[LinearMap, ...]":
        """The maps that stand one below the other: itself, where it is no `Stack`."""
        return (self,)

    def noisy_parts(self, *, divided: bool) -> "tuple[LinearMap, ...]":
        """Return the parts that have noise of their own.

        Args:
            divided: whether the loss is shared out in other parts than the stacked maps.
        """
        del divided
        return self.stacked

    def from_tables(self, counts: Numbers) -> Numbers:
        """Return what `exact` takes, given the published tables' counts one after the other: here these counts."""
        return counts

    @property
    def taken(self) -> int:
        """How many counts `exact` takes."""
        return self.cells

    def exact(self, counts: Numbers) -> Numbers:
        """Return the answers without noise."""
        return self.apply(counts)


@runtime_checkable
class Invertible(LinearMap, Protocol):
    """A linear map from whose answers every cell can be reconstructed."""

    __slots__ = ()

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the unbiased estimate A^+ y of the cells, A^+ A = I."""
        ...

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return Cov(A^+ y) w for answers with this variance, shape (cells,)."""
        ...

    def cell_variances(self, variance: Variance) -> Array:
        """Return the diagonal of Cov(A^+ y), shape (cells,)."""
        ...

    def by_axis(self, shape: Sequence[int]) -> "tuple[Invertible, ...]":
        """Return the maps whose product it is, one for every axis of the table, where it is one; else itself."""
        del shape
        return (self,)

    def product_variance(self, weights: Sequence[Array], variance: Variance) -> float | None:
        """Return w Cov(A^+ y) w of a product query, by its axes; None where the query needs to be multiplied out."""
        del weights, variance
        return None

    def covariance_form(self, variance: Variance) -> Mapping[str, Any] | None:
        """Return Cov(A^+ y) for a page, as few numbers, under the name of the form; None where it has no such form."""
        del variance
        return None


@dataclass(frozen=True, slots=True)
class Identity(Invertible):
    """Every cell is a query. Sensitivity 1 (add-remove), 2 (replace-one).

    Args:
        cells: the number of cells.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

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

    def by_axis(self, shape: Sequence[int]) -> tuple[Invertible, ...]:
        """Return that of every axis."""
        return tuple(Identity(size) for size in shape)

    def product_variance(self, weights: Sequence[Array], variance: Variance) -> float | None:
        """Return for equal noise on every cell the product of the squared norms of the axes' weights."""
        return None if np.ndim(variance) else float(variance) * math.prod(float(axis @ axis) for axis in weights)

    def covariance_form(self, variance: Variance) -> Mapping[str, Any] | None:
        """Return the name alone, where all noise is equal."""
        return None if np.ndim(variance) else {"linear": "equal"}


@dataclass(frozen=True, slots=True)
class Marginal(LinearMap):
    """The table over some axes of a larger table, summed over the others.

    Args:
        shape: the number of cells along every axis of the full table.
        axes: the axes that stay.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(set(self.axes)) != len(self.axes) or not all(0 <= axis < len(self.shape) for axis in self.axes):
            raise ValueError(f"axes must be different axes of a table of {len(self.shape)} axes, got {self.axes}")

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the marginal table."""
        return tuple(self.shape[axis] for axis in self.axes)

    @property
    def cells(self) -> int:
        """The number of cells of the full table."""
        return _product(self.shape)

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


@functools.lru_cache(maxsize=64)
def _product(shape: tuple[int, ...]) -> int:
    """Return the number of cells, which thousands of tables of hundreds of axes ask for."""
    return math.prod(shape)


Part = TypeVar("Part", bound=LinearMap)


@dataclass(frozen=True, slots=True)
class Stack(LinearMap, Generic[Part]):
    """Several maps of the same cells, one below the other.

    Args:
        parts: at least one map, all over the same cells.
    """

    parts: tuple[Part, ...]

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

    @property
    def stacked(self) -> tuple[LinearMap, ...]:
        """The parts."""
        return self.parts

    @property
    def taken(self) -> int:
        """The tables' counts are the answers: the full table need not fit anywhere."""
        return self.rows

    def exact(self, counts: Numbers) -> Numbers:
        """Return the counts themselves."""
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
