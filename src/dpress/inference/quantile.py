"""Quantiles of binned counts with an interval: cumulative counts, inverted.

D_k = count of cells 0..k less q times all, noisy, with its standard error -> cells that may hold the quantile.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileCells:
    """The cells of a quantile, counted from 0, both ends included.

    Args:
        estimate: from the first k with D_k >= 0 to the last k that follows a D < 0: one cell but for the noise.
        interval: from the first to the last cell that the quantile may lie in.
    """

    estimate: tuple[int, int]
    interval: tuple[int, int]


def quantile_weights(border: int, level: float, cells: int) -> Array:
    """Return the weights of D_k, the count of cells 0..k less a share of all, for k = border, shape (cells,).

    >>> quantile_weights(1, 0.25, 4)
    array([ 0.75,  0.75, -0.25, -0.25])
    """
    return np.where(np.arange(cells) <= border, 1 - level, -level)


def invert(differences: Array, margins: Array) -> QuantileCells:
    """Return the cells of a quantile.

    The true quantile's cell k is the first whose D_k is not below 0, so that D_(k-1) < 0 <= D_k. A cell k may hold it
    unless D_k is significantly below 0 or D_(k-1) significantly above: the true one is missed if its own D_k or D_(k-1)
    is off by more than its margin on that side, two tails whose chances add up to at most that of two-sided
    tests, whatever happens at other cells. The interval runs from the first to the last cell that may.
    The estimate rises with q as every D_k falls with it: its first and its last cell are the ends of all
    places where D changes its sign.
    Source: Woodruff 1952, for the inversion.

    Args:
        differences: D_k of every cell, shape (cells,); the last is positive.
        margins: how far from 0 each is significant; see `interval.margin`.

    Raises:
        ValueError: the last D is not above 0: no cell is known to hold anybody.

    >>> invert(np.array([-5.0, -1.0, 2.0, 6.0]), np.full(4, 1.96))
    QuantileCells(estimate=(2, 2), interval=(1, 2))
    """
    if not differences[-1] > 0:
        raise ValueError(f"the last difference must be > 0, got {differences[-1]}")
    below = np.flatnonzero(differences < 0)
    first = int(np.argmax(differences >= 0))
    last = max(first, int(below[-1]) + 1) if below.size else first
    low, high = differences < -margins, differences > margins
    may = np.flatnonzero(~low & ~np.concatenate([[False], high[:-1]]))
    ends = (int(may[0]), int(may[-1])) if may.size else (first, last)
    return QuantileCells(estimate=(first, last), interval=(min(ends[0], first), max(ends[1], last)))
