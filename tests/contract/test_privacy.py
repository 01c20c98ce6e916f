"""Exact privacy: the distance between the output distributions of all neighbours on a tiny domain."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.pure import PureDP

CONSERVATIVE = {"residual_marginals"}
"""Where no row that moves changes all parts at their worst: the total does not change, but is charged."""


def worst_move(mechanism: Any) -> float:
    """The part of the loss that the worst row that moves costs: every part by its share and its own largest change."""
    power = 1 if isinstance(mechanism.loss, PureDP) else 2
    total = 0.0
    for part, share in zip(mechanism.strategy.map.parts, mechanism.strategy.shares, strict=True):
        columns = np.array([part.apply(cell) for cell in np.eye(part.cells, dtype=np.int64)])
        moved = (np.abs(columns[:, None] - columns[None]) ** power).sum(axis=2)
        total = total + float(share) * moved / max(moved.max(), (np.abs(columns[0]) ** power).sum())
    return float(np.max(total))


def test_output_distributions_of_neighbours_are_exactly_as_far_apart_as_claimed(
    checks: ModuleType, linear_cases: Any
) -> None:
    for case, mechanism in linear_cases:
        own = checks.seen(mechanism)
        if case.card.name in CONSERVATIVE and case.unit.relation is Relation.REPLACE_ONE:
            reached = worst_move(mechanism)
            assert 0.5 < reached < 1, case
            found = checks.largest_divergence(own) / float(checks.promised(own.claim))
            assert math.isclose(found, reached, rel_tol=checks.TOLERANCE), case
        else:
            assert checks.pmf_keeps_promise(own), case


def test_choices_of_neighbours_are_at_most_epsilon_apart_and_attain_it(checks: ModuleType, choice_cases: Any) -> None:
    for case, mechanism in choice_cases:
        sensitivity = mechanism.sensitivity * case.unit.rows
        assert checks.choice_keeps_promise(mechanism.probabilities, sensitivity, mechanism.claim), case


def test_probabilities_of_choices_are_their_definition(choice_cases: Any) -> None:
    for case, mechanism in choice_cases:
        scores = np.array([3, -1, 0, 7])
        weights = np.exp(float(case.loss.epsilon) * scores / (2 * mechanism.sensitivity * case.unit.rows))
        assert np.allclose(mechanism.probabilities(scores), weights / weights.sum(), rtol=1e-12), case
        assert math.isclose(mechanism.probabilities(scores).sum(), 1, rel_tol=1e-12), case
