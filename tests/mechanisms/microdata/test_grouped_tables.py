"""Tables over groups: the map is its matrix, the kernel is the map, and sensitivity is that of a histogram."""

import itertools

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata.grouped_tables import GroupedTable, by_noise, exact

SHAPE = (3, 2, 4)
PARTS = [
    GroupedTable(shape=SHAPE, axes=(2,), groups=(np.array([0, 0, 1, 1]),)),
    GroupedTable(shape=SHAPE, axes=(0, 2), groups=(np.array([1, 0, 1]), np.array([0, 1, 2, 2]))),
    GroupedTable(shape=SHAPE, axes=(0, 1), groups=(np.array([0, 0, 0]), np.array([0, 0]))),
]


def matrix(part: GroupedTable) -> np.ndarray:
    return np.stack([part.apply(cell) for cell in np.eye(part.cells, dtype=np.int64)], axis=1)


@pytest.mark.parametrize("part", PARTS)
def test_the_map_is_its_matrix(part: GroupedTable) -> None:
    dense = matrix(part)
    assert dense.shape == (part.rows, part.cells)
    assert (dense.sum(axis=0) == 1).all()
    answers = np.arange(part.rows, dtype=float)
    assert np.array_equal(part.transpose(answers), dense.T @ answers)
    columns = list(dense.T)
    moves = [np.abs(first - second).sum() for first, second in itertools.combinations(columns, 2)]
    for order in (1, 2):
        assert part.sensitivity(order, Relation.ADD_REMOVE) == 1
        assert part.sensitivity(order, Relation.REPLACE_ONE) == max(moves)


def test_one_pass_counts_what_the_maps_say_of_the_full_table() -> None:
    codes = np.array([own % size for own, size in zip(np.arange(90).reshape(3, 30) * 7, SHAPE, strict=True)], np.int32)
    full = np.bincount(np.ravel_multi_index(codes, SHAPE), minlength=24)
    counts = exact(PARTS, in_memory(codes, batch=7))
    for part, found in zip(PARTS, counts, strict=True):
        assert found.dtype == np.int64
        assert np.array_equal(found, part.apply(full))


def test_shares_by_size_make_the_expected_error_smallest() -> None:
    sizes = [4, 50, 300]
    best = np.array([float(share) for share in by_noise(sizes)])
    assert sum(by_noise(sizes)) == 1

    def error(shares: np.ndarray) -> float:
        return float((np.array(sizes) / np.sqrt(shares)).sum())

    for i, j in itertools.permutations(range(3), 2):
        other = best.copy()
        other[[i, j]] += [0.02, -0.02]
        assert error(best) < error(other)
