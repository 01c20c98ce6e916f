"""`discovered_groups`: statistics of groups whose names nobody may list: first the names, then their groups.

counts of names -> a selection -> the names it releases -> groups of these names and of all others -> noisy sums.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.approximate import ApproxDP, approximate
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card, Draw, Drawn, NameMechanism
from dpress.core.methods.name_counts import CountNames, NameCounts
from dpress.core.methods.table_sums import Found, Rows
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear import group_statistics
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.selection.above_threshold import check_names, check_total
from dpress.mechanisms.selection.best_selection import WITHOUT_COUNTS, selections

NAMES_SHARE = Fraction(1, 4)  # of epsilon, for the names
AXIS = 0  # of the example's groups


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredGroups(SecondStep):
    """Names of one attribute are released, then what is measured of their groups and of one of all other rows.

    Promise: (epsilon, delta), for the same unit in both steps. Proven: the second step's queries depend on the rows
        through the first one's output alone, so that the losses add up (basic adaptive composition). The names' is
        that of their selection. That of the groups is `MatrixMechanism`'s for any list of names: a row is in one group
        whatever groups there are. Where it is rho, it is converted to epsilon at `delta`.
    Error: that of the groups' mechanism; the counts of the selection are not used.
    Source: Dwork et al. 2006 (composition); selections: `partition_selection`,
        `weighted_threshold`.

    Args:
        names: the selection.
        groups: what is measured; along `axis` there is the one cell of all other rows before names are known.
        axis: of the attribute whose values are discovered.
        most: names that get groups of their own; of more, those with the largest noisy counts.
        delta: at which the groups' rho is converted; 0 where they have epsilon.
    """

    names: NameMechanism
    axis: int
    most: int
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.names.claim.unit != self.groups.unit:
            raise ValueError("the names and their groups must protect the same unit")
        if not isinstance(self.groups.strategy, GroupStatistics) or self.axis not in self.groups.strategy.by:
            raise ValueError(f"axis must be one of the groups' axes, got {self.axis}")
        if self.most < 1 or self.groups.loss.needs_delta != (self.delta > 0):
            raise ValueError("most must be at least 1, and delta > 0 where the groups' loss is rho, else 0")

    @property
    def claim(self) -> Claim:
        """The promise, added up from those of the two steps."""
        first, second = self.names.claim, self.groups.claim
        names = approximate(first.proven, "a selection of names is calibrated to epsilon and delta")
        loss = ApproxDP(epsilon=names.epsilon + _epsilon(second.proven, self.delta), delta=names.delta + self.delta)
        basis = f"names by {describe(first.proven)} ({first.basis}); their groups by {describe(second.proven)} "
        return Claim(published=loss, proven=loss, unit=self.unit, basis=f"{basis}({second.basis})")

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the names and the noise of their groups; see `CuratorMechanism`.

        Rows are read three times: for the counts of names, for whatever refuses a row, and, once names are drawn, for
        the groups.
        """
        count = rows.names(self.axis)
        names = count(self.names.weights, None)
        check_names(min(self.most, len(names.names)), self.groups.numbers_held(0))
        self.counted(rows)

        def draw(rng: Generator) -> Drawn:
            discovered = Found(names={self.axis: self.select(names, count, rng=rng)})
            mechanism = self.listing(len(discovered.names[self.axis]))
            noisy = mechanism.groups.noisy(mechanism.counted(rows.completed(discovered)), rng=rng)
            return Drawn(output=noisy, found=discovered, mechanism=mechanism)

        return draw

    def select(self, names: NameCounts, again: CountNames, *, rng: Generator) -> tuple[str, ...]:
        """Return the names that get groups of their own, in the order of their bytes.

        Args:
            names: exact counts, or sums of the weights that the selection takes.
            again: counts the same rows once more.
            rng: a secure generator.
        """
        selected = self.names.find(names, again, rng=rng)
        first = len(selected.answers) - len(selected.names)
        noisy = dict(zip(selected.names, selected.answers[first:].tolist(), strict=True))
        return tuple(sorted(sorted(noisy, key=lambda name: -noisy[name])[: self.most], key=str.encode))

    def listing(self, names: int) -> "DiscoveredGroups":
        """Return the mechanism whose groups are those of so many names, and of all other rows."""
        strategy = self.decoder.resized(self.axis, names + 1)
        return replace(self, groups=replace(self.groups, strategy=strategy))


def _epsilon(loss: Loss | None, delta: Fraction) -> Fraction:
    """Return the epsilon of the groups' loss."""
    if loss is None or not loss.additive:
        raise TypeError("additive noise is calibrated to epsilon or rho")
    return loss.at(delta)[0]


def example(loss: ApproxDP, unit: Unit) -> DiscoveredGroups:
    """Return a tiny instance: the groups of `group_statistics.example`."""
    check_total(loss, Fraction(0))
    share = ApproxDP(epsilon=loss.epsilon * NAMES_SHARE, delta=loss.delta)
    rest = PureDP(epsilon=loss.epsilon * (1 - NAMES_SHARE))
    groups = MatrixMechanism(strategy=group_statistics.example().resized(AXIS, 1), loss=rest, unit=unit)
    names = next(iter(selections(share, unit, offered=WITHOUT_COUNTS).values()))
    return DiscoveredGroups(names=names, groups=groups, axis=AXIS, most=1 << 16)


CARD = Card(
    name="discovered_groups",
    family="discovery",
    model="central",
    paper="foundations: basic composition; names (Desfontaines, Voss, Gipson 2022; Gopi et al. 2020)",
    summary="Releases the names that occur often enough, then statistics of their groups and of all other rows.",
    method=DiscoveredGroups,
    example=example,
)
