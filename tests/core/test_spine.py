"""Trees of regions: sums by level against a dense matrix, and what is no tree."""

import numpy as np
import pytest

from dpress.core.maps.spine import Spine


def uneven() -> Spine:
    return Spine(starts=(np.array([0, 3]), np.array([0, 1, 4, 6]), np.array([0, 2, 3, 4, 5, 8, 9])))


def test_a_node_is_the_sum_of_its_children_at_every_level() -> None:
    spine, leaves = uneven(), np.arange(27.0).reshape(9, 3) ** 2
    levels = spine.up(leaves)
    assert spine.sizes == (1, 3, 6, 9)
    for level in range(1, 4):
        parents = spine.parents(level)
        dense = parents == np.arange(spine.sizes[level - 1])[:, None]
        assert np.array_equal(dense @ levels[level], levels[level - 1])
    assert np.array_equal(levels[0][0], leaves.sum(axis=0))


@pytest.mark.parametrize("starts", [([1, 2],), ([0, 2], [0, 1]), ([0, 2], [0, 1, 1])])
def test_what_is_no_tree_is_refused(starts: tuple[list[int], ...]) -> None:
    with pytest.raises(ValueError, match="increasing places from 0"):
        Spine(starts=tuple(map(np.array, starts)))
