"""Intervals of maps of a curator hold the true number of people as often as they say, in rectangles of every size.

People in narrow clusters and spread smoothly, few and many. Rectangles of all shares of the box from 0 to 1 follow the
cells, so that what is missed is noise or bias. The noise is the curator's own. The same draws for every population make
runs of one case independent; the mean share over runs is compared with 94 % under its own standard error. Maps of
reports are in test_coverage_of_reports.py.
"""

import functools
import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.inference.interval import half_width
from dpress.inference.maps.density import Density, likely, unbiased
from dpress.inference.normal import normal

LEVEL, CONFIDENCE = 0.94, 0.95
FALSE_ALARM = 1e-6  # of all comparisons of this file together
FIFTHS = 5  # of the shares of the box, each compared by itself
COMPARISONS = 500
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / COMPARISONS)
EXACTLY_KNOWN = 1e-6  # people: a total that is public is added up in floats
FEW, MANY, ALL = 400, 4000, 100_000
CLUSTERS = ((0.2, 0.23, 0.01), (0.31, 0.74, 0.02), (0.62, 0.55, 0.03), (0.71, 0.6, 0.004))
CENTRAL = ("quadtree", "uniform_grid", "adaptive_grid")
Case = tuple[str, int, float, str, int]  # method, side, epsilon, population, people


@functools.cache
def places(spread: str, users: int) -> Array:
    """Where people are, in shares of the box, shape (2, users): four clusters and a few in between, or smoothly."""
    generator = rng.seeded(1)
    even = generator.words(2 * users).reshape(2, users) / 2.0**64
    if spread == "smooth":
        return np.asarray((even + even**2) / 2)
    which = (generator.words(users) % 5).astype(int)
    across, up, width = np.array([*CLUSTERS, (0, 0, 0)])[which].T
    points = np.stack([across, up]) + width * normal(2 * users, rng=generator).reshape(2, users)
    return np.clip(np.where(which == len(CLUSTERS), even, points), 0, 1 - 1e-9)


def on_cells(side: int, number: int = 200) -> Rectangles:
    """Rectangles of whole cells, their shares of the box from 0 to 1 in even steps."""
    across, left, bottom = rng.seeded(7).words(3 * number).reshape(3, number) / 2.0**64
    area = (np.arange(number) + 0.5) / number
    width = np.clip(np.sqrt(area) * 3 ** (across - 0.5), area, 1)
    sizes = [np.maximum(np.round(one * side), 1) for one in (width, area / width)]
    first, second = (np.round(one * (side - size)) for one, size in zip((left, bottom), sizes, strict=True))
    return Rectangles(first, first + sizes[0], second, second + sizes[1])


def made(case: Case) -> Any:
    method, side, epsilon, _, users = case
    card = catalog.card(method)
    assert card.spatial is not None
    own = {"users": users} if method == "adaptive_grid" else {}
    return card.spatial(Grid(side), PureDP(epsilon=epsilon), unit=ROW, **own)


def density_of(own: Any, counts: Array, run: int) -> Density:
    found: Density = own.decoder.density(own.noisy(own.exact(counts.astype(np.int64)), rng=rng.seeded(100 + run)))
    return found


def held(case: Case, runs: int, *, shorter: float = 1.0) -> tuple[Array, Array]:
    """By run and fifth of the shares how many intervals hold: as stated, and by the likely error of what is shown."""
    own, (_, side, _, spread, users) = made(case), case
    image = np.zeros((side, side))
    np.add.at(image, tuple((places(spread, users) * side).astype(int)), 1)
    asked, found = on_cells(side), list[Array]()
    truth, tail = sums(image, asked), own.tail
    for run in range(runs):
        density = density_of(own, own.grid.flat(image), run)
        for one, spread_of in ((unbiased(density), density), (density, likely(density))):
            half = shorter * half_width(spread_of.variances(asked), CONFIDENCE, tail)
            found.append(np.abs(one.values(asked) - truth) <= half + EXACTLY_KNOWN)
    shares = np.array(found).reshape(runs, 2, FIFTHS, -1).mean(axis=3)
    return shares[:, 0], shares[:, 1]


def too_low(shares: Array) -> list[int]:
    """The fifths of the shares whose intervals hold too rarely, by more than chance."""
    error = shares.std(axis=0, ddof=1) / math.sqrt(len(shares))
    return np.flatnonzero(shares.mean(axis=0) < LEVEL - LIMIT * error).tolist()


def test_intervals_of_a_curator_hold_and_shorter_ones_do_not() -> None:
    stated, _ = held(("quadtree", 64, 0.05, "clustered", FEW), 20)
    assert not too_low(stated)
    assert stated.mean() > LEVEL
    assert too_low(held(("quadtree", 64, 0.05, "clustered", FEW), 20, shorter=0.4)[0])
    assert not too_low(held(("uniform_grid", 64, 0.5, "smooth", MANY), 12)[0])


def test_the_unbiased_answer_is_unbiased_where_counts_below_zero_are_pulled_up_and_the_shown_one_is_not() -> None:
    """A rectangle with four tenths of the people: pulled down by two thirds of a standard deviation of its own."""
    side, runs = 128, 90
    own, asked = made(("quadtree", side, 0.1, "clustered", MANY)), Rectangles(*np.array([[16.0], [48], [16], [112]]))
    image = np.zeros((side, side))
    np.add.at(image, tuple((places("clustered", MANY) * side).astype(int)), 1)
    exact, truth = own.exact(own.grid.flat(image).astype(np.int64)), sums(image, asked)
    found = []
    for run in range(runs):
        measured = own.noisy(exact.copy(), rng=rng.seeded(100 + run))
        found.append(
            [own.decoded(measured, 0).values(asked) - truth, own.least_squares(measured).values(asked) - truth]
        )
    errors = np.array(found)[..., 0]
    shown, beside = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / math.sqrt(runs))
    assert shown < -LIMIT
    assert abs(beside) < LIMIT


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("users", [FEW, MANY, ALL])
@pytest.mark.parametrize("spread", ["clustered", "smooth"])
@pytest.mark.parametrize("method", CENTRAL)
def test_every_map_of_a_curator_holds(method: str, spread: str, users: int) -> None:
    for epsilon in (0.05, 0.5):
        stated, _ = held((method, 64, epsilon, spread, users), 30)
        assert not too_low(stated), epsilon
