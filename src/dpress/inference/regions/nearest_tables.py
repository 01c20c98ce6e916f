"""The nearest tables >= 0 of a parent's children that add up to all that is held; loops that numba compiles.

Weighted least squares by ascent of the dual: x = max(0, t + weight * (sum of a multiplier for every sum that is held)),
one multiplier after the other by a step of Newton.
"""

from typing import Any

import numpy as np

from dpress.core.basics.compiled import compiled

SWEEPS = 40
NEAR = 0.02  # persons by which a sum may be off: whole numbers follow, whose sums are exact


def _hold_column(table: Any, weights: Any, cell: int, wanted: float) -> float:
    """Move the children's counts of a cell to what they add up to; return by how much that was off."""
    lack, slope, every = wanted, 0.0, 0.0
    for child in range(table.shape[0]):
        every += weights[child, cell]
        if table[child, cell] > 0:
            lack -= table[child, cell]
            slope += weights[child, cell]
    if every == 0:
        return 0.0
    step = lack / (slope if slope > 0 else every)
    for child in range(table.shape[0]):
        table[child, cell] += weights[child, cell] * step
    return abs(lack)


def _hold_row(row: Any, weights: Any, wanted: Any, places: Any) -> float:
    """Move a child's cells to a coarser table of the child; return by how much that was off."""
    lacks, slopes, every = wanted.copy(), np.zeros(wanted.size), np.zeros(wanted.size)
    for cell in range(row.size):
        every[places[cell]] += weights[cell]
        if row[cell] > 0:
            lacks[places[cell]] -= row[cell]
            slopes[places[cell]] += weights[cell]
    off = 0.0
    for cell in range(row.size):
        column = places[cell]
        if every[column] > 0:
            off = max(off, abs(lacks[column]))
            row[cell] += weights[cell] * lacks[column] / (slopes[column] if slopes[column] > 0 else every[column])
    return off


hold_column, hold_row = compiled(_hold_column), compiled(_hold_row)


def _nearest(table: Any, weights: Any, column: Any, margins: Any, places: Any) -> None:
    """Move tables to the nearest ones >= 0 whose sums are held; where they cannot all be, to nearly that.

    Args:
        table: t, then x; shape (children, cells).
        weights: >= 0; a cell of weight 0 stays. Shape (children, cells).
        column: the parent's counts, which the children add up to; shape (cells,), or (0,) for no parent.
        margins: the coarser tables of every child, one after the other, shape (children, columns).
        places: the column of every cell in each coarser table that is held, shape (tables, cells).
    """
    for _ in range(SWEEPS):
        off = 0.0
        for cell in range(column.size):
            off = max(off, hold_column(table, weights, cell, column[cell]))
        for child in range(table.shape[0]):
            for each in range(places.shape[0]):
                off = max(off, hold_row(table[child], weights[child], margins[child], places[each]))
        if off < NEAR:
            break
    for child in range(table.shape[0]):
        for cell in range(table.shape[1]):
            table[child, cell] = max(table[child, cell], 0.0)


nearest = compiled(_nearest)
