"""Chosen bounds, from outside: where they come to lie between a few numbers, of tables that a unit's rows change.

counts between numbers -> the choice as it runs -> the place of either bound, and how many rows it says are inside.
"""

import math

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.outcomes import Labels, Outcomes
from dpress.core.basics.rng import Generator
from dpress.core.methods.table_sums import Integers
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, Scored

EDGES = np.arange(9.0)
NEAR, FAR, MANY = 1, 6, 1000  # most rows are between 1 and 2, some between 6 and 7
MOST = 1 << 10  # rows further out, of a unit's


def of_bounds(mechanism: BoundsFirst, *, rng: Generator) -> Outcomes:
    """Return the bounds of the table that a unit's rows further out change most, and of the one that has them."""
    rows = mechanism.unit.rows
    made = mechanism.for_few_rows()
    tables = [_table(rows, number) for number in _powers()]
    first = max(range(len(tables)), key=lambda place: _moved_by_unit(made, tables[place], rows))
    pair = (tables[first], _with_unit(tables[first], rows))
    size = len(EDGES)

    def label(table: Integers) -> int:
        found = made.bounds(table, EDGES, rng=rng)
        low, high = np.searchsorted(EDGES, found.ends).tolist()
        inside = 0 if found.rows is None else int(found.rows[1] > pair[0][FAR])
        return int((low * size + high) * 2 + inside)

    def draw(value: int, number: int) -> Labels:
        return np.array([label(pair[value]) for _ in range(number)], dtype=np.int64)

    def stated(one: int, other: int) -> Floats:
        """Whether the rows further out are inside: what is seen tells better."""
        highs = np.arange(size * size * 2) // 2 % size
        return np.where(highs > FAR, 1.0, -1.0) * (one - other)

    return Outcomes(values=2, labels=size * size * 2, draw=draw, stated=stated)


def _powers() -> list[int]:
    return [0, *(round(2 ** (step / 4)) for step in range(4 * int(math.log2(MOST)) + 1))]


def _table(rows: int, further: int) -> Integers:
    counts = np.zeros(len(EDGES) - 1, dtype=np.int64)
    counts[NEAR], counts[FAR] = MANY * rows, further * rows
    return counts


def _with_unit(counts: Integers, rows: int) -> Integers:
    more = counts.copy()
    more[FAR] += rows
    return more


def _moved_by_unit(made: BoundsFirst, counts: Integers, rows: int) -> float:
    """Return how far a unit's rows move the probabilities of one of the choices."""
    pairs = zip(*(made.choices(own, EDGES) for own in (counts, _with_unit(counts, rows))), strict=True)
    both = [pair for one, other in pairs for pair in zip(one, other, strict=True)]
    return max(float(np.abs(_chances(one) - _chances(other)).sum()) for one, other in both)


def _chances(own: Scored) -> Floats:
    weights = np.exp(float(own.rate) * (own.scores - own.scores.max()))
    return np.asarray(weights / weights.sum())
