"""`quadtree`: noisy counts of the nodes of a quadtree below its root, made consistent and >= 0 from the top down.

exact counts of nodes + noise -> every node's best estimate from its own subtree -> families add up to their parent.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import LARGEST_SIDE, Grid
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Card, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.spatial.central_map import CentralMap, Reconstruction
from dpress.mechanisms.spatial.grids import ByHeight

Branching = Literal[4, 16]
HEIGHTS = range(4, LARGEST_SIDE.bit_length())
BRANCHING: dict[int, Branching] = {1: 16, 2: 4}
"""By the order of the loss: m levels have noise of a variance proportional to m^2 under epsilon, to m under rho."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quadtree(Strategy):
    """Nodes of the quadtree over a grid but its root: of all levels, or of every second, with the same noise.

    Promise: sensitivity m (add-remove), 2 m (replace-one), m the measured levels: h, or h / 2 rounded up under
    branching 16; see `MatrixMechanism`.
    Error: `CentralMap`. The root is left out: it would cost one share, and its children tell as much. Every second
    level, from the cells up, has a quarter of the variance under epsilon and half of it under rho; rectangles are sums
    of more nodes. That pays under epsilon and does not under rho (`bench/map_choice.py`).
    Paper: Hay et al. 2010 in two dimensions; Cormode, Procopiuc, Srivastava, Shen and Yu 2012 (complete quadtrees);
    the branching after Qardaji, Yang and Li 2013 (hierarchical methods).

    Args:
        grid: of side 2^h, h at least 1.
        branching: 4 for all levels, 16 for every second.
    """

    added_later: ClassVar[tuple[str, ...]] = ("branching",)
    grid: Grid
    branching: Branching = 4

    def __post_init__(self) -> None:
        if not self.grid.height:
            raise ValueError(f"a quadtree needs a grid of side 2^h, h >= 1, got side={self.grid.side}")

    @property
    def map(self) -> Tree:
        """All measured nodes."""
        return Tree(self.grid.cells, self.branching, root=False)

    @property
    def decoder(self) -> LeastSquares:
        """Least squares on the tree."""
        return LeastSquares(self.map, (self.grid.cells,))


def grids(users: int, loss: Loss, unit: Unit) -> tuple[Grid, ...]:
    """Return those that a plan compares: heights 4 to 10; under epsilon even ones, whose first level has 16 nodes.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> [grid.side for grid in grids(1000, PureDP(epsilon=1), Unit())]
    [16, 64, 256, 1024]
    """
    del users, unit
    return tuple(Grid(1 << height) for height in HEIGHTS if loss.order > 1 or height % 2 == 0)


def quadtree(
    grid: Grid, loss: Loss, *, unit: Unit, reconstruction: Reconstruction = "nonnegative"
) -> CentralMap | None:
    """Return the quadtree over a grid; None for other losses and grids.

    Args:
        grid: of side 2^h, h at least 1.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
        reconstruction: of the cells: "nonnegative", biased and much nearer to the truth where many nodes are
            empty; or "least_squares", unbiased with an exact error.
    """
    if not loss.additive or not grid.height:
        return None
    strategy = Quadtree(grid=grid, branching=BRANCHING[loss.order])
    return CentralMap(grid=grid, strategy=strategy, loss=loss, unit=unit, reconstruction=reconstruction)


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
    grids=grids,
    parameters=Settings,
)
