"""Intervals of maps from devices hold the true number of people who took part as often as they say: by real reports.

A share of the people, from a tenth to nearly all, is in one cell. Every collection is drawn, perturbed, tallied and
estimated as one of devices is; nothing is drawn from the variance that is checked. Rectangles follow the cells: the
full one alone, with others and left out.
"""

import functools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import binom

from dpress import catalog
from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.core.grid import Grid, Rectangles, sums
from dpress.core.linear import Array
from dpress.core.oracle import Tally
from dpress.inference.interval import half_width
from dpress.inference.maps.density import Noise, unbiased
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import HasReportNoise, MapCollector, MapDecoder

METHODS = ("gtr", "gtr_top_down", "n_gtr", "qt_krr", "qt_rappor", "psda", "n_psda", "krr", "oue", "hadamard", "olh")
SIDE, EPSILONS, USERS, SHARES = 8, (0.5, 2.0, 8.0), (300, 3000), (0.1, 0.5, 0.9)
RUNS, DONE = 12, 60
CONFIDENCE, MEAN, LEAST = 0.95, 0.94, 0.90
FALSE_ALARM = 1e-6
COMPARISONS = 20 * len(METHODS)
FULL = (2, 5)  # the place of the full cell


def made(method: str, epsilon: float) -> MapCollector:
    grid, loss, card = Grid(SIDE), PureDP(epsilon=epsilon), catalog.card(method)
    if card.oracle is not None:
        oracle = card.oracle(grid.cells, loss)
        assert oracle is not None
        return Levels(grid=grid, levels=(0,), oracles=(oracle,), flat=True)
    assert card.spatial is not None
    found: MapCollector = card.spatial(grid, loss)
    return found


def places(users: int, share: float, side: int = SIDE) -> np.ndarray:
    """Where people are, shape (2, users): a share in the full cell, the others anywhere."""
    even = (rng.seeded(1).words(2 * users).reshape(2, users) / 2.0**64 * side).astype(np.int32)
    even[:, : round(share * users)] = np.array(FULL)[:, None]
    return even


def asked(side: int = SIDE) -> Rectangles:
    """The full cell alone, larger and larger ones that hold it, and some that do not."""
    (x, y), end, half = FULL, side, side // 2
    holding = [(x, x + 1, y, y + 1), (x, x + 2, y, y + 2), (0, x + 1, 0, y + 1), (x, end, 1, y + 1), (1, end, 1, end)]
    others = [(0, x, y, y + 1), (0, half, 0, half), (half, end, 0, end), (end - 1, end, 0, 1), (0, end, 0, y)]
    return Rectangles(*np.array(holding + others, dtype=float).T)


def reports(own: MapCollector, people: np.ndarray, run: int) -> list[Tally]:
    """The tallies of everybody's reports."""
    generator = rng.seeded(1000 + run)
    drawn = collection(own).drawn(people.shape[1], rng=generator)
    pairs = enumerate(own.types)
    return [one.tally(one.perturb(people[:, drawn == number], rng=generator)) for number, one in pairs]


def stated(own: MapCollector, tallies: list[Tally]) -> Noise | None:
    return own.noise(tallies) if isinstance(own, HasReportNoise) else None


def averaged(own: MapCollector, tallies: list[Tally]) -> Noise:
    """The planted fault: every node of a level as noisy as the level's nodes are on average."""
    assert isinstance(own, Levels)
    return own.weighed_by(own.measurement(tallies))


def held(
    method: str, case: tuple[float, int, float], runs: int, noise: Callable[..., Noise | None] = stated
) -> np.ndarray:
    """Which intervals hold, shape (runs, rectangles)."""
    epsilon, users, share = case
    own, people, image = made(method, epsilon), places(users, share), np.zeros((SIDE, SIDE))
    np.add.at(image, tuple(people), 1)
    truth, found = sums(image, asked()), []
    for run in range(runs):
        tallies = reports(own, people, run)
        density = MapDecoder(own, users).density(own.measurement(tallies), noise(own, tallies))
        half = half_width(density.variances(asked()), CONFIDENCE, "gaussian")
        found.append(np.abs(unbiased(density).values(asked()) - truth) <= half + 1e-6)
    return np.array(found)


@functools.cache
def every_case(method: str) -> dict[tuple[float, int, float], np.ndarray]:
    cases = [(epsilon, users, share) for epsilon in EPSILONS for users in USERS for share in SHARES]
    return {case: held(method, case, RUNS) for case in cases}


def mean_is_too_low(found: Array) -> bool:
    """Whether the mean over runs is below what it is to be, by more than chance."""
    by_run = found.reshape(-1, found.shape[-1]).mean(axis=1)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / COMPARISONS)
    return bool(by_run.mean() < MEAN - limit * by_run.std(ddof=1) / math.sqrt(len(by_run)))


def held_too_rarely(found: Array) -> bool:
    """Whether one of the rectangles is held by fewer intervals than chance allows at 90 %."""
    runs = len(found)
    return bool((found.sum(axis=0) < binom.ppf(FALSE_ALARM / COMPARISONS / found.shape[1], runs, LEAST)).any())


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_intervals_hold_where_people_are_and_where_nobody_is(method: str) -> None:
    cases = every_case(method)
    assert not mean_is_too_low(np.concatenate([*cases.values()]))
    for place, values in enumerate((EPSILONS, USERS, SHARES)):
        for value in values:
            alike = [found for case, found in cases.items() if case[place] == value]
            assert not held_too_rarely(np.concatenate(alike)), value


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gtr", "gtr_top_down", "n_gtr", "qt_krr"])
@pytest.mark.parametrize("share", [0.5, 0.7])
def test_a_cell_with_most_of_the_people_is_held_and_would_not_be_by_an_average_over_its_level(
    method: str, share: float
) -> None:
    case = (6.0, 2000, share)
    assert held(method, case, DONE)[:, 0].mean() >= 0.87
    planted = held(method, case, DONE, averaged)
    assert planted[:, 0].mean() < 0.7
    assert held_too_rarely(planted)
    assert mean_is_too_low(planted[:, :1])


@pytest.mark.slow
def test_many_people_are_held_as_often() -> None:
    for method in ("gtr_top_down", "qt_krr"):
        found = held(method, (4.0, 20_000, 0.7), 40)
        assert not mean_is_too_low(found)
        assert not held_too_rarely(found)
