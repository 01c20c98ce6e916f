"""Audit of the exponential mechanism: its probabilities over lists of three scores, and its choices between two."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.checks import claimed_of, exact_check, outcomes_check, relation_of
from dpress.audit.exact import ExactLoss, at_most, promised
from dpress.audit.outcomes import Labels, Outcomes
from dpress.audit.verdict import Check
from dpress.core.basics.losses.convert import log_up
from dpress.core.basics.rng import Generator
from dpress.core.methods.table_sums import Integers
from dpress.mechanisms.choice.exponential import Exponential
from dpress.noise.expansion import PRECISION, exponential_floor

SLACK = 2.6  # standard errors


def exact(made: Exponential) -> Iterator[Check]:
    """Yield the exact check of a choice."""
    claimed = claimed_of(made)
    loss = choice_loss(made, promised(claimed))
    yield exact_check("exact choice", "3 candidates", relation_of(made.unit), claimed, loss)


def sampled(made: Exponential, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled check of a choice."""
    source = of_choice(made, samples, rng=rng)
    yield outcomes_check("2 candidates", source, made.unit, claimed_of(made), samples)


def choice_loss(mechanism: Exponential, bound: Fraction) -> ExactLoss:
    """Return the largest log ratio of any choice, over lists of three scores and all their neighbours.

    The probabilities are bounded from both sides to 256 bits, so that a ratio just below e^epsilon is recognised.
    The lists hold candidates that are all but never chosen: there the bound is attained in the limit.
    """
    moved = mechanism.sensitivity * mechanism.unit.rows
    rate = mechanism.loss.epsilon / (2 * mechanism.unit_sensitivity)
    far = math.ceil(40 / rate)
    worst = Fraction(1)
    for scores in ([0, 0, 0], [5, 0, 2], [-far, 0, 0], [far, 0, -far]):
        base = np.array(scores, dtype=np.int64)
        before = _bounds(base, rate)
        if not np.allclose(mechanism.probabilities(base), [float(low) for low, _ in before], rtol=1e-9, atol=1e-300):
            return ExactLoss(loss=None, kept=False, remark="the probabilities are not those of the stated weights")
        for change in itertools.product((-moved, 0, moved), repeat=3):
            after = _bounds(base + np.array(change, dtype=np.int64), rate)
            worst = max(worst, *(high / low for (_, high), (low, _) in zip(before, after, strict=True)))
    return ExactLoss(loss=log_up(worst), kept=at_most(worst, bound), remark="lists of three scores")


def _bounds(scores: Integers, rate: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return rationals just below and above the probability of every choice."""
    exponents = [rate * (int(scores.max()) - int(score)) for score in scores]
    bits = PRECISION + 2 * math.ceil(max(exponents))
    floors = [exponential_floor(exponent, bits) for exponent in exponents]
    low, high = sum(floors), sum(floors) + len(floors)
    return [(Fraction(floor, high), Fraction(floor + 1, low)) for floor in floors]


def of_choice(mechanism: Exponential, samples: int, *, rng: Generator) -> Outcomes:
    """Return the choices from two scores G apart and from the neighbour that brings them together.

    A larger G brings the ratio of the lower candidate's chances nearer to e^epsilon but makes it rarer.
    """
    moved = mechanism.sensitivity * mechanism.unit.rows

    def pair(gap: int) -> list[Labels]:
        return [np.array([0, gap], dtype=np.int64), np.array([moved, gap - moved], dtype=np.int64)]

    def promise(gap: int) -> float:
        far, near = (float(mechanism.probabilities(scores)[0]) for scores in pair(gap))
        if far == 0:
            return -math.inf
        errors = math.sqrt((1 - near) / near) + math.sqrt((1 - far) / far)
        return math.log(near / far) - SLACK * errors / math.sqrt(samples)

    steps = max(1, math.floor(mechanism.unit_sensitivity / (2 * float(mechanism.loss.epsilon) * moved)))
    lists = pair(max((moved * (1 + steps * place) for place in range(64)), key=promise))

    def draw(value: int, size: int) -> Labels:
        return np.array([mechanism.choose(lists[value], rng=rng) for _ in range(size)], dtype=np.int64)

    def stated(value: int, other: int) -> Floats:
        first, second = (mechanism.probabilities(lists[value]) for value in (value, other))
        return np.log(first / second)

    return Outcomes(values=2, labels=2, draw=draw, stated=stated)
