"""Spans of periods against brute force: what closes when, in how many a row is, and what adds up."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.spans import closing, coefficients, depth, spans

COUNTERS = ("separate", "tree", "smooth")


def share_of(every, wanted):
    found = coefficients(every, np.array(wanted, dtype=float))
    return None if found is None else float(found @ found)


@given(st.sampled_from(COUNTERS), st.integers(1, 60))
def test_the_first_periods_add_up_as_soon_as_they_have_closed(counter, periods):
    every = spans(counter, periods)
    for closed in range(1, periods + 1):
        there = [one for one in every if one[1] < closed]
        wanted = np.arange(periods) < closed
        share = share_of(there, wanted)
        assert share is not None
        bound = {"separate": closed, "tree": closed.bit_length(), "smooth": half(periods)}[counter]
        assert share <= bound + 1e-9
        assert closing(every, closed - 1)


def half(periods):
    return next(one for one in range(1, periods + 2) if math.comb(2 * one, one) > periods)


@given(st.sampled_from(COUNTERS), st.integers(1, 80))
def test_a_row_is_in_as_many_spans_as_the_loss_is_divided_by(counter, periods):
    every = spans(counter, periods)
    inside = Counter(one for first, last in every for one in range(first, last + 1))
    assert set(inside) == set(range(periods))
    assert depth(every) == max(inside.values())
    assert depth(every) <= {"separate": 1, "tree": periods.bit_length(), "smooth": half(periods)}[counter]
    assert len(set(every)) == len(every)


def test_the_error_of_running_totals_grows_as_the_square_of_the_logarithm():
    """The variance of the worst first periods, times depth^2 for Laplace noise, by that of separate periods."""
    for periods in (64, 512):
        worst = {}
        for counter in ("tree", "smooth"):
            every = spans(counter, periods)
            ends = range(1, periods + 1, 1 + periods // 24)
            shares = [share_of([s for s in every if s[1] < end], np.arange(periods) < end) for end in ends]
            worst[counter] = depth(every) ** 2 * max(shares)
        assert worst["smooth"] < worst["tree"] < 3 * math.log2(periods) ** 3
    assert worst["smooth"] < 512 / 2


def test_what_is_not_measured_does_not_add_up():
    assert coefficients([(0, 1)], np.array([1.0, 0.0])) is None
    assert coefficients([], np.array([1.0])) is None
    with pytest.raises(NotSupported, match=r"more than 2\^12"):
        spans("tree", 5000)
