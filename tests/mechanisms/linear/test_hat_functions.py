"""Hats that suit all ranges: their shape, the published figures at once, and how near a free search they are."""

import functools
import itertools

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.ranges import AllRanges, Prefixes
from dpress.core.maps.workload import Boxes
from dpress.mechanisms.linear.hat_functions import GRAIN, LEVELS, POINTS, hats_of
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.optimise import RangesGram, default_starts, mean_coefficient, optimise
from dpress.mechanisms.linear.p_identity import CARD, PIdentity
from dpress.release.plan.linear_error import mean_variance

LOSS = PureDP(epsilon=1)
HDMM = {1024: 121.1, 4096: 204.8}  # the mean variance that its search of minutes ends at


def error(cells: int) -> float:
    return 2 * mean_coefficient(hats_of(cells), RangesGram(cells))[0]


@functools.cache
def strategy(*sizes: int) -> PIdentity:
    assert CARD.strategy is not None
    found: PIdentity = CARD.strategy(Boxes(tuple(map(AllRanges, sizes))), LOSS)
    return found


@pytest.mark.parametrize("cells", [1024, pytest.param(4096, marks=pytest.mark.slow)])
def test_the_published_figures_are_reached_without_a_search(cells: int) -> None:
    mechanism = MatrixMechanism(strategy=strategy(cells), loss=LOSS)
    assert mean_variance(mechanism, Boxes((AllRanges(cells),))) <= 1.02 * HDMM[cells]
    assert mechanism.claim.proven == LOSS
    assert len(strategy(cells).packed) < 1 << 16


@pytest.mark.parametrize("cells", [23, 40, 64, 100, 181, 300])
def test_a_free_search_gains_little(cells: int) -> None:
    free = optimise(RangesGram(cells), default_starts(cells), seconds=1e9, iterations=150)
    assert 0.99 < error(cells) / (2 * free.coefficient) < 1.05


def test_sizes_between_lose_little_to_those_that_were_searched() -> None:
    sizes = sorted(LEVELS)[:-3]
    for low, high in itertools.pairwise(sizes):
        middle = (low * high) ** 0.5
        for cells in (int(middle), int(middle) + 1):  # which take the levels of the one and of the other
            assert error(cells) < 1.02 * (error(low) * error(high)) ** 0.5 * (cells / middle) ** 0.5


def test_hats_are_hats() -> None:
    for cells in (23, 45, 200, 1000, 1024):
        theta = hats_of(cells)
        assert np.array_equal(theta, np.round(theta * GRAIN) / GRAIN)
        assert (theta.sum(axis=0) < 16).all()
        assert np.allclose(theta, theta[:, ::-1][_mirrored(theta)], atol=2 / GRAIN)
        for hat in theta:
            peak = int(hat.argmax())
            assert 0 < hat[peak] < 1.1
            assert (np.diff(hat[: peak + 1]) >= 0).all()
            assert (np.diff(hat[peak:]) <= 0).all()
    for level in (level for levels in LEVELS.values() for level in levels):  # the coordinate has one place a cell
        waves = level.a * np.cos(2 * np.pi * POINTS) + level.b * np.cos(4 * np.pi * POINTS)
        assert waves.max() < 1


def _mirrored(theta: np.ndarray) -> list[int]:
    """The order of the hats by their mirror images."""
    peaks = theta.argmax(axis=1)
    levels = np.flatnonzero(np.diff(peaks) < 0) + 1
    parts = np.split(np.arange(len(theta)), levels)
    return [int(place) for part in parts for place in part[::-1]]


def test_it_serves_ranges_of_one_or_two_attributes_under_epsilon() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(Boxes((AllRanges(22),)), LOSS) is None
    assert CARD.strategy(Boxes((AllRanges(4097),)), LOSS) is None
    assert CARD.strategy(Boxes((AllRanges(64),)), ZCDP(rho=1)) is None
    assert CARD.strategy(Boxes((AllRanges(64), AllRanges(22))), LOSS) is None
    assert CARD.strategy(Boxes((AllRanges(64),) * 3), LOSS) is None
    assert CARD.strategy(Boxes((Prefixes(64),)), LOSS) == strategy(64)
    both = MatrixMechanism(strategy=strategy(64, 30), loss=LOSS)
    each = error(64) * error(30) / 2
    assert mean_variance(both, Boxes((AllRanges(64), AllRanges(30)))) == pytest.approx(each, rel=0.01)
    with pytest.raises(ValueError, match="hats are for 23 cells or more, got cells=22"):
        hats_of(22)
