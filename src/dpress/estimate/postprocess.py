"""Adjustments of estimated tables that readers ask for by name: each is biased and says in which direction.

They see noisy estimates only, so they cost no privacy. The error of an adjusted count is no longer known exactly: the
standard error and the interval belong to the unbiased estimate. Several are applied in the order in which they are
named, each to the result of the one before; every table by itself.

Data flow: estimated table, names -> adjusted table.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpress.core.linear import Array


class Named(NamedTuple):
    """What a name stands for.

    Args:
        function: from an estimated table, shape (cells,), in counts, to the adjusted one.
        bias: one sentence: that it is biased, and in which direction.
    """

    function: Callable[[Array], Array]
    bias: str


def nonnegative(counts: Array) -> Array:
    """Return the nearest table, in squared distance, of counts >= 0 with the same total; zeros if that is negative.

    Biased: small counts are pushed up and large ones down on average; where the total is negative, it is pushed up.

    Formula: max(count - t, 0) with the one t that keeps the total (projection on the scaled simplex), O(n log n).

    Error: not known exactly. Projection on a convex set, so where the estimated total is the true one, never farther
    from the truth in squared distance than the estimate was.

    Order: named before `integer`, the result is both whole and >= 0; named after it, it need not be whole.

    Args:
        counts: shape (cells,).

    >>> nonnegative(np.array([7.0, 2.0, -3.0]))
    array([5.5, 0.5, 0. ])
    """
    total = counts.sum()
    if total <= 0:
        return np.zeros(counts.shape)
    if counts.min() >= 0:
        return counts.astype(float)
    falling: Array = np.sort(counts)[::-1]
    excess = np.cumsum(falling) - total
    ranks = np.arange(1, counts.size + 1)
    kept = np.flatnonzero(falling * ranks >= excess)[-1]
    projected: Array = np.maximum(counts - excess[kept] / ranks[kept], 0.0)
    return projected


def integer(counts: Array) -> Array:
    """Return whole counts with the rounded total: all rounded down, then the largest remainders up.

    Biased: every count moves by less than one; its size does not matter, but of equal remainders the earlier cells are
    pushed up and the later ones down.

    Error: not known exactly; no count moves by one or more. A total halfway between two whole numbers goes to the even
    one.

    Order: named after `nonnegative` or `monotone_prefix` it keeps what these have reached; named before them, their
    result need not be whole.

    Args:
        counts: shape (cells,).

    >>> integer(np.array([0.4, 0.9, 2.4, -1.2]))
    array([ 0.,  1.,  2., -1.])
    """
    whole = np.floor(counts)
    remainders = counts - whole
    total = np.rint(whole.sum() + remainders.sum())
    up = int(total - whole.sum())
    whole[np.argsort(-remainders, kind="stable")[:up]] += 1
    return whole


def monotone_prefix(counts: Array) -> Array:
    """Return the table whose running totals are the nearest, in squared distance, that never fall.

    Biased: where running totals fall, small counts are pushed up and those beside them down; the first count is never
    pushed up and the total never down.

    Formula: isotonic regression of the running totals (pool adjacent violators), then differences. Every count but the
    first is >= 0; the first is so after `nonnegative`.

    Error: not known exactly. Running totals are never farther from the true ones, in squared distance, than before; the
    counts themselves may be.

    Order: named before `integer`, the result is whole and its running totals still never fall.

    Args:
        counts: shape (cells,), of one ordered attribute.

    >>> monotone_prefix(np.array([4.0, 3.0, -2.0, 5.0]))
    array([4., 2., 0., 4.])
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 - loads slowly, and is seldom asked for

    if counts.size < 2 or counts[1:].min() >= 0:
        return counts.astype(float)
    fitted: Array = isotonic_regression(np.cumsum(counts)).x
    return np.diff(fitted, prepend=0.0)


NAMES: Mapping[str, Named] = {
    "integer": Named(
        integer,
        "Biased by rounding: every count moves by less than one, and of equal remainders the earlier cells are pushed "
        "up and the later ones down.",
    ),
    "monotone_prefix": Named(
        monotone_prefix,
        "Biased: where running totals fall, small counts are pushed up and those beside them down; the first "
        "count is never pushed up and the total never down.",
    ),
    "nonnegative": Named(
        nonnegative,
        "Biased: small counts are pushed up and large ones down on average, and a negative total is pushed up to zero.",
    ),
}


def adjust(counts: Array, names: Sequence[str]) -> Array:
    """Return one table adjusted by every named function in turn.

    Args:
        counts: shape (cells,), estimated.
        names: keys of `NAMES`, in the order of application.
    """
    for name in names:
        counts = NAMES[name].function(counts)
    return counts
