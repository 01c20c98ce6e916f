"""What to publish, by which method, at which error: everything that can be known before any row is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.core.workload import Areas, Marginals, Workload
from dpress.data.spec import Spec
from dpress.mechanisms.protocol.collection import Collection
from dpress.release.candidate import Candidate, CentralMapping, Mechanism
from dpress.release.joint_plan import joint_bound, joint_collections
from dpress.release.local_plan import collections, expected_users
from dpress.release.local_plan import lower_bound as local_bound
from dpress.release.microdata_plan import RecordMaker, record_makers
from dpress.release.spatial_plan import areas, central_maps, on_grid, predicted, spatial_collections
from dpress.release.table_plan import SEARCH, affordable, candidate, table_bound, table_candidates, why_not
from dpress.release.workloads import make_workload

AUTO = "auto"


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
    found = _local(spec) if spec.privacy.model == "local" else table_candidates(spec, workload)
    candidates = sorted(found, key=_rank)
    wanted = spec.release.method
    named = [one for one in candidates if one.method == wanted or (wanted == AUTO and not one.assumes)]
    if not candidates:
        raise NotSupported(f"{workload.cells:,} cells are too many for every method; use fewer bins, or smaller tables")
    if not named:
        serving = ", ".join(sorted(one.method for one in candidates))
        raise NotSupported(f"$.release.method: {why_not(spec, workload)}; those that do: {serving}")
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
    return table_bound(spec, workload)
