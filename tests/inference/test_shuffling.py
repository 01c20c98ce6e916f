"""Shuffled reports: bounds against the enumeration of all multisets of reports, and against what is known of them."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.inference.shuffling import SLACK, _tail, any_randomiser, central_delta, central_epsilon
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.oracle.pgr import Pgr
from dpress.mechanisms.oracle.subset_selection import SubsetSelection

ONE = PureDP(epsilon=1)
EPSILONS = (0.05, 0.2, 0.45, 0.8)
SMALL = [
    (Krr(size=2, loss=ONE), (1, 4, 20)),
    (Krr(size=3, loss=ONE), (2, 5, 12)),
    (Oue(size=2, loss=ONE), (2, 6)),
    (Oue(size=3, loss=ONE), (3,)),
    (SubsetSelection(size=4, loss=ONE, weight=2), (2, 5)),
    (Pgr(size=4, loss=ONE, order=2), (2, 5)),
]


def shuffled(rows, values):
    """The distribution of the multiset of the reports of these values."""
    found = Counter({(0,) * len(rows[0]): 1.0})
    for value in values:
        after = Counter()
        for counts, chance in found.items():
            for report, p in enumerate(rows[value]):
                after[(*counts[:report], counts[report] + 1, *counts[report + 1 :])] += chance * p
        found = after
    return found


def exact_delta(rows, users, epsilon):
    """The largest delta over neighbouring tables of so many users."""
    power, worst = math.exp(epsilon), 0.0
    for others in itertools.combinations_with_replacement(range(len(rows)), users - 1):
        if len(set(others)) > 1 and users > 5:
            continue  # of many users those who all hold the same
        one, other = (shuffled(rows, (value, *others)) for value in (0, 1))
        worst = max(worst, sum(max(0.0, p - power * other[counts]) for counts, p in one.items()))
    return worst


@pytest.mark.parametrize(("oracle", "users"), SMALL, ids=lambda own: getattr(type(own), "__name__", ""))
def test_bounds_hold_for_every_table_of_a_few_users_and_are_near(oracle, users):
    rows = [[float(p) for p in row] for row in oracle.channel().probabilities]
    own, every = oracle.clones(Fraction(1)), any_randomiser(Fraction(1))
    found = []
    for number, epsilon in itertools.product(users, EPSILONS):
        exact = exact_delta(rows, number, epsilon)
        stated = central_delta(own, number, epsilon)
        assert exact <= stated * (1 + 1e-9)
        assert exact <= central_delta(every, number, epsilon)
        found.append(exact / stated)
    assert max(found) > (0.99 if isinstance(oracle, Krr) else 0.5)


def test_more_clones_than_there_are_break_the_bound():
    oracle = Krr(size=3, loss=ONE)
    rows = [[float(p) for p in row] for row in oracle.channel().probabilities]
    own = oracle.clones(Fraction(1))
    exact = exact_delta(rows, 12, 0.45)
    assert exact > central_delta(replace(own, gamma=own.gamma * Fraction(11, 10)), 12, 0.45)
    assert exact > central_delta(own, 14, 0.45)


@pytest.mark.parametrize("size", [3, 16, 200])
def test_the_classes_of_clones_are_those_of_the_channel(size):
    for make in (Krr, SubsetSelection, Pgr):
        oracle = make(size=size, loss=PureDP(epsilon="0.7"))
        own, q = oracle.clones(Fraction(7, 10)), oracle.q
        assert float(own.gamma * (own.only + own.both) + (oracle.p - q) * (own.both > 0)) >= 0
        least = own.gamma * (own.only + own.both)  # what B has of the reports that speak for one value
        ratio = math.exp(0.7)
        assert float(oracle.p) == pytest.approx(ratio * float(least), rel=1e-9)


def test_large_collections_are_between_what_is_known_of_them():
    own = any_randomiser(Fraction(1))
    epsilon = central_epsilon(own, 10**6, "1e-8")
    shorter = central_epsilon(own, 10**6 // 4, "1e-8")
    assert 1.9 < shorter / epsilon < 2.1  # as 1 / sqrt(n)
    # the counts of clones and of the report differ like normal ones: delta of a Gaussian of the same ratio
    assert 0.004 < epsilon < 0.007
    assert central_delta(own, 10**6, epsilon) <= 1e-8 < central_delta(own, 10**6, 0.98 * epsilon)


@pytest.mark.parametrize("users", [50, 3000])
def test_binomials_are_far_nearer_than_they_are_moved(users):
    for least in (users // 2, users // 2 + users // 10, 3 * users // 4):
        exact = Fraction(sum(math.comb(users, held) for held in range(least, users + 1)), 2**users)
        found = Fraction(float(_tail(np.array([users]), np.array([float(least)]))[0]))
        assert abs(found / exact - 1) < SLACK / 100


def test_few_users_hide_nobody_and_delta_falls():
    own = any_randomiser(Fraction(1))
    assert central_epsilon(own, 1, "1e-8") == 1.0
    found = [central_delta(own, users, 0.3) for users in (1, 2, 5, 20, 100, 1000)]
    assert all(one > other for one, other in itertools.pairwise(found))
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1"):
        central_epsilon(own, 10, 0)
