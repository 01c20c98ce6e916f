"""Cells that lie near the quantiles of one attribute: at which levels they are cut, and how far ranks are off.

public quantiles, loss, number of rows -> shares of the rows that levels are chosen at -> the expected error.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.discovery.quantile_cells import CELLS_SHARE, flat
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

LEVELS = 3  # for every quantile: below, at and above it
NEAR = 4  # standard errors of a choice, and two of the counts, between levels of one quantile
THIRD = 3  # of the rows to the next quantile: the most that a level is away
PARTS = 1 << 20  # of the rows, which shares are whole numbers of


@dataclass(frozen=True, kw_only=True)
class CellsNear:
    """Three levels for every quantile: at it, and on either side, so far that the counts tell where the quantile is.

    Args:
        quantiles: strictly between 0 and 1, increasing.
        loss: of the quantiles.
        unit: whom it protects.
        rows: that are expected, of all groups.
    """

    quantiles: tuple[Fraction, ...]
    loss: Loss
    unit: Unit
    rows: float

    @staticmethod
    def cells_for(quantiles: tuple[Fraction, ...]) -> int:
        """Return how many cells there are at most for some quantiles."""
        return LEVELS * len(quantiles) + 1

    @property
    def cells(self) -> int:
        """How many cells there are at most."""
        return self.cells_for(self.quantiles)

    @property
    def points(self) -> tuple[Fraction, ...]:
        """The shares of the rows that levels are chosen at, increasing."""
        ends, places = [0.0, *map(float, self.quantiles), 1.0], set[int]()
        away = max(self.distance / self.rows, 1 / PARTS)  # of very many rows, too, three levels are apart
        for low, q, high in zip(ends, ends[1:], ends[2:], strict=False):
            sides = (q - min(away, (q - low) / THIRD), q, q + min(away, (high - q) / THIRD))
            places |= {round(share * PARTS) for share in sides}
        return tuple(Fraction(place, PARTS) for place in sorted(places) if 0 < place < PARTS)

    @property
    def distance(self) -> float:
        """How many rows two levels of a quantile are apart where there is room: by choices, and by the counts."""
        return NEAR * math.sqrt(self.choice_variance) + math.sqrt(self.count_variance)

    @cached_property
    def choice_variance(self) -> float:
        """The expected squared error of the rank of a chosen level, in rows squared: 2 (k / e)^2.

        That of a median among evenly spread rows; see `ApproximateQuantiles.rank_variances`.
        """
        evenly = tuple(Fraction(place, self.cells) for place in range(1, self.cells))
        choice = ApproximateQuantiles(loss=part_of(self.loss, CELLS_SHARE), unit=self.unit, quantiles=evenly)
        return 2 * float(choice.moved / choice.epsilon) ** 2

    @cached_property
    def count_variance(self) -> float:
        """The variance of the sum of all counts, in rows squared: a fourth of it at the median."""
        counted = GroupDistribution(
            shape=(self.cells,), by=(), axis=0, levels=self.cells, tree=flat(self.cells), quantiles=self.quantiles
        )
        alone = GroupStatistics(moments=(), distributions=(counted,), shares=(Fraction(1),))
        mechanism = MatrixMechanism(strategy=alone, loss=part_of(self.loss, 1 - CELLS_SHARE), unit=self.unit)
        return self.cells * mechanism.noises[0].smooth_variance

    @property
    def rank_variance(self) -> float:
        """The expected squared error of a rank in rows squared, in the mean over quantiles: an approximation.

        That of the counts up to a quantile, q (1 - q) of the variance of their sum; and, where the error s of choices
        is not small beside the distance d between levels, 2 (s^2 / d)^2 for cells that are not where they should be.
        """
        shares = [0.0, *map(float, self.quantiles), 1.0]
        counts = self.count_variance * sum(q * (1 - q) for q in shares) / len(self.quantiles)
        narrowest = min(high - low for low, high in itertools.pairwise(shares))
        apart = min(self.distance, self.rows * narrowest / THIRD)
        return counts + 2 * (self.choice_variance / apart) ** 2


@dataclass(frozen=True, kw_only=True)
class CutCells:
    """Cells of one attribute that are cut at levels near its quantiles.

    Args:
        distribution: with as many cells as there may be.
        candidates: parts of the levels that are chosen among.
        places: within one of them.
        rows: that are expected, of all groups.
    """

    distribution: GroupDistribution
    candidates: int
    places: int
    rows: float

    def choice(self, loss: Loss, unit: Unit) -> ApproximateQuantiles:
        """Return the choice of the levels where the quantiles have this loss in all."""
        near = CellsNear(quantiles=self.distribution.quantiles, loss=loss, unit=unit, rows=self.rows)
        share = part_of(loss, CELLS_SHARE)
        return ApproximateQuantiles(loss=share, unit=unit, quantiles=near.points, places=self.places)
