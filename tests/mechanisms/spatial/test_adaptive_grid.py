"""The adaptive grid: how it is cut, that its answers say so, and that its error is what it states."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Stack
from dpress.inference.interval import half_width
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid, adaptive_grid, best_blocks

LOSSES = [PureDP(epsilon="0.5"), ZCDP(rho="0.1")]
RUNS = 40


def clustered(side: int) -> np.ndarray:
    """Hot spots of two hundred, a crowded corner and an empty rest, in cell order."""
    across, up = np.indices((side, side))
    clustered = np.where((across < side // 2) & (up < side // 2), 20, 0)
    spots = np.where((across % 7 == 3) & (up % 9 == 4), 200, 0)
    return Grid(side).flat(clustered + spots).astype(np.int64)


def made(loss: PureDP | ZCDP, side: int = 32, blocks: int = 4) -> AdaptiveGrid:
    return AdaptiveGrid(grid=Grid(side), blocks=blocks, loss=loss)


def test_blocks_are_cut_as_the_paper_says() -> None:
    one, counts = made(PureDP(epsilon=1)), np.array([-5, 0, 1, 9, 10, 11, 1000, 10**9])
    expected = [max(1, math.ceil(math.sqrt(max(count, 0) * 0.5 * 1 / 5))) for count in counts]
    assert one.parts(counts).tolist() == expected == [1, 1, 1, 1, 1, 2, 10, 10_000]
    assert one.map.split(one.parts(np.full(16, 10**9))).rows == one.grid.cells


def test_the_number_of_blocks_is_the_papers() -> None:
    assert [best_blocks(10**6, PureDP(epsilon=epsilon), ROW) for epsilon in ("0.1", 1, 10)] == [25, 80, 250]
    assert best_blocks(10, PureDP(epsilon=1), ROW) == 10
    found = adaptive_grid(Grid(8), PureDP(epsilon=1), unit=ROW, users=10**6)
    assert found == AdaptiveGrid(grid=Grid(8), blocks=8, loss=PureDP(epsilon=1))
    with pytest.raises(ValueError, match="blocks must be at most the grid's side 8, got blocks=9"):
        made(PureDP(epsilon=1), side=8, blocks=9)


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_the_answers_alone_say_how_the_tiles_were_cut(loss: PureDP | ZCDP) -> None:
    one = made(loss, side=30, blocks=4)
    measured = one.noisy(one.exact(clustered(30)), rng=rng.seeded(1))
    again = one.measured(measured.answers.copy())
    assert measured.answers.dtype == np.int64
    assert isinstance(again.map, Stack)
    assert np.array_equal(again.map.apply(np.arange(900)), measured.map.apply(np.arange(900)))
    assert np.array_equal(again.variance, measured.variance)
    assert np.array_equal(one.decoded(again, 0).counts, one.decoded(measured, 0).counts)
    with pytest.raises(ValueError, match="answers must have shape"):
        one.measured(measured.answers[:-1])


def test_both_levels_have_their_share_for_the_unit() -> None:
    moved = Unit(relation=Relation.REPLACE_ONE, column="uid", rows=3)
    one = AdaptiveGrid(grid=Grid(8), blocks=2, loss=PureDP(epsilon=1), unit=moved)
    assert [noise.scale for noise in one.noises] == [12, 12]  # 2 x 3 counts move, half of epsilon
    assert one.claim.proven == PureDP(epsilon=1)
    assert one.claim.unit == moved


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_drawn_noise_is_the_claimed_one_on_both_levels(
    loss: PureDP | ZCDP, centred_with: Callable[[np.ndarray, float], bool]
) -> None:
    one, counts, generator = made(loss), clustered(32), rng.seeded(3)
    errors: list[list[np.ndarray]] = [[], []]
    for _ in range(RUNS):
        for measure in (one.noisy, lambda exact, *, rng: one.simulated(exact, 0, rng=rng)):
            measured = measure(one.exact(counts), rng=generator)
            for own, found in zip(errors, measured.parts, strict=True):
                own.append(found.answers - found.map.apply(counts))
    for own, noise in zip(errors, one.noises, strict=True):
        assert centred_with(np.concatenate(own), noise.variance)
        assert not centred_with(np.concatenate(own), 3 * noise.variance)


def test_without_noise_to_speak_of_every_rectangle_of_whole_cells_is_exact() -> None:
    one, counts = made(PureDP(epsilon=900)), clustered(32)
    query = Rectangles(*(np.array(ends) for ends in ([0.0, 3], [32.0, 9], [0.0, 7], [32.0, 20])))
    found = one.decoder.density(one.noisy(one.exact(counts), rng=rng.seeded(2)))
    truth = sums(one.grid.image(counts.astype(np.float64)), query)
    assert np.allclose(found.values(query)[0], truth[0], atol=1)
    assert (np.abs(found.values(query) - truth) <= half_width(found.variances(query), 0.95, one.tail)).all()


def missed(loss: PureDP | ZCDP, factor: float) -> int:
    """How many intervals of 95 %, their variance times a factor, miss: 30 releases, 40 rectangles each."""
    one, counts, generator, found = made(loss), clustered(32), rng.seeded(6), 0
    ends = generator.words(160).reshape(4, 40) / 2.0**64 * 32
    query = Rectangles(*np.sort(ends[:2], axis=0), *np.sort(ends[2:], axis=0))
    truth = sums(one.grid.image(counts.astype(np.float64)), query)
    for _ in range(30):
        density = one.decoder.density(one.noisy(one.exact(counts), rng=generator))
        widths = half_width(factor * density.variances(query), 0.95, one.tail)
        found += int((np.abs(density.values(query) - truth) > widths).sum())
    return found


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_intervals_hold_though_people_cluster_within_tiles(loss: PureDP | ZCDP) -> None:
    """Were each of 1200 missed with chance 5 %, independently, 120 would be with chance below 1e-11; the 40 of one
    release move together, so that the seed, which is fixed, has to be an ordinary one."""
    assert missed(loss, 1.0) <= 120
    assert missed(loss, 0.05) > 120
