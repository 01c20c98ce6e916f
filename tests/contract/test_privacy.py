"""Exact privacy: the distance between the output distributions of all neighbours on a tiny domain."""

import math
from types import ModuleType
from typing import Any

import numpy as np


def test_output_distributions_of_neighbours_are_exactly_as_far_apart_as_claimed(
    checks: ModuleType, linear_case: Any
) -> None:
    assert checks.pmf_keeps_promise(checks.seen(linear_case.make()))


def test_choices_of_neighbours_are_at_most_epsilon_apart_and_attain_it(checks: ModuleType, choice_case: Any) -> None:
    mechanism = choice_case.make()
    sensitivity = mechanism.sensitivity * choice_case.unit.rows
    assert checks.choice_keeps_promise(mechanism.probabilities, sensitivity, mechanism.claim)


def test_probabilities_of_choices_are_their_definition(choice_case: Any) -> None:
    mechanism = choice_case.make()
    scores = np.array([3, -1, 0, 7])
    weights = np.exp(float(choice_case.loss.epsilon) * scores / (2 * mechanism.sensitivity * choice_case.unit.rows))
    assert np.allclose(mechanism.probabilities(scores), weights / weights.sum(), rtol=1e-12)
    assert math.isclose(mechanism.probabilities(scores).sum(), 1, rel_tol=1e-12)
