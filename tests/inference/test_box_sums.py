"""Sums over boxes from one summed-area table, against the sums of the cells themselves."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.maps.ranges import Ranges
from dpress.inference.box_sums import BLOCK, CHUNK, box_sums

SHAPES = [
    (1,),
    (7,),
    (BLOCK,),
    (BLOCK + 1,),
    (2 * BLOCK,),
    (BLOCK**2 + 3,),
    (3, 4),
    (130, 70),
    (3, 66, 5),
    (2, 3, 4, 2),
]


def drawn(seed: int) -> np.random.Generator:  # noqa: TID251
    return np.random.default_rng(seed)  # noqa: TID251  # made-up cases, no noise


def random_ranges(cells: int, size: int, seed: int) -> Ranges:
    left, right = np.sort(drawn(seed).integers(1, cells + 1, (2, size)), axis=0)
    return Ranges(cells, left, right)


def brute_force(table: np.ndarray, axes: list[Ranges]) -> np.ndarray:
    places = range(axes[0].size)
    return np.array([table[tuple(slice(axis.left[i] - 1, axis.right[i]) for axis in axes)].sum() for i in places])


def test_boxes_equal_the_sums_of_their_cells() -> None:
    for case in itertools.product(SHAPES, ["integers", "floats", "fortran", "flags"]):
        shape, kind = case
        generator = drawn(5)
        table = generator.integers(-9, 10, shape) if kind == "integers" else generator.normal(size=shape)
        table = {"fortran": np.asfortranarray(table), "flags": table > 0}.get(kind, table)
        axes = [random_ranges(size, 150, place) for place, size in enumerate(shape)]
        kept = table.copy()
        np.testing.assert_allclose(
            box_sums(table, axes), brute_force(table, axes), rtol=1e-12, atol=1e-11, err_msg=str(case)
        )
        np.testing.assert_array_equal(table, kept, err_msg=str(case))


def test_every_box_of_a_small_table() -> None:
    table = drawn(1).integers(0, 100, (4, 3, 5))
    sides = [[(a, b) for a in range(1, n + 1) for b in range(a, n + 1)] for n in table.shape]
    ends = np.array(list(itertools.product(*sides)))
    axes = [Ranges(n, ends[:, k, 0], ends[:, k, 1]) for k, n in enumerate(table.shape)]
    np.testing.assert_array_equal(box_sums(table, axes), brute_force(table, axes))


def test_whole_numbers_are_exact_where_floats_would_not_be() -> None:
    table = np.array([2**60, 1, -(2**60), 3, 5])
    found = box_sums(table, [Ranges(5, np.array([2, 1, 4]), np.array([2, 3, 5]))])
    assert found.tolist() == [1.0, 1.0, 8.0]
    assert box_sums(table.astype(float), [Ranges(5, np.array([2]), np.array([2]))])[0] == 0.0  # the control


def test_more_boxes_than_one_chunk() -> None:
    table = np.arange(1, 31).reshape(5, 6)
    axes = [random_ranges(5, 2 * CHUNK + 7, 1), random_ranges(6, 2 * CHUNK + 7, 2)]
    found = box_sums(table, axes)
    for place in (0, CHUNK - 1, CHUNK, 2 * CHUNK + 6):
        one = [Ranges(axis.cells, axis.left[[place]], axis.right[[place]]) for axis in axes]
        assert found[place] == brute_force(table, one)[0]


@pytest.mark.slow
def test_the_error_stays_within_the_stated_bound_and_below_plain_running_sums() -> None:
    cells = 1 << 18
    table = drawn(3).random(cells) * (2e12 / cells)
    ranges = random_ranges(cells, 2000, 4)
    exact = np.concatenate([[Fraction(0)], list(itertools.accumulate(map(Fraction, table.tolist())))])
    want = (exact[ranges.right] - exact[ranges.left - 1]).astype(float)
    error = np.abs(box_sums(table, [ranges]) - want).max()
    plain = np.concatenate([[0.0], np.cumsum(table)])
    assert error <= (2 * 65 * math.ceil(math.log(cells, 64)) + 4) * 2.0**-53 * table.sum()
    assert error < 1e-3
    assert np.abs(plain[ranges.right] - plain[ranges.left - 1] - want).max() > 4 * error


@pytest.mark.parametrize("axes", [[], [Ranges(4, np.array([1]), np.array([2]))], [random_ranges(3, 2, 0)] * 2])
def test_ranges_of_another_table_are_refused(axes: list[Ranges]) -> None:
    with pytest.raises(ValueError, match=r"expected ranges for the axes \(3, 4\)"):
        box_sums(np.zeros((3, 4)), axes)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="as many ranges along every axis"):
        box_sums(np.zeros((3, 4)), [random_ranges(3, 2, 0), random_ranges(4, 3, 0)])
