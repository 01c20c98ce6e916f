"""What is measured of every group, and how it is measured under shares of a loss."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.kinds.statistics.curator.cells_near import CutCells
from dpress.kinds.statistics.curator.first_step import GroupMechanism
from dpress.mechanisms.discovery.quantile_cells import CELLS_SHARE, QuantileCells
from dpress.mechanisms.linear.distinct_values import DistinctValues
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.linear.replicate_sums import ReplicateSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles

METHOD, CHOOSING, CUTTING = "group_statistics", "group_quantiles", "quantile_cells"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts among which a loss is shared, in this order.

    Args:
        moments: sums of moments.
        distributions: trees of counts.
        replicates: sums of deviations of replicate weights, one for each of the moments or none.
        distinct: counts of different values.
        persons: sums over persons.
        chosen: quantiles that are chosen, under any loss.
        cut: those of the distributions whose cells are chosen, in the order of their axes.
    """

    moments: tuple[MomentSums, ...]
    distributions: tuple[GroupDistribution, ...]
    replicates: tuple[ReplicateSums, ...]
    distinct: tuple[DistinctValues, ...]
    persons: tuple[PersonSums, ...]
    chosen: tuple[ChosenLevels, ...]
    cut: tuple[CutCells, ...] = ()

    @property
    def sums(self) -> int:
        """How many parts have noise."""
        of_rows = len(self.moments) + len(self.distributions) + len(self.replicates)
        return of_rows + len(self.distinct) + len(self.persons)

    @property
    def even(self) -> tuple[Fraction, ...]:
        """Equal shares."""
        size = self.sums + len(self.chosen)
        return (Fraction(1, size),) * size


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The parts, each under its share of a loss.

    Args:
        parts: what is measured.
        loss: of all of them together.
        shares: of it, one for each part, adding up to 1.
        unit: whom it protects.
    """

    parts: Parts
    loss: Loss
    shares: tuple[Fraction, ...]
    unit: Unit

    @property
    def method(self) -> str:
        """The method that does it."""
        return CHOOSING if self.parts.chosen else CUTTING if self.parts.cut else METHOD

    @property
    def mechanism(self) -> GroupMechanism:
        """The mechanism."""
        parts = self.parts
        if parts.cut:
            return self._cutting()
        if not parts.chosen:
            return self.sums
        pairs = zip(parts.chosen, self.shares[parts.sums :], strict=True)
        chosen = tuple(
            replace(part, choice=replace(part.choice, loss=part_of(self.loss, share), unit=self.unit))
            for part, share in pairs
        )
        return GroupQuantiles(groups=self.sums if parts.sums else None, chosen=chosen)

    @property
    def sums(self) -> MatrixMechanism:
        """What adds noise to sums; one part at least has some."""
        parts, cut = self.parts, {cells.distribution.axis for cells in self.parts.cut}
        shares = list(self.shares[: parts.sums])
        for place, tree in enumerate(parts.distributions, len(parts.moments)):
            shares[place] *= 1 - CELLS_SHARE if tree.axis in cut else 1
        whole = sum(shares, Fraction(0))
        strategy = GroupStatistics(
            moments=parts.moments,
            distributions=parts.distributions,
            replicates=parts.replicates,
            distinct=parts.distinct,
            persons=parts.persons,
            shares=tuple(share / whole for share in shares),
        )
        return MatrixMechanism(strategy=strategy, loss=part_of(self.loss, whole), unit=self.unit)

    def _cutting(self) -> QuantileCells:
        """Return what chooses cells first."""
        cut, shares = self.parts.cut, self.shares[len(self.parts.moments) :]
        losses = dict(zip(self.parts.distributions, (part_of(self.loss, share) for share in shares), strict=False))
        return QuantileCells(
            groups=self.sums,
            choices=tuple(cells.choice(losses[cells.distribution], self.unit) for cells in cut),
            candidates=tuple(cells.candidates for cells in cut),
            axes=tuple(cells.distribution.axis for cells in cut),
        )
