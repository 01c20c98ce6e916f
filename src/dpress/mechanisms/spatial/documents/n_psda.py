"""`n_psda`: PSDA on the grid alone: PCEP over all cells, which are everybody's safe region; no taxonomy.

position -> one sign of a random projection over the cells -> counts of the cells.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import as_pure
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.oracle.pcep import Pcep
from dpress.mechanisms.spatial.grids import ByGrid
from dpress.mechanisms.spatial.levels import Levels, example

LARGEST_SIDE = 32  # a projection of 8 side^2 rows and side^2 columns is inverted


@dataclass(frozen=True, slots=True, kw_only=True)
class NPsda(Levels):
    """The flat version of PSDA over a grid.

    Promise: pure epsilon between any two positions, local model, that of PCEP with one region; proven.
    Error: about (8 / 7) c^2 a user for every cell, c = (e^epsilon + 1) / (e^epsilon - 1), so that a rectangle's grows
        with the cells in it.
    Paper: Chen, Li, Qin, Kasiviswanathan, Jin 2016; N-PSDA as compared by Zhang, Fu, Meng.
    """


def n_psda(grid: Grid, loss: Loss) -> NPsda | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of any side up to 32.
        loss: epsilon.
    """
    if (pure_loss := as_pure(loss)) is None or grid.side > LARGEST_SIDE:
        return None
    oracle = Pcep(size=grid.cells, levels=(pure_loss,))
    return NPsda(grid=grid, levels=(grid.height or 0,), oracles=(oracle,), flat=True)


CARD = Card(
    name="n_psda",
    family="spatial",
    model="local",
    paper="spatial: N-PSDA (PCEP of Chen et al. 2016 on a grid)",
    summary="One sign of a random projection over the cells of a grid, no tree and one region; for comparison.",
    method=NPsda,
    example=lambda loss, unit: example(n_psda, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=n_psda,
    parameters=ByGrid,
)
