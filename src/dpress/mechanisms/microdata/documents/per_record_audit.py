"""Audit of records perturbed value by value: the channel of a record, a product of those of its values.

noise and probabilities, as the sampler uses them -> P(cell | cell) -> the largest ratio of each value -> their product
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpress.attributes.mixed import Column
from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, exact_check, outcomes_check, relation_of
from dpress.audit.exact import ExactLoss, at_most, promised
from dpress.audit.outcomes import Labels, Outcomes, record_labels
from dpress.audit.powers import Polynomial, log_ratio, plus
from dpress.audit.verdict import Check
from dpress.core.basics.losses.convert import log_up
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.mechanisms.microdata.documents.per_record import PerRecord

ONE = Fraction(1)
WHOLE: Polynomial = {0: ONE, 1: ONE}
"""1 + r, over which the probabilities of a number's cells stand."""


def exact(made: PerRecord) -> Iterator[Check]:
    """Yield the exact check of a record's channel."""
    name = f"a record of {math.prod(column.size for column in made.columns)} values"
    yield exact_check("exact channel", name, relation_of(made.unit), claimed_of(made), record_loss(made))


def sampled(made: PerRecord, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of one record."""
    yield outcomes_check("one record", of_record(made, rng=rng), made.unit, claimed_of(made), samples)


def record_loss(made: PerRecord) -> ExactLoss:
    """Return the loss of one unit's records, each a product of the channels of its values.

    Numbers cost what `number_loss` says; of categories the ratios are exact, and their product is judged exactly.
    """
    several = [column for column in made.columns if column.size > 1]
    numbers = sum((number_loss(made, column) for column in several if column.numeric), Fraction(0))
    ratio = math.prod((_odds(made, column) for column in several if not column.numeric), start=ONE)
    loss = made.unit.rows * (numbers + (log_up(ratio) if ratio > 1 else 0))
    left = promised(made.claim.proven) / made.unit.rows - numbers
    return ExactLoss(loss=loss, kept=left >= 0 and (ratio <= 1 or at_most(ratio, left)))


def number_loss(made: PerRecord, column: Column) -> Fraction:
    """Return the largest log ratio of a number's cells under any two values, exactly where it is a power of e."""
    rows = cells(column)
    pairs = itertools.combinations(rows, 2)
    rate = 1 / made.noise(column).scale
    return max(log_ratio(a, b, rate) for row, other in pairs for a, b in zip(row, other, strict=True))


def cells(column: Column) -> list[list[Polynomial]]:
    """Return (1 + r) P(cell | cell) of a number as polynomials in r = e^(-1 / scale), a row for each cell it may have.

    Discrete Laplace noise z is at most t with probability r^-t / (1 + r) for t < 0, else 1 - r^(t + 1) / (1 + r). A
    cell is reported where the number with noise is nearest to its centre, z in (a, b].
    """
    units = [int(unit) for unit in column.units]
    middles = [Fraction(low + high, 2) for low, high in itertools.pairwise(units)]
    return [[_within(middles, place, unit) for place in range(column.size)] for unit in units]


def probabilities(made: PerRecord, column: Column) -> Array:
    """Return P(cell | cell) rounded to floats, shape (size, size)."""
    if column.size == 1:
        return np.ones((1, 1))
    if not column.numeric:
        kept = float(made.kept(column))
        return np.where(np.eye(column.size) == 1, kept, (1 - kept) / (column.size - 1))
    r = math.exp(-1 / float(made.noise(column).scale))
    chances = [[sum(float(c) * r**n for n, c in polynomial.items()) for polynomial in row] for row in cells(column)]
    return np.array(chances) / (1 + r)


def _odds(made: PerRecord, column: Column) -> Fraction:
    """Return the larger of P(kept) / P(another) and its inverse."""
    kept = made.kept(column)
    odds = kept / ((1 - kept) / (column.size - 1))
    return max(odds, 1 / odds)


def _within(middles: list[Fraction], place: int, unit: int) -> Polynomial:
    below = _up_to(middles[place - 1] - unit) if place else {}
    above = WHOLE if place == len(middles) else _up_to(middles[place] - unit)
    return plus(above, {n: -c for n, c in below.items()})


def _up_to(most: Fraction) -> Polynomial:
    t = math.floor(most)
    return {-t: ONE} if t < 0 else plus(WHOLE, {t + 1: -ONE})


def of_record(made: PerRecord, *, rng: Generator) -> Outcomes:
    """Return the outcomes of one record: all its values, each of which is an input, too."""
    sizes = tuple(column.size for column in made.columns)
    values = int(np.prod(sizes))
    logs = np.zeros((1, 1))
    for column in made.columns:
        log_chances = np.log(probabilities(made, column))
        logs = (logs[:, None, :, None] + log_chances[None, :, None, :]).reshape(len(logs) * column.size, -1)

    def draw(value: int, size: int) -> Labels:
        record = np.array(np.unravel_index(np.full(size, value), sizes), dtype=np.int32)
        return record_labels(made.perturbed(record, rng=rng), sizes)

    def stated(value: int, other: int) -> Floats:
        return np.asarray(np.round(logs[value] - logs[other], 9))

    return Outcomes(values=values, labels=values, draw=draw, stated=stated)
