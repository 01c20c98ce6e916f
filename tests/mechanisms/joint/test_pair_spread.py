"""The variance of every cell of a pair's table: weights against the estimate itself, and against dense sums."""

import itertools

import numpy as np
import pytest

from dpress.inference.frequencies import SPARE
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.mechanisms.joint.pair_spread import cell_variances, pair_sum

SHAPE, USERS = (2, 3, 4), (500, 2000, 900)


def truth() -> np.ndarray:
    own = np.arange(1.0, 25) ** 2
    return (own / own.sum()).reshape(SHAPE)


def made(sets: tuple[tuple[int, ...], ...]) -> Tables:
    noisy = []
    for axes, users in zip(sets, USERS, strict=False):
        noise = Noise(users=users, held=0.5, other=0.25, sampling=1 - users / sum(USERS[: len(sets)]))
        shares = truth().sum(axis=tuple({0, 1, 2} - set(axes)))
        noisy.append(NoisyTable(axes=axes, shares=shares, noise=noise))
    return Tables(shape=SHAPE, noisy=tuple(noisy))


def changed(tables: Tables, place: int, cell: int) -> Tables:
    """Return the tables with one more in a cell and less in all: what a weight is the answer to."""
    one = tables.noisy[place]
    shares = one.shares.ravel() + np.eye(one.shares.size)[cell] - 1 / one.shares.size
    moved = NoisyTable(axes=one.axes, shares=shares.reshape(one.shares.shape), noise=one.noise)
    return Tables(shape=SHAPE, noisy=(*tables.noisy[:place], moved, *tables.noisy[place + 1 :]))


@pytest.mark.parametrize("sets", [((0, 1), (0, 2), (1, 2)), ((0, 1, 2),), ((0, 1, 2), (0, 1), (2,))])
def test_variances_equal_dense_sums_over_the_weights_of_the_estimate(sets: tuple[tuple[int, ...], ...]) -> None:
    tables, everybody = made(sets), sum(USERS[: len(sets)])
    for axes in itertools.combinations(range(3), 2):
        if not tables.holds(axes):
            continue
        start = tables.table(axes)
        query = np.arange(start.size, dtype=np.float64).reshape(start.shape) % 3
        wanted = -start * (1 - start) / everybody
        sums = -((query**2 * start).sum() - (query * start).sum() ** 2) / everybody
        for place, one in enumerate(tables.noisy):
            cells, own, noise = one.shares.size, one.shares.ravel(), one.noise
            rows = [(changed(tables, place, cell).table(axes) - start).ravel() for cell in range(cells)]
            weights = np.array(rows).T
            each = noise.held * own + noise.other * (1 - own) + SPARE * (noise.held - noise.other) ** 2 / noise.users
            oracle = cells / (cells - 1) * (weights**2 @ each)
            sampling = weights**2 @ own - (weights @ own) ** 2
            wanted += ((oracle + sampling) / noise.users).reshape(start.shape)
            summed = query.ravel() @ weights
            sums += cells / (cells - 1) * (summed**2 @ each) / noise.users
            sums += (summed**2 @ own - (summed @ own) ** 2) / noise.users
        assert cell_variances(tables, axes) == pytest.approx(wanted)
        forms = np.stack([query, np.ones(start.shape), query + np.eye(*start.shape)])
        covariance = pair_sum(tables, axes).covariance(forms)
        assert covariance[0, 0] == pytest.approx(sums)
        assert covariance[1] == pytest.approx(np.zeros(3), abs=1e-12)
        apart = pair_sum(tables, axes).covariance((forms[2] - forms[0])[None])[0, 0]
        assert covariance[0, 0] + covariance[2, 2] - 2 * covariance[0, 2] == pytest.approx(apart)


def test_equal_shares_have_the_planned_variance() -> None:
    noise = Noise(users=1000, held=0.25, other=0.25, sampling=0.0)
    one = NoisyTable(axes=(0, 1), shares=np.full((2, 3), 1 / 6), noise=noise)
    tables = Tables(shape=(2, 3), noisy=(one,))
    assert cell_variances(tables, (0, 1)) == pytest.approx(np.full((2, 3), tables.variance((0, 1))))
