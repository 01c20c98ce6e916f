"""Margins that contradict each other: what `nearest` and `approached` minimise, where they stop; noisy triples."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.joint.bootstrap import resampled
from dpress.inference.joint.factors import dense
from dpress.inference.joint.fit import approach, fit_margins, nearest, sums
from dpress.inference.joint.maxent import full
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.joint.shrinkage import noise, shrunk

SHAPE = (2, 2, 2)
EVEN = np.full(SHAPE, 1 / 8)
CONTRADICTING = {
    (0, 1): np.array([[0.45, 0.05], [0.05, 0.45]]),
    (1, 2): np.array([[0.4, 0.1], [0.1, 0.4]]),
    (0, 2): np.array([[0.1, 0.4], [0.4, 0.1]]),
}
Shares = dict[tuple[int, ...], np.ndarray]


def from_joint(table: np.ndarray, asked: Shares) -> float:
    """The sum of the relative entropies of a table's margins to those asked for."""
    pairs = [(sums(table, axes), own) for axes, own in asked.items()]
    return float(sum((have * np.log(have / own)).sum() for have, own in pairs))


def from_asked(table: np.ndarray, asked: Shares) -> float:
    pairs = [(sums(table, axes), own) for axes, own in asked.items()]
    return float(sum((own * np.log(own / have)).sum() for have, own in pairs))


def least(objective, asked: Shares) -> float:
    from scipy.optimize import minimize

    def of(weights: np.ndarray) -> float:
        own = np.exp(weights - weights.max()).reshape(SHAPE)
        return objective(own / own.sum(), asked)

    return float(minimize(of, np.zeros(8), method="BFGS", options={"gtol": 1e-9}).fun)


def test_nearest_goes_to_the_least_sum_of_relative_entropies() -> None:
    best = least(from_joint, CONTRADICTING)
    assert best > 0.05  # they do contradict each other
    found = nearest(EVEN, CONTRADICTING, rounds=3000)
    assert from_joint(found.table, CONTRADICTING) == pytest.approx(best, abs=1e-5)
    early = nearest(EVEN, CONTRADICTING)
    circling = fit_margins(EVEN, CONTRADICTING, rounds=3000)
    assert best < from_joint(early.table, CONTRADICTING) < best + 1e-3
    assert from_joint(circling.table, CONTRADICTING) > best + 0.01  # the control


def test_approached_never_rises_and_ends_at_the_least() -> None:
    best = least(from_asked, CONTRADICTING)
    path = [approach(EVEN, CONTRADICTING, within=0, least=0, rounds=done) for done in range(40)]
    seen = [from_asked(one.table, CONTRADICTING) for one in path]
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(seen))
    assert [one.rounds for one in path] == list(range(40))
    end = approach(EVEN, CONTRADICTING, within=0, rounds=3000)
    assert from_asked(end.table, CONTRADICTING) == pytest.approx(best, abs=1e-6)
    assert from_asked(path[3].table, CONTRADICTING) > best + 1e-4  # the control


def test_approached_stops_where_what_remains_is_small() -> None:
    truth = dependent(3)
    asked = {axes: sums(truth, axes) for axes in CONTRADICTING}  # they agree

    def left(table: np.ndarray) -> float:
        return sum(float(((sums(table, axes) - own) ** 2).sum()) for axes, own in asked.items())

    path = [approach(EVEN, asked, within=0, least=0, rounds=done) for done in range(30)]
    limit = left(path[14].table)
    assert left(path[13].table) > limit
    assert approach(EVEN, asked, within=1.0001 * limit).rounds == 14
    assert approach(EVEN, asked, within=1.0).rounds == 10  # so many are always taken
    done = approach(EVEN, asked, within=0, tolerance=1e-6, rounds=10_000)
    assert done.gap <= 1e-6
    assert done.rounds < 10_000


def asked_of(truth: np.ndarray, users: int) -> Tables:
    axes = range(truth.ndim)
    noisy = [
        NoisyTable(axes=some, shares=sums(truth, some), noise=Noise(users=users, held=0.02, other=0.002, sampling=1.0))
        for some in itertools.combinations(axes, 3)
    ]
    return Tables(shape=truth.shape, noisy=tuple(noisy))


def dependent(attributes: int) -> np.ndarray:
    """Two kinds of records, unlike in every attribute, as in a survey of disabilities."""
    table = np.zeros((2,) * attributes)
    for weight, first, last in ((0.7, 0.02, 0.1), (0.3, 0.5, 0.9)):
        part = np.ones(())
        for share in np.linspace(first, last, attributes):
            part = np.multiply.outer(part, [1 - share, share])
        table += weight * part
    return table


def apart(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).sum() / 2)


@pytest.mark.slow
def test_noisy_triples_are_not_followed_into_their_noise() -> None:
    """By Student's law 16 runs without a difference exceed the limit with chance 1e-6; pairs alone are no better."""
    truth, source, errors = dependent(6), rng.seeded(3), []
    for _ in range(16):
        found = shrunk(resampled(asked_of(truth, 400), dense(truth), rng=source), 3)
        shares = {axes: one.shares for axes, one in found.items()}
        pairs = {axes: own for axes, own in shares.items() if len(axes) < 3}
        fits = [full(truth.shape, own, noise=amount) for own, amount in (
            (shares, noise(found)), (shares, 0.0), (pairs, noise(found))
        )]  # fmt: skip
        errors.append([apart(one.marginal(tuple(range(6))), truth) for one in fits])
    kept, followed, without = np.array(errors).T
    worse = followed - kept
    assert worse.mean() > 7.5 * worse.std(ddof=1) / 4
    assert without.mean() > kept.mean()


def test_exact_triples_are_kept() -> None:
    truth = dependent(5)
    shares = {some: sums(truth, some) for size in (1, 2, 3) for some in itertools.combinations(range(5), size)}
    exact = full(truth.shape, shares, rounds=2000)
    near = full(truth.shape, shares, noise=1e-12)
    assert exact.gap < 1e-4
    assert near.gap < 3e-3
    pairs = full(truth.shape, {axes: own for axes, own in shares.items() if len(axes) == 2}, rounds=2000)
    errors = [apart(one.marginal(tuple(range(5))), truth) for one in (exact, near, pairs)]
    assert errors[1] < errors[0] + 3e-3 < errors[2]


def test_noise_is_that_of_the_largest_tables() -> None:
    found = shrunk(asked_of(dependent(4), 1000), 3)
    own = [one.deviations for axes, one in found.items() if len(axes) == 3]
    assert len(own) == 4
    assert noise(found) == pytest.approx(float((np.array(own) ** 2).sum()))
