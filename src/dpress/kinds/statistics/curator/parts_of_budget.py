"""What is measured of every group, and the mechanism that it is under shares of a loss."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles

GroupMechanism = MatrixMechanism | GroupQuantiles


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

    def under(self, loss: Loss, shares: tuple[Fraction, ...], unit: Unit) -> GroupMechanism:
        """Return the mechanism.

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
            return GroupQuantiles(groups=None, chosen=chosen)
        whole = sum(of_sums, Fraction(0))
        strategy = GroupStatistics(
            moments=self.moments,
            distributions=self.distributions,
            persons=self.persons,
            shares=tuple(share / whole for share in of_sums),
        )
        groups = MatrixMechanism(strategy=strategy, loss=part_of(loss, whole), unit=unit)
        return GroupQuantiles(groups=groups, chosen=chosen) if chosen else groups


def sums_of(mechanism: GroupMechanism) -> MatrixMechanism | None:
    """Return what adds noise to sums; None where quantiles are all there is."""
    return mechanism.groups if isinstance(mechanism, GroupQuantiles) else mechanism


def chosen_of(mechanism: object) -> tuple[ChosenLevels, ...]:
    """Return the quantiles that are chosen."""
    return mechanism.chosen if isinstance(mechanism, GroupQuantiles) else ()
