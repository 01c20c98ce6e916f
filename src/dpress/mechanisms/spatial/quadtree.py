"""`quadtree`: noisy counts of all nodes of a quadtree below its root, made consistent and >= 0 from the top down.

exact counts of nodes + noise -> every node's best estimate from its own subtree -> families add up to their parent.
"""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import LARGEST_SIDE, Grid
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.spatial.central_map import CentralMap, Reconstruction, fourth_root, precision
from dpress.mechanisms.spatial.grids import ByHeight
from dpress.mechanisms.spatial.uniform_grid import UniformGrid

DEEPEST = 9  # unless the height is named: the error of a map without counts below 0 is by bootstrap, seconds beyond
PER_USER = 8
"""Leaves for each point and unit of epsilon: many, for empty nodes cost little once no count is below 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quadtree(Strategy):
    """All nodes of the quadtree over a grid but its root, with the same noise on every level.

    Promise: sensitivity h (add-remove), 2 h (replace-one), h the height; see `MatrixMechanism`.
    Error: `CentralMap`. The root is left out: it would cost one share in h + 1, and its children tell as much.
    Paper: Hay et al. 2010 in two dimensions; Cormode, Procopiuc, Srivastava, Shen and Yu 2012 (complete quadtrees).

    Args:
        grid: of side 2^h, h at least 1.
    """

    grid: Grid

    def __post_init__(self) -> None:
        if not self.grid.height:
            raise ValueError(f"a quadtree needs a grid of side 2^h, h >= 1, got side={self.grid.side}")

    @property
    def map(self) -> Tree:
        """All measured nodes."""
        return Tree(self.grid.cells, 4, root=False)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares on the tree."""
        return LeastSquares(self.map, (self.grid.cells,))


def best_height(users: int, loss: Loss, unit: Unit) -> int:
    """Return the height whose 4^h leaves are about 8 N epsilon, rounded up; from 1 to 10.

    Args:
        users: N, the expected number of points; public.
        loss: epsilon, or rho, which stands for the epsilon whose noise on a count is as large.
        unit: under replace-one, and with several rows a person, epsilon is that much smaller.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> best_height(100_000, PureDP(epsilon="0.1"), Unit())
    9
    """
    noise = MatrixMechanism(strategy=UniformGrid(grid=Grid(2)), loss=loss, unit=unit).noises[0]
    side = fourth_root((PER_USER * users) ** 2 * precision(noise))
    return min(max((side - 1).bit_length(), 1), LARGEST_SIDE.bit_length() - 1)


def quadtree(
    grid: Grid, loss: Loss, *, unit: Unit, reconstruction: Reconstruction = "nonnegative"
) -> CentralMap | None:
    """Return the quadtree over a grid; None for other losses and grids.

    Args:
        grid: of side 2^h, h at least 1; `best_height` is a good one.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        reconstruction: of the cells: "nonnegative", biased and much nearer to the truth where many nodes are
            empty; or "least_squares", unbiased with an exact error.
    """
    if not loss.additive or not grid.height:
        return None
    return CentralMap(grid=grid, strategy=Quadtree(grid=grid), loss=loss, unit=unit, reconstruction=reconstruction)


def _example(loss: Loss, unit: Unit) -> CentralMap:
    method = quadtree(Grid(4), loss, unit=unit)
    if method is None:
        raise NotSupported("quadtree is calibrated to epsilon or rho")
    return method


class Settings(ByHeight, frozen=True):
    """The quadtree, and how cells are estimated from it."""

    reconstruction: (
        Annotated[
            Reconstruction,
            Meta(description='how cells are estimated from the nodes\' counts; "nonnegative" unless stated'),
        ]
        | None
    ) = None


CARD = Card(
    name="quadtree",
    family="spatial",
    model="central",
    paper="spatial: What dpress adds (Hay et al. 2010; Cormode et al. 2012)",
    summary="Noisy counts of a quadtree's nodes, consistent and >= 0 from the top down: good for any rectangle.",
    method=Quadtree,
    example=_example,
    spatial=quadtree,
    grid=lambda users, loss, unit: Grid(1 << min(best_height(users, loss, unit), DEEPEST)),
    parameters=Settings,
)
