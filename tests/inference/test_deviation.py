"""Theorem 5: the deviation of a node's count holds in simulation, and is not loose by much."""

import math

import numpy as np
import pytest
from tests.inference.node_deviation import bernstein

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.oracle.oue import Oue

RUNS = 2000


def deviations(users: int, held: int, epsilon: float) -> np.ndarray:
    """|estimate - truth| of repeated collections of OUE reports about a node that so many users are in."""
    own, generator, found = Oue(size=1, loss=PureDP(epsilon=epsilon)), rng.seeded(users), np.empty(RUNS)
    p, q = float(own.p), float(own.q)
    for run in range(RUNS):
        words = generator.words(users) / np.float64(2**64)
        ones = (words[:held] < p).sum() + (words[held:] < q).sum()
        found[run] = abs((ones - users * q) / (p - q) - held)
    return found


@pytest.mark.parametrize(("users", "held", "epsilon"), [(2000, 0, 1.0), (2000, 300, 0.5), (500, 500, 2.0)])
@pytest.mark.parametrize("beta", [0.05, 0.2])
def test_it_is_exceeded_at_most_as_often_as_stated_and_is_not_loose(
    users: int, held: int, epsilon: float, beta: float
) -> None:
    """Exceedings are binomial with a chance of at most beta; false alarm below 1e-6 for each of the cases."""
    bound, found = bernstein(users, epsilon, beta=beta, held=held), deviations(users, held, epsilon)
    assert (found > bound).sum() <= beta * RUNS + 5 * math.sqrt(beta * RUNS)
    quantile = np.quantile(found, 1 - beta)
    assert quantile < bound < 2 * quantile  # the document's bound is near the truth, by a factor of two
    assert (found > bound / 3).sum() > beta * RUNS + 5 * math.sqrt(beta * RUNS)  # a third of it would not hold


def test_the_formula_is_the_documents() -> None:
    """Bernstein by hand for epsilon = ln 3: M = 4, variance 3 for who is not in the node and 4 for who is."""
    log = math.log(2 / 0.1)
    for held, spread in ((0, 300.0), (100, 400.0)):
        first = 4 * log / 3
        wanted = first + math.sqrt(first**2 + 2 * spread * log)
        t = bernstein(100, math.log(3), beta=0.1, held=held)
        assert t == pytest.approx(wanted)
        assert 2 * math.exp(-(t**2) / 2 / (spread + 4 * t / 3)) == pytest.approx(0.1)
