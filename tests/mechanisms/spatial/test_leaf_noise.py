"""What leaves hide, against the sum over every leaf."""

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles
from dpress.inference.maps.density import TreeNoise
from dpress.mechanisms.spatial.leaf_noise import CLUSTERED, LeafNoise


def test_the_error_of_cut_leaves_is_the_sum_over_them():
    images = [np.zeros((1, 1)), np.array([[8.0, 0.0], [0.0, 0.0]]), np.zeros((4, 4))]
    images[2][3, 3] = 6.0
    own = LeafNoise(noise=TreeNoise(grid=Grid(8), levels=(0.0, 0.0, 0.0, 2.0)), images=images)
    asked = Rectangles(
        *map(np.array, ([0.0, 2.0, 0.0, 6.0], [4.0, 8.0, 8.0, 7.0], [0.0, 1.0, 0.0, 6.0], [4.0, 8.0, 8.0, 8.0]))
    )
    alone = own.noise.variances(asked)
    share = 2 * 3 / 16
    wanted = [0.0, 64 * share * (1 - share), 0.0, 36 / 4]
    assert np.allclose(own.variances(asked) - alone, CLUSTERED * np.array(wanted))
    cells = own.cells()
    assert cells.shape == (8, 8)
    one = Rectangles(*map(np.array, ([1.0, 7.0, 0.0], [2.0, 8.0, 1.0], [3.0, 6.0, 7.0], [4.0, 7.0, 8.0])))
    assert np.allclose(own.variances(one), cells[[1, 7, 0], [3, 6, 7]])
    assert cells[0, 7] == own.noise.cells()[0, 7]
