"""Audit of cells that are chosen, then counted: what every choice loses, and the worst of the counts of any cells."""

import itertools
from collections.abc import Iterator
from fractions import Fraction

from dpress.audit.checks import claimed_of, exact_check, relation_of
from dpress.audit.exact import ExactLoss, promised
from dpress.audit.verdict import Check
from dpress.core.basics.rng import Generator
from dpress.mechanisms.choice import approximate_quantiles_audit
from dpress.mechanisms.choice.approximate_quantiles_audit import quantiles_loss
from dpress.mechanisms.discovery.quantile_cells import QuantileCells
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.linear.matrix_mechanism_audit import matrix_loss

MOST_CUTS = 1 << 6  # ways to cut all attributes that are gone through


def exact(made: QuantileCells) -> Iterator[Check]:
    """Yield the exact check of both steps together."""
    claimed = claimed_of(made)
    yield exact_check("exact sum", "cells, then sums", relation_of(made.unit), claimed, both(made, promised(claimed)))


def sampled(made: QuantileCells, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of the choices, then of what is measured with the cells."""
    for choice in made.choices:
        yield from approximate_quantiles_audit.sampled(choice, samples, rng=rng)
    yield from matrix_mechanism_audit.sampled(made.groups, samples, rng=rng)


def both(made: QuantileCells, bound: Fraction) -> ExactLoss:
    """Return what both steps lose together: the choices by all their outcomes, the sums by the worst cells."""
    chosen = [quantiles_loss(choice, promised(choice.claim.proven)).loss for choice in made.choices]
    of_sums = [matrix_loss(cut.groups, promised(made.groups.claim.proven)).loss for cut in _cuts(made)]
    losses = [loss for loss in (*chosen, *of_sums) if loss is not None]
    if len(losses) < len(chosen) + len(of_sums):
        return ExactLoss(loss=None, kept=False, remark="the noise of the sums hides nothing")
    worst = sum(losses[: len(chosen)], Fraction(0)) + max(losses[len(chosen) :])
    return ExactLoss(loss=worst, kept=worst <= bound, remark="any cells of few levels")


def _cuts(made: QuantileCells) -> Iterator[QuantileCells]:
    """Yield the mechanism with every way to cut its levels in two cells or more, as far as these are few."""
    ways = [
        [cut for size in range(1, tree.levels) for cut in itertools.combinations(range(1, tree.levels), size)]
        for tree in made.cut
    ]
    for cuts in itertools.islice(itertools.product(*ways), MOST_CUTS):
        yield made.cut_at(cuts)
