"""The audit of one method: tiny instances under every relation, exactly where that can be, sampled on request.

card, loss, samples -> instances -> checks -> Audit.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from dpress.core.check import float_up
from dpress.core.claim import ZCDP, ApproxDP, Loss, PureDP, Relation, Unit
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card
from dpress.core.name_counts import NameCounts, NoisyNames
from dpress.core.oracle import Oracle, Payloads, Values
from dpress.core.rng import Generator, secure
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
from dpress.mechanisms.selection.above_threshold import TOTAL_SHARE
from dpress.mechanisms.selection.gaussian_threshold import GaussianThreshold
from dpress.mechanisms.selection.partition_selection import PartitionSelection
from dpress.mechanisms.selection.weighted_threshold import WeightedThreshold
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.mechanisms.spatial.psda import Psda
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles
from dpress.release.audit import (
    exact,
    exact_groups,
    exact_names,
    exact_persons,
    exact_quantiles,
    exact_records,
    exact_rounds,
    outcome_tables,
    outcomes,
    outcomes_of_bounds,
    outcomes_of_names,
    outcomes_of_records,
    sampled,
)
from dpress.release.audit.exact import ExactLoss
from dpress.release.audit.exact_discovery import bounds_loss, discovery_loss
from dpress.release.audit.exact_steps import added_loss
from dpress.release.audit.exact_weights import coarse, coarse_names, weights_loss
from dpress.release.audit.verdict import Audit, Check, Kind

CENTRAL = (MatrixMechanism, Exponential, ApproximateQuantiles, CentralMap, GroupQuantiles, BoundsFirst)
SIZES = (2, 3, 4, 5)
ROWS = (1, 3)
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
    if isinstance(loss, ApproxDP) and isinstance(example, (PartitionSelection, GaussianThreshold, WeightedThreshold)):
        checks = list(selecting(card, loss, samples, rng=generator))
    elif isinstance(example, DiscoveredGroups):
        checks = list(discovering(card, loss, samples, rng=generator))
    elif isinstance(loss, ApproxDP):
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
    claimed = _claimed(oracle)
    if found := exact.channels(oracle, rng=rng):
        whole = len(found) == 1
        kind: Kind = "exact channel" if whole else "channel by seed"
        remark = "" if whole else f"given each of {len(found)} seeds, drawn without the value"
        if getattr(oracle, "size", None) == 1:
            remark = "one value: there is nothing to tell apart, and nothing is checked"
        yield _exact(kind, name, VALUES, claimed, exact.channel_loss(found, claimed.epsilon), remark=remark)
        if hasattr(oracle, "lifetime"):
            ever = exact.channels(exact.permanent(oracle), rng=rng)
            lifetime: PureDP = oracle.lifetime
            remark = "the permanent response is what all reports of one value can reveal"
            yield _exact(
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
    return _sampled(name, VALUES, _claimed(oracle), low, samples=samples, alpha=alpha)


def central(card: Card, loss: PureDP | ZCDP, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of a linear mechanism or a choice under every relation."""
    for unit in _units():
        made: Any = card.example(loss, unit)
        for part in _parts(made):
            yield central_exact(part)
            if isinstance(part, MatrixMechanism) and isinstance(part.strategy, GroupStatistics):
                yield persons_exact(exact_persons.tiny(part))
        if isinstance(made, GroupQuantiles):
            found = added_loss(made, exact.promised(_claimed(made)))
            yield _exact("exact sum", "sums and choices", _relation(unit), _claimed(made), found)
    for relation in Relation if samples is not None else ():
        for part in _drawn(card.example(loss, Unit(relation=relation))):
            yield central_sampled(part, samples or SAMPLES, rng=rng)


def _drawn(mechanism: Any) -> tuple[Any, ...]:
    """Return what is drawn one after the other: the parts, and after bounds what is measured between them."""
    return (mechanism, mechanism.groups) if isinstance(mechanism, BoundsFirst) else _parts(mechanism)


def persons_exact(made: MatrixMechanism) -> Check:
    """Return the exact check of sums over persons."""
    found = exact_persons.person_loss(made, exact.promised(_claimed(made)))
    return _exact("exact matrix", "persons in 2 groups", _relation(made.unit), _claimed(made), found)


def of_records(card: Card, loss: PureDP | ZCDP, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of a method that makes records, under every relation."""
    for unit in _units():
        made: Any = card.example(loss, unit)
        yield from records_exact(made)
    for relation in Relation if samples is not None else ():
        made = card.example(loss, Unit(relation=relation))
        for part in exact_rounds.rounds(made) if isinstance(made, Graphical) else ():
            yield central_sampled(part, samples or SAMPLES, rng=rng)
        if not isinstance(made, Graphical):
            yield records_sampled(made, samples or SAMPLES, rng=rng)


def selecting(card: Card, loss: ApproxDP, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of what releases names, beside a total where it has one."""

    def example(own: ApproxDP, unit: Unit) -> Any:
        made: Any = card.example
        weighted = isinstance(card.example(own, unit), WeightedThreshold)
        return coarse(made(own, unit)) if weighted else made(own, unit, own.epsilon * TOTAL_SHARE)

    yield from (names_exact(example(loss, unit)) for unit in _units())
    for relation in Relation if samples is not None else ():
        made = example(ApproxDP(epsilon=loss.epsilon, delta=outcomes_of_names.DELTA), Unit(relation=relation))
        yield from names_sampled(made, lambda names, rng, own=made: own.select(names, rng=rng), samples or 0, rng=rng)


def discovering(card: Card, loss: Loss, samples: int | None, *, rng: Generator) -> Iterator[Check]:
    """Yield the checks of names and of their groups: exactly together, by samples one after the other."""
    yield from (discovery_exact(cast("DiscoveredGroups", card.example(loss, unit))) for unit in _units())
    for relation in Relation if samples is not None else ():
        wide = ApproxDP(epsilon=cast("ApproxDP", loss).epsilon, delta=outcomes_of_names.DELTA)
        made = coarse_names(cast("DiscoveredGroups", card.example(wide, Unit(relation=relation))))

        def select(names: NameCounts, rng: Generator, own: DiscoveredGroups = made) -> NoisyNames:
            found = own.select(names, rng=rng)
            return NoisyNames(names=found, answers=np.zeros(len(found), dtype=np.int64))

        yield from names_sampled(made.names, select, samples or 0, rng=rng)
        yield central_sampled(made.listing(2).groups, samples or 0, rng=rng)


def names_sampled(made: Any, select: Any, samples: int, *, rng: Generator) -> Iterator[Check]:
    """Yield the sampled checks of what releases names: of a name, and of the total."""
    claimed, relation, alpha = _claimed(made), _relation(made.unit), sampled.ALPHA / (3 * len(Relation))
    for name, source in outcomes_of_names.of_names(made, select, rng=rng):
        low = sampled.epsilon_of_outcomes(source, samples, alpha=alpha, delta=float(claimed.delta))
        yield _sampled(name, relation, claimed, low, samples=samples, alpha=alpha)
    if made.total:
        fewer = max(sampled.FEWEST, samples // 8)  # one call draws one total
        source = outcomes_of_names.of_total(select, rows=made.unit.rows, rng=rng)
        low = sampled.epsilon_of_outcomes(source, fewer, alpha=alpha)
        yield _sampled("the total", relation, PureDP(epsilon=made.total), low, samples=fewer, alpha=alpha)


def names_exact(made: PartitionSelection | GaussianThreshold | WeightedThreshold) -> Check:
    """Return the exact check of what releases names, beside its total."""
    claimed = _claimed(made)
    if isinstance(made, PartitionSelection):
        return _delta("exact outputs", "tables of a few names", made, exact_names.names_loss(made, claimed))
    if isinstance(made, WeightedThreshold):
        return _delta("exact sum", "sums of noise", made, weights_loss(coarse(made), claimed))
    return _delta("exact sum", "sums of noise", made, exact_names.sums_loss(made, claimed))


def discovery_exact(made: DiscoveredGroups) -> Check:
    """Return the exact check of names and their groups together."""
    return _delta("exact sum", "names, then their groups", made, discovery_loss(coarse_names(made), _claimed(made)))


def _delta(kind: Kind, name: str, made: Any, found: exact_names.ExactDelta) -> Check:
    return Check(
        kind=kind,
        instance=name,
        relation=_relation(made.unit),
        claimed=_claimed(made),
        kept=found.kept,
        loss=float_up(found.delta),
        remark=found.remark,
    )


def records_exact(made: Any) -> Iterator[Check]:
    """Yield the exact checks of one instance: of a channel, of groups, or of rounds."""
    claimed, relation = _claimed(made), _relation(made.unit)
    if isinstance(made, PerRecord):
        values = math.prod(column.size for column in made.columns)
        yield _exact(
            "exact channel", f"a record of {values} values", relation, claimed, exact_records.record_loss(made)
        )
    elif isinstance(made, InsensitiveMicroaggregation):
        own = exact_groups.tiny(made)
        name = f"all tables of {own.users} records of 6 values"
        yield _exact("exact groups", name, relation, claimed, exact_groups.grouped_loss(own))
    else:
        yield from (central_exact(part) for part in exact_rounds.rounds(made))
        yield _exact("exact scores", "tables of 4 cells", relation, made.choice, exact_rounds.score_loss(made))
        for own in (made, replace(made, rounds=len(made.pairs))):
            yield _exact("exact sum", f"{own.rounds} pairs", relation, claimed, exact_rounds.spent(own))


def records_sampled(made: Any, samples: int, *, rng: Generator) -> Check:
    """Return the sampled check of records whose outcomes can be listed."""
    alpha, claimed = sampled.ALPHA / len(Relation), _claimed(made)
    if isinstance(made, PerRecord):
        name, source = "one record", outcomes_of_records.of_record(made, rng=rng)
    else:
        own = exact_groups.tiny(made)
        name, source = f"{own.users} records", outcomes_of_records.of_groups(own, rng=rng)
    low = sampled.epsilon_of_outcomes(source, samples, alpha=alpha)
    return _sampled(name, _relation(made.unit), claimed, low, samples=samples, alpha=alpha)


def _units() -> list[Unit]:
    return [Unit(relation=one, column=None if n == 1 else "person", rows=n) for one in Relation for n in ROWS]


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
    claimed, bound = _claimed(mechanism), exact.promised(_claimed(mechanism))
    if isinstance(mechanism, MatrixMechanism):
        found = exact.matrix_loss(mechanism, bound)
        kind: Kind = "exact matrix" if exact.linear(mechanism.strategy.map) else "rounded matrix"
        return _exact(kind, _cells(mechanism), _relation(mechanism.unit), claimed, found)
    if isinstance(mechanism, BoundsFirst):
        found = bounds_loss(mechanism, bound)
        return _exact("exact sum", "bounds, then sums", _relation(mechanism.unit), claimed, found)
    if isinstance(mechanism, ApproximateQuantiles):
        name = f"{len(mechanism.quantiles)} quantiles of {exact_quantiles.LEVELS} levels"
        found = exact_quantiles.quantiles_loss(mechanism, bound)
        return _exact("exact outputs", name, _relation(mechanism.unit), claimed, found)
    found = exact.choice_loss(mechanism, bound)
    return _exact("exact choice", "3 candidates", _relation(mechanism.unit), claimed, found)


def central_sampled(mechanism: Any, samples: int, *, rng: Generator) -> Check:
    """Return the sampled check of a linear mechanism or a choice."""
    claimed, relation, alpha = _claimed(mechanism), _relation(mechanism.unit), sampled.ALPHA / len(Relation)
    if isinstance(mechanism, BoundsFirst):
        source, claimed = outcomes_of_bounds.of_bounds(mechanism, rng=rng), cast("PureDP | ZCDP", mechanism.first)
        return _by_outcomes("bounds", source, mechanism.unit, claimed, samples)
    if isinstance(mechanism, MatrixMechanism):
        scores = outcome_tables.of_matrix(mechanism, rng=rng)
        bound = sampled.epsilon_of_scores if isinstance(claimed, PureDP) else sampled.rho_of_scores
        return _sampled(
            _cells(mechanism), relation, claimed, bound(scores, samples, alpha=alpha), samples=samples, alpha=alpha
        )
    if isinstance(mechanism, ApproximateQuantiles):
        source = outcomes.of_quantiles(mechanism, rng=rng)
        return _by_outcomes("quantiles of 3 levels", source, mechanism.unit, claimed, samples)
    source = outcomes.of_choice(mechanism, samples, rng=rng)
    return _by_outcomes("2 candidates", source, mechanism.unit, claimed, samples)


def _by_outcomes(name: str, source: outcomes.Outcomes, unit: Unit, claimed: PureDP | ZCDP, samples: int) -> Check:
    """Return the sampled check of a mechanism with few outcomes."""
    alpha = sampled.ALPHA / len(Relation)
    bound = sampled.epsilon_of_outcomes if isinstance(claimed, PureDP) else sampled.rho_of_outcomes
    low = bound(source, samples, alpha=alpha)
    return _sampled(name, _relation(unit), claimed, low, samples=samples, alpha=alpha)


def _exact(kind: Kind, name: str, relation: str, claimed: Loss, found: ExactLoss, *, remark: str = "") -> Check:
    loss = math.inf if found.loss is None else float_up(found.loss)
    remarks = "; ".join(filter(None, (remark, found.remark)))
    return Check(
        kind=kind, instance=name, relation=relation, claimed=claimed, loss=loss, kept=found.kept, remark=remarks
    )


def _sampled(name: str, relation: str, claimed: Loss, low: float, *, samples: int, alpha: float) -> Check:
    return Check(
        kind="sampled events",
        instance=name,
        relation=relation,
        claimed=claimed,
        kept=low <= float_up(claimed.epsilon if isinstance(claimed, ApproxDP) else exact.promised(claimed)),
        lower_bound=low,
        samples=samples,
        confidence=1 - alpha,
    )


def _claimed(mechanism: Any) -> Any:
    return mechanism.claim.proven or mechanism.claim.published


def _cells(mechanism: MatrixMechanism) -> str:
    return f"{mechanism.strategy.map.cells} cells"


def _relation(unit: Unit) -> str:
    return str(unit.relation) if unit.rows == 1 else f"{unit.relation}, {unit.rows} rows"
