"""Measurements: shapes are checked, and a stack falls apart into its own answers and variances."""

import numpy as np
import pytest

from dpress.core.maps.linear import Identity, Marginal, Stack
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree

STACK = Stack((Marginal((2, 3), (0,)), Marginal((2, 3), (1,)), Marginal((2, 3), ())))


@pytest.mark.parametrize("answers", [np.zeros(3), np.zeros(5), np.zeros((4, 1)), np.zeros(())])
def test_answers_of_another_shape_are_refused(answers: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"answers must have shape \(4,\), got"):
        Measurement(map=Identity(4), answers=answers, variance=1.0)


@pytest.mark.parametrize("variance", [np.ones(3), np.ones((4, 1)), np.ones(1), [1.0, 2.0]])
def test_variances_of_another_shape_are_refused(variance: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"variance must be a number or have shape \(4,\)"):
        Measurement(map=Identity(4), answers=np.zeros(4), variance=variance)


def test_parts_of_a_stack_have_their_own_answers_and_variances() -> None:
    spread = np.array([1.0, 1, 2, 2, 2, 3])
    whole = Measurement(map=STACK, answers=np.arange(6), variance=spread)
    assert [part.map for part in whole.parts] == list(STACK.parts)
    assert [part.answers.tolist() for part in whole.parts] == [[0, 1], [2, 3, 4], [5]]
    assert [np.asarray(part.variance).tolist() for part in whole.parts] == [[1, 1], [2, 2, 2], [3]]


def test_one_variance_is_every_parts_variance() -> None:
    whole = Measurement(map=STACK, answers=np.arange(6), variance=7.0)
    assert [np.asarray(part.variance).tolist() for part in whole.parts] == [[7, 7], [7, 7, 7], [7]]


def test_a_single_map_is_its_only_part() -> None:
    whole = Measurement(map=Tree(2), answers=np.arange(3), variance=2.0)
    assert whole.parts == (whole,)
