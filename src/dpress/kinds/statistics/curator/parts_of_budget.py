"""What is measured of every group, and how it is measured under shares of a loss."""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.kinds.statistics.curator.first_step import GroupMechanism
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles

METHOD, CHOOSING = "group_statistics", "group_quantiles"


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
        return CHOOSING if self.parts.chosen else METHOD

    @property
    def mechanism(self) -> GroupMechanism:
        """The mechanism."""
        parts = self.parts
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
        parts, shares = self.parts, self.shares[: self.parts.sums]
        whole = sum(shares, Fraction(0))
        strategy = GroupStatistics(
            moments=parts.moments,
            distributions=parts.distributions,
            persons=parts.persons,
            shares=tuple(share / whole for share in shares),
        )
        return MatrixMechanism(strategy=strategy, loss=part_of(self.loss, whole), unit=self.unit)
