"""Exact audit of chosen quantiles: all outcomes of tiny tables and of what one unit makes of them.

The scores are the method's own; how much a unit changes them is not taken from it, but from every pair of tables. A
row's place within its level is drawn without looking at the others, so that one place is enough.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpress.core.claim import PureDP, Relation, Unit
from dpress.ledger.convert import log_up
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles, Integers, gaps
from dpress.noise.expansion import at_most_exponential
from dpress.release.audit.exact import ExactLoss, at_most
from dpress.release.audit.exact_groups import wins
from dpress.release.audit.powers import Between, exponential, valued

Table = tuple[int, ...]
Outcomes = dict[Table, Between]

LEVELS = 3
COUNTS = (0, 2)
SCALE = 1 << 320
ORDERS = (2, 3, 8)
"""Of the Renyi divergences that are computed under rho."""


def quantiles_loss(made: ApproximateQuantiles, bound: Fraction) -> ExactLoss:
    """Return the largest loss of any outcome, or the largest Renyi divergence by its order, and whether it is kept."""
    own, found = replace(made, places=1), dict[Table, Outcomes]()
    remark = "tables of up to 6 rows; all rows of a unit move together"
    pure, worst, kept = isinstance(made.loss, PureDP), Fraction(0), True
    for pair in neighbours(made.unit):
        for table in pair:
            if table not in found:
                found[table] = outcomes(own, table)
        for one, other in (tuple(found[table] for table in pair), tuple(found[table] for table in pair[::-1])):
            for ratio, order in _ratios(one, other, pure=pure):
                worst = max(worst, log_up(ratio) / order if ratio > 1 else worst)
                kept &= at_most(ratio, bound) if pure else at_most_exponential(ratio, bound * order)
    return ExactLoss(loss=worst, kept=kept, remark=remark if pure else f"{remark}; divergences of orders 2, 3 and 8")


def outcomes(made: ApproximateQuantiles, table: Table) -> Outcomes:
    """Return the probability of all quantiles together, for every outcome."""
    below = np.concatenate([[0], np.cumsum(table)])[None].astype(np.int64)
    found: Outcomes = {(-1,) * len(made.quantiles): Between(low=Fraction(1), high=Fraction(1))}
    for node in made.nodes():
        grown: Outcomes = {}
        for levels, chance in found.items():
            first = levels[node.left] + 1 if node.left >= 0 else 0
            last = levels[node.right] if node.right < len(levels) else len(table) - 1
            lowest = max(first - 1, 0) if node.left >= 0 else 0
            own = gaps(below, np.array([first]), np.array([lowest]), np.array([last]), node.part)
            for step, part in enumerate(_chances(made, own, made.rate(node.part))):
                key = (*levels[: node.place], lowest + step, *levels[node.place + 1 :])
                grown[key] = Between(low=chance.low * part.low, high=chance.high * part.high)
        found = grown
    return found


def _chances(made: ApproximateQuantiles, own: Integers, rate: Fraction) -> list[Between]:
    """Return the probability of every candidate."""
    sizes = [int(gap) for gap in own]
    r = exponential(rate, max(1, sum(sizes)))
    if isinstance(made.loss, PureDP):
        return [_rounded(valued(one, r)) for one in wins(tuple(-gap for gap in sizes))]
    low, high = sum(r.low**gap for gap in sizes), sum(r.high**gap for gap in sizes)
    return [_rounded(Between(low=r.low**gap / high, high=r.high**gap / low)) for gap in sizes]


def _ratios(one: Outcomes, other: Outcomes, *, pure: bool) -> Iterator[tuple[Fraction, int]]:
    """Yield numbers at or above those whose logs, divided by the second number, are at most the loss."""
    if pure:
        yield from ((_up(chance.high / other[levels].low), 1) for levels, chance in one.items())
        return
    for order in ORDERS:
        terms = (_up(c.high**order / other[levels].low ** (order - 1)) for levels, c in one.items())
        yield sum(terms, Fraction(0)), order * (order - 1)


def _rounded(chance: Between) -> Between:
    """Return ends with few digits, just outside."""
    return Between(low=Fraction(math.floor(chance.low * SCALE), SCALE), high=_up(chance.high))


def _up(value: Fraction) -> Fraction:
    """Return a rational of few digits at or just above."""
    return Fraction(math.ceil(value * SCALE), SCALE)


def neighbours(unit: Unit) -> Iterator[tuple[Table, Table]]:
    """Yield tables and what they become when the unit's rows come to a level, or move from one to another."""
    rows = unit.rows
    for table in itertools.product(COUNTS, repeat=LEVELS):
        for to in range(LEVELS):
            more = tuple(count + rows * (place == to) for place, count in enumerate(table))
            yield table, more
            if unit.relation is Relation.REPLACE_ONE:
                others = [place for place in range(LEVELS) if place != to]
                yield from (
                    (more, tuple(count + rows * (place == own) for place, count in enumerate(table))) for own in others
                )
