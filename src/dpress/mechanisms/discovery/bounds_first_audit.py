"""Audit of bounds and then sums: the choices by all tiny tables, the sums by their matrix and noise.

By samples: where bounds come to lie between a few numbers, of tables that a unit's rows change; then the sums.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, exact_check, outcomes_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.outcomes import Labels, Outcomes
from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.core.methods.table_sums import Integers
from dpress.mechanisms.choice.approximate_quantiles_audit import LEVELS, neighbours
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, Scored
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.linear.matrix_mechanism_audit import matrix_loss

EDGES = tuple(np.arange(LEVELS + 1.0) - below for below in (0, 1))  # of one sign, and of both
WIDE = np.arange(9.0)
NEAR, FAR, MANY = 1, 6, 1000  # most rows are between 1 and 2, some between 6 and 7
MOST = 1 << 10  # rows further out, of a unit's


def exact(made: BoundsFirst) -> Iterator[Check]:
    """Yield the exact check of both steps together."""
    claimed = claimed_of(made)
    loss = bounds_loss(made, promised(claimed))
    yield exact_check("exact sum", "bounds, then sums", relation_of(made.unit), claimed, loss)


def sampled(made: BoundsFirst, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of the bounds, then of what is measured between them."""
    yield outcomes_check("bounds", of_bounds(made, rng=rng), made.unit, made.first, samples)
    yield from matrix_mechanism_audit.sampled(made.groups, samples, rng=rng)


def bounds_loss(mechanism: BoundsFirst, bound: Fraction) -> ExactLoss:
    """Return the loss of both steps together: the first by all tiny tables, the sums' by their matrix and noise.

    Bounds move rows between levels, and the sums' loss is that of the worst two levels. Nothing is taken from the
    mechanism's claim.
    """
    sums = matrix_loss(mechanism.groups, promised(mechanism.groups.claim.proven))
    remark = f"tables of up to 6 rows between {LEVELS + 1} numbers; all rows of a unit move together"
    if sums.loss is None:
        return ExactLoss(loss=None, kept=False, remark=remark)
    loss = len(mechanism.axes) * first_loss(mechanism) + sums.loss
    return ExactLoss(loss=loss, kept=loss <= bound, remark=remark)


def first_loss(mechanism: BoundsFirst) -> Fraction:
    """Return what the bounds of one attribute cost.

    A candidate's chance is that of exp(rate score). Where one unit's rows change the scores by numbers between l and h,
    a choice costs rate (h - l) at most, or the square of that by eight. Each choice costs the worst of those that the
    ones before it may lead to; the numbers of rows cost what their noise hides of the largest change.
    """
    worst: dict[int, Fraction] = {}
    rows = Fraction(0)
    for made, edges in itertools.product((mechanism, mechanism.for_few_rows()), EDGES):
        for table, other in neighbours(mechanism.unit):
            counts = np.array(table), np.array(other)
            pairs = zip(*(made.choices(numbers, edges) for numbers in counts), strict=True)
            for place, (first, second) in enumerate(pairs):
                ranges = [_range(*both) for both in zip(first, second, strict=True)]
                worst[place] = max(worst.get(place, Fraction(0)), *ranges)
            rows = max(rows, _rows_loss(mechanism, counts[1] - counts[0]))
    return sum((mechanism.groups.loss.choice_cost(width) for width in worst.values()), rows)


def _range(scored: Scored, other: Scored) -> Fraction:
    change = other.scores - scored.scores
    return max(scored.rate, other.rate) * int(change.max() - change.min())


def _rows_loss(mechanism: BoundsFirst, change: Integers) -> Fraction:
    """Return what two noisy numbers of rows, inside and outside of the worst interval, cost."""
    if mechanism.noise is None:
        return Fraction(0)
    losses = list[Fraction]()
    for low, high in itertools.combinations(range(LEVELS + 1), 2):
        inside = int(change[low:high].sum())
        outside = int(change.sum()) - inside
        if not inside and not outside:
            continue
        order = mechanism.noise.order
        losses.append(
            mechanism.groups.loss.cost(mechanism.noise.spread, Fraction(abs(inside) ** order + abs(outside) ** order))
        )
    return max(losses)


def of_bounds(mechanism: BoundsFirst, *, rng: Generator) -> Outcomes:
    """Return the bounds of the table that a unit's rows further out change most, and of the one that has them."""
    rows = mechanism.unit.rows
    made = mechanism.for_few_rows()
    tables = [_table(rows, number) for number in _powers()]
    first = max(range(len(tables)), key=lambda place: _moved_by_unit(made, tables[place], rows))
    pair = (tables[first], _with_unit(tables[first], rows))
    size = len(WIDE)

    def label(table: Integers) -> int:
        bounds = made.bounds(table, WIDE, rng=rng)
        low, high = np.searchsorted(WIDE, bounds.ends).tolist()
        inside = 0 if bounds.rows is None else int(bounds.rows[1] > pair[0][FAR])
        return int((low * size + high) * 2 + inside)

    def draw(value: int, number: int) -> Labels:
        return np.array([label(pair[value]) for _ in range(number)], dtype=np.int64)

    def stated(value: int, other: int) -> Floats:
        """Whether the rows further out are inside: what is seen tells better."""
        highs = np.arange(size * size * 2) // 2 % size
        return np.where(highs > FAR, 1.0, -1.0) * (value - other)

    return Outcomes(values=2, labels=size * size * 2, draw=draw, stated=stated)


def _powers() -> list[int]:
    return [0, *(round(2 ** (step / 4)) for step in range(4 * int(math.log2(MOST)) + 1))]


def _table(rows: int, further: int) -> Integers:
    counts = np.zeros(len(WIDE) - 1, dtype=np.int64)
    counts[NEAR], counts[FAR] = MANY * rows, further * rows
    return counts


def _with_unit(counts: Integers, rows: int) -> Integers:
    more = counts.copy()
    more[FAR] += rows
    return more


def _moved_by_unit(made: BoundsFirst, counts: Integers, rows: int) -> float:
    """Return how far a unit's rows move the probabilities of one of the choices."""
    pairs = zip(*(made.choices(numbers, WIDE) for numbers in (counts, _with_unit(counts, rows))), strict=True)
    both = [pair for first, other in pairs for pair in zip(first, other, strict=True)]
    return max(float(np.abs(_chances(first) - _chances(other)).sum()) for first, other in both)


def _chances(scored: Scored) -> Floats:
    weights = np.exp(float(scored.rate) * (scored.scores - scored.scores.max()))
    return np.asarray(weights / weights.sum())
