"""Least squares over overlapping marginal tables: one consistent set of tables, exact variance of any product query.

The Gram matrix of a set of marginals is a sum of Kronecker products of I and the all-ones matrix J, which share their
eigenspaces, one for every set T of axes. On each, every table that contains T gives an independent unbiased estimate,
and least squares is their inverse-variance mean (the residual decomposition; Xiao, He, Zhang and Kifer 2023).
"""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Marginal, Numbers, Stack, Variance
from dpress.core.maps.measurement import Measurement

if TYPE_CHECKING:
    from dpress.inference.covariance import Covariance

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ConsistentTables:
    """Answers from the consistent set of tables that least squares gives.

    Error: see `query_variance` of this module, exact.

    Args:
        map: a stack of marginal maps.
        published: the axes of the tables that are published, each within a measured one; empty for those measured.
    """

    map: Stack[Marginal]
    published: tuple[Axes, ...] = ()
    symmetric: ClassVar[bool] = True

    @property
    def shape(self) -> Axes:
        """The number of cells along every axis of the full table."""
        return self.map.parts[0].shape

    @property
    def tables(self) -> tuple[Axes, ...]:
        """The axes of every published table."""
        return self.published or tuple(part.axes for part in self.map.parts)

    def estimate(self, measurement: Measurement) -> tuple[Array, ...]:
        """Return the consistent tables, each flat."""
        tables = self._noisy(measurement.variance, measurement.answers)
        return tuple(marginal(tables, axes) for axes in self.tables)

    def cell_variances(self, variance: Variance) -> tuple[Array, ...]:
        """Return the variance of every consistent cell, the same all over a table."""
        components = component_variances(self._noisy(variance))
        return tuple(
            np.broadcast_to(np.float64(cell_variance(components, self.shape, axes)), (Marginal(self.shape, axes).rows,))
            for axes in self.tables
        )

    def answer(self, measurement: Measurement, weights: Sequence[Array]) -> float:
        """Return the answer to a query on axes that some table holds together."""
        return query(self._noisy(measurement.variance, measurement.answers), weights)

    def query_variance(self, variance: Variance, weights: Sequence[Array]) -> float:
        """Return the exact variance of that answer."""
        return query_variance(self._noisy(variance), weights)

    def form_covariance(self, variance: Variance, axes: Axes) -> "Covariance":
        """Return the exact covariance of sums of a table's cells."""
        return functools.partial(form_covariance, self._noisy(variance), axes)

    def _noisy(self, variance: Variance, answers: Numbers | None = None) -> list["Table"]:
        variances = self.map.split(np.broadcast_to(variance, (self.map.rows,)))
        split = [None] * len(variances) if answers is None else self.map.split(answers)
        rows = zip(self.map.parts, split, variances, strict=True)
        return [Table(map=part, answers=noisy, variance=_uniform(spread)) for part, noisy, spread in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One noisy marginal table.

    Args:
        map: which axes it keeps.
        answers: shape (map.rows,), in counts; None where only variances are wanted.
        variance: the same for every cell, in counts squared.
        centred: whether it tells of its own component alone, and of no smaller table.
    """

    map: Marginal
    answers: Numbers | None
    variance: float
    centred: bool = False

    def tells(self, axes: Axes) -> bool:
        """Say whether the table is an estimate of the component T = `axes`."""
        return set(axes) == set(self.map.axes) if self.centred else set(axes) <= set(self.map.axes)


def subsets(axes: Sequence[int], most: int | None = None) -> Iterator[Axes]:
    """Yield every subset of the axes, the smaller ones first: of at most so many axes, where that is stated."""
    largest = len(axes) if most is None else min(len(axes), most)
    return itertools.chain.from_iterable(itertools.combinations(axes, size) for size in range(largest + 1))


def component_variance(tables: Sequence[Table], axes: Axes) -> float:
    """Return the variance of a cell of the component T = `axes` before centring; infinite where no table has T.

    Formula: 1 / sum over the tables S that contain T of 1 / (v_S prod_{i in S, not in T} n_i).
    """
    precision = math.fsum(1 / _summed_variance(table, axes) for table in tables if table.tells(axes))
    return 1 / precision if precision else math.inf


def component_variances(tables: Sequence[Table]) -> dict[Axes, float]:
    """Return `component_variance` of every component that some table tells of, in one pass over the tables."""
    precisions: dict[Axes, list[float]] = {}
    for table in tables:
        held = tuple(sorted(table.map.axes))
        for axes in (held,) if table.centred else subsets(held):
            precisions.setdefault(axes, []).append(1 / _summed_variance(table, axes))
    return {axes: 1 / math.fsum(precision) for axes, precision in precisions.items()}


def cell_variance(components: Mapping[Axes, float], shape: Axes, axes: Axes) -> float:
    """Return the variance of a cell of the consistent table over `axes`: `query_variance` of the query for it.

    Args:
        components: their variances; see `component_variances`.
        shape: the number of cells along every axis of the full table.
        axes: of a table that is published.
    """
    used = [axis for axis in sorted(axes) if shape[axis] > 1]
    means, squares = zip(*(_first_cell(shape[axis]) for axis in used), strict=True) if used else ((), ())
    places = range(len(used))
    return math.fsum(
        math.prod(means[i] for i in places if i not in subset) ** 2
        * components.get(tuple(used[i] for i in subset), math.inf)
        * math.prod(squares[i] for i in subset)
        for subset in subsets(places)
    )


@functools.lru_cache(maxsize=1024)
def _first_cell(size: int) -> tuple[float, float]:
    """Return the mean of the weights of one cell of an axis, and the sum of their squares about it."""
    weights = np.eye(1, size)[0]
    mean = float(np.mean(weights))
    centred = weights - mean
    return mean, float(centred @ centred)


def marginal(tables: Sequence[Table], axes: Axes) -> Array:
    """Return the consistent estimate of the marginal over `axes`, shape (prod of sizes,), in counts."""
    shape = tuple(tables[0].map.shape[axis] for axis in axes)
    total = np.zeros(shape)
    for subset in subsets(range(len(axes))):
        component = _component(tables, tuple(axes[i] for i in subset))
        others = math.prod(shape[i] for i in range(len(axes)) if i not in subset)
        total += component.reshape([size if i in subset else 1 for i, size in enumerate(shape)]) / others
    return total.ravel()


def query(tables: Sequence[Table], weights: Sequence[Array]) -> float:
    """Return the consistent answer to a product query, one weight vector for every axis of the full table."""
    return math.fsum(
        scale * float(_contract(_component(tables, axes), [centred[axis] for axis in axes]))
        for axes, scale, centred in _terms(tables, weights)
    )


def query_variance(tables: Sequence[Table], weights: Sequence[Array]) -> float:
    """Return the exact variance of that answer.

    Formula: sum over T of (prod_{i not in T} mean(w_i))^2 sigma_T^2 prod_{i in T} |w_i - mean(w_i)|^2, i over the axes
    whose weights are not all equal to one.
    """
    return math.fsum(
        scale**2 * component_variance(tables, axes) * math.prod(float(centred[axis] @ centred[axis]) for axis in axes)
        for axes, scale, centred in _terms(tables, weights)
    )


def form_covariance(tables: Sequence[Table], axes: Axes, forms: Array) -> Array:
    """Return the exact covariance of sums of the cells over `axes`, shape (forms, forms).

    Formula: sum over T of sigma_T^2 w_T . u_T, w_T the means of w over the other axes, centred along those of T.
    """
    total = np.zeros((len(forms), len(forms)))
    for subset in subsets(range(len(axes))):
        part = forms.mean(axis=tuple(1 + place for place in range(len(axes)) if place not in subset))
        for place in range(1, part.ndim):
            part = part - part.mean(axis=place, keepdims=True)
        part = part.reshape(len(forms), -1)
        if part.any():
            total += component_variance(tables, tuple(axes[place] for place in subset)) * (part @ part.T)
    return total


def _terms(tables: Sequence[Table], weights: Sequence[Array]) -> Iterator[tuple[Axes, float, dict[int, Array]]]:
    """Yield the components of a query: axes T, the product of the other axes' mean weights, the centred weights."""
    used = [axis for axis, weight in enumerate(weights) if not np.all(weight == 1)]
    if not any(set(used) <= set(table.map.axes) for table in tables):
        raise NotSupported(f"no published table holds the axes {used} together")
    means = {axis: float(np.mean(weights[axis])) for axis in used}
    centred = {axis: weights[axis] - means[axis] for axis in used}
    for axes in subsets(used):
        yield axes, math.prod(means[axis] for axis in used if axis not in axes), centred


def _uniform(variance: Array) -> float:
    if np.any(variance != variance[0]):
        raise ValueError("the noise within one marginal table must have one variance")
    return float(variance[0])


def _summed_variance(table: Table, axes: Axes) -> float:
    return table.variance * math.prod(table.map.shape[axis] for axis in table.map.axes if axis not in axes)


def _component(tables: Sequence[Table], axes: Axes) -> Array:
    """Return the best estimate of the component T = `axes`: marginal sums over T, averaged, every axis centred."""
    spread = component_variance(tables, axes)
    total = np.zeros(tuple(tables[0].map.shape[axis] for axis in axes))
    for table in tables:
        if table.tells(axes) and table.answers is not None:
            positions = tuple(table.map.axes.index(axis) for axis in axes)
            total += Marginal(table.map.kept, positions).apply(table.answers).reshape(total.shape) * (
                spread / _summed_variance(table, axes)
            )
    for axis in range(total.ndim):
        total = total - total.mean(axis=axis, keepdims=True)
    return total


def _contract(table: Array, weights: Sequence[Array]) -> Array:
    """Return the table times every weight vector, one for each of its axes."""
    for weight in weights:
        table = np.tensordot(weight, table, axes=(0, 0))
    return table
