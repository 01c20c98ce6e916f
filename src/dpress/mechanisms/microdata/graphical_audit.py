"""Audit of select, measure, generate: its tables and choices one by one, its scores, and what rounds spend.

The model in between is made of noisy answers only, so that any public one may stand for it.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpress.audit.checks import claimed_of, exact_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.verdict import Check
from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Counts
from dpress.mechanisms.choice import exponential_audit
from dpress.mechanisms.choice.exponential import Exponential
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.graphical import AGAIN, Graphical, offers, score
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, one_way_parts

COUNTS = 2  # of the tables whose scores are compared, every count is up to it
MODELS = ((0.0, 0.0, 0.0, 0.0), (0.4, 1.5, 2.6, 0.5), (3.0, 1.0, 0.0, 2.0))


def exact(made: Graphical) -> Iterator[Check]:
    """Yield the exact checks of tables and choices, of scores, and of what all of them cost together."""
    claimed, relation = claimed_of(made), relation_of(made.unit)
    yield from matrix_mechanism_audit.exact(made.first)
    for choice, table in rounds(made):
        if choice is not None:
            yield from exponential_audit.exact(choice)
        yield from matrix_mechanism_audit.exact(table)
    yield exact_check("exact scores", "tables of 4 cells", relation, made.choice, score_loss(made))
    for chosen in (made, replace(made, rounds=len(made.pairs), again=AGAIN)):
        yield exact_check("exact sum", f"{chosen.rounds} pairs", relation, claimed, spent(chosen))


def sampled(made: Graphical, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of tables and choices."""
    yield from matrix_mechanism_audit.sampled(made.first, samples, rng=rng)
    for choice, table in rounds(made):
        if choice is not None:
            yield from exponential_audit.sampled(choice, samples, rng=rng)
        yield from matrix_mechanism_audit.sampled(table, samples, rng=rng)


def rounds(made: Graphical) -> tuple[tuple[Exponential | None, MatrixMechanism], ...]:
    """Return what is chosen and measured after the one-way tables: all pairs, or in every round a choice and a pair.

    Rounds share the tables' loss equally here; `spent` adds up what they get as they go.
    """
    if not made.choices:
        return ((None, made.measuring(_pairs(made), made.tables)),)
    choice = Exponential(loss=made.choice, unit=made.unit, sensitivity=made.sensitivity // made.unit.rows)
    part = offers([1] * made.rounds, promised(made.tables), made.rounds)[0]
    loss = made.loss.of(part)
    return tuple((choice, made.measuring([pair], loss)) for pair in _pairs(made)[: made.rounds])


def _pairs(made: Graphical) -> list[GroupedTable]:
    """Return the tables of all pairs of cells."""
    return [
        GroupedTable(shape=made.shape, axes=pair, groups=tuple(np.arange(made.shape[axis]) for axis in pair))
        for pair in made.pairs
    ]


def score_loss(made: Graphical) -> ExactLoss:
    """Return what a choice costs if scores change by as much as one unit's rows change them, over tiny tables."""
    way, side = made.measuring([_table()], made.tables), COUNTS + made.unit.rows
    tables = np.array(list(itertools.product(range(side), repeat=4)), dtype=np.int64)
    most = 0
    for model in MODELS:
        scores = np.array([score(table, np.array(model), way) for table in tables])
        for move in _moves(made):
            moved = tables + move
            inside = ((moved >= 0) & (moved < side)).all(axis=1)
            again = scores[np.ravel_multi_index(tuple(moved[inside].T), (side,) * 4)]
            most = max(most, int(np.abs(again - scores[inside]).max()))
    loss = made.choice.epsilon * most / made.sensitivity
    return ExactLoss(loss=loss, kept=loss <= made.choice.epsilon, remark="the largest change of a score by one unit")


def _moves(made: Graphical) -> list[Counts]:
    """Return what the rows of one unit do to a table of four cells."""
    rows = [
        np.bincount(cells, minlength=4).astype(np.int64)
        for cells in itertools.combinations_with_replacement(range(4), made.unit.rows)
    ]
    if made.unit.relation is Relation.ADD_REMOVE:
        return rows
    return [row - other for row in rows for other in rows]


def spent(made: Graphical) -> ExactLoss:
    """Return what one-way tables, choices and pairs cost in the worst order of choices, or of all pairs at once."""
    sizes = [math.prod(made.shape[axis] for axis in pair) for pair in made.pairs]
    first, choice = promised(made.first.claim.proven), promised(made.choice_cost)
    if made.choices:
        orders = itertools.permutations(range(len(sizes)), made.rounds)
        most = max(_in_order(sizes, order, promised(made.tables)) for order in orders)
        remark = f"every order in which {made.rounds} of {len(sizes)} pairs can come"
    else:
        most = max(_shared(made, share) for share in made.again or (Fraction(0),))
        remark = f"all {len(sizes)} pairs at once, beside one-way tables again"
    loss = first + made.choices * choice + most
    return ExactLoss(loss=loss, kept=loss <= promised(made.loss), remark=remark)


def _shared(made: Graphical, share: Fraction) -> Fraction:
    """Return what one-way tables, measured again with a share of what they left, and all pairs cost together."""
    ways = [(share, one_way_parts(made.shape)), (1 - share, _pairs(made))]
    used = [made.measuring(parts, part_of(made.tables, part)) for part, parts in ways if part]
    return sum((promised(way.claim.proven) for way in used), Fraction(0))


def _in_order(sizes: list[int], places: tuple[int, ...], whole: Fraction) -> Fraction:
    left, open_places = whole, list(range(len(sizes)))
    for number, place in enumerate(places):
        parts = offers([sizes[index] for index in open_places], left, len(places) - number)
        left -= parts[open_places.index(place)]
        open_places.remove(place)
    return whole - left


def _table() -> GroupedTable:
    return GroupedTable(shape=(2, 2), axes=(0, 1), groups=(np.arange(2), np.arange(2)))
