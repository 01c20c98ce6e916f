"""Exact audit of two steps: what noise hides of groups, and of their names at the epsilon left, or of their bounds."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.claim import ZCDP, ApproxDP, PureDP
from dpress.core.mechanism import NameMechanism
from dpress.ledger.convert import epsilon_for
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.discovery.private_bounds import PrivateBounds
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold
from dpress.release.audit.exact import ExactLoss, matrix_loss, promised
from dpress.release.audit.exact_names import ExactDelta, names_loss, sums_loss
from dpress.release.audit.exact_quantiles import LEVELS, Table, neighbours
from dpress.release.audit.exact_weights import weights_loss

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
    delta = _names_loss(mechanism.names, left).delta + mechanism.delta
    return ExactDelta(delta=delta, kept=delta <= claimed.delta, remark=remark)


def _names_loss(names: NameMechanism, claimed: ApproxDP) -> ExactDelta:
    if isinstance(names, PartitionSelection):
        return names_loss(names, claimed)
    if isinstance(names, WeightedThreshold):
        return weights_loss(names, claimed)
    if isinstance(names, GaussianThreshold):
        return sums_loss(names, claimed)
    raise TypeError(f"there is no audit of {type(names).__name__}")


def bounds_loss(mechanism: PrivateBounds, bound: Fraction) -> ExactLoss:
    """Return the loss of both steps together: the choices' by all tiny tables, the sums' by their matrix and noise.

    The chance of a bound is that of exp(e score / k). Where one unit's rows change the scores by numbers between l and
    h, a choice costs e (h - l) / k at most, or the square of that by eight. Bounds move rows between levels, and the
    sums' loss is that of the worst two levels. Nothing is taken from the mechanism's claim.
    """
    changes = [change for pair in neighbours(mechanism.unit) for change in _changes(mechanism, *pair)]
    each = mechanism.epsilon * max(int(one.max() - one.min()) for one in changes) / mechanism.unit.rows
    sums = matrix_loss(mechanism.groups, promised(mechanism.groups.claim.proven))
    remark = f"tables of up to 6 rows between {LEVELS + 1} numbers; all rows of a unit move together"
    if sums.loss is None:
        return ExactLoss(loss=None, kept=False, remark=remark)
    pure, times = isinstance(mechanism.choice, PureDP), 2 * len(mechanism.axes)
    loss = times * (each if pure else each**2 / 8) + sums.loss
    return ExactLoss(loss=loss, kept=loss <= bound, remark=remark)


def _changes(mechanism: PrivateBounds, one: Table, other: Table) -> Iterator[npt.NDArray[np.int64]]:
    """Yield by how much every score changes from one table to another, of either bound."""
    first, second, edges = np.array(one), np.array(other), np.arange(LEVELS + 1.0)
    yield mechanism.upper_scores(second, edges) - mechanism.upper_scores(first, edges)
    for upper in range(1, LEVELS + 1):
        yield mechanism.lower_scores(second, edges, upper) - mechanism.lower_scores(first, edges, upper)
