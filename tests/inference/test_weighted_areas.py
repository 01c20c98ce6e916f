"""Areas of any shape on a map: where they are rectangles, the count and the error are those of rectangles."""

import numpy as np
import pytest
from tests.kinds.conftest import mapped, mapped_table

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.grid import Rectangles

pytestmark = pytest.mark.slow
RECTANGLES = (
    (0.0, 8.0, 0.0, 8.0),
    (2.0, 4.0, 4.0, 8.0),
    (0.25, 6.5, 1.0, 3.0),
    (3.3, 3.7, 0.0, 7.1),
    (5.0, 6.0, 5.0, 6.0),
)


def shares_of(side: int, left: float, right: float, bottom: float, top: float) -> np.ndarray:
    """Return the share of every cell that lies in a rectangle."""
    places = np.arange(side)
    across = np.clip(np.minimum(right, places + 1) - np.maximum(left, places), 0, 1)
    up = np.clip(np.minimum(top, places + 1) - np.maximum(bottom, places), 0, 1)
    return np.outer(across, up)


@pytest.mark.parametrize(
    "release",
    [
        *(lambda method=method: mapped_table(method) for method in ("quadtree", "uniform_grid", "adaptive_grid")),
        *(lambda method=method: mapped(method) for method in ("gtr_top_down", "gtr", "qt_krr", "krr", "psda")),
    ],
)
def test_an_area_that_is_a_rectangle_has_its_count_and_its_error(release) -> None:
    density = release().answers.density
    side = density.grid.side
    for ends in np.array(RECTANGLES) * side / 8:
        rectangle = Rectangles(*(np.array([end]) for end in ends))
        value, variance = density.weighted(shares_of(side, *ends))
        assert value == pytest.approx(density.values(rectangle)[0], rel=1e-6, abs=1e-6)
        assert variance == pytest.approx(density.variances(rectangle)[0], rel=1e-6, abs=1e-6)


def test_the_error_of_an_area_is_that_of_its_noise_whatever_its_shape() -> None:
    """Of independent cells the variances add up; those of a tree do not."""
    cells, tree = (mapped_table(method).answers.density for method in ("uniform_grid", "quadtree"))
    shape = np.tri(cells.grid.side)
    one = cells.cell_variances()[0, 0]
    assert cells.noise.weighted(shape) == pytest.approx(one * shape.sum())
    triangle = np.tri(tree.grid.side)
    assert tree.weighted(triangle)[1] < 0.9 * (tree.cell_variances() * triangle).sum()


def test_areas_are_refused_where_errors_are_known_of_rectangles_alone() -> None:
    density = mapped("ahead").answers.density
    with pytest.raises(NotSupported, match="of rectangles alone"):
        density.weighted(np.ones((density.grid.side,) * 2))
