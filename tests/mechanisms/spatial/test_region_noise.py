"""RegionNoise against the dense covariance of counts that were moved to their regions' totals."""

import numpy as np

from dpress.core.grid import Grid, Rectangles
from dpress.mechanisms.spatial.region_noise import RegionNoise

SIDE = 4
LAYERS = (np.array([[3.0]]), np.array([[1.0, 2.0], [5.0, 0.0]]))
SOME = Rectangles(*(np.array(end) for end in ([0.0, 0.5, 1.0], [4.0, 3.25, 2.0], [0.0, 1.0, 0.2], [4.0, 2.5, 3.9])))


def dense() -> np.ndarray:
    total = np.zeros((SIDE**2, SIDE**2))
    for layer in LAYERS:
        width = SIDE // len(layer)
        place = np.arange(SIDE) // width
        region = (place[:, None] * len(layer) + place).ravel()
        same = region[:, None] == region
        own = layer.ravel()[region]
        total += np.diag(own) - same * own / width**2
    return total


def weights() -> np.ndarray:
    edges = np.arange(SIDE)
    across, up = (
        np.clip(np.minimum(high[:, None], edges + 1) - np.maximum(low[:, None], edges), 0, 1)
        for low, high in ((SOME.left, SOME.right), (SOME.bottom, SOME.top))
    )
    return (across[:, :, None] * up[:, None]).reshape(len(across), -1)


def test_rectangles_and_cells_have_the_variance_of_the_dense_covariance() -> None:
    noise, covariance = RegionNoise(grid=Grid(SIDE), layers=LAYERS), dense()
    found = noise.variances(SOME)
    assert np.allclose(found, np.einsum("mi,ij,mj->m", weights(), covariance, weights()))
    assert abs(found[0]) < 1e-12  # everybody is known
    assert found[1] > 1
    assert np.allclose(noise.cells().ravel(), np.diag(covariance))
