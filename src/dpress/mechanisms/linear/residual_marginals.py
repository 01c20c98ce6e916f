"""`residual_marginals`: what every table says beyond its smaller tables is measured once, with the best shares."""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.residuals import Residual, Residuals
from dpress.core.maps.workload import Workload
from dpress.core.methods.mechanism import Card
from dpress.inference.consistency import subsets
from dpress.inference.residual_tables import ResidualTables
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

STEPS = 2**32  # shares are whole numbers of this order over their sum
MOST_SUBSETS = 1 << 18  # as `core.maps.workload` has for the bound


@dataclass(frozen=True, slots=True)
class ResidualMarginals:
    """The residuals of the tables and of all their smaller tables, each with noise of its own.

    Promise: the residual over axes A is the integer query of the table over A, times k_i I - J along every axis i. Its
    squared L2 sensitivity is D_A = prod_{i in A} k_i (k_i - 1), so discrete Gaussian noise of variance
    D_A / (2 s_A rho) on its integers costs s_A rho. The shares add up to 1; see `MatrixMechanism`.
    Nothing rests on continuous noise.
    Error: a cell of the table over B has the variance sum over A in B of prod_{i in A} (k_i - 1) / k_i times
    v_A / prod_{i in B} k_i^2, v_A the noise's variance; exact. The mean over all cells attains, under add-remove, the
    singular value bound of Li and Miklau 2013: no strategy of the matrix mechanism does better.
    Paper: Xiao, He, Zhang, Kifer 2023, residual basis and closed form for the sum of variances.

    Args:
        shape: the number of cells along every axis, at least two along those in tables.
        tables: the axes of every table, each a different set.
    """

    shape: tuple[int, ...]
    tables: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.tables or len({frozenset(axes) for axes in self.tables}) != len(self.tables):
            raise ValueError(f"tables must be at least one, each over a different set of axes, got {self.tables}")

    @property
    def map(self) -> Residuals:
        """The residuals, one below the other."""
        return _residuals(self.shape, self.tables)

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The residuals' shares of the loss that make the sum of all cells' variances least.

        Formula: s_A proportional to sqrt(W_A prod_{i in A} (k_i - 1)^2 / k_i), W_A the sum over the tables B that hold
        A of 1 / prod_{i in B, not in A} k_i: least sum of c_A / s_A where the s_A add up to 1. It is that of
        add-remove; under replace-one the claim holds, and the shares are near the best.
        """
        weights = _weights(self.shape, self.tables)
        roots = [
            math.sqrt(weight * math.prod((self.shape[i] - 1) ** 2 / self.shape[i] for i in axes))
            for axes, weight in weights.items()
        ]
        largest = max(roots)
        whole = [max(1, round(root / largest * STEPS)) for root in roots]
        total = sum(whole)
        return tuple(Fraction(share, total) for share in whole)

    @property
    def decoder(self) -> ResidualTables:
        """Tables as sums of residuals."""
        return ResidualTables(self.map)


@functools.lru_cache(maxsize=8)
def _residuals(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> Residuals:
    """Return the residuals of every part of every table; a plan asks for them table after table."""
    return Residuals(tuple(Residual(shape, axes) for axes in _weights(shape, tables)), tables)


@functools.lru_cache(maxsize=8)
def _weights(shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]) -> dict[tuple[int, ...], float]:
    """Return W_A for every set A of axes that some table holds, in order of size."""
    weights: dict[tuple[int, ...], float] = {}
    for table in tables:
        for axes in subsets(sorted(table)):
            others = math.prod(shape[axis] for axis in table if axis not in axes)
            weights[axes] = weights.get(axes, 0.0) + 1 / others
    return dict(sorted(weights.items(), key=lambda pair: (len(pair[0]), pair[0])))


def _strategy(workload: Workload, loss: Loss) -> ResidualMarginals | None:
    if not workload.tables or loss.tail != "gaussian" or len(workload.tables) == 1:
        return None  # of one table `identity` and `marginals` are the best
    if any(workload.shape[axis] < 2 for table in workload.tables for axis in table):
        return None
    if sum(1 << len(table) for table in workload.tables) > MOST_SUBSETS:
        return None
    return ResidualMarginals(workload.shape, workload.tables)


CARD = Card(
    name="residual_marginals",
    family="linear",
    model="central",
    paper="foundations: residual basis (Xiao, He, Zhang, Kifer 2023)",
    summary="Several tables from what each says beyond its smaller ones: the least mean error that rho can buy.",
    method=ResidualMarginals,
    example=lambda loss, unit: MatrixMechanism(
        strategy=ResidualMarginals((2, 3, 2), ((0, 1), (1, 2))), loss=loss, unit=unit
    ),
    strategy=_strategy,
)
