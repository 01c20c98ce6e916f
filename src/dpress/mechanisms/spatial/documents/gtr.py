"""`gtr`: the document's grid and quadtree: one random level a user, OUE on its nodes, least squares.

position -> one level out of h + 1 -> one-hot over its nodes through OUE -> counts of all nodes -> consistent counts.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.spatial.grids import ByHeight
from dpress.mechanisms.spatial.levels import Levels, example, of_all_levels


@dataclass(frozen=True, slots=True, kw_only=True)
class Gtr(Levels):
    """GT-R over a grid, as published: the root, which everybody is in, is one of the levels.

    Promise: pure epsilon between any two positions, local model, that of OUE; proven.
    Error: `Levels`; a rectangle's is exact, a cut cell counts by the share of its area.
    Paper: Zhang, Fu, Meng, GT-R; OUE by Wang, Blocki, Li, Jha 2017; consistency by Hay et al. 2010.
    """


def gtr(grid: Grid, loss: Loss) -> Gtr | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of side 2^h.
        loss: epsilon.
    """
    return of_all_levels(Gtr, grid, loss, Oue)


CARD = Card(
    name="gtr",
    family="spatial",
    model="local",
    paper="spatial: GT-R (Zhang, Fu, Meng)",
    summary="Quadtree over a grid, one random level a user with OUE, made consistent by least squares; as published.",
    method=Gtr,
    example=lambda loss, unit: example(gtr, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=gtr,
    parameters=ByHeight,
)
