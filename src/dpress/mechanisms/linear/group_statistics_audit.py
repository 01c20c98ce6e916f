"""Audit of sums over persons: every person of a few rows in a small table, listed."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import cast

import numpy as np

from dpress.audit.checks import claimed_of, exact_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.verdict import Check
from dpress.core.basics.claim import Relation
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.person_sums import PersonSums

SHAPE = (2, 4)
HALF = Fraction(1, 2)


def exact(made: MatrixMechanism) -> Iterator[Check]:
    """Yield the exact check of sums over persons, in the place of what a mechanism measures."""
    small = tiny(made)
    claimed = claimed_of(small)
    loss = person_loss(small, promised(claimed))
    yield exact_check("exact matrix", "persons in 2 groups", relation_of(small.unit), claimed, loss)


def tiny(mechanism: MatrixMechanism) -> MatrixMechanism:
    """Return the same mechanism over persons and their totals in two groups of values -1 to 1, or none."""
    values, bounds = (Fraction(-1), Fraction(1)), (Fraction(-1), Fraction(2))
    totals = PersonSums(shape=SHAPE, by=(0,), degree=1, axis=1, levels=3, values=values, bounds=bounds)
    persons = (PersonSums(shape=SHAPE, by=(0,)), totals)
    return replace(mechanism, strategy=GroupStatistics(moments=(), persons=persons, shares=(HALF, HALF)))


def person_loss(mechanism: MatrixMechanism, bound: Fraction) -> ExactLoss:
    """Return the loss of the noise for the worst person of the unit's rows, who comes, goes or is another."""
    strategy, unit = cast("GroupStatistics", mechanism.strategy), mechanism.unit
    cells = np.array(np.unravel_index(np.arange(strategy.parts[0].cells), strategy.parts[0].shape), dtype=np.int32)
    kept = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(cells.shape[1]), size) for size in range(unit.rows + 1)
    )
    rows = [(cells[:, list(choice)], np.zeros(len(choice), dtype=np.int64)) for choice in kept]
    sums = np.unique([strategy.decoder.person_sums(*row) for row in rows], axis=0)
    moved = sums if unit.relation is Relation.ADD_REMOVE else (sums[:, None] - sums[None]).reshape(-1, sums.shape[1])
    ends = np.cumsum([part.rows for part in strategy.persons])[:-1]
    parts = [np.abs(block) ** mechanism.noises[0].order for block in np.split(moved, ends, axis=1)]
    sizes = np.unique(np.stack([block.sum(axis=1) for block in parts], axis=1), axis=0)
    spreads = [noise.spread for noise in mechanism.noises]
    cost = mechanism.loss.cost
    loss = max(sum(cost(spread, Fraction(int(n))) for n, spread in zip(row, spreads, strict=True)) for row in sizes)
    return ExactLoss(loss=Fraction(loss), kept=loss <= bound)
