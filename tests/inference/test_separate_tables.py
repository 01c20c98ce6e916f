"""Answers from one table for every attribute, and when the sum of the cells' variances is that of a range."""

import itertools

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.linear import Identity
from dpress.core.maps.measurement import Measurement
from dpress.inference.separate_tables import SeparateTables

DECODER = SeparateTables((2, 3), ((0,), (1,)), 50)
MEASURED = Measurement(map=Identity(5), answers=np.array([20.0, 31, 5, 15, 29]), variance=np.array([1.0, 2, 3, 4, 5]))


def test_a_range_is_a_sum_of_cells():
    weights = [np.ones(2), np.array([0.0, 1, 1])]
    assert DECODER.answer(MEASURED, weights) == 44
    assert DECODER.query_variance(MEASURED.variance, weights) == 9
    assert [part.tolist() for part in DECODER.estimate(MEASURED)] == [[20, 31], [5, 15, 29]]
    assert [part.tolist() for part in DECODER.cell_variances(MEASURED.variance)] == [[1, 2], [3, 4, 5]]
    assert DECODER.tables == ((0,), (1,))


def test_everybody_is_known():
    weights = [np.ones(2), np.ones(3)]
    assert DECODER.answer(MEASURED, weights) == 50
    assert DECODER.query_variance(MEASURED.variance, weights) == 0


def test_two_attributes_at_once_are_refused():
    weights = [np.array([0.0, 1]), np.array([0.0, 1, 1])]
    for ask in (lambda: DECODER.answer(MEASURED, weights), lambda: DECODER.query_variance(1.0, weights)):
        with pytest.raises(ValueError, match="no table holds these attributes together"):
            ask()


def covariance(oracle, value):
    """Return the exact covariance of the estimates of all values from one report of a user who holds one."""
    channel = oracle.channel()
    chances = np.array([float(one) for one in channel.probabilities[value]])
    found = np.array([oracle.estimate(oracle.tally(row[None]), 1).answers for row in channel.payloads])
    mean = chances @ found
    return (found * chances[:, None]).T @ found - np.outer(mean, mean)


def range_ratios(oracle):
    """Return the variance of every set of adjacent values over the sum of its cells' variances, for every holder."""
    ratios = []
    for value in range(oracle.size):
        own = covariance(oracle, value)
        for left, right in itertools.combinations(range(oracle.size + 1), 2):
            ratios.append(own[left:right, left:right].sum() / np.diag(own)[left:right].sum())
    return np.array(ratios)


@pytest.mark.parametrize("name", ["sue", "oue", "hadamard", "rr_ldp"])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_cells_of_independent_bits_do_not_correlate(name, epsilon):
    oracle = catalog.card(name).oracle(6, PureDP(epsilon=epsilon))
    assert range_ratios(oracle) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", ["krr", "subset_selection"])
@pytest.mark.parametrize("epsilon", [1, 3])
def test_cells_of_a_fixed_number_of_values_correlate_negatively(name, epsilon):
    """All values together are certain, so that the sum of the variances is an upper bound."""
    ratios = range_ratios(catalog.card(name).oracle(6, PureDP(epsilon=epsilon)))
    assert ratios.max() < 1 + 1e-9
    assert ratios.min() < 1e-9
