"""Intervals of maps from devices hold the true number of people who took part as often as they say: by real reports.

A share of the people, from a tenth to nearly all, is in one cell. Every collection is drawn, perturbed, tallied and
estimated as one of devices is; nothing is drawn from the variance that is checked. Rectangles follow the cells: the
full one alone, with others and left out.
"""

import functools
import math
from statistics import NormalDist
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binom

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Tally
from dpress.inference.interval import critical
from dpress.inference.maps.density import Noise, ends
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapCollector, MapDecoder

METHODS = (
    *("gtr", "gtr_top_down", "n_gtr", "qt_krr", "qt_rappor", "psda", "n_psda", "krr", "hadamard", "olh"),
    *("ahead", "dam"),
)
SIDE, EPSILONS, USERS, SHARES = 8, (0.5, 2.0, 8.0), (300, 2000), (0.1, 0.5, 0.9)
RUNS, DONE = 8, 60
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


def reports(own: Any, people: np.ndarray, run: int) -> tuple[Any, list[Tally]]:
    """The estimator of the last round, and the tallies of everybody's reports; a device answers in one round."""
    generator = rng.seeded(1000 + run)
    if not own.rounds:
        drawn = collection(own).drawn(people.shape[1], rng=generator)
    else:
        drawn = (generator.words(people.shape[1]) % np.uint64(sum(own.rounds))).astype(int)
    while True:
        first = len(own.earlier) if own.rounds else 0
        pairs = enumerate(own.types, first)
        tallies = [one.tally(one.perturb(people[:, drawn == number], rng=generator)) for number, one in pairs]
        following = own.following(tallies)
        if following is None:
            return own, tallies
        own = following


def averaged(own: Levels, tallies: list[Tally]) -> Noise:
    """The planted fault: every node of a level as noisy as the level's nodes are on average."""
    return own.weighed_by(own.measurement(tallies))


@patch("dpress.mechanisms.spatial.map_decoder.RUNS", 3)  # of a bootstrap that no interval rests on
def held(method: str, case: tuple[float, int, float], runs: int) -> np.ndarray:
    """Which intervals hold, shape (runs, rectangles)."""
    epsilon, users, share = case
    people, image = places(users, share), np.zeros((SIDE, SIDE))
    np.add.at(image, tuple(people), 1)
    truth, z, found = sums(image, asked()), critical(CONFIDENCE, "gaussian"), []
    for run in range(runs):
        own, tallies = reports(made(method, epsilon), people, run)
        density = MapDecoder(own, users).density(own.measurement(tallies), tallies)
        low, high = ends(density, asked(), z)
        found.append((low <= truth + 1e-6) & (truth - 1e-6 <= high))
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
    method: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = (6.0, 2000, share)
    assert held(method, case, DONE)[:, 0].mean() >= 0.87
    monkeypatch.setattr(Levels, "noise", averaged)
    planted = held(method, case, DONE)
    assert planted[:, 0].mean() < 0.7
    assert held_too_rarely(planted)
    assert mean_is_too_low(planted[:, :1])


@pytest.mark.slow
def test_many_people_are_held_as_often() -> None:
    for method in ("gtr_top_down", "qt_krr"):
        found = held(method, (4.0, 20_000, 0.7), 20)
        assert not mean_is_too_low(found)
        assert not held_too_rarely(found)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ahead", "dam"])
def test_few_people_in_areas_that_reports_do_not_tell_apart_are_held_and_would_not_be_by_simulation(
    method: str,
) -> None:
    """The spread of simulated collections alone: what was stated before."""
    case, runs = (0.5, 300, 0.5), 8
    assert not held_too_rarely(held(method, case, runs))
    people, found = places(case[1], case[2]), []
    for run in range(runs):
        own, tallies = reports(made(method, case[0]), people, run)
        density = MapDecoder(own, case[1]).density(own.measurement(tallies))
        assert density.reach is None
        low, high = ends(density, asked(), critical(CONFIDENCE, "gaussian"))
        found.append((low <= case[1] * case[2]) & (case[1] * case[2] <= high))
    assert np.array(found)[:, 0].mean() < 0.7
