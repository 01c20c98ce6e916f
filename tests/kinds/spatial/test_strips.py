"""Strips of maps: their covariances against the dense matrix, and how often intervals of means and shares hold."""

import math
from statistics import NormalDist
from unittest.mock import patch

import numpy as np
import pytest
from tests.kinds.spatial.test_coverage import (
    CENTRAL,
    CONFIDENCE,
    FALSE_ALARM,
    LEVEL,
    MANY,
    Case,
    density_of,
    made,
    places,
)
from tests.kinds.spatial.test_coverage_of_reports import reports
from tests.kinds.spatial.towns import places as towns
from tests.kinds.spatial.towns import spec, table

from dpress import catalog, estimate, perturb
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.interval import critical
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.ratio import fieller, pair_of
from dpress.kinds.spatial.strips import MOST, cells_between, cut, pair
from dpress.mechanisms.spatial.map_decoder import MapDecoder
from dpress.query.linear_forms import UNKNOWN

SIDE = 16
LOCAL = ("gtr", "gtr_top_down", "qt_krr", "n_gtr", "psda")
COMPARISONS = 20
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / COMPARISONS)
RECTANGLES = (((0, 16), (0, 16)), ((2, 13), (0, 16)), ((0, 8), (4, 16)), ((0, 4), (0, 8)), ((8, 12), (8, 16)))


def test_strips_of_a_flat_grid_are_independent_and_of_a_tree_they_are_not():
    counts = np.arange(64.0).reshape(8, 8)
    for levels, apart in (((math.inf, math.inf, math.inf, 2.0), True), ((1.0, 2.0, 2.0, 2.0), False)):
        grid = Grid(8)
        density = Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=levels))
        found = cut(density, 0, cells_between(1.0, 7.0), (0.0, 8.0))
        assert found.counts == pytest.approx(counts[1:7].sum(axis=1))
        off = found.covariance - np.diag(np.diag(found.covariance))
        assert np.allclose(off, 0) == apart
        assert np.diag(found.covariance)[0] == pytest.approx(16) or not apart
        run = np.array([0, 1, 1, 1, 0, 0.0])
        exact = density.variances(_rectangle((2.0, 5.0), (0.0, 8.0)))[0]
        assert found.form(run) == pytest.approx((counts[2:5].sum(), exact))


def test_a_tree_s_covariances_are_those_of_its_dense_least_squares():
    """Four cells across by four: nodes of three levels, A^T V^-1 A inverted by NumPy."""
    grid, levels = Grid(4), (3.0, 2.0, 1.0)
    rows = [np.ones((4, 4))]
    rows += [np.kron(one.reshape(2, 2), np.ones((2, 2))) for one in np.eye(4)]
    rows += [one.reshape(4, 4) for one in np.eye(16)]
    matrix = np.array(rows).reshape(21, 16)
    variances = np.repeat(levels, [1, 4, 16])
    cells = np.linalg.inv(matrix.T @ (matrix / variances[:, None]))
    density = Cells(grid=grid, counts=np.zeros((4, 4)), noise=TreeNoise(grid=grid, levels=levels))
    for axis in (0, 1):
        found = cut(density, axis, cells_between(0.0, 4.0), (1.0, 4.0))
        inside = np.zeros((4, 4, 4))
        for strip in range(4):
            inside[strip][(strip, slice(1, 4)) if axis == 0 else (slice(1, 4), strip)] = 1
        flat = inside.reshape(4, 16)
        assert found.covariance == pytest.approx(flat @ cells @ flat.T)


def test_many_cells_are_taken_together():
    borders = cells_between(0.5, 900.25)
    assert (borders[0], borders[-1], len(borders)) == (0.5, 900.25, MOST + 1)
    assert cells_between(1.0, 3.0).tolist() == [1, 2, 3]


def held(case: Case, runs: int) -> tuple[Array, Array]:
    """By run whether intervals of means and shares hold the cells' own, and whether a fifth shorter ones do."""
    method, side, epsilon, spread, users = case
    people, counts, found = (places(spread, users) * side).astype(np.int32), np.zeros((side, side)), []
    np.add.at(counts, tuple(people), 1)
    for run in range(runs):
        if method in LOCAL:
            own, tallies = reports(catalog.card(method).spatial(Grid(side), PureDP(epsilon=epsilon)), people, run)
            density, tail = MapDecoder(own, users).density(own.measurement(tallies), tallies), "gaussian"
        else:
            own = made(case)
            density, tail = density_of(own, own.grid.flat(counts), run), own.tail
        z = critical(CONFIDENCE, tail)
        found.append([_answers(density, counts, factor * z) for factor in (1.0, 0.8)])
    whole, shorter = np.array(found).swapaxes(0, 1)
    return whole, shorter


def _answers(density, counts, z):
    """Of every rectangle the mean place across, and the share in its left third."""
    out = []
    for (left, right), (bottom, top) in RECTANGLES:
        people = counts[left:right, bottom:top].sum(axis=1)
        up, third = (float(bottom), float(top)), left + max(1, (right - left) // 3)
        strips = cut(density, 0, cells_between(left, right), up)
        middle, half = (left + right) / 2, (right - left) / 2
        scaled = (np.arange(left, right) + 0.5 - middle) / half
        mean = fieller(pair_of(lambda ratio, s=strips, v=scaled: s.form(v - ratio)), z, (0.0, 0.0))
        share = fieller(pair(density, ((left, third), up), ((left, right), up)), z, (0.0, 0.0))
        known = [(scaled @ people) / people.sum(), people[: third - left].sum() / people.sum()]
        out += [
            one.interval[0] - 1e-9 <= true <= one.interval[1] + 1e-9
            for one, true in zip((mean, share), known, strict=True)
        ]
    return out


def too_low(shares: Array) -> bool:
    by_run = shares.mean(axis=1)
    return bool(by_run.mean() < LEVEL - LIMIT * by_run.std(ddof=1) / math.sqrt(len(by_run)))


@pytest.mark.slow
@pytest.mark.parametrize("method", [*CENTRAL, *LOCAL])
def test_means_and_shares_hold(method: str) -> None:
    whole, _ = held((method, SIDE, 1.0, "clustered", MANY), 30)
    assert not too_low(whole)


@pytest.mark.slow
@patch("dpress.mechanisms.spatial.map_decoder.RUNS", 3)  # of a bootstrap that no interval rests on
def test_a_fifth_shorter_ones_are_found() -> None:
    whole, shorter = held(("gtr_top_down", SIDE, 1.0, "clustered", MANY), 200)
    assert not too_low(whole)
    assert too_low(shorter)


@pytest.mark.slow
def test_a_map_answers_in_its_columns_units(tmp_path) -> None:
    asked, where = spec("gtr_top_down"), towns()
    perturb(asked, table(where), out=tmp_path / "reports", rng=rng.seeded(1))
    release = estimate(asked, tmp_path / "reports")
    lon, lat = where
    for found, true in (
        (release.mean("lon"), lon.mean()),
        (release.mean("lon", where="lat < 2"), lon[lat < 2].mean()),
        (release.median("lat", where="lon in 1..6"), np.median(lat[(lon > 1) & (lon < 6)])),
        (release.share("lat < 2", where="lon > 4"), (lat < 2)[lon > 4].mean()),
        (release.sum("lon"), lon.sum()),
    ):
        assert found.interval[0] <= true <= found.interval[1]
        assert found.note == "From the unbiased counts."
    assert release.mean("lon").bin_width == pytest.approx(0.5)
    assert release.difference("lat < 2", "lon < 4").note.startswith(UNKNOWN)
    assert release.mean("lon", where="lat < 9").note.startswith("The part of the rectangle outside the box")
    with pytest.raises(ValueError, match="there is no attribute 'place'; the attributes are lon, lat"):
        release.mean("place")


def _rectangle(across, up):
    return Rectangles(*(np.array([end]) for end in (*across, *up)))
