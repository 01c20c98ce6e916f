"""Audit of names and then groups: what noise hides of groups, and of their names at the epsilon that is left."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpress.audit.beside import beside
from dpress.audit.checks import claimed_of, delta_check
from dpress.audit.exact import ExactDelta, promised
from dpress.audit.verdict import Check
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.methods.name_counts import NameCounts, NoisyNames
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.linear import matrix_mechanism_audit
from dpress.mechanisms.linear.matrix_mechanism_audit import matrix_loss
from dpress.mechanisms.selection.names_audit import DELTA, NamesAudit, alone, selected

NAMES = (0, 1, 2)  # that are found
WITH_DELTA = True


def exact(made: DiscoveredGroups) -> Iterator[Check]:
    """Yield the exact check of names and their groups together."""
    delta = discovery_loss(coarse_names(made), claimed_of(made))
    yield delta_check("exact sum", "names, then their groups", made, delta)


def few(card: Card, loss: Loss, unit: Unit) -> DiscoveredGroups:
    """Return the instance whose names samples can tell of: for a large delta, on a coarse lattice."""
    return coarse_names(card.example(ApproxDP(epsilon=loss.amount, delta=DELTA), unit))


def sampled(made: DiscoveredGroups, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of names, then of their groups."""

    def select(names: NameCounts, rng: Generator) -> NoisyNames:
        selected_names = made.select(names, alone(made.names, names), rng=rng)
        return NoisyNames(names=selected_names, answers=np.zeros(len(selected_names), dtype=np.int64))

    yield from selected(made.names, select, samples, rng=rng)
    yield from matrix_mechanism_audit.sampled(made.listing(2).groups, samples, rng=rng)


def coarse_names(made: DiscoveredGroups) -> DiscoveredGroups:
    """Return the mechanism whose names are on a lattice whose sums of noise can be added up."""
    return replace(made, names=_names(made).coarse(made.names))


def _names(made: DiscoveredGroups) -> NamesAudit:
    """Return what an audit needs of the selection of names."""
    audit: NamesAudit | None = beside(made.names)
    if audit is None:
        raise TypeError(f"there is no audit of {type(made.names).__name__}")
    return audit


def discovery_loss(mechanism: DiscoveredGroups, claimed: ApproxDP) -> ExactDelta:
    """Return the delta of both steps together at the claimed epsilon: the second one's loss by its matrix and noise.

    The groups' loss is the largest over numbers of names that are found, as neighbours may have found the same ones;
    the delta of the names is the largest at what that leaves of epsilon. Nothing is taken from the mechanism's claim.
    """
    listings = [mechanism.listing(n).groups for n in NAMES]
    exact_losses = [matrix_loss(groups, promised(groups.claim.proven)) for groups in listings]
    losses = [exact.loss for exact in exact_losses if exact.loss is not None]
    if len(losses) < len(listings):
        return ExactDelta(delta=Fraction(1), kept=False, remark="the noise of the groups hides nothing")
    spent = max(losses)
    if mechanism.groups.loss.needs_delta:
        spent, _ = mechanism.groups.loss.of(spent).at(mechanism.delta)
    remark = f"delta of the names at the epsilon that {max(NAMES)} groups and all others leave"
    if spent >= claimed.epsilon:
        return ExactDelta(delta=Fraction(1), kept=False, remark=remark)
    left = ApproxDP(epsilon=claimed.epsilon - spent, delta=claimed.delta)
    delta = _names(mechanism).loss(mechanism.names, left).delta + mechanism.delta
    return ExactDelta(delta=delta, kept=delta <= claimed.delta, remark=remark)
