"""Queries about regions against dense least squares: any weights of leaves, any cells of a table, exact variance."""

from collections.abc import Sequence

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array
from dpress.core.maps.region_table import RegionTable
from dpress.core.maps.spine import Spine
from dpress.inference.regions.cover import cover
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.spine_queries import SpineQueries

SPINE = Spine(starts=(np.array([0, 2]), np.array([0, 1, 3]), np.array([0, 2, 3, 6])))
SHAPE = (2, 3)
NOISE: tuple[dict[Table, float], ...] = (
    {(): 4.0},
    {(): 0.0, (0, 1): 3.0},
    {(): 2.0, (0,): 1.5, (0, 1): 5.0},
    {(0,): 6.0, (1,): 2.5},
)


class Dense:
    """Generalised least squares by the normal equations; an exact total has a variance of 1e-12."""

    def __init__(self, measured: Measured, answers: Sequence[dict[Table, Array]]) -> None:
        cells = np.eye(measured.spine.sizes[-1] * 6)
        rows, weights, values = [], [], []
        for level, tables in enumerate(measured.variances):
            for table, variance in tables.items():
                each = RegionTable(measured.spine, SHAPE, level, table)
                rows.append(np.array([each.apply(cell) for cell in cells]).T)
                weights += [1 / max(variance, 1e-7)] * each.rows
                values.append(answers[level][table].ravel())
        matrix, precision = np.concatenate(rows), np.array(weights)
        self.covariance = np.linalg.pinv(matrix.T * precision @ matrix, rcond=1e-13)
        self.cells = self.covariance @ matrix.T @ (precision * np.concatenate(values))


@pytest.fixture(scope="module")
def measured() -> Measured:
    return Measured(spine=SPINE, shape=SHAPE, variances=NOISE)


def noisy(measured: Measured) -> list[dict[Table, Array]]:
    source = rng.seeded(4)
    leaves = (source.words(36) % np.uint64(50)).astype(np.int64)
    levels: list[dict[Table, Array]] = []
    for level, tables in enumerate(measured.variances):
        levels.append({})
        for table, variance in tables.items():
            each = RegionTable(SPINE, SHAPE, level, table)
            kept = (SPINE.sizes[level], *(SHAPE[axis] for axis in table))
            noise = variance**0.5 * (source.words(each.rows) / 2.0**63 - 1)
            levels[level][table] = (each.apply(leaves) + noise).reshape(kept)
    return levels


@pytest.mark.parametrize("used", [(), (0,), (1,)])
@pytest.mark.parametrize("leaves", [[1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 2, -1, 0.5, 0.5], [1] * 6])
def test_answers_and_variances_are_those_of_dense_least_squares(
    measured: Measured, leaves: list[float], used: tuple[int, ...]
) -> None:
    answers, queries = noisy(measured), SpineQueries(measured=measured)
    dense = Dense(measured, answers)
    fitted = queries.estimates(answers)
    cells = [np.array([1.0, -2.0]) if 0 in used else np.ones(2), np.array([1.0, 0, 3]) if 1 in used else np.ones(3)]
    weights = [np.array(leaves, dtype=float), *cells]
    query = np.einsum("i,j,k->ijk", *weights).ravel()
    assert queries.together(weights)
    assert queries.answer(fitted, weights) == pytest.approx(float(query @ dense.cells), rel=1e-4, abs=1e-3)
    expected = float(query @ dense.covariance @ query)
    assert queries.variance(weights) == pytest.approx(expected, rel=1e-4, abs=1e-5)
    assert queries.variance([weights[0] + 0.1 * np.arange(6), *cells]) != pytest.approx(expected, rel=1e-3)


def test_a_table_of_upper_levels_answers_of_their_regions_alone(measured: Measured) -> None:
    queries = SpineQueries(measured=measured)
    assert queries.at(2) == ((0, 1),)
    assert queries.at(3) == ((0,), (1,))
    both = [np.array([1.0, 0.0]), np.array([0.0, 1.0, 0.0])]
    whole, part = np.array([1.0, 1, 0, 0, 0, 0]), np.array([1.0, 0, 0, 0, 0, 0])
    assert queries.together([whole, *both])
    assert not queries.together([part, *both])
    with pytest.raises(NotSupported, match="no published table of these regions"):
        queries.variance([part, *both])


def test_the_cover_adds_up_to_the_weights() -> None:
    source = rng.seeded(2)
    for _ in range(50):
        weights = (source.words(6) % np.uint64(3)).astype(np.float64) - 1
        region, again = cover(SPINE, weights), np.zeros(6)
        for level, (nodes, values) in region.items():
            of_node = np.zeros(SPINE.sizes[level])
            of_node[nodes] = values
            for finer in range(level + 1, 4):
                of_node = of_node[SPINE.parents(finer)]
            again += of_node
        assert np.array_equal(again, weights)
