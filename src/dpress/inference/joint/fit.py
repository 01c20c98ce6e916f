"""Iterative proportional fitting: the table nearest to a start, in relative entropy, that has the margins asked for.

From a uniform start that is the table of the largest entropy. Flow: start, margins -> rescale to each in turn -> table.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes

TOLERANCE = 1e-7
ROUNDS = 500
_EMPTY = 1e-280


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFit:
    """A fitted table, and how far it is from its margins.

    Args:
        table: shares >= 0 that add up to 1.
        gap: the largest total variation between a margin of the table and the one asked for.
        rounds: how often every margin was visited.
    """

    table: Array
    gap: float
    rounds: int


def sums(table: Array, axes: Axes) -> Array:
    """Return the margin over rising axes."""
    return np.asarray(table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in axes)))


def fit_margins(
    start: Array, margins: Mapping[Axes, Array], *, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> TableFit:
    """Return the table that has all margins, or after `rounds` the last one, whose `gap` says how far it is off.

    Margins that contradict each other have no such table: then it circles among near misses, and the gap
    stays; see `nearest`.
    Error: converges at a geometric rate where a table with all margins and no new empty cells exists.

    Args:
        start: shares >= 0; its empty cells stay empty.
        margins: by rising axes; each adds up to 1.
        tolerance: of the gap.
        rounds: at most.

    >>> fit_margins(np.full((2, 2), 0.25), {(0,): np.array([0.9, 0.1]), (1,): np.array([0.5, 0.5])}).table
    array([[0.45, 0.45],
           [0.05, 0.05]])
    """
    return _visited(start, margins, lambda done: 1.0, tolerance=tolerance, rounds=rounds)  # noqa: ARG005


def nearest(start: Array, margins: Mapping[Axes, Array], *, tolerance: float = TOLERANCE, rounds: int = 60) -> TableFit:
    """Return a table that is near to all margins at once, where they contradict each other.

    Every visit of round t moves a margin by the power 1 / t of its ratio only: entropic mirror descent, table by table,
    on sum_S KL(P_S, asked_S), which is convex; its steps add up to infinity, so that it goes on to the least of it.
    Error: after t rounds it has gone a way of about ln t full rounds from the start, on purpose: what needs longer is
    mostly the contradictions' noise.

    Args:
        start: shares >= 0; its empty cells stay empty.
        margins: by rising axes; each adds up to 1.
        tolerance: of the gap.
        rounds: at most.
    """
    return _visited(start, margins, lambda done: 1 / done, tolerance=tolerance, rounds=rounds)


def approach(
    start: Array,
    margins: Mapping[Axes, Array],
    *,
    within: float,
    tolerance: float = TOLERANCE,
    least: int = 10,
    rounds: int = 100,
) -> TableFit:
    """Return a table on the way from a start to the margins, left where what remains is little beside their noise.

    Each step is the mean of the rescalings to every margin alone, P' = P mean_S(asked_S / P_S): EM for the least
    sum_S KL(asked_S, P_S), which never rises. It goes on for `least` steps, then until
    sum_S |asked_S - P_S|^2 <= `within`.

    Args:
        start: shares >= 0; its empty cells stay empty.
        margins: by rising axes; each adds up to 1.
        within: shares squared, summed over all cells of all margins.
        tolerance: of the gap; where it is reached, it ends before.
        least: steps that are taken first.
        rounds: at most.
    """
    table = start / start.sum()
    for done in range(rounds + 1):
        factor, gap, left = np.zeros_like(table), 0.0, 0.0
        for axes, target in margins.items():
            have = sums(table, axes)
            gap, left = max(gap, _apart(have, target)), left + float(((have - target) ** 2).sum())
            factor += _spread(_ratio(target, have), axes, table.ndim)
        if gap <= tolerance or done == rounds or (done >= least and left <= within):
            break
        moved = table * factor
        if not moved.any():  # no table has these margins and the start's empty cells
            break
        table = moved / moved.sum()
    return TableFit(table=table, gap=gap, rounds=done)


def _visited(
    start: Array, margins: Mapping[Axes, Array], power: Callable[[int], float], *, tolerance: float, rounds: int
) -> TableFit:
    table, gap, done = start / start.sum(), math.inf, 0
    while done < rounds and gap > tolerance:
        done, gap = done + 1, 0.0
        for axes, target in margins.items():
            have = sums(table, axes)
            gap = max(gap, _apart(have, target))
            table = table * _spread(_ratio(target, have) ** power(done), axes, table.ndim)
    total = table.sum()
    return TableFit(table=table / total if total > 0 else start / start.sum(), gap=gap, rounds=done)


def _apart(have: Array, target: Array) -> float:
    return float(np.abs(have - target).sum()) / 2


def _ratio(target: Array, have: Array) -> Array:
    return np.divide(target, have, out=np.zeros_like(have), where=have > _EMPTY)


def _spread(margin: Array, axes: Axes, ndim: int) -> Array:
    """Return a margin with an axis of one cell for every attribute that it does not hold."""
    sizes = dict(zip(axes, margin.shape, strict=True))
    return margin.reshape([sizes.get(axis, 1) for axis in range(ndim)])
