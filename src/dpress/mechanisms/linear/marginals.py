"""`marginals`: several marginal tables are measured, and least squares makes them agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import Parameters
from dpress.core.maps.linear import Marginal, Stack
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card
from dpress.inference.consistency import ConsistentTables
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

MOST_SETS = 1000  # consistency compares every table with every other


@dataclass(frozen=True, slots=True)
class Marginals:
    """A set of tables over some axes of a table that may be far too large to form.

    Promise: each of the t tables gets its share of the loss (equal unless stated), and is a histogram of its own:
    sensitivity 1 (add-remove), 2 (replace-one). The shares add up by basic composition; see `MatrixMechanism`.
    Error: exact for every product query, after consistency: `inference.consistency.query_variance`.
    Paper: foundations, histogram and basic composition; consistency after Xiao, He, Zhang and Kifer 2023.

    Args:
        shape: the number of cells along every axis.
        sets: the axes of every table, each a different set.
        shares: the tables' shares of the loss, adding up to 1; empty for equal shares.
    """

    shape: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    shares: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if not self.sets or len({frozenset(axes) for axes in self.sets}) != len(self.sets):
            raise ValueError(f"marginals need at least one table, each over a different set of axes, got {self.sets}")

    @property
    def map(self) -> Stack[Marginal]:
        """The tables, one below the other."""
        return Stack(tuple(Marginal(self.shape, axes) for axes in self.sets))

    @property
    def decoder(self) -> ConsistentTables:
        """Least squares over all tables together."""
        return ConsistentTables(self.map)


def _strategy(workload: Workload, _loss: Loss, shares: Sequence[check.Number] = ()) -> Marginals | None:
    if not workload.tables or workload.tables == (tuple(range(len(workload.shape))),):
        return None  # the full table alone is `identity`
    if len(workload.tables) > MOST_SETS:
        return None
    fractions = tuple(check.exact("shares", share) for share in shares)
    return Marginals(workload.shape, workload.tables, fractions)


class Settings(Parameters, frozen=True):
    """How the tables share the budget."""

    shares: (
        Annotated[
            list[Fraction],
            Meta(
                title="a list of numbers, one for each table",
                description='each table\'s share of the budget, in order, numbers or texts such as "1/3" that add up '
                "to exactly 1; equal unless stated",
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="marginals",
    family="linear",
    model="central",
    paper="foundations: histograms and basic composition (consistency: Xiao, He, Zhang, Kifer 2023)",
    summary="Several tables over a few attributes each, made to agree with one another.",
    method=Marginals,
    example=lambda loss, unit: MatrixMechanism(
        strategy=Marginals((2, 3, 2), ((0, 1), (1, 2), (0,))), loss=loss, unit=unit
    ),
    strategy=_strategy,
    parameters=Settings,
)
