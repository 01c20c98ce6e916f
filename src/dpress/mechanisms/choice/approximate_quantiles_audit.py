"""Audit of chosen quantiles: all outcomes of tiny tables and of what one unit makes of them.

The scores are the method's own; how much a unit changes them is not taken from it, but from every pair of tables. A
row's place within its level is drawn without looking at the others, so that one place is enough.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, exact_check, outcomes_check, relation_of
from dpress.audit.exact import ExactLoss, at_most, promised
from dpress.audit.outcomes import Labels, Outcomes
from dpress.audit.powers import Between, Polynomial, exponential, log_ratio, times, valued, wins
from dpress.audit.verdict import Check
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.convert import log_up
from dpress.core.basics.rng import Generator
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles, Integers, gaps
from dpress.noise.expansion import at_most_exponential

Table = tuple[int, ...]
Chances = dict[Table, Between]
Chance = TypeVar("Chance")

LEVELS = 3
COUNTS = (0, 2)
SCALE = 1 << 320
NEARLY = 1 - Fraction(1, 1 << 200)
ORDERS = (2, 3, 8)
"""Of the Renyi divergences that are computed under rho."""


def exact(made: ApproximateQuantiles) -> Iterator[Check]:
    """Yield the exact check of all quantiles together."""
    claimed, name = claimed_of(made), f"{len(made.quantiles)} quantiles of {LEVELS} levels"
    loss = quantiles_loss(made, promised(claimed))
    yield exact_check("exact outputs", name, relation_of(made.unit), claimed, loss)


def sampled(made: ApproximateQuantiles, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of all quantiles together."""
    source = of_quantiles(made, rng=rng)
    yield outcomes_check(f"quantiles of {LEVELS} levels", source, made.unit, claimed_of(made), samples)


@functools.lru_cache(maxsize=32)
def quantiles_loss(made: ApproximateQuantiles, bound: Fraction) -> ExactLoss:
    """Return the largest loss of any outcome, or the largest Renyi divergence by its order, and whether it is kept."""
    single = replace(made, places=1)
    remark = "tables of up to 6 rows; all rows of a unit move together"
    pairs = [pair for tables in neighbours(made.unit) for pair in (tables, tables[::-1])]
    chances = {table: outcomes(single, table) for table in {table for pair in pairs for table in pair}}
    if made.loss.as_epsilon is not None:
        worst = max(_loss(single, pair, (chances[pair[0]], chances[pair[1]]), bound) for pair in pairs)
        return ExactLoss(loss=worst, kept=worst <= bound, remark=remark)
    if made.loss.as_mu2 is not None:
        mu2 = max(_least_mu2(chances[table], chances[other]) for table, other in pairs)
        return ExactLoss(loss=mu2, kept=mu2 <= bound, remark=f"{remark}; every test of the likelihood ratio")
    worst, kept = Fraction(0), True
    for table, other in pairs:
        for ratio, order in _divergences(chances[table], chances[other]):
            worst = max(worst, log_up(ratio) / order if ratio > 1 else worst)
            kept &= at_most_exponential(ratio, bound * order)
    return ExactLoss(loss=worst, kept=kept, remark=f"{remark}; divergences of orders 2, 3 and 8")


def _least_mu2(law: Chances, other: Chances) -> Fraction:
    """Return the least mu^2 at which no likelihood ratio of outcomes errs less than one of normal numbers."""
    pairs = sorted((float(law[key].low / other[key].high), float(law[key].low), float(other[key].high)) for key in law)
    normal, hits, errors, mu = NormalDist(), 0.0, 0.0, 0.0
    for _, hit, error in reversed(pairs[1:]):
        hits, errors = hits + hit, errors + error
        if hits < 1:
            mu = max(mu, normal.inv_cdf(hits) - normal.inv_cdf(errors))
    return Fraction(mu**2)


def outcomes(made: ApproximateQuantiles, table: Table) -> Chances:
    """Return the probability of all quantiles together, for every outcome."""
    chances = _of_flips if made.loss.choosing == "permute-and-flip" else _of_exponential
    return _grown(made, table, Between(low=Fraction(1), high=Fraction(1)), chances, _product)


def polynomials(made: ApproximateQuantiles, table: Table) -> dict[Table, Polynomial]:
    """Return these probabilities of permute-and-flip as polynomials in r = e^-x, x = `_exponent`."""

    def of_flips(distances: Integers, rate: Fraction) -> list[Polynomial]:
        steps = int(rate / _exponent(made))
        return wins(tuple(-steps * int(gap) for gap in distances))

    return _grown(made, table, {0: Fraction(1)}, of_flips, times)


def _exponent(made: ApproximateQuantiles) -> Fraction:
    """Return the largest number that all rates are whole multiples of."""
    rates = [made.rate(node.part) for node in made.nodes()]
    return Fraction(math.gcd(*(rate.numerator for rate in rates)), math.lcm(*(rate.denominator for rate in rates)))


def _grown(
    made: ApproximateQuantiles,
    table: Table,
    certain: Chance,
    chances: Callable[[Integers, Fraction], list[Chance]],
    product: Callable[[Chance, Chance], Chance],
) -> dict[Table, Chance]:
    """Return the chance of every outcome, one choice after the other."""
    below = np.concatenate([[0], np.cumsum(table)])[None].astype(np.int64)
    laws = {(-1,) * len(made.quantiles): certain}
    for node in made.nodes():
        grown: dict[Table, Chance] = {}
        for levels, chance in laws.items():
            first = levels[node.left] + 1 if node.left >= 0 else 0
            last = levels[node.right] if node.right < len(levels) else len(table) - 1
            lowest = max(first - 1, 0) if node.left >= 0 else 0
            distances = gaps(below, np.array([first]), np.array([lowest]), np.array([last]), node.part)
            for step, part in enumerate(chances(distances, made.rate(node.part))):
                key = (*levels[: node.place], lowest + step, *levels[node.place + 1 :])
                grown[key] = product(chance, part)
        laws = grown
    return laws


def _of_flips(distances: Integers, rate: Fraction) -> list[Between]:
    """Return the probability of every candidate of permute-and-flip."""
    r = exponential(rate, max(1, int(distances.sum())))
    return [_rounded(valued(polynomial, r)) for polynomial in wins(tuple(-int(gap) for gap in distances))]


def _of_exponential(distances: Integers, rate: Fraction) -> list[Between]:
    """Return the probability of every candidate of the exponential mechanism."""
    sizes = [int(gap) for gap in distances]
    r = exponential(rate, max(1, sum(sizes)))
    low, high = sum(r.low**gap for gap in sizes), sum(r.high**gap for gap in sizes)
    return [_rounded(Between(low=r.low**gap / high, high=r.high**gap / low)) for gap in sizes]


def _product(first: Between, other: Between) -> Between:
    return Between(low=first.low * other.low, high=first.high * other.high)


def _loss(
    made: ApproximateQuantiles, pair: tuple[Table, Table], laws: tuple[Chances, Chances], bound: Fraction
) -> Fraction:
    """Return the largest log ratio of any outcome; by its polynomials where it may be the bound exactly."""
    law, other = laws
    ratios = {levels: _up(chance.high / other[levels].low) for levels, chance in law.items()}
    ratio = max(ratios.values())
    if ratio <= 1 or at_most(ratio, bound) or not at_most(ratio * NEARLY, bound):
        return log_up(ratio) if ratio > 1 else Fraction(0)
    first, second = (polynomials(made, table) for table in pair)
    reached = [levels for levels, bound_ratio in ratios.items() if bound_ratio >= ratio * NEARLY]
    return max(log_ratio(first[levels], second[levels], _exponent(made)) for levels in reached)


def _divergences(law: Chances, other: Chances) -> Iterator[tuple[Fraction, int]]:
    """Yield numbers at or above those whose logs, divided by the second number, are at most the loss."""
    for order in ORDERS:
        terms = (_up(c.high**order / other[levels].low ** (order - 1)) for levels, c in law.items())
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
                    (more, tuple(count + rows * (place == old) for place, count in enumerate(table))) for old in others
                )


def of_quantiles(mechanism: ApproximateQuantiles, *, rng: Generator) -> Outcomes:
    """Return the quantiles of a table of three levels, and of the neighbour with a unit's rows more at the last."""
    tables = np.array([[2, 0, 2], [2, 0, 2 + mechanism.unit.rows]], dtype=np.int64)

    def draw(value: int, size: int) -> Labels:
        levels = mechanism.choose(np.tile(tables[value], (size, 1)), rng=rng)
        return np.asarray(levels @ 3 ** np.arange(levels.shape[1]), dtype=np.int64)

    def stated(value: int, other: int) -> Floats:
        first, second = (outcomes(mechanism, tuple(tables[value].tolist())) for value in (value, other))
        ratios = np.zeros(3 ** len(mechanism.quantiles))
        for levels, chance in first.items():
            label = sum(level * 3**place for place, level in enumerate(levels))
            ratios[label] = math.log(chance.high / second[levels].high)
        return ratios

    return Outcomes(values=2, labels=3 ** len(mechanism.quantiles), draw=draw, stated=stated)
