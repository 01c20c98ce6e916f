"""`priview`: a few wider tables are measured, which together hold every table that is asked for."""

import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.linear import Marginal, Numbers, Stack
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card
from dpress.core.methods.table_sums import Rows
from dpress.inference.consistency import ConsistentTables
from dpress.mechanisms.linear.marginals import MOST_SETS
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

if TYPE_CHECKING:
    from dpress.mechanisms.linear.view_cover import Cover

MOST_SUBSETS = 1 << 16  # of the tables' attributes, with repetition: a cover of so many is found in seconds
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Priview:
    """Views: tables over more attributes than are asked for together, of which the asked ones are sums.

    Promise: a row is in one cell of every view, so each is a histogram of its own: sensitivity 1 (add-remove), 2
    (replace-one). Their shares add up by basic composition; see `MatrixMechanism`.
    Error: exact for every product query whose attributes lie in one view: `inference.consistency.query_variance`.
    Paper: Qardaji, Yang and Li 2014 (views that cover); the choice of views and shares is ours.

    Args:
        shape: the number of cells along every axis.
        tables: the axes of every table that is asked for.
        views: the axes of every view; each table lies within one.
        shares: of the loss, one a view, adding up to 1.
    """

    shape: tuple[int, ...]
    tables: tuple[Axes, ...]
    views: tuple[Axes, ...]
    shares: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        views = [*map(frozenset, self.views)]
        outside = [table for table in self.tables if not any(view.issuperset(table) for view in views)]
        if outside or not self.tables or len({*map(frozenset, self.tables)}) != len(self.tables):
            raise ValueError(f"tables must be at least one, each another, and lie within views; outside: {outside}")

    @property
    def map(self) -> Stack[Marginal]:
        """The views, one below the other."""
        return Stack(tuple(Marginal(self.shape, axes) for axes in self.views))

    @property
    def decoder(self) -> ConsistentTables:
        """Least squares over all views together."""
        return ConsistentTables(self.map, self.tables)

    def counted(self, rows: Rows) -> Numbers:
        """Return the exact counts of the views."""
        return rows.tables(self.views)


@functools.lru_cache(maxsize=8)
def _cover(shape: tuple[int, ...], tables: tuple[Axes, ...]) -> "Cover":
    from dpress.mechanisms.linear.view_cover import best_cover  # noqa: PLC0415  # only where tables are planned

    return best_cover(shape, tables)


def _strategy(workload: Workload, loss: Loss) -> Priview | None:
    """Return the views for several tables under pure epsilon; of one table, and under rho, others are the best."""
    if loss.tail != "laplace" or not 1 < len(workload.tables) <= MOST_SETS:
        return None
    if sum(1 << len(table) for table in workload.tables) > MOST_SUBSETS:
        return None
    held = {axis for table in workload.tables for axis in table}
    single = {axis for axis in held if workload.shape[axis] == 1}  # every view may have them: they split no cell
    tables = dict.fromkeys(tuple(sorted({*table} - single)) for table in workload.tables)
    cover = _cover(workload.shape, tuple(tables))
    views = tuple(tuple(sorted({*view} | single)) for view in cover.views)
    return Priview(workload.shape, workload.tables, views, cover.shares)


CARD = Card(
    name="priview",
    family="linear",
    model="central",
    paper="foundations: views that cover (Qardaji, Yang, Li 2014; the choice of views and shares is ours)",
    summary="Several tables from a few wider ones that hold them all: the least error under epsilon.",
    method=Priview,
    example=lambda loss, unit: MatrixMechanism(
        strategy=Priview((2, 3, 2), ((0, 1), (1, 2)), ((0, 1, 2), (1,)), (Fraction(3, 4), Fraction(1, 4))),
        loss=loss,
        unit=unit,
    ),
    strategy=_strategy,
)
