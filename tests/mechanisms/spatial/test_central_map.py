"""Maps of a curator: the same measurement whether drawn or simulated, exact errors, intervals that hold."""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.inference.interval import half_width
from dpress.inference.maps.density import unbiased
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap, fourth_root, precision
from dpress.mechanisms.spatial.quadtree import Quadtree, quadtree
from dpress.mechanisms.spatial.uniform_grid import UniformGrid, uniform_grid
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

LOSSES = [PureDP(epsilon="0.5"), ZCDP(rho="0.1")]


def clustered(side: int) -> np.ndarray:
    """Most people in a corner, a few elsewhere: counts in cell order."""
    across, up = np.indices((side, side))
    image = np.where((across < side // 4) & (up < side // 2), 60, (across + up) % 7 == 0)
    return Grid(side).flat(image).astype(np.int64)


def makers(loss: PureDP | ZCDP) -> list[CentralMap | AdaptiveGrid]:
    grid = Grid(8)
    linear = quadtree(grid, loss, unit=ROW, reconstruction="least_squares")
    flat = uniform_grid(grid, loss, unit=ROW)
    assert linear is not None
    assert flat is not None
    return [linear, flat, AdaptiveGrid(grid=grid, blocks=2, loss=loss)]


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_simulated_answers_have_the_mean_and_the_spread_of_measured_ones(
    loss: PureDP | ZCDP, centred_with: Callable[[np.ndarray, float], bool]
) -> None:
    counts, generator = clustered(8), rng.seeded(3)
    for one in makers(loss):
        rows, exact = one.map.rows, one.map.apply(counts)
        drawn = [one.noisy(one.exact(counts), rng=generator).answers[:rows] - exact for _ in range(150)]
        simulated = [one.simulated(counts, 0, rng=generator).answers[:rows] - exact for _ in range(150)]
        for errors in (np.concatenate(drawn), np.concatenate(simulated)):
            assert centred_with(errors, one.variance)
            assert not centred_with(errors, 3 * one.variance)
        assert one.measured(one.noisy(one.exact(counts), rng=generator).answers).answers.dtype == np.int64


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("which", [0, 1], ids=["quadtree", "uniform_grid"])
def test_sums_of_rectangles_are_unbiased_with_exactly_the_stated_variance(
    loss: PureDP | ZCDP, which: int, centred_with: Callable[[np.ndarray, float], bool]
) -> None:
    one, counts, generator = makers(loss)[which], clustered(8), rng.seeded(5)
    query = Rectangles(*(np.array([end]) for end in (0.5, 5.0, 2.0, 7.25)))
    truth = sums(one.grid.image(counts.astype(np.float64)), query)[0]
    found = [one.decoded(one.noisy(one.exact(counts), rng=generator), 0) for _ in range(1000)]
    errors = np.array([density.values(query)[0] - truth for density in found])
    stated = float(found[0].variances(query)[0])
    assert centred_with(errors, stated)
    assert not centred_with(errors, 4 * stated)
    assert not centred_with(errors + np.sqrt(stated), stated)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("side", "branching", "measured"), [(4, 4, 2), (4, 16, 1), (8, 16, 2)])
def test_the_exact_variance_of_a_tree_is_that_of_dense_least_squares(
    relation: Relation, side: int, branching: Literal[4, 16], measured: int
) -> None:
    """Of all levels, and of every second from the cells up: 64 cells below 4 quarters."""
    unit, strategy = Unit(relation=relation), Quadtree(grid=Grid(side), branching=branching)
    one = CentralMap(grid=Grid(side), strategy=strategy, loss=PureDP(epsilon=1), unit=unit)
    matrix = np.stack([one.map.apply(cell) for cell in np.eye(side**2)], axis=1)
    covariance = np.linalg.inv(matrix.T @ matrix) * one.variance
    image = np.zeros((side, side))
    image[1:4, :2] = 1
    weights = one.grid.flat(image)
    density = one.decoder.density(one.measured(np.zeros(one.map.rows)))
    query = Rectangles(*(np.array([end]) for end in (1.0, 4.0, 0.0, 2.0)))
    assert np.isclose(density.variances(query)[0], weights @ covariance @ weights)
    assert np.allclose(density.cell_variances(), covariance[0, 0])
    answers = rng.seeded(4).words(one.map.rows).astype(np.float64) / 2.0**60
    assert np.allclose(one.decoded(one.measured(answers), 0).counts, one.grid.image(np.linalg.pinv(matrix) @ answers))
    scale = measured * (1 if relation is Relation.ADD_REMOVE else 2)
    assert one.matrix.noises == (DiscreteLaplace(scale=Fraction(scale)),)


def outside(one: CentralMap, factor: float) -> int:
    """How many of 30 x 40 rectangles' intervals of 95 %, stretched by a factor, miss the true count."""
    counts, generator, missed = clustered(16), rng.seeded(6), 0
    ends = generator.words(160).reshape(4, 40) / 2.0**64 * 16
    query = Rectangles(*np.sort(ends[:2], axis=0), *np.sort(ends[2:], axis=0))
    truth = sums(one.grid.image(counts.astype(np.float64)), query)
    for _ in range(30):
        density = one.decoder.density(one.noisy(one.exact(counts), rng=generator))
        widths = factor * half_width(density.variances(query), 0.95, one.tail)
        missed += int((np.abs(unbiased(density).values(query) - truth) > widths).sum())
    return missed


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_intervals_beside_nonnegative_counts_hold_as_often_as_they_say(loss: PureDP | ZCDP) -> None:
    """Six of a hundred may be missed; the 40 of one release move together, so that the fixed seed must be ordinary."""
    one = quadtree(Grid(16), loss, unit=ROW)
    assert one is not None
    assert outside(one, 1.0) <= 72
    assert outside(one, 0.2) > 120


def test_nonnegative_counts_are_nearer_where_most_cells_are_empty_and_are_nonnegative() -> None:
    errors = []
    for made in ("least_squares", "nonnegative"):
        one = quadtree(Grid(16), PureDP(epsilon="0.5"), unit=ROW, reconstruction=made)
        assert one is not None
        counts = np.zeros(256, dtype=np.int64)
        counts[:8] = 500
        found = one.decoded(one.noisy(one.exact(counts), rng=rng.seeded(8)), 0).counts
        errors.append(np.abs(found - one.grid.image(counts)).sum())
    assert errors[1] < errors[0] / 2
    assert found.min() >= 0


def test_what_cannot_be_a_map_is_refused_before_anything_is_measured() -> None:
    loss = PureDP(epsilon=1)
    with pytest.raises(ValueError, match="counts >= 0 need a grid of side 2\\^h, h >= 1, got side=3"):
        CentralMap(grid=Grid(3), strategy=UniformGrid(grid=Grid(3)), loss=loss, reconstruction="nonnegative")
    one = uniform_grid(Grid(3), loss, unit=ROW)
    assert one is not None
    for wrong, message in [
        (np.zeros(8, dtype=np.int64), "expected 9 counts, one a cell, got 8"),
        (np.zeros(9), "expected counts as integers, got float64"),
    ]:
        with pytest.raises(ValueError, match=message):
            one.exact(wrong)
    with pytest.raises(NotSupported):
        uniform_grid(Grid(3), PureDP(epsilon=1000), unit=Unit(column="uid", rows=10**18))


def test_precision_is_the_epsilon_of_the_noise_and_roots_are_exact() -> None:
    assert precision(DiscreteLaplace(scale=Fraction(4))) == Fraction(1, 16)
    assert precision(DiscreteGaussian(sigma2=Fraction(8))) == Fraction(1, 4)
    values = [Fraction(k**4) + extra for k in (1, 2, 1000, 10**9) for extra in (Fraction(0), Fraction(1, 10**9))]
    assert [fourth_root(value) for value in values] == [1, 2, 2, 3, 1000, 1001, 10**9, 10**9 + 1]
