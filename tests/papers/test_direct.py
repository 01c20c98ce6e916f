"""The direct method's error is that of its reports; Theorem 6, the crossover and the nodes that it counts."""

import math

import numpy as np
import pytest
from papers.direct import crossover, direct, direct_laplace, largest, nodes_used

from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import TreeNoise
from dpress.mechanisms.oracle.oue import Oue
from dpress.noise.laplace import DiscreteLaplace

SIDE = 8


def rectangles(*ends: tuple[float, float, float, float]) -> Rectangles:
    return Rectangles(*np.array(ends, dtype=np.float64).T)


def every(side: int) -> Rectangles:
    """All rectangles of whole cells, half of them moved by less than a cell."""
    ends = [(a, b, c, d) for a in range(side) for b in range(a + 1, side + 1) for c in range(2) for d in (3, side)]
    return rectangles(*ends, *((a + 0.25, b - 0.25, c, d - 0.5) for a, b, c, d in ends))


def answered(ends: tuple[float, ...], across: float, up: float, width: float) -> int:
    """The document's TDT, node by node."""
    left, right, bottom, top = ends
    if right <= across or left >= across + width or top <= bottom or top <= up or bottom >= up + width:
        return 0
    within = left <= across and across + width <= right and bottom <= up and up + width <= top
    if within or width == 1:
        return 1
    half = width / 2
    return sum(answered(ends, across + half * i, up + half * j, half) for i in (0, 1) for j in (0, 1))


def test_nodes_are_those_that_the_traversal_uses() -> None:
    given = every(SIDE)
    each = zip(given.left, given.right, given.bottom, given.top, strict=True)
    wanted = [answered(tuple(map(float, ends)), 0, 0, SIDE) for ends in each]
    found = nodes_used(Grid(SIDE), given)
    assert found.tolist() == wanted
    assert len(set(wanted)) > 10


def test_the_direct_method_errs_as_its_reports_do() -> None:
    """Exact: the counts of cells that nobody is in have the oracle's variance, which adds up over the cells."""
    for epsilon in (0.5, 1.0, 2.0):
        own = Oue(size=SIDE**2, loss=PureDP(epsilon=epsilon))
        assert direct(12, 1000, epsilon) == pytest.approx(12 * own.variance(1000, 0.0), rel=1e-6)
        assert direct(12, 1000, epsilon) != pytest.approx(12 * own.variance(1000, 0.0) * 1.03, rel=1e-2)


def test_the_laplace_variant_is_noise_of_scale_two_over_epsilon() -> None:
    """A user's cell on a fine lattice: the variance of the sampler's own distribution."""
    step = 1 / 1024
    own = DiscreteLaplace(scale=2 / 0.5 / step)
    assert direct_laplace(3, 10, 0.5) == pytest.approx(30 * own.variance * step**2, rel=1e-4)


def test_theorem_6_is_the_variance_of_eight_levels_and_crosses_at_eight_cells_a_node() -> None:
    users, epsilon = 5000, 0.7
    assert largest(6, users, epsilon) == pytest.approx(8 * direct(6, users, epsilon))
    assert direct(crossover(6), users, epsilon) == pytest.approx(largest(6, users, epsilon))
    assert largest(1, users, epsilon) == pytest.approx(32 * users * math.exp(0.7) / (math.exp(0.7) - 1) ** 2)


@pytest.mark.parametrize("side", [8, 32, 128])
def test_least_squares_stays_below_the_theorem_and_nodes_are_no_constant(side: int) -> None:
    """The exact variance over the tree, in units of the direct method's for a cell; a grid of 8 levels has side 128."""
    grid, levels = Grid(side), int(math.log2(side)) + 1
    given = rectangles((1, side - 1, 1, side - 1), (0, side, 0, side), (1, 2, 1, 2))
    exact = TreeNoise(grid=grid, levels=(float(levels),) * levels).variances(given)
    nodes = nodes_used(grid, given)
    bound: Array = np.array([largest(one, 1, 1.0) for one in nodes]) / direct(1, 1, 1.0)
    assert (exact <= bound).all()
    assert not (exact <= bound / 8).all()  # a bound without the levels would not hold
    assert nodes[0] > 2 * side


@pytest.mark.parametrize(
    ("users", "epsilon", "message"), [(0, 1.0, "users must be"), (10, 0.0, "epsilon must be > 0, got epsilon=0")]
)
def test_bad_arguments_are_refused(users: int, epsilon: float, message: str) -> None:
    for own in (direct, direct_laplace, largest):
        with pytest.raises(ValueError, match=message):
            own(1, users, epsilon)
    with pytest.raises(ValueError, match="power of two, got side=6"):
        nodes_used(Grid(6), rectangles((0, 1, 0, 1)))
