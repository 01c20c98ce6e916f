"""The audit of one method: tiny instances under every relation, exactly where that can be, sampled on request.

card, loss, samples -> instances -> checks -> Audit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dpress.audit import (
    exact,
    exact_groups,
    exact_persons,
    exact_quantiles,
    exact_records,
    exact_rounds,
    outcome_tables,
    outcomes,
    outcomes_of_bounds,
    outcomes_of_records,
    sampled,
    selections,
)
from dpress.audit.checks import claimed_of, exact_check, relation_of, sampled_check, units
from dpress.audit.exact_discovery import bounds_loss, discovery_loss
from dpress.audit.exact_steps import added_loss
from dpress.audit.exact_weights import coarse_names
from dpress.audit.verdict import Audit, Check, Kind
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator, secure
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle, Payloads, Values
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.choice.exponential import Exponential
from dpress.mechanisms.discovery.bounds_first import BoundsFirst
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.joint.bit_joint import BitJoint
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.microdata.graphical import Graphical
from dpress.mechanisms.microdata.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.per_record import PerRecord
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.mechanisms.spatial.psda import Psda
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles

CENTRAL = (MatrixMechanism, Exponential, ApproximateQuantiles, CentralMap, GroupQuantiles, BoundsFirst)
SIZES = (2, 3, 4, 5)
SAMPLES = 100_000
"""Drawn from each neighbour where nothing can be checked exactly and no number was given."""
VALUES = "any two values"


def audit(card: Card, loss: Loss, *, samples: int | None = None, rng: Generator | None = None) -> Audit:
    """Check what a method claims when it is made for this loss.

    Args:
        card: the method.
        loss: epsilon, or rho, or epsilon and delta.
        samples: outputs to draw from each neighbour, at least 1000; None for exact checks only, where there are any.
        rng: a secure generator unless given; audits look at the code as it runs.

    Raises:
        NotSupported: the method has no such loss, or nothing of it can be checked.
    """
    generator = rng or secure()
    example: Any = card.example(loss, Unit())
    if loss.delta and isinstance(example, (PartitionSelection, GaussianThreshold, WeightedThreshold)):
        checks = list(selections.selecting(card, loss, samples, rng=generator))
    elif isinstance(example, DiscoveredGroups) and loss.delta:
        checks = list(discovering(card, loss, samples, rng=generator))
    elif loss.delta:
        raise NotSupported(f"{card.name} is audited under epsilon or rho")
    elif isinstance(example, Oracle):
        checks = list(local(card, example, loss, samples, rng=generator))
    elif sent := _sent(example):
        checks = [one for name, oracle in sent for one in reports(name, oracle, samples, rng=generator)]
    elif isinstance(example, (PerRecord, InsensitiveMicroaggregation, Graphical)):
        checks = list(of_records(card, loss, samples, rng=generator))
    elif isinstance(example, CENTRAL) or _levels(example):
        checks = list(central(card, loss, samples, rng=generator))
    elif card.synthesizer is not None and example.claim.proven is None:
        raise NotSupported(
            f"nothing of {card.name} is proven, so that there is nothing to check: {example.claim.basis}"
        )
    else:
        raise NotSupported(f"there is no audit of {card.name} yet")
    return Audit(method=card.name, model=card.model, checks=tuple(checks))


def _sent(example: Any) -> list[tuple[str, Oracle]]:
    """Return by name what makes the reports of a collection: the oracle of every report type."""
    if isinstance(example, BitJoint) and isinstance(example.oracle, RrLdp):
        return [("example", cast("Oracle", AsCells(example.oracle)))]
    if isinstance(example, Psda):  # its promise is about places of one region, so that there must be one only
        return [("one safe region", replace(example.oracle, region_levels=(0,)))]
    types: tuple[ReportType, ...] = getattr(example, "types", ())
    oracles = [oracle for own in types for oracle in own.oracles]
    return [(f"report type {place}", oracle) for place, oracle in enumerate(oracles, start=1)]


def local(card: Card, example: Oracle, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of an oracle: its example and a few sizes exactly, its permanent response, its reports."""
    found = 0
    for name, oracle in _sizes(card, example, loss):
        for one in channel_checks(name, oracle, rng=rng):
            found += 1
            yield one
    if samples is not None or not found:
        yield sampled_oracle("example", example, samples or SAMPLES, rng=rng)


@dataclass(frozen=True, slots=True)
class AsCells:
    """`rr_ldp` over several attributes as an oracle over the cells of their table, row-major.

    Args:
        oracle: makes the reports.
    """

    oracle: RrLdp

    def __getattr__(self, name: str) -> Any:
        """Everything but the values' shape is the oracle's own."""
        return getattr(self.oracle, name)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every cell."""
        codes = np.array(np.unravel_index(values, self.oracle.sizes), dtype=np.int32)
        return self.oracle.perturb(codes, rng=rng)


def reports(name: str, oracle: Any, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of the reports that a joint distribution is estimated from."""
    yield from channel_checks(name, oracle, rng=rng)
    if samples is not None:
        yield sampled_oracle(name, oracle, samples, rng=rng)


def _sizes(card: Card, example: Oracle, loss: Loss) -> Iterator[tuple[str, Oracle]]:
    yield f"example, k = {example.size}", example
    if card.oracle is not None:
        for size in SIZES:
            if size != example.size and (oracle := card.oracle(size, loss)) is not None:
                yield f"k = {size}", oracle


def channel_checks(name: str, oracle: Any, *, rng: Generator) -> Iterator[Check]:
    """Yield the exact checks of one oracle; none if its channel cannot be written down."""
    claimed = claimed_of(oracle)
    if found := exact.channels(oracle, rng=rng):
        whole = len(found) == 1
        kind: Kind = "exact channel" if whole else "channel by seed"
        remark = "" if whole else f"given each of {len(found)} seeds, drawn without the value"
        if getattr(oracle, "size", None) == 1:
            remark = "one value: there is nothing to tell apart, and nothing is checked"
        yield exact_check(kind, name, VALUES, claimed, exact.channel_loss(found, claimed.epsilon), remark=remark)
        if hasattr(oracle, "lifetime"):
            ever = exact.channels(exact.permanent(oracle), rng=rng)
            lifetime: PureDP = oracle.lifetime
            remark = "the permanent response is what all reports of one value can reveal"
            yield exact_check(
                kind,
                f"{name}, permanent",
                VALUES,
                lifetime,
                exact.channel_loss(ever, lifetime.epsilon),
                remark=remark,
            )


def sampled_oracle(name: str, oracle: Oracle, samples: int, *, rng: Generator) -> Check:
    """Return the check of an oracle's reports."""
    alpha = sampled.ALPHA
    low = sampled.epsilon_of_outcomes(outcomes.of_oracle(oracle, rng=rng), samples, alpha=alpha)
    return sampled_check(name, VALUES, claimed_of(oracle), low, samples=samples, alpha=alpha)


def discovering(card: Card, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of names and of their groups: exactly together, by samples one after the other."""
    for unit in units():
        yield discovery_exact(cast("DiscoveredGroups", card.example(loss, unit)))
    for relation in Relation if samples is not None else ():
        made = selections.of_few(card, loss, relation)
        yield from selections.discovered_sampled(made, samples or SAMPLES, rng=rng)
        yield central_sampled(made.listing(2).groups, samples or SAMPLES, rng=rng)


def discovery_exact(made: DiscoveredGroups) -> Check:
    """Return the exact check of names and their groups together."""
    return selections.delta_check(
        "exact sum", "names, then their groups", made, discovery_loss(coarse_names(made), claimed_of(made))
    )


def central(card: Card, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of a linear mechanism or a choice under every relation."""
    for unit in units():
        made: Any = card.example(loss, unit)
        for part in _parts(made):
            yield central_exact(part)
            if isinstance(part, MatrixMechanism) and isinstance(part.strategy, GroupStatistics):
                yield persons_exact(exact_persons.tiny(part))
        if isinstance(made, GroupQuantiles):
            found = added_loss(made, exact.promised(claimed_of(made)))
            yield exact_check("exact sum", "sums and choices", relation_of(unit), claimed_of(made), found)
    for relation in Relation if samples is not None else ():
        for part in _drawn(card.example(loss, Unit(relation=relation))):
            yield central_sampled(part, samples or SAMPLES, rng=rng)


def _drawn(mechanism: Any) -> tuple[Any, ...]:
    """Return what is drawn one after the other: the parts, and after bounds what is measured between them."""
    return (mechanism, mechanism.groups) if isinstance(mechanism, BoundsFirst) else _parts(mechanism)


def persons_exact(made: MatrixMechanism) -> Check:
    """Return the exact check of sums over persons."""
    found = exact_persons.person_loss(made, exact.promised(claimed_of(made)))
    return exact_check("exact matrix", "persons in 2 groups", relation_of(made.unit), claimed_of(made), found)


def of_records(card: Card, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of a method that makes records, under every relation."""
    for unit in units():
        made: Any = card.example(loss, unit)
        yield from records_exact(made)
    for relation in Relation if samples is not None else ():
        made = card.example(loss, Unit(relation=relation))
        for part in exact_rounds.rounds(made) if isinstance(made, Graphical) else ():
            yield central_sampled(part, samples or SAMPLES, rng=rng)
        if not isinstance(made, Graphical):
            yield records_sampled(made, samples or SAMPLES, rng=rng)


def records_exact(made: Any) -> Iterator[Check]:
    """Yield the exact checks of one instance: of a channel, of groups, or of rounds."""
    claimed, relation = claimed_of(made), relation_of(made.unit)
    if isinstance(made, PerRecord):
        values = math.prod(column.size for column in made.columns)
        yield exact_check(
            "exact channel", f"a record of {values} values", relation, claimed, exact_records.record_loss(made)
        )
    elif isinstance(made, InsensitiveMicroaggregation):
        own = exact_groups.tiny(made)
        name = f"all tables of {own.users} records of 6 values"
        yield exact_check("exact groups", name, relation, claimed, exact_groups.grouped_loss(own))
    else:
        yield from (central_exact(part) for part in exact_rounds.rounds(made))
        yield exact_check("exact scores", "tables of 4 cells", relation, made.choice, exact_rounds.score_loss(made))
        for own in (made, replace(made, rounds=len(made.pairs))):
            yield exact_check("exact sum", f"{own.rounds} pairs", relation, claimed, exact_rounds.spent(own))


def records_sampled(made: Any, samples: int, *, rng: Generator) -> Check:
    """Return the sampled check of records whose outcomes can be listed."""
    alpha, claimed = sampled.ALPHA / len(Relation), claimed_of(made)
    if isinstance(made, PerRecord):
        name, source = "one record", outcomes_of_records.of_record(made, rng=rng)
    else:
        own = exact_groups.tiny(made)
        name, source = f"{own.users} records", outcomes_of_records.of_groups(own, rng=rng)
    low = sampled.epsilon_of_outcomes(source, samples, alpha=alpha)
    return sampled_check(name, relation_of(made.unit), claimed, low, samples=samples, alpha=alpha)


def _parts(mechanism: Any) -> tuple[Any, ...]:
    """Return what is measured one after the other; their losses add up."""
    if found := _levels(mechanism):
        return found
    if isinstance(mechanism, GroupQuantiles):
        return mechanism.parts
    return (mechanism.matrix,) if isinstance(mechanism, CentralMap) else (mechanism,)


def _levels(mechanism: Any) -> tuple[Any, ...]:
    """Return the measurements of a mechanism that makes several, each chosen by what the ones before it published."""
    found = getattr(mechanism, "levels", ())
    return found if all(isinstance(one, (MatrixMechanism, Exponential)) for one in found) else ()


def central_exact(mechanism: Any) -> Check:
    """Return the exact check of a linear mechanism or a choice."""
    claimed, bound = claimed_of(mechanism), exact.promised(claimed_of(mechanism))
    if isinstance(mechanism, MatrixMechanism):
        found = exact.matrix_loss(mechanism, bound)
        kind: Kind = "exact matrix" if exact.linear(mechanism.strategy.map) else "rounded matrix"
        return exact_check(kind, _cells(mechanism), relation_of(mechanism.unit), claimed, found)
    if isinstance(mechanism, BoundsFirst):
        found = bounds_loss(mechanism, bound)
        return exact_check("exact sum", "bounds, then sums", relation_of(mechanism.unit), claimed, found)
    if isinstance(mechanism, ApproximateQuantiles):
        name = f"{len(mechanism.quantiles)} quantiles of {exact_quantiles.LEVELS} levels"
        found = exact_quantiles.quantiles_loss(mechanism, bound)
        return exact_check("exact outputs", name, relation_of(mechanism.unit), claimed, found)
    found = exact.choice_loss(mechanism, bound)
    return exact_check("exact choice", "3 candidates", relation_of(mechanism.unit), claimed, found)


def central_sampled(mechanism: Any, samples: int, *, rng: Generator) -> Check:
    """Return the sampled check of a linear mechanism or a choice."""
    claimed, relation, alpha = claimed_of(mechanism), relation_of(mechanism.unit), sampled.ALPHA / len(Relation)
    if isinstance(mechanism, BoundsFirst):
        source, claimed = outcomes_of_bounds.of_bounds(mechanism, rng=rng), mechanism.first
        return _by_outcomes("bounds", source, mechanism.unit, claimed, samples)
    if isinstance(mechanism, MatrixMechanism):
        scores = outcome_tables.of_matrix(mechanism, rng=rng)
        bound = sampled.SCORES[claimed.form]
        return sampled_check(
            _cells(mechanism), relation, claimed, bound(scores, samples, alpha=alpha), samples=samples, alpha=alpha
        )
    if isinstance(mechanism, ApproximateQuantiles):
        source = outcomes.of_quantiles(mechanism, rng=rng)
        return _by_outcomes("quantiles of 3 levels", source, mechanism.unit, claimed, samples)
    source = outcomes.of_choice(mechanism, samples, rng=rng)
    return _by_outcomes("2 candidates", source, mechanism.unit, claimed, samples)


def _by_outcomes(name: str, source: outcomes.Outcomes, unit: Unit, claimed: Loss, samples: int) -> Check:
    """Return the sampled check of a mechanism with few outcomes."""
    alpha = sampled.ALPHA / len(Relation)
    bound = sampled.OUTCOMES[claimed.form]
    low = bound(source, samples, alpha=alpha)
    return sampled_check(name, relation_of(unit), claimed, low, samples=samples, alpha=alpha)


def _cells(mechanism: MatrixMechanism) -> str:
    return f"{mechanism.strategy.map.cells} cells"
