"""The audit of what releases names, alone or before the groups of these names: exactly, and by samples.

card, loss, samples -> instances under every relation -> checks.
"""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from dpress.audit import exact_names, outcomes_of_names, sampled
from dpress.audit.checks import claimed_of, relation_of, sampled_check, units
from dpress.audit.exact_weights import coarse, coarse_names, weights_loss
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.check import float_up
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.methods.name_counts import NameCounts, NoisyNames
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.selection.above_threshold import TOTAL_SHARE
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold


def selecting(card: Card, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of what releases names, beside a total where it has one."""

    def example(own: Loss, unit: Unit) -> Any:
        made: Any = card.example
        weighted = isinstance(card.example(own, unit), WeightedThreshold)
        return coarse(made(own, unit)) if weighted else made(own, unit, own.amount * TOTAL_SHARE)

    yield from (names_exact(example(loss, unit)) for unit in units())
    for relation in Relation if samples is not None else ():
        made = example(ApproxDP(epsilon=loss.amount, delta=outcomes_of_names.DELTA), Unit(relation=relation))
        yield from names_sampled(made, lambda names, rng, own=made: own.select(names, rng=rng), samples or 0, rng=rng)


def discovered_sampled(made: DiscoveredGroups, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of the names that are found before their groups."""

    def select(names: NameCounts, rng: Generator) -> NoisyNames:
        found = made.select(names, rng=rng)
        return NoisyNames(names=found, answers=np.zeros(len(found), dtype=np.int64))

    yield from names_sampled(made.names, select, samples, rng=rng)


def of_few(card: Card, loss: Loss, relation: Relation) -> DiscoveredGroups:
    """Return the instance whose names samples can tell of: for a large delta, on a coarse lattice."""
    wide = ApproxDP(epsilon=loss.amount, delta=outcomes_of_names.DELTA)
    return coarse_names(cast("DiscoveredGroups", card.example(wide, Unit(relation=relation))))


def names_sampled(made: Any, select: Any, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of what releases names: of a name, and of the total."""
    claimed, relation, alpha = claimed_of(made), relation_of(made.unit), sampled.ALPHA / (3 * len(Relation))
    for name, source in outcomes_of_names.of_names(made, select, rng=rng):
        low = sampled.epsilon_of_outcomes(source, samples, alpha=alpha, delta=float(claimed.delta))
        yield sampled_check(name, relation, claimed, low, samples=samples, alpha=alpha)
    if made.total:
        fewer = max(sampled.FEWEST, samples // 8)  # one call draws one total
        source = outcomes_of_names.of_total(select, rows=made.unit.rows, rng=rng)
        low = sampled.epsilon_of_outcomes(source, fewer, alpha=alpha)
        yield sampled_check("the total", relation, PureDP(epsilon=made.total), low, samples=fewer, alpha=alpha)


def names_exact(made: PartitionSelection | GaussianThreshold | WeightedThreshold) -> Check:
    """Return the exact check of what releases names, beside its total."""
    claimed = claimed_of(made)
    if isinstance(made, PartitionSelection):
        return delta_check("exact outputs", "tables of a few names", made, exact_names.names_loss(made, claimed))
    if isinstance(made, WeightedThreshold):
        return delta_check("exact sum", "sums of noise", made, weights_loss(coarse(made), claimed))
    return delta_check("exact sum", "sums of noise", made, exact_names.sums_loss(made, claimed))


def delta_check(kind: Kind, name: str, made: Any, found: exact_names.ExactDelta) -> Check:
    """Return an exact check whose loss is delta."""
    return Check(
        kind=kind,
        instance=name,
        relation=relation_of(made.unit),
        claimed=claimed_of(made),
        kept=found.kept,
        loss=float_up(found.delta),
        remark=found.remark,
    )
