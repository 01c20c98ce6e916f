"""The noise of nodes' counts against dense sums: every weight of every node, by the definition of the estimate."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.tree import Tree
from dpress.inference.maps.density import Nodes, TreeNoise
from dpress.inference.maps.top_down import consistent
from dpress.mechanisms.protocol.sum_form import SumForm
from dpress.mechanisms.spatial.report_noise import (
    Layer,
    Noisy,
    ReportNoise,
    Term,
    from_least_squares,
    from_the_top,
    independent,
)

HEIGHT, SIDE = 3, 8
SOME = Rectangles(
    *(np.array(end) for end in ([0.0, 1, 2.5, 3, 7], [8.0, 3, 7.5, 4, 8], [0.0, 4, 0.5, 2, 0], [8.0, 8, 6.5, 3, 0.5]))
)


def form(size: int, seed: int) -> SumForm:
    """Any squares, three rows, and a form that also has a part of its own, in which neighbours go together."""
    draw = rng.seeded(seed).words(4 * size + 9) / 2.0**64
    rows, between = draw[size : 4 * size].reshape(3, size), draw[4 * size :].reshape(3, 3)
    return SumForm(
        squares=50 + draw[:size], rows=rows, between=between + between.T, beyond=lambda own: float(own[1:] @ own[:-1])
    )


COUNTED = [Noisy(form=form(4**level, level), spare=20.0 * level) for level in range(HEIGHT + 1)]


def without_own_part(one: Noisy, order: int = 1) -> Noisy:
    own = one.form
    return Noisy(form=SumForm(squares=own.squares[::order], rows=own.rows, between=own.between), spare=one.spare)


def shares(asked: Rectangles) -> np.ndarray:
    """The share of every cell in each rectangle, in cell order."""
    edges = np.arange(SIDE)
    across, up = (
        np.clip(np.minimum(high[:, None], edges + 1) - np.maximum(low[:, None], edges), 0, 1)
        for low, high in ((asked.left, asked.right), (asked.bottom, asked.top))
    )
    return Grid(SIDE).flat(across[:, :, None] * up[:, None, :])


def unit_cells() -> Rectangles:
    across, up = np.indices((SIDE, SIDE)).reshape(2, -1).astype(float)
    return Rectangles(across, across + 1, up, up + 1)


def by_least_squares(levels: list[float], asked: Rectangles) -> list[np.ndarray]:
    """The weights of all nodes, level by level: the answers to single nodes that are 1, all others 0."""
    tree, found = Tree(SIDE**2, 4), []
    for level, size in enumerate(tree.levels):
        own = []
        for node in range(size):
            answers = [np.zeros(other) for other in tree.levels]
            answers[level][node] = 1
            own.append(shares(asked) @ consistent(tree, np.concatenate(answers), levels, nonnegative=False))
        found.append(np.array(own).T)
    return found


def from_top(asked: Rectangles) -> list[np.ndarray]:
    found = []
    for level in range(HEIGHT + 1):
        own = []
        for node in range(4**level):
            flat = [np.zeros(4**other) for other in range(HEIGHT + 1)]
            flat[level][node] = 1
            images = [Grid(1 << other).image(counts) for other, counts in enumerate(flat)]
            own.append(
                Nodes(grid=Grid(SIDE), images=images, noise=TreeNoise(grid=Grid(1), levels=(0.0,))).values(asked)
            )
        found.append(np.array(own).T)
    return found


def dense(weights: list[np.ndarray], counted: list[Noisy | None]) -> np.ndarray:
    """The variance of every rectangle, node by node."""
    pairs = [(own, one) for own, one in zip(weights, counted, strict=True) if one is not None]
    return sum(np.array([one.form.variance(row) + one.spare * (row**2).max() for row in own]) for own, one in pairs)


@pytest.mark.parametrize("levels", [[9.0, 3, 4, 5], [0.0, 3, 4, 5], [math.inf, 3, math.inf, 5]])
def test_least_squares_has_the_variance_of_all_its_nodes(levels: list[float]) -> None:
    counted = [None if v in (0, math.inf) else one for v, one in zip(levels, COUNTED, strict=True)]
    noise = from_least_squares(Grid(SIDE), levels, counted)
    assert noise.variances(SOME) == pytest.approx(dense(by_least_squares(levels, SOME), counted))
    uneven = [one and without_own_part(one, -1) for one in counted]
    other = from_least_squares(Grid(SIDE), levels, uneven).variances(SOME)
    assert not np.allclose(other, noise.variances(SOME), rtol=1e-6)  # which node has which noise matters


def test_sums_from_the_top_have_the_variance_of_the_nodes_they_use() -> None:
    noise = from_the_top(Grid(SIDE), COUNTED)
    assert noise.variances(SOME) == pytest.approx(dense(from_top(SOME), COUNTED))
    assert from_the_top(Grid(SIDE), [None, *COUNTED[1:]]).variances(SOME)[1:] == pytest.approx(
        noise.variances(SOME)[1:]
    )


def test_cells_have_the_variance_of_rectangles_of_one_cell() -> None:
    plain = [without_own_part(one) for one in COUNTED]
    for noise in (from_least_squares(Grid(SIDE), [9.0, 3, 4, 5], plain), from_the_top(Grid(SIDE), plain)):
        assert noise.cells().ravel() == pytest.approx(noise.variances(unit_cells()))


def test_levels_of_one_variance_have_the_formula_of_least_squares() -> None:
    levels = (9.0, 3.0, 4.0, 5.0)
    counted = [independent(np.full(4**level, v)) for level, v in enumerate(levels)]
    noise, formula = from_least_squares(Grid(SIDE), levels, counted), TreeNoise(grid=Grid(SIDE), levels=levels)
    assert noise.variances(SOME) == pytest.approx(formula.variances(SOME))
    assert noise.cells() == pytest.approx(formula.cells())


def test_a_flat_grid_of_any_side_adds_up_its_cells() -> None:
    spread = np.arange(36.0)
    noise = from_least_squares(Grid(6), [1.0], [independent(spread)])
    asked = Rectangles(*(np.array([end]) for end in (1.0, 3.5, 2.0, 4.0)))
    image = spread.reshape(6, 6)
    assert noise.variances(asked) == pytest.approx([image[1:3, 2:4].sum() + image[3, 2:4].sum() / 4])
    assert noise.cells() == pytest.approx(image)


def test_a_known_total_of_a_region_is_not_noisy() -> None:
    """Counts that were moved to their regions' totals, against their covariance."""
    spread, terms = COUNTED[3].form.squares, (Term(factor=-1.0, width=4), Term(factor=1.0, width=1))
    noise = ReportNoise(grid=Grid(SIDE), layers=(Layer(width=1, noisy=independent(spread), terms=terms),))
    weights = shares(SOME)
    families = weights.reshape(len(weights), 4, 16)
    differ = (families - families.mean(axis=2, keepdims=True)).reshape(weights.shape)
    assert noise.variances(SOME) == pytest.approx(differ**2 @ spread)
    assert noise.variances(SOME)[0] == pytest.approx(0)  # everybody is known
    assert noise.cells().ravel() == pytest.approx(noise.variances(unit_cells()))


def test_many_rectangles_are_answered_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = from_least_squares(Grid(SIDE), [9.0, 3, 4, 5], COUNTED)
    whole = noise.variances(SOME)
    monkeypatch.setattr("dpress.mechanisms.spatial.report_noise.BATCH", 1)
    assert noise.variances(SOME) == pytest.approx(whole)
    assert len(list(itertools.chain(whole))) == 5
