"""What is measured of every group, and how it is measured under shares of a loss."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.kinds.statistics.curator.measured import GroupMechanism
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles

METHOD, CHOOSING = "group_statistics", "group_quantiles"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What is measured, each part under its share of a loss.

    Args:
        loss: of all parts together.
        groups: the sums; None where there are quantiles alone.
        chosen: quantiles that are chosen.
    """

    loss: Loss
    groups: MatrixMechanism | None
    chosen: tuple[ChosenLevels, ...]

    @property
    def method(self) -> str:
        """The method that does it."""
        return CHOOSING if self.chosen else METHOD

    @property
    def sums(self) -> MatrixMechanism:
        """What measures sums alone.

        Raises:
            TypeError: there are quantiles that are chosen.
        """
        if self.groups is None or self.chosen:
            raise TypeError(f"{self.method} chooses quantiles")
        return self.groups

    @property
    def mechanism(self) -> GroupMechanism:
        """The mechanism."""
        return GroupQuantiles(groups=self.groups, chosen=self.chosen) if self.chosen else self.sums


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts among which a loss is shared, in this order.

    Args:
        moments: sums of moments.
        distributions: trees of counts.
        persons: sums over persons.
        chosen: quantiles that are chosen, under any loss.
    """

    moments: tuple[MomentSums, ...]
    distributions: tuple[GroupDistribution, ...]
    persons: tuple[PersonSums, ...]
    chosen: tuple[ChosenLevels, ...]

    @property
    def sums(self) -> int:
        """How many parts have noise."""
        return len(self.moments) + len(self.distributions) + len(self.persons)

    @property
    def even(self) -> tuple[Fraction, ...]:
        """Equal shares."""
        size = self.sums + len(self.chosen)
        return (Fraction(1, size),) * size

    def under(self, loss: Loss, shares: tuple[Fraction, ...], unit: Unit) -> Measured:
        """Return how the parts are measured.

        Args:
            loss: of all parts together.
            shares: of it, one for each part, adding up to 1.
            unit: whom it protects.
        """
        of_sums, of_choices = shares[: self.sums], shares[self.sums :]
        pairs = zip(self.chosen, of_choices, strict=True)
        chosen = tuple(
            replace(part, choice=replace(part.choice, loss=part_of(loss, share), unit=unit)) for part, share in pairs
        )
        if not of_sums:
            return Measured(loss=loss, groups=None, chosen=chosen)
        whole = sum(of_sums, Fraction(0))
        strategy = GroupStatistics(
            moments=self.moments,
            distributions=self.distributions,
            persons=self.persons,
            shares=tuple(share / whole for share in of_sums),
        )
        groups = MatrixMechanism(strategy=strategy, loss=part_of(loss, whole), unit=unit)
        return Measured(loss=loss, groups=groups, chosen=chosen)
