"""Sums of a table's cells in many boxes: running sums along every axis once, then two places an axis and box."""

import itertools
from collections.abc import Sequence

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.ranges import Ranges

BLOCK = 64  # cells that are added up one after the other
CHUNK = 1 << 14  # boxes taken at a time


def box_sums(table: Numbers, ranges: Sequence[Ranges]) -> Array:
    """Return the sum of the cells in every box, by a summed-area table: O(cells + 2^k boxes) for k axes.

    Formula: sum over the 2^k corners of (-1)^(ends that are first ones) F(corner), F the sum of all cells before it.
    Error: whole numbers of integer type are added up exactly and rounded once (running sums must stay below 2^63), and
    so are whole floats while running sums stay below 2^53. Otherwise, with x the sum of the absolute cells and
    u = 2^-53, at most (2^k sum over axes of 65 ceil(log64 n_i) + 4^k) u x to first order: with one axis of 2^26 cells
    at most 0.08 for x = 1e12 and 1e-4 for x = 1e9. Roundings of random sign leave a few u x; u x is itself 1e-4 for
    x = 1e12.

    Args:
        table: shape (n_1, ..., n_k).
        ranges: the boxes' ranges along every axis, all of one size m.

    Returns:
        Sums, shape (m,).

    Raises:
        ValueError: the ranges do not fit the table or each other.

    >>> from dpress.core.maps.ranges import Range
    >>> box_sums(np.arange(6).reshape(2, 3), [Ranges.of(2, [Range(1, 2)]), Ranges.of(3, [Range(2, 3)])])
    array([12.])
    """
    if tuple(axis.cells for axis in ranges) != table.shape or not ranges:
        raise ValueError(f"expected ranges for the axes {table.shape}, got {tuple(axis.cells for axis in ranges)}")
    if len({axis.size for axis in ranges}) != 1:
        raise ValueError(f"expected as many ranges along every axis, got {[axis.size for axis in ranges]}")
    sums = _summed(table)
    flat, steps = sums.ravel(), [stride // sums.itemsize for stride in sums.strides]
    out = np.empty(ranges[0].size)
    for first in range(0, out.size, CHUNK):
        part = slice(first, first + CHUNK)
        ends = [
            ((axis.left[part].astype(np.int64) - 1) * step, axis.right[part].astype(np.int64) * step)
            for axis, step in zip(ranges, steps, strict=True)
        ]
        out[part] = _corners(flat, ends)
    return out


def _corners(flat: Numbers, ends: Sequence[tuple[Numbers, Numbers]]) -> Numbers:
    """Return the signed sum over all corners, the last axis' differences first."""
    total = np.zeros(ends[0][0].size, flat.dtype)
    for outer in itertools.product((0, 1), repeat=len(ends) - 1):
        base = sum((pair[side] for pair, side in zip(ends, outer, strict=False)), np.int64(0))
        difference = flat[base + ends[-1][1]] - flat[base + ends[-1][0]]
        total = total + difference if outer.count(0) % 2 == 0 else total - difference
    return total


def _summed(table: Numbers) -> Numbers:
    """Return the sums of all cells before every place, shape (n_1 + 1, ..., n_k + 1)."""
    exact = np.issubdtype(table.dtype, np.integer) or table.dtype == np.bool_
    sums = np.zeros([size + 1 for size in table.shape], np.int64 if exact else np.float64)
    inner = sums[(slice(1, None),) * table.ndim]
    inner[...] = table
    for axis in range(table.ndim):
        _run(np.moveaxis(inner, axis, 0))
    return sums


def _run(values: Numbers) -> None:
    """Replace values by their running sums along the first axis.

    Within blocks one after the other, and the blocks' totals likewise: a running sum has been rounded at most
    65 ceil(log64 n) times instead of n.
    """
    if values.shape[0] <= BLOCK:
        np.cumsum(values, axis=0, out=values)
        return
    whole = values.shape[0] // BLOCK * BLOCK
    blocks = values[:whole].reshape(-1, BLOCK, *values.shape[1:], copy=False)
    rest = values[whole:]
    np.cumsum(blocks, axis=1, out=blocks)
    np.cumsum(rest, axis=0, out=rest)
    totals = np.array(blocks[:, -1])
    _run(totals)
    blocks[1:] += totals[:-1, None]
    rest += totals[-1]
