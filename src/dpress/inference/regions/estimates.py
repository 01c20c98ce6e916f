"""Least squares of all noisy tables over a tree of regions together, in time linear in nodes times cells."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.inference.regions.measured import Measured, Table

Level = dict[Table, Array]


def estimates(
    measured: Measured,
    noisy: Sequence[Mapping[Table, Numbers]],
    tables: Sequence[Table],
    progress: Callable[[int], object] | None = None,
) -> list[Level]:
    """Return the best linear unbiased estimate of tables at every node: they agree with each other and add up.

    Space by space: r_T of every level from all tables that hold T, least squares over the tree (`SpaceTree`), then
    added to every table that holds T. Memory: the results, and twice the largest space of all levels.
    Source: `SpaceTree`, and the residual decomposition of Xiao, He, Zhang and Kifer 2023.

    Args:
        measured: what was measured, and with how much noise.
        noisy: for every level the measured tables, shape (nodes, *sizes of the table's axes), in counts. Exact totals
            of two levels must agree.
        tables: which tables; each lies in measured ones.
        progress: called with 1 after every space of `measured.spaces` that lies in some of the tables.

    Returns:
        For every level, float64 of shape (nodes, *sizes): those of `tables` that are determined there
        (`Measured.deepest`).

    Raises:
        ValueError: a table lies in no measured one, a noisy table is missing or has another shape, or exact totals do
            not add up.

    >>> from dpress.core.maps.spine import Spine
    >>> spine = Spine(starts=(np.array([0, 2]),))
    >>> measured = Measured(spine=spine, shape=(2,), variances=({(): 1.0}, {(0,): 1.0}))
    >>> noisy = [{(): np.array([30])}, {(0,): np.array([[9, 1], [4, 6]])}]
    >>> nation, states = estimates(measured, noisy, [(), (0,)])
    >>> nation[()], states[()], states[0,].tolist()
    (array([28.]), array([14., 14.]), [[11.0, 3.0], [6.0, 8.0]])
    """
    _check(measured, noisy)
    deepest = {table: measured.deepest(table) for table in tables}
    levels: list[Level] = [
        {table: np.zeros((nodes, *_sizes(measured, table))) for table in tables if level <= deepest[table]}
        for level, nodes in enumerate(measured.spine.sizes)
    ]
    for space in measured.spaces:
        if any(set(space) <= set(table) for table in tables):
            _add(measured, levels, space, _space(measured, noisy, space, max(deepest.values())))
            if progress is not None:
                progress(1)
    return levels


def _check(measured: Measured, noisy: Sequence[Mapping[Table, Numbers]]) -> None:
    """Refuse noisy tables that are not those that were measured, and exact totals that contradict each other."""
    exact: Numbers | None = None
    for level in reversed(range(measured.spine.depth + 1)):
        for table in measured.variances[level]:
            shape = (measured.spine.sizes[level], *_sizes(measured, table))
            values = noisy[level].get(table)
            if values is None or values.shape != shape:
                given = "none" if values is None else str(values.shape)
                raise ValueError(f"level {level}, table {table}: expected values of shape {shape}, got {given}")
        exact = measured.spine.sums(exact, level) if exact is not None else None
        if measured.has_exact_total(level):
            if exact is not None and not np.array_equal(exact, noisy[level][()]):
                raise ValueError(f"level {level}: the exact totals are not the sums of those below")
            exact = noisy[level][()]


def _sizes(measured: Measured, table: Table) -> tuple[int, ...]:
    return tuple(measured.shape[axis] for axis in table)


def _space(measured: Measured, noisy: Sequence[Mapping[Table, Numbers]], space: Table, last: int) -> list[Array]:
    """Return r_T at every level down to `last`, shape (nodes, directions' cells)."""
    tree = measured.tree(space)
    values = [_residual(measured, level, noisy[level], space) for level in range(tree.deepest + 1)]
    return tree.estimate(values)[: last + 1]


def _residual(measured: Measured, level: int, noisy: Mapping[Table, Numbers], space: Table) -> Array | None:
    """Return the mean of all measurements of r_T at a level's nodes, weighted by their precision; None without any."""
    total: Array | None = None
    for table, weight in _weights(measured, level, space).items():
        others = tuple(1 + place for place, axis in enumerate(table) if axis not in space)
        marginal = noisy[table].sum(axis=others, dtype=np.float64) if others else noisy[table]
        total = weight * marginal if total is None else total + weight * marginal
    if total is None:
        return None
    for axis in range(1, total.ndim):
        total -= total.mean(axis=axis, keepdims=True)
    return total.reshape(len(total), -1)


def _weights(measured: Measured, level: int, space: Table) -> dict[Table, float]:
    """Return the share of every measured table in the precision of r_T; an exact total has all of it."""
    precision = measured.precision(level, space)
    if math.isinf(precision):
        return {(): 1.0}
    held = {table: spread for table, spread in measured.variances[level].items() if set(space) <= set(table)}
    return {table: 1 / (spread * measured.cells(set(table) - set(space)) * precision) for table, spread in held.items()}


def _add(measured: Measured, levels: Sequence[Level], space: Table, residuals: Sequence[Array]) -> None:
    """Add a space to every table that holds it, spread evenly over the axes beside it."""
    for level, values in zip(levels, residuals, strict=False):
        for table, total in level.items():
            if set(space) <= set(table):
                cells = measured.cells(set(table) - set(space))
                kept = [measured.shape[axis] if axis in space else 1 for axis in table]
                total += (values if cells == 1 else values / cells).reshape(len(values), *kept)  # noqa: PLW2901  # in place
