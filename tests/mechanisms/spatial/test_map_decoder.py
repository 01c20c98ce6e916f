"""What maps have in common: the bootstrap's error, the expected error, coarser images."""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.reports.oracle import Tally
from dpress.inference.maps.density import Cells, TreeNoise, clustering, likely
from dpress.mechanisms.spatial.documents.gtr import gtr
from dpress.mechanisms.spatial.documents.n_gtr import n_gtr
from dpress.mechanisms.spatial.gtr_top_down import gtr_top_down
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import RUNS, MapDecoder, coarser, expected_error

FALSE_ALARM = 1e-6
USERS, REAL = 4000, 600
SOME = Rectangles(*(np.array(end) for end in ([0.0, 1, 2.5], [4.0, 3, 7.5], [0.0, 5, 0.5], [4.0, 8, 6.5])))
LINEAR, CLIPPED = gtr(Grid(8), PureDP(epsilon=1)), gtr_top_down(Grid(8), PureDP(epsilon=1))
assert LINEAR is not None
assert CLIPPED is not None


def people(side: int = 8) -> np.ndarray:
    """Most of them in one corner, an image."""
    weights = np.exp(-np.add.outer(np.arange(side), np.arange(side)) / 1.5)
    return np.round(USERS * weights / weights.sum())


def of_people(image: np.ndarray) -> Cells:
    grid = Grid(len(image))
    return Cells(grid=grid, counts=image, noise=TreeNoise(grid=grid, levels=(0.0,)))


def errors(own: Levels, runs: int, reported: Callable[..., list[Tally]]) -> np.ndarray:
    """Of the rectangles over collections of real reports."""
    generator, image = rng.seeded(1), people().astype(int)
    places = np.repeat(np.indices((8, 8)).reshape(2, -1), image.ravel(), axis=1).astype(np.int32)
    found = []
    for _ in range(runs):
        measured = own.measurement(reported(own, places, generator))
        found.append(own.decoded(measured, int(image.sum())).values(SOME))
    return np.stack(found) - sums(people(), SOME)


def test_a_linear_estimate_keeps_its_exact_error_and_gets_what_cut_cells_hide() -> None:
    measured = LINEAR.simulated(Grid(8).flat(people()), USERS, rng=rng.seeded(2))
    plain, found = LINEAR.decoded(measured, USERS), MapDecoder(LINEAR, USERS).density(measured)
    assert np.array_equal(plain.counts, found.counts)
    own, stated = plain.variances(SOME), found.variances(SOME)
    assert stated[:2] == pytest.approx(own[:2])  # whole cells
    assert stated[2] > own[2]
    assert isinstance(found, Cells)
    assert found.clustered == clustering(found.counts)
    assert MapDecoder(LINEAR, USERS).shape == (8, 8)


def test_an_estimate_that_is_not_linear_gets_its_error_by_bootstrap_the_same_every_time() -> None:
    measured = CLIPPED.simulated(Grid(8).flat(people()), USERS, rng=rng.seeded(3))
    first, second = (MapDecoder(CLIPPED, USERS).density(measured) for _ in range(2))
    assert np.array_equal(first.counts, CLIPPED.decoded(measured, USERS).counts)
    assert np.array_equal(first.variances(SOME), second.variances(SOME))


@pytest.mark.slow
def test_the_bootstraps_error_is_that_of_repeated_collections(reported: Callable[..., list[Tally]]) -> None:
    """Its squares are means over RUNS replicates of an estimate in the truth's place: compared by their mean.

    False alarm 1e-6 for normal errors, over 40 densities; beside it, 30 % for a bias of the estimates themselves.
    """
    generator, flat, repeats = rng.seeded(4), Grid(8).flat(people()), 40
    whole = Rectangles(*(end[:2] for end in (SOME.left, SOME.right, SOME.bottom, SOME.top)))
    true = (errors(CLIPPED, REAL, reported)[:, :2] ** 2).mean(axis=0)
    stated = np.mean(
        [
            likely(MapDecoder(CLIPPED, USERS).density(CLIPPED.simulated(flat, USERS, rng=generator))).variances(whole)
            for _ in range(repeats)
        ],
        axis=0,
    )
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / 4)
    slack = 0.3 + z * math.sqrt(2 / RUNS / repeats + 2 / REAL)
    assert (np.abs(stated / true - 1) < slack).all()
    exact = LINEAR.decoded(LINEAR.simulated(flat, USERS, rng=generator), USERS).variances(whole)
    assert not (np.abs(exact / true - 1) < slack).any()  # the linear estimate's would be far off


@pytest.mark.slow
@pytest.mark.parametrize("own", [LINEAR, CLIPPED], ids=["linear", "clipped"])
def test_the_expected_error_is_the_mean_square_over_collections(
    own: Levels, reported: Callable[..., list[Tally]]
) -> None:
    """Simulated ones, for it, and real ones."""
    runs = 300
    scaled = SOME.scaled(1 / 8)
    found = expected_error(own, of_people(people()), int(people().sum()), scaled, runs=runs)
    wanted = (errors(own, runs, reported) ** 2).mean()
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / 4)
    assert abs(found / wanted - 1) < z * math.sqrt(2 * 2 / runs)
    assert not abs(2.2 * found / wanted - 1) < z * math.sqrt(2 * 2 / runs)


def test_the_expected_error_has_what_a_cut_cell_hides() -> None:
    """A population that is finer than the grid: without noise its error is left alone."""
    fine = np.zeros((16, 16))
    fine[0, 0] = 1
    exact = n_gtr(Grid(2), PureDP(epsilon=40))
    assert exact is not None
    half = Rectangles(*(np.array([end]) for end in (0.0, 0.25, 0.0, 0.5)))
    found = expected_error(exact, of_people(fine), 1000, half, runs=4)
    assert found == pytest.approx(500**2, rel=0.05)  # half of the cell holds all of its thousand people


@pytest.mark.parametrize("side", [1, 2, 3, 4, 6, 8, 12])
def test_coarser_images_keep_the_sums(side: int) -> None:
    image = (rng.seeded(5).words(144) % 9).astype(float).reshape(12, 12)
    edges = np.arange(side) * 12 / side
    low, high = (np.repeat(edges, side), np.repeat(edges + 12 / side, side))
    up, top = (np.tile(edges, side), np.tile(edges + 12 / side, side))
    wanted = sums(image, Rectangles(low, high, up, top)).reshape(side, side)
    assert coarser(image, side) == pytest.approx(wanted)
    assert coarser(image, side).sum() == pytest.approx(image.sum())
    assert side == 12 or not np.array_equal(coarser(image, side), image[:side, :side])
