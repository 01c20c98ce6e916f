"""Iterative proportional fitting: the table nearest to a start, in relative entropy, that has the margins asked for.

From an even start that is the table of the largest entropy. Flow: start, margins -> rescale to each in turn -> table.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.linear import Array
from dpress.estimate.consistency import Axes

TOLERANCE = 1e-7
ROUNDS = 500
_EMPTY = 1e-280


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A table that was fitted.

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


def fitted(
    start: Array, margins: Mapping[Axes, Array], *, tolerance: float = TOLERANCE, rounds: int = ROUNDS
) -> Fitted:
    """Return the table that has all margins, or after `rounds` the last one, whose `gap` says how far it is off.

    Margins that contradict each other have no such table: then it circles among near misses, and the gap stays.
    Error: converges at a geometric rate where a table with all margins and no new empty cells exists.

    Args:
        start: shares >= 0; its empty cells stay empty.
        margins: by rising axes; each adds up to 1.
        tolerance: of the gap.
        rounds: at most.

    >>> fitted(np.full((2, 2), 0.25), {(0,): np.array([0.9, 0.1]), (1,): np.array([0.5, 0.5])}).table
    array([[0.45, 0.45],
           [0.05, 0.05]])
    """
    table, gap, done = start / start.sum(), math.inf, 0
    while done < rounds and gap > tolerance:
        done, gap = done + 1, 0.0
        for axes, asked in margins.items():
            have = sums(table, axes)
            gap = max(gap, float(np.abs(have - asked).sum()) / 2)
            ratio = np.divide(asked, have, out=np.zeros_like(have), where=have > _EMPTY)
            table = table * ratio.reshape([size if axis in axes else 1 for axis, size in enumerate(table.shape)])
    total = table.sum()
    return Fitted(table=table / total if total > 0 else start / start.sum(), gap=gap, rounds=done)
