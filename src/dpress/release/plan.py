"""What to publish, by which method, at which error: everything that can be known before any row is read."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpress import catalog
from dpress.core.claim import ZCDP, ApproxDP, Loss, PureDP
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card
from dpress.core.workload import Areas, Boxes, Marginals, Workload
from dpress.data.spec import Spec
from dpress.estimate.error import lower_bound
from dpress.ledger.convert import zcdp_for
from dpress.mechanisms import product
from dpress.mechanisms.central_map import CentralMap
from dpress.mechanisms.collection import Collection
from dpress.mechanisms.joint.independent import Independent
from dpress.mechanisms.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace
from dpress.release.joint_plan import joint_bound, joint_collections
from dpress.release.local_plan import collections, expected_users
from dpress.release.local_plan import lower_bound as local_bound
from dpress.release.microdata_plan import RecordMaker, record_makers
from dpress.release.spatial_plan import areas, central_maps, on_grid, predicted, spatial_collections
from dpress.release.workloads import KIND_PARAMETERS, make_workload

AUTO = "auto"
SEARCH = "seconds"  # the parameter that makes planning take long
UNIT = "counts squared"
ONLY_UNDER: dict[str, type] = {"dst": ZCDP, "p_identity": PureDP}  # strategies made for one kind of noise
CentralMapping = CentralMap | AdaptiveGrid
Mechanism = MatrixMechanism | Collection | CentralMap | AdaptiveGrid | RecordMaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One method that could publish this.

    Args:
        method: its name.
        mechanism: ready to measure.
        predicted_error: the mean variance over the workload, exact, in counts squared; of records the squared error
            that noise adds to the numbers of all of them, on the scale of the bounds, infinite without a formula.
    """

    method: str
    mechanism: Mechanism
    predicted_error: float

    @property
    def assumes(self) -> str:
        """What the predicted error takes for granted about the people; empty for all but a baseline."""
        estimator = self.mechanism.estimator if isinstance(self.mechanism, Collection) else None
        return estimator.assumes if isinstance(estimator, Independent) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would happen.

    Args:
        workload: the questions the error is averaged over; of records, which have no such error, every attribute.
        schema: the attributes whose cells the chosen method takes; of a map both places, on its grid.
        candidates: smallest predicted error first; those that assume something about the people last.
        chosen: the one that `publish` runs.
        lower_bound: no strategy with this kind of noise has a smaller mean variance, in counts squared; 0 where none
            is known.
    """

    workload: Workload | Areas
    schema: Schema
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    lower_bound: float


def plan(spec: Spec) -> Plan:
    """Return the candidates for a spec with their predicted error; reads no data and spends nothing.

    Raises:
        NotSupported: no method serves this kind of release.
        ValueError: the release's attributes or parameters do not fit its kind.
    """
    if not isinstance(spec, Spec):
        raise ValueError(f"spec must be a Spec (dpress.load_spec reads a file), got {type(spec).__name__}")
    if spec.release.kind == "spatial":
        return _map(spec)
    if spec.release.kind == "microdata":
        return _records(spec)
    workload = make_workload(spec)
    found = _local(spec) if spec.privacy.model == "local" else _candidates(spec, workload)
    candidates = sorted(found, key=_rank)
    wanted = spec.release.method
    named = [one for one in candidates if one.method == wanted or (wanted == AUTO and not one.assumes)]
    if not candidates:
        raise NotSupported(f"{workload.cells:,} cells are too many for every method; use fewer bins, or smaller tables")
    if not named:
        serving = ", ".join(sorted(one.method for one in candidates))
        raise NotSupported(f"$.release.method: {_why_not(spec, workload)}; those that do: {serving}")
    return Plan(
        workload=workload,
        schema=spec.schema,
        candidates=tuple(candidates),
        chosen=named[0],
        lower_bound=_bound(spec, workload),
    )


def _map(spec: Spec) -> Plan:
    """Return the plan of a map: every method at its best grid, smallest expected error first."""
    best: dict[str, Candidate] = {}
    made: Iterator[tuple[str, Collection | CentralMapping]]
    made = spatial_collections(spec) if spec.privacy.model == "local" else central_maps(spec, affordable(spec))
    for method, mechanism in made:
        own = _on_map(spec, method, mechanism, expected_users(spec))
        best[method] = min(best.get(method, own), own, key=_rank)
    return _planned_map(spec, sorted(best.values(), key=_rank))


def _on_map(spec: Spec, method: str, mechanism: Collection | CentralMapping, users: int) -> Candidate:
    """Return a way to make a map, with the error that is to be expected of it for so many people."""
    if isinstance(mechanism, Collection):
        return _collected(method, mechanism, users, areas(spec))
    return Candidate(method=method, mechanism=mechanism, predicted_error=predicted(mechanism, areas(spec), users))


def _planned_map(spec: Spec, candidates: Sequence[Candidate]) -> Plan:
    chosen = candidates[0]
    schema = on_grid(spec, chosen.mechanism.decoder.shape[0])
    return Plan(workload=areas(spec), schema=schema, candidates=tuple(candidates), chosen=chosen, lower_bound=0.0)


def _records(spec: Spec) -> Plan:
    """Return the plan of records: every method under the noise that suits it best, least noise first."""
    best: dict[str, Candidate] = {}
    for method, maker in record_makers(spec, affordable(spec)):
        own = _as_records(spec, method, maker)
        best[method] = min(own, best.get(method, own), key=_rank)  # the last of equals: rho suits many answers
    return _planned_records(spec, sorted(best.values(), key=_rank))


def _as_records(spec: Spec, method: str, maker: RecordMaker) -> Candidate:
    return Candidate(method=method, mechanism=maker, predicted_error=maker.noise_sse(expected_users(spec)))


def _planned_records(spec: Spec, candidates: Sequence[Candidate]) -> Plan:
    schema = spec.schema
    return Plan(
        workload=Marginals(schema.shape, tuple((axis,) for axis in range(len(schema.shape)))),
        schema=schema,
        candidates=tuple(candidates),
        chosen=candidates[0],
        lower_bound=0.0,
    )


def _rank(one: Candidate) -> tuple[bool, float]:
    return bool(one.assumes), one.predicted_error


def _why_not(spec: Spec, workload: Workload) -> str:
    """Return why the method that a spec names is no candidate, as the beginning of a refusal."""
    name, serve = spec.release.method, f"serve kind = {spec.release.kind!r}"
    card = catalog.cards().get(name)
    if card is None or spec.privacy.model == "local":
        return f"{name!r} does not {serve}"
    if card.model == "local":
        return f'{name!r} is for local collections (model = "local") and does not {serve}'
    if untaken := sorted(set(_own(spec)) - set(card.parameters)):
        return f"{name!r} takes no parameter {untaken[0]!r}"
    boxes = isinstance(workload, Boxes)
    if boxes and name in ONLY_UNDER and not isinstance(spec.privacy.loss, (ONLY_UNDER[name], ApproxDP)):
        needed = "rho" if ONLY_UNDER[name] is ZCDP else "epsilon"
        return f"{name!r} needs {needed} in [privacy] to {serve}"
    if boxes and SEARCH in card.parameters and SEARCH not in spec.release.parameters:
        return f"{name!r} needs `{SEARCH}` in [release.parameters], the time to search, to {serve}"
    return f"{name!r} does not {serve}" + (" with these attributes" if boxes else "")


def charge(chosen: Candidate, *, allow_unproven: bool) -> Loss:
    """Return what running a method costs: what is proven, or what its paper claims where that was allowed.

    Raises:
        NotSupported: the method is unproven and was not allowed, or claims nothing.
    """
    claim = chosen.mechanism.claim
    loss = claim.proven or claim.published
    if loss is None or (claim.proven is None and not allow_unproven):
        why = claim.basis.removeprefix("no proof") if isinstance(chosen.mechanism, RecordMaker) else ""
        raise NotSupported(f"{chosen.method}: the published claim is not proven{why}; allow_unproven runs it anyway")
    return loss


def taken(planned: Plan, collection: Collection) -> Plan:
    """Return the plan of a collection that took place, with the error predicted for those who took part."""
    old = planned.chosen
    chosen = _collected(old.method, collection, collection.users, planned.workload)
    scale = chosen.predicted_error / old.predicted_error if old.predicted_error else 1.0
    others = (replace(one, predicted_error=one.predicted_error * scale) for one in planned.candidates if one is not old)
    candidates = sorted((chosen, *others), key=_rank)
    return replace(planned, candidates=tuple(candidates), chosen=chosen, lower_bound=planned.lower_bound * scale)


def replanned(spec: Spec, method: str, mechanism: Mechanism) -> Plan:
    """Return the plan of a release that was made: its own mechanism beside what this version would offer.

    A strategy that was searched for is not searched for again.
    """
    if isinstance(mechanism, CentralMapping) or (isinstance(mechanism, Collection) and mechanism.spatial is not None):
        users = mechanism.users if isinstance(mechanism, Collection) else expected_users(spec)
        return _planned_map(spec, [_on_map(spec, method, mechanism, users)])
    if isinstance(mechanism, RecordMaker):
        return _planned_records(spec, [_as_records(spec, method, mechanism)])
    workload = make_workload(spec)
    if isinstance(mechanism, Collection):
        planned = plan(spec)
        same = [one for one in planned.candidates if one.method == method and _asks(one) == _asks_of(mechanism)]
        return taken(replace(planned, chosen=same[0]), mechanism)
    chosen = candidate(method, mechanism, workload)
    others = () if SEARCH in spec.release.parameters else plan(spec).candidates
    candidates = sorted((chosen, *(one for one in others if one.method != method)), key=lambda one: one.predicted_error)
    return Plan(
        workload=workload,
        schema=spec.schema,
        candidates=tuple(candidates),
        chosen=chosen,
        lower_bound=_bound(spec, workload),
    )


def _asks(candidate: Candidate) -> tuple[str, int] | None:
    return _asks_of(candidate.mechanism) if isinstance(candidate.mechanism, Collection) else None


def _asks_of(collection: Collection) -> tuple[str, int]:
    return collection.split, len(collection.questions)


def _local(spec: Spec) -> list[Candidate]:
    users = expected_users(spec)
    found = joint_collections(spec) if spec.release.kind == "joint" else collections(spec)
    workload = make_workload(spec)
    return [_collected(method, collection, users, workload) for method, collection in found]


def _collected(method: str, collection: Collection, users: int, workload: Workload | Areas) -> Candidate:
    """Return a collection with the error that is predicted for so many users."""
    if isinstance(workload, Areas) and collection.spatial is not None:
        error = predicted(collection.spatial, workload, users)
    else:
        error = collection.mean_variance(users)
    return Candidate(method=method, mechanism=collection, predicted_error=error)


def _bound(spec: Spec, workload: Workload) -> float:
    if spec.privacy.model == "local":
        return joint_bound(spec) if spec.release.kind == "joint" else local_bound(spec)
    return min(lower_bound(workload, spec.privacy.relation) * variance for variance in _unit_variances(spec))


def _candidates(spec: Spec, workload: Workload) -> list[Candidate]:
    """Return every method that serves the workload and takes the spec's own parameters."""
    own = _own(spec)
    cards = [card for card in catalog.cards().values() if set(own) <= set(card.parameters)]
    found = [best for card in cards if (best := _best(card, workload, spec, own)) is not None]
    if own and not found:
        raise ValueError(f"$.release.parameters: {_untaken(spec, workload, set(own))}")
    return found


def _own(spec: Spec) -> dict[str, Any]:
    """Return the parameters that are for a method, not for the kind."""
    kind = KIND_PARAMETERS[spec.release.kind]
    return {name: value for name, value in spec.release.parameters.items() if name not in kind}


def _untaken(spec: Spec, workload: Workload, own: set[str]) -> str:
    """Return which of the spec's own parameters no method takes, and which there are."""
    kind, known = spec.release.kind, [*KIND_PARAMETERS[spec.release.kind]]
    for card in catalog.cards().values():
        serves = isinstance(workload, Boxes) if SEARCH in card.parameters else bool(_best(card, workload, spec, {}))
        known += card.parameters if serves else ()
    if unknown := own - set(known):
        return f"unknown parameter {min(unknown)!r} for kind {kind!r}; known: {', '.join(known) or 'none'}"
    return f"no method takes {', '.join(sorted(own))} for this release of kind {kind!r}"


def _best(card: Card, workload: Workload, spec: Spec, own: dict[str, Any]) -> Candidate | None:
    """Return the method under the noise that suits it best within the budget, or None if it does not serve."""
    candidates = []
    for loss in affordable(spec):
        strategy = card.strategy(workload, loss, **own) if card.strategy is not None else None
        if strategy is not None:
            with contextlib.suppress(NotSupported):  # its noise is too large, or too fine, to be drawn
                mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
                candidates.append(candidate(card.name, mechanism, workload))
    return min(candidates, key=lambda one: one.predicted_error, default=None)


def candidate(method: str, mechanism: MatrixMechanism, workload: Workload) -> Candidate:
    """Return a mechanism with its predicted error on a workload."""
    return Candidate(method=method, mechanism=mechanism, predicted_error=mean_variance(mechanism, workload))


def affordable(spec: Spec) -> tuple[PureDP | ZCDP, ...]:
    """Return the losses that additive noise can be calibrated to within the budget.

    An (epsilon, delta) budget pays for pure epsilon, or for the largest rho whose conversion stays within it.
    """
    loss = spec.privacy.loss
    if isinstance(loss, ApproxDP):
        return PureDP(epsilon=loss.epsilon), ZCDP(rho=zcdp_for(loss.epsilon, loss.delta))
    return (loss,)


def mean_variance(mechanism: MatrixMechanism, workload: Workload) -> float:
    """Return the exact variance of an answer, averaged over the workload, in counts squared."""
    if isinstance(workload, Boxes):
        return product.mean_variance(mechanism.strategy, workload, [noise.variance for noise in mechanism.noises])
    decoder, total = mechanism.strategy.decoder, 0.0
    for table in workload.tables:  # within a table every cell has the same variance
        weights = [np.eye(1, n)[0] if axis in table else np.ones(n) for axis, n in enumerate(workload.shape)]
        cells = int(np.prod([workload.shape[axis] for axis in table], dtype=np.int64))
        total += cells * decoder.query_variance(mechanism.variance, weights)
    return total / workload.queries


def _unit_variances(spec: Spec) -> list[float]:
    """Return the variance of noise for sensitivity one, under each affordable loss."""
    rows = Fraction(spec.privacy.rows_per_unit)
    return [
        DiscreteLaplace(scale=rows / loss.epsilon).variance
        if isinstance(loss, PureDP)
        else DiscreteGaussian(sigma2=rows**2 / (2 * loss.rho)).variance
        for loss in affordable(spec)
    ]
