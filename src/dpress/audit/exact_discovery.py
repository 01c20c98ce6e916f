"""Exact audit of two steps: what noise hides of groups, and of their names at the epsilon left, or of their bounds."""

import itertools
from fractions import Fraction

import numpy as np

from dpress.audit.exact import ExactLoss, matrix_loss, promised
from dpress.audit.exact_names import ExactDelta, names_loss, sums_loss
from dpress.audit.exact_quantiles import LEVELS, neighbours
from dpress.audit.exact_weights import weights_loss
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.methods.mechanism import NameMechanism
from dpress.core.methods.table_sums import Integers
from dpress.mechanisms.discovery.bounds_first import BoundsFirst, Scored
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold
from dpress.noise.laplace import DiscreteLaplace

NAMES = (0, 1, 2)  # that are found
EDGES = tuple(np.arange(LEVELS + 1.0) - below for below in (0, 1))  # of one sign, and of both


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
    if mechanism.groups.loss.needs_delta:
        spent, _ = mechanism.groups.loss.of(spent).at(mechanism.delta)
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


def bounds_loss(mechanism: BoundsFirst, bound: Fraction) -> ExactLoss:
    """Return the loss of both steps together: the first by all tiny tables, the sums' by their matrix and noise.

    Bounds move rows between levels, and the sums' loss is that of the worst two levels. Nothing is taken from the
    mechanism's claim.
    """
    sums = matrix_loss(mechanism.groups, promised(mechanism.groups.claim.proven))
    remark = f"tables of up to 6 rows between {LEVELS + 1} numbers; all rows of a unit move together"
    if sums.loss is None:
        return ExactLoss(loss=None, kept=False, remark=remark)
    loss = len(mechanism.axes) * first_loss(mechanism) + sums.loss
    return ExactLoss(loss=loss, kept=loss <= bound, remark=remark)


def first_loss(mechanism: BoundsFirst) -> Fraction:
    """Return what the bounds of one attribute cost.

    A candidate's chance is that of exp(rate score). Where one unit's rows change the scores by numbers between l and h,
    a choice costs rate (h - l) at most, or the square of that by eight. Each choice costs the worst of those that the
    ones before it may lead to; the numbers of rows cost what their noise hides of the largest change.
    """
    worst: dict[int, Fraction] = {}
    rows = Fraction(0)
    for made, edges in itertools.product((mechanism, mechanism.for_few_rows()), EDGES):
        for one, other in neighbours(mechanism.unit):
            counts = np.array(one), np.array(other)
            pairs = zip(*(made.choices(own, edges) for own in counts), strict=True)
            for place, (first, second) in enumerate(pairs):
                ranges = [_range(*both) for both in zip(first, second, strict=True)]
                worst[place] = max(worst.get(place, Fraction(0)), *ranges)
            rows = max(rows, _rows_loss(mechanism, counts[1] - counts[0]))
    return sum((mechanism.groups.loss.choice_cost(width) for width in worst.values()), rows)


def _range(one: Scored, other: Scored) -> Fraction:
    change = other.scores - one.scores
    return max(one.rate, other.rate) * int(change.max() - change.min())


def _rows_loss(mechanism: BoundsFirst, change: Integers) -> Fraction:
    """Return what two noisy numbers of rows, inside and outside of the worst interval, cost."""
    if mechanism.noise is None:
        return Fraction(0)
    losses = []
    for low, high in itertools.combinations(range(LEVELS + 1), 2):
        inside = int(change[low:high].sum())
        outside = int(change.sum()) - inside
        if not inside and not outside:
            continue
        if isinstance(mechanism.noise, DiscreteLaplace):
            losses.append(mechanism.noise.loss(Fraction(abs(inside) + abs(outside))).epsilon)
        else:
            losses.append(mechanism.noise.loss(Fraction(inside**2 + outside**2)).rho)
    return max(losses)
