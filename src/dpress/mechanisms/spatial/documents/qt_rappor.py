"""`qt_rappor`: the rival: a quadtree, one random level a user by basic one-time RAPPOR, without consistency.

position -> one level out of h + 1 -> its node through basic one-time RAPPOR -> noisy counts, from the top.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.oracle.sue import Sue
from dpress.mechanisms.spatial.grids import ByHeight
from dpress.mechanisms.spatial.levels import Levels, example, of_all_levels


@dataclass(frozen=True, slots=True, kw_only=True)
class QtRappor(Levels):
    """The quadtree with basic one-time RAPPOR, its noisy counts used as they are.

    Promise: pure epsilon between any two positions, local model, that of basic one-time RAPPOR; proven.
    Error: the sum of the variances of the nodes that a query uses from the top (`inference.maps.density.Nodes`), exact.
    Paper: Zhang, Fu, Meng, QT-RAPPOR.
    """


def qt_rappor(grid: Grid, loss: Loss) -> QtRappor | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of side 2^h.
        loss: epsilon.
    """
    return of_all_levels(QtRappor, grid, loss, Sue, reconstruction="top_down")


CARD = Card(
    name="qt_rappor",
    family="spatial",
    model="local",
    paper="spatial: QT-RAPPOR (Zhang, Fu, Meng)",
    summary="Quadtree, one random level a user, basic one-time RAPPOR, no consistency; the document's rival.",
    method=QtRappor,
    example=lambda loss, unit: example(qt_rappor, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=qt_rappor,
    parameters=ByHeight,
)
