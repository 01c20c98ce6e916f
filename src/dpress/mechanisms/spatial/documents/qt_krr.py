"""`qt_krr`: the rival: a quadtree, one random level a user by k-ary randomised response, without consistency.

position -> one level out of h + 1 -> its node through k-ary randomised response -> noisy counts, from the top.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import Grid
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.spatial.grids import ByHeight
from dpress.mechanisms.spatial.levels import Levels, example, of_all_levels


@dataclass(frozen=True, slots=True, kw_only=True)
class QtKrr(Levels):
    """The quadtree with k-ary randomised response, its noisy counts used as they are.

    Promise: pure epsilon between any two positions, local model, that of k-ary randomised response; proven.
    Error: the sum of the variances of the nodes that a query uses from the top (`inference.maps.density.Nodes`), exact.
    Paper: Zhang, Fu, Meng, QT-KRR.
    """


def qt_krr(grid: Grid, loss: Loss) -> QtKrr | None:
    """Return the method over a grid; None where it does not serve.

    Args:
        grid: of side 2^h.
        loss: epsilon.
    """
    return of_all_levels(QtKrr, grid, loss, Krr, reconstruction="top_down")


CARD = Card(
    name="qt_krr",
    family="spatial",
    model="local",
    paper="spatial: QT-KRR (Zhang, Fu, Meng)",
    summary="Quadtree, one random level a user, k-ary randomised response, no consistency; the document's rival.",
    method=QtKrr,
    example=lambda loss, unit: example(qt_krr, loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=qt_krr,
    parameters=ByHeight,
)
