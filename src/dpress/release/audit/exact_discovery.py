"""Exact audit of groups that are discovered: what noise hides of the groups, and of the names at the epsilon left."""

from fractions import Fraction

from dpress.core.claim import ZCDP, ApproxDP
from dpress.ledger.convert import epsilon_for
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.release.audit.exact import matrix_loss, promised
from dpress.release.audit.exact_names import ExactDelta, names_loss, sums_loss

NAMES = (0, 1, 2)  # that are found


def discovery_loss(mechanism: DiscoveredGroups, claimed: ApproxDP) -> ExactDelta:
    """Return the delta of both steps together at the claimed epsilon: the second one's loss by its matrix and noise.

    The groups' loss is the largest over numbers of names that are found, as neighbours may have found the same ones;
    the delta of the names is the largest at what that leaves of epsilon. Nothing is taken from the mechanism's claim.
    """
    found = [matrix_loss(own, promised(own.claim.proven)) for own in (mechanism.listing(n).groups for n in NAMES)]
    losses = [one.loss for one in found if one.loss is not None]
    if len(losses) < len(found):
        return ExactDelta(delta=Fraction(1), kept=False, remark="the noise of the groups hides nothing")
    spent = max(losses)
    if isinstance(mechanism.groups.loss, ZCDP):
        spent = epsilon_for(spent, mechanism.delta)
    remark = f"delta of the names at the epsilon that {max(NAMES)} groups and all others leave"
    if spent >= claimed.epsilon:
        return ExactDelta(delta=Fraction(1), kept=False, remark=remark)
    left = ApproxDP(epsilon=claimed.epsilon - spent, delta=claimed.delta)
    own = mechanism.names
    names = names_loss(own, left) if isinstance(own, PartitionSelection) else sums_loss(own, left)  # type: ignore[arg-type]  # the other one
    delta = names.delta + mechanism.delta
    return ExactDelta(delta=delta, kept=delta <= claimed.delta, remark=remark)
