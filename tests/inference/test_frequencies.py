from fractions import Fraction

import numpy as np
import pytest

from dpress.inference import frequencies

P, Q = Fraction(3, 4), Fraction(1, 8)


def test_unbiased_by_enumeration():
    """Three users hold the value, two do not: the mean and variance over all outcomes are those that are stated."""
    mean = square = 0.0
    for outcome in np.ndindex(*[2] * 5):
        chances = [(P if user < 3 else Q) if bit else 1 - (P if user < 3 else Q) for user, bit in enumerate(outcome)]
        found = frequencies.counts(np.array([sum(outcome)]), 5, P, Q).answers[0]
        mean += float(np.prod(chances)) * found
        square += float(np.prod(chances)) * found**2
    assert mean == pytest.approx(3, rel=1e-12)
    assert square - mean**2 == pytest.approx(float(frequencies.variances(5, np.array(3), P, Q)), rel=1e-12)


@pytest.mark.parametrize(("supports", "held"), [(0, 0), (100, 100), (50, 60)])
def test_the_variance_knows_that_counts_lie_between_nobody_and_all(supports, held):
    measured = frequencies.counts(np.array([supports]), 100, P, Q)
    assert measured.answers[0] == pytest.approx((supports - 12.5) / 0.625)
    assert measured.variance[0] == pytest.approx(float(frequencies.variances(100, np.array(held), P, Q)))


def test_certain_answers_have_no_variance():
    measured = frequencies.counts(np.array([7]), 7, Fraction(1), Fraction(0))
    assert measured.answers.tolist() == [7]
    assert measured.variance.tolist() == [0]


def test_estimates_of_all_values_add_up_where_every_report_supports_equally_many():
    """As krr does: p + (k - 1) q = 1."""
    p, q = Fraction(2, 3), Fraction(1, 12)
    assert frequencies.counts(np.array([10, 5, 3, 1, 1]), 20, p, q).answers.sum() == pytest.approx(20)
