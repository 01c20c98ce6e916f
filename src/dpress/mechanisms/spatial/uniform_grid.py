"""`uniform_grid`: one noisy count per cell of a grid whose side suits the number of points and the budget.

exact counts of cells + noise -> rectangles add up their cells, a cut one by the share of its area.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.grid import LARGEST_SIDE, Grid
from dpress.core.maps.linear import Identity
from dpress.core.methods.mechanism import Card, Strategy
from dpress.inference.least_squares import LeastSquares
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.spatial.central_map import CentralMap, fourth_root, precision
from dpress.mechanisms.spatial.grids import BySide

PER_CELL = 10
"""c of the paper: a cell should hold about c / epsilon points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformGrid(Strategy):
    """One query per cell of a grid.

    Promise: sensitivity 1 (add-remove), 2 (replace-one); see `MatrixMechanism`.
    Error: of a rectangle the noise variance times the sum of its squared shares of the cells.
    Paper: Qardaji, Yang and Li 2013, UG.

    Args:
        grid: of any side.
    """

    grid: Grid

    @property
    def map(self) -> Identity:
        """The cells."""
        return Identity(self.grid.cells)

    @property
    def decoder(self) -> LeastSquares:
        """Sums of noisy cells."""
        return LeastSquares(self.map, (self.grid.cells,))


def best_side(users: int, loss: Loss, unit: Unit) -> int:
    """Return the paper's m = sqrt(N epsilon / c), rounded up, at most 1024.

    Args:
        users: N, the expected number of points; public.
        loss: epsilon, or rho, which stands for the epsilon whose noise is as large.
        unit: under replace-one, and with several rows a person, epsilon is that much smaller.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> best_side(100_000, PureDP(epsilon=1), Unit())
    100
    """
    noise = MatrixMechanism(strategy=UniformGrid(grid=Grid(2)), loss=loss, unit=unit).noises[0]
    return min(fourth_root(Fraction(users, PER_CELL) ** 2 * precision(noise)), LARGEST_SIDE)


def uniform_grid(grid: Grid, loss: Loss, *, unit: Unit) -> CentralMap | None:
    """Return the noisy counts of a grid's cells, used as they are; None for other losses.

    Args:
        grid: of any side; `best_side` is the paper's.
        loss: pure epsilon or zCDP.
        unit: whom the promise protects.
    """
    if not loss.additive:
        return None
    return CentralMap(grid=grid, strategy=UniformGrid(grid=grid), loss=loss, unit=unit)


def _example(loss: Loss, unit: Unit) -> CentralMap:
    method = uniform_grid(Grid(3), loss, unit=unit)
    if method is None:
        raise NotSupported("uniform_grid is calibrated to epsilon or rho")
    return method


CARD = Card(
    name="uniform_grid",
    family="spatial",
    model="central",
    paper="spatial: What dpress adds (UG of Qardaji, Yang, Li 2013)",
    summary="One noisy count per cell of a grid: unbiased, an exact error, poor for large rectangles.",
    method=UniformGrid,
    example=_example,
    spatial=uniform_grid,
    grids=lambda users, loss, unit: (Grid(best_side(users, loss, unit)),),
    parameters=BySide,
)
