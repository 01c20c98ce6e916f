"""Groups whose names nobody may list: which attribute's, what the names cost, and how large their groups are at least.

spec -> the attribute, a share of the budget for its names -> losses for their groups -> the mechanism of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.gaussian_profile import mu2_for
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import PLACE
from dpress.core.methods.mechanism import NameMechanism
from dpress.data.specification.spec import Spec
from dpress.mechanisms.discovery.discovered_groups import NAMES_SHARE, DiscoveredGroups
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.selection.above_threshold import LIKELY
from dpress.mechanisms.selection.best_selection import WITHOUT_COUNTS, selections
from dpress.release.plan.discovery_loss import loss_of

METHOD = "discovered_groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """How names are found, and what is left for their groups.

    Args:
        axis: of the attribute.
        names: the selection.
        loss: of the groups.
        delta: at which the groups' mu^2 is converted; 0 where they have epsilon.
    """

    axis: int
    names: NameMechanism
    loss: Loss
    delta: Fraction

    @property
    def rows(self) -> int:
        """How many rows or persons that have a name release it with a chance of 99 %, whatever else they have."""
        return self.names.holders_for(LIKELY)

    def of_groups(self, groups: MatrixMechanism, most: int) -> DiscoveredGroups:
        """Return the mechanism of both steps, for so many names at most."""
        return DiscoveredGroups(names=self.names, groups=groups, axis=self.axis, most=most, delta=self.delta)


def discovered(schema: Schema, by: Sequence[str]) -> str | None:
    """Return the attribute whose values are discovered; None where all are listed.

    Raises:
        NotSupported: there are several, or it makes no groups.
    """
    names = [attribute.name for attribute in schema.tabular if attribute.discovered]
    if not names:
        return None
    if len(names) > 1:
        raise NotSupported(
            f'$.attribute: values = "discover" for one attribute of kind = "statistics", got {", ".join(names)}; '
            "list the values of the others, or write both into one column"
        )
    if names[0] not in by:
        raise NotSupported(f"{PLACE}.by: expected {names[0]} in it, as its values are discovered")
    return names[0]


def check_counts(spec: Spec, *, counts_only: bool, by: Sequence[str]) -> None:
    """Refuse to pay twice for the counts of rows that a selection of names releases with them.

    Raises:
        NotSupported: the other kind releases the same for less.
    """
    if counts_only and len(by) == 1 and spec.privacy.unit == "row":
        raise NotSupported(
            f'{PLACE}: only counts of {by[0]} are asked for; kind = "names" finds the names and counts them at once'
        )


def discoveries(spec: Spec, name: str) -> tuple[Discovery, ...]:
    """Return the ways to divide the budget: the groups under epsilon, or under mu^2, for which half of delta goes.

    A quarter of epsilon is for the names: as many more of them as another quarter would find are small groups.

    Raises:
        NotSupported, ValueError: see `loss_of` and `selections`.
    """
    whole, unit, axis = loss_of(spec), spec.privacy.protected, spec.schema.names.index(name)
    share, rest, half = whole.epsilon * NAMES_SHARE, whole.epsilon * (1 - NAMES_SHARE), whole.delta / 2
    ways: tuple[tuple[Loss, Fraction], ...] = (
        (PureDP(epsilon=rest), Fraction(0)),
        (GaussianDP(mu2=mu2_for(rest, half)), half),
    )
    return tuple(
        Discovery(
            axis=axis, names=_best(ApproxDP(epsilon=share, delta=whole.delta - delta), unit), loss=loss, delta=delta
        )
        for loss, delta in ways
    )


def _best(loss: ApproxDP, unit: Unit) -> NameMechanism:
    """Return the selection that finds most names."""
    return next(iter(selections(loss, unit, offered=WITHOUT_COUNTS).values()))
