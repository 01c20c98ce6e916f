"""`n_gtr`: the document's local perturbation on the grid alone: OUE over all cells, no tree.

position -> one-hot over the cells through OUE -> counts of the cells.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.spatial.grids import ByGrid
from dpress.mechanisms.spatial.levels import Levels, example


@dataclass(frozen=True, slots=True, kw_only=True)
class NGtr(Levels):
    """The flat version of GT-R over a grid.

    Promise: pure epsilon between any two positions, local model, that of OUE; proven.
    Error: 4 e^epsilon / (e^epsilon - 1)^2 a user for every cell, so that a rectangle's grows with the cells in it.
    Paper: Zhang, Fu, Meng, N-GT-R; OUE by Wang, Blocki, Li, Jha 2017.
    """


def n_gtr(grid: Grid, loss: Loss) -> NGtr | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of any side.
        loss: epsilon.
    """
    if (pure_loss := as_pure(loss)) is None:
        return None
    level = grid.height or 0
    return NGtr(grid=grid, levels=(level,), oracles=(Oue(size=grid.cells, loss=pure_loss),), flat=True)


CARD = Card(
    name="n_gtr",
    family="spatial",
    model="local",
    paper="spatial: N-GT-R (Zhang, Fu, Meng)",
    summary="OUE over the cells of a grid, no tree; as published.",
    method=NGtr,
    example=lambda loss, unit: example(n_gtr, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=n_gtr,
    parameters=ByGrid,
)
