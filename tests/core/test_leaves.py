"""Leaves of uneven depth: every cell in one of them, named by its path."""

import numpy as np
import pytest

from dpress.core.maps.grid import Grid
from dpress.core.maps.leaves import named, root


def test_splitting_keeps_every_cell_in_exactly_one_leaf_in_order():
    leaves = root().split(np.array([True])).split(np.array([False, True, False, True]))
    assert leaves.names == ("0", "10", "11", "12", "13", "2", "30", "31", "32", "33")
    values = leaves.values(3)
    assert np.array_equal(np.unique(values, return_counts=True)[1], 4 ** (3 - leaves.levels))
    assert (np.diff(values) >= 0).all()
    assert leaves.rows.tolist() == [1, 9, 10, 11, 12, 3, 17, 18, 19, 20]


def test_a_name_is_the_beginning_of_the_codes_of_its_cells():
    grid, leaves = Grid(8), named(("0", "1", "20", "21", "22", "230", "231", "232", "233", "3"), 3)
    across, up = np.indices((8, 8)).reshape(2, -1)
    for code, leaf in zip(grid.code(across, up), leaves.values(3)[grid.code(across, up)], strict=True):
        digits = "".join(str(code >> 2 * level & 3) for level in (2, 1, 0))
        assert digits.startswith(leaves.names[leaf])


@pytest.mark.parametrize(
    "names",
    [(), ("0", "1", "2"), ("0", "1", "3", "2"), ("0", "1", "2", "3", "3"), ("0", "1", "2", "4"), ("",),
     ("0", "00", "1", "2", "3"), ("000", "1", "2", "3"), ("0", "1", "2", 3), ("0", "1", "2", "٣")],
)  # fmt: skip
def test_what_is_no_partition_is_refused(names):
    with pytest.raises(ValueError, match="expected paths"):
        named(names, 2)
