"""Exact variances of what least squares gives over a tree of regions, of any node, table and union: no data is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.regions.measured import Measured, Table, subsets
from dpress.inference.regions.unions import Border, Union, border, union_covariances


def space_variances(measured: Measured, space: Table) -> tuple[Array, ...]:
    """Return for every level, shape (nodes,), the variance of r_T, counts squared; infinite where nothing tells of it.

    It is that of w . r_T for w of the table's shape, centred along every axis and of length 1 (r_T is the centred
    marginal table over T; see `Measured`).
    """
    tree = measured.tree(space)
    rest = [np.full(nodes, np.inf) for nodes in measured.spine.sizes[tree.deepest + 1 :]]
    return (*tree.variances(), *rest)


def cell_variances(measured: Measured, table: Table) -> tuple[Array, ...]:
    """Return for every level, shape (nodes,), the variance of a cell of a table, the same for all of its cells.

    Formula: sum over T in the table of V_T prod_{i in T} (1 - 1 / n_i) / prod_{i in the table, not in T} n_i^2, counts
    squared; infinite where the table is not determined.

    Raises:
        ValueError: the table lies in no table that is measured.
    """
    total = tuple(np.zeros(nodes) for nodes in measured.spine.sizes)
    for space, weight in cell_weights(measured.shape, table):
        for level, variances in enumerate(space_variances(measured, space)):
            total[level][:] += weight * variances
    return total


def cell_weights(shape: tuple[int, ...], table: Table) -> Iterator[tuple[Table, float]]:
    """Yield the spaces T of a table in which its cells have a part, and the square of that part's length."""
    for space in subsets(table):
        sizes = [(shape[axis], axis in space) for axis in table]
        weight = float(np.prod([1 - 1 / size if inside else 1 / size**2 for size, inside in sizes]))
        if weight:
            yield space, weight


@dataclass(frozen=True, kw_only=True, eq=False)
class RegionQuery:
    """A sum over a union of regions of a table's cells times weights.

    Args:
        union: the nodes of every level, none inside another.
        weights: for each of some tables, the weights of its cells, shape (*sizes); what they ask is added up.
    """

    union: Union
    weights: Mapping[Table, Array]


def union_variance(measured: Measured, union: Union, weights: Mapping[Table, Array]) -> float:
    """Return the exact variance of a `RegionQuery`'s estimate, counts squared; see `covariances`.

    >>> from dpress.core.maps.spine import Spine
    >>> spine = Spine(starts=(np.array([0, 3]),))
    >>> measured = Measured(spine=spine, shape=(2,), variances=({(): 1.0}, {(0,): 1.0}))
    >>> women = {(0,): np.array([1.0, 0.0])}
    >>> [round(union_variance(measured, {1: nodes}, women), 3) for nodes in ([0], [0, 1], [0, 1, 2])]
    [0.857, 1.429, 1.714]
    """
    return float(covariances(measured, [RegionQuery(union=union, weights=weights)])[0, 0])


def covariances(measured: Measured, queries: Sequence[RegionQuery]) -> Array:
    """Return the exact covariance of estimates, counts squared, shape (queries, queries).

    Formula: sum over the spaces T of (q_T . q'_T) Cov_T(R, R'), q_T the weights' mean over the axes beside T, centred
    along those of T, and Cov_T by `union_covariances`. Only nodes at and above the unions' borders are touched.

    Raises:
        ValueError: a table lies in no table that is measured or is not determined at a level of its union, weights have
            another shape, or a union is none.
    """
    for query in queries:
        _check(measured, query)
    total, borders = np.zeros((len(queries),) * 2), dict[tuple[int, ...], Border]()
    for space in measured.spaces:
        parts = np.stack([_part(measured, query, space) for query in queries])
        used = tuple(np.flatnonzero(parts.any(axis=1)).tolist())
        if used and used not in borders:
            borders[used] = border(measured.spine, [queries[place].union for place in used])
        if used:
            chosen = parts[list(used)]
            total[np.ix_(used, used)] += chosen @ chosen.T * union_covariances(measured.tree(space), borders[used])
    return total


def _check(measured: Measured, query: RegionQuery) -> None:
    for table, weights in query.weights.items():
        sizes, deepest = tuple(measured.shape[axis] for axis in table), measured.deepest(table)
        if weights.shape != sizes:
            raise ValueError(f"table {table}: expected weights of shape {sizes}, got {weights.shape}")
        level = max((level for level, nodes in query.union.items() if len(nodes)), default=0)
        if level > deepest:
            raise ValueError(f"level {level}, table {table}: not measured there or below, the last level is {deepest}")


def _part(measured: Measured, query: RegionQuery, space: Table) -> Array:
    """Return a query's weights in the space of T, shape (cells of T,)."""
    total = np.zeros(tuple(measured.shape[axis] for axis in space))
    for table, weights in query.weights.items():
        if set(space) <= set(table):
            total += weights.mean(axis=tuple(place for place, axis in enumerate(table) if axis not in space))
    for axis in range(total.ndim):
        total -= total.mean(axis=axis, keepdims=True)
    return total.ravel()
