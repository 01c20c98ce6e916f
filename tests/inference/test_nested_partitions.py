"""Least squares over nested partitions, against the dense normal equations."""

import numpy as np
import pytest

from dpress.inference.nested_partitions import NestedPartitions

STARTS = tuple(np.array(own) for own in ([0, 4], [0, 2, 4, 8], [0, 1, 2, 4, 5, 8, 9]))
VARIANCES, KNOWN = (2.0, 3.0, 5.0), 0.5
NESTED = NestedPartitions(starts=STARTS, variances=VARIANCES, known=KNOWN)


def sums(starts):
    """The matrix that adds up the finest partition's intervals over those of a coarser one."""
    finest = STARTS[-1]
    number = np.searchsorted(starts, finest, side="right") - 1
    return (number == np.arange(len(starts))[:, None]).astype(float)


@pytest.fixture(scope="module")
def dense():
    added = [sums(own).T @ sums(own) / variance for own, variance in zip(STARTS, VARIANCES, strict=True)]
    return np.linalg.inv(np.ones((7, 7)) / KNOWN + sum(added))


def test_estimates_weights_and_variances_are_those_of_the_dense_equations(dense):
    weights, answers = np.sin(np.arange(7.0)), [np.cos(3.0 * own + 1) for own in STARTS]
    right = np.full(7, 9.0 / KNOWN)
    for own, answer, variance in zip(STARTS, answers, VARIANCES, strict=True):
        right += sums(own).T @ answer / variance
    found = NESTED.estimate(answers, 9.0)
    assert found == pytest.approx(dense @ right)
    assert NESTED.covariance(weights) == pytest.approx(dense @ weights)
    assert NESTED.cell_variances() == pytest.approx(np.diag(dense))
    linear = sum(form @ answer for form, answer in zip(NESTED.forms(weights), answers, strict=True))
    assert linear + (dense @ weights).sum() * 9.0 / KNOWN == pytest.approx(weights @ found)


def test_a_partition_asked_twice_has_half_the_variance():
    twice = NestedPartitions(starts=(STARTS[0],) * 2, variances=(2.0, 2.0), known=1e12)
    assert twice.cell_variances() == pytest.approx([1.0, 1.0])
