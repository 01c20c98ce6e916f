"""What to publish, by which method, at which error: everything that can be known before any row is read."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpress import catalog
from dpress.core import check
from dpress.core.claim import ZCDP, ApproxDP, PureDP
from dpress.core.domain import Bounded, Ordinal
from dpress.core.errors import NotSupported
from dpress.core.mechanism import Card, RangeStrategy
from dpress.core.tree import Tree
from dpress.core.workload import AllRanges, Marginals, Workload
from dpress.data.spec import Spec
from dpress.estimate.error import LARGEST_TABLE, lower_bound, tree_average
from dpress.ledger.convert import zcdp_for
from dpress.mechanisms.matrix_mechanism import MatrixMechanism
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

AUTO = "auto"
SEARCH = "seconds"  # the parameter that makes planning take long
UNIT = "counts squared"
KIND_PARAMETERS: dict[str, tuple[str, ...]] = {
    "histogram": (),
    "ranges": (),
    "marginals": ("tables", "ways"),
    "joint": (),
    "spatial": (),
    "microdata": (),
}
MOST_TABLES, MOST_WAYS = 1000, 8  # what planning and consistency take on in seconds
VALUE_COLUMNS = ("count", "standard_error", "low", "high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One method that could publish this.

    Args:
        method: its name.
        mechanism: ready to measure.
        predicted_error: the mean variance over the workload, exact, in counts squared.
    """

    method: str
    mechanism: MatrixMechanism
    predicted_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What would happen.

    Args:
        workload: the questions the error is averaged over.
        candidates: smallest predicted error first.
        chosen: the one that `publish` runs.
        lower_bound: no strategy with this kind of noise has a smaller mean variance, in counts squared.
    """

    workload: Workload
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
    workload = make_workload(spec)
    candidates = sorted(_candidates(spec, workload), key=lambda one: one.predicted_error)
    named = [one for one in candidates if spec.release.method in (AUTO, one.method)]
    if not candidates:
        raise NotSupported(f"{workload.cells:,} cells are too many for every method; use fewer bins, or smaller tables")
    if not named:
        serving = ", ".join(sorted(one.method for one in candidates))
        raise NotSupported(
            f"$.release.method: {spec.release.method!r} does not serve kind = {spec.release.kind!r}; "
            f"those that do: {serving}"
        )
    return Plan(workload=workload, candidates=tuple(candidates), chosen=named[0], lower_bound=_bound(spec, workload))


def replanned(spec: Spec, method: str, mechanism: MatrixMechanism) -> Plan:
    """Return the plan of a release that was made: its own mechanism beside what this version would offer.

    A strategy that was searched for is not searched for again.
    """
    workload = make_workload(spec)
    chosen = candidate(method, mechanism, workload)
    others = () if SEARCH in spec.release.parameters else plan(spec).candidates
    candidates = sorted((chosen, *(one for one in others if one.method != method)), key=lambda one: one.predicted_error)
    return Plan(workload=workload, candidates=tuple(candidates), chosen=chosen, lower_bound=_bound(spec, workload))


def _bound(spec: Spec, workload: Workload) -> float:
    return min(lower_bound(workload, spec.privacy.relation) * variance for variance in _unit_variances(spec))


def make_workload(spec: Spec) -> Workload:
    """Return the questions that a release of this kind is for."""
    if spec.privacy.model != "central":
        raise NotSupported('$.privacy.model: this release needs model = "central"')
    _check_columns(spec)
    schema = spec.schema
    if spec.release.kind == "marginals":
        tables = _tables(spec)
        workload: Workload = Marginals(schema.shape, tables)
        if workload.queries > LARGEST_TABLE:
            raise NotSupported(f"the tables have {workload.queries:,} cells, more than 2^26; use fewer bins or tables")
    elif spec.release.kind == "histogram":
        workload = Marginals(schema.shape, (tuple(range(len(schema.attributes))),))
    elif spec.release.kind == "ranges":
        _check_ordered(spec)
        workload = AllRanges(schema.size)
    else:
        raise NotSupported(f"$.release.kind: no method publishes {spec.release.kind!r} in the central model yet")
    return workload


def _check_columns(spec: Spec) -> None:
    """Refuse attributes whose columns would hide one another in the released tables."""
    columns = [*VALUE_COLUMNS, *(("adjusted",) if spec.release.postprocess else ())]
    for attribute in spec.schema.tabular:
        edges = (f"{attribute.name}_from", f"{attribute.name}_below") if isinstance(attribute, Bounded) else ()
        columns += [attribute.name, *edges]
    for name in columns:
        if columns.count(name) > 1:
            raise ValueError(f"$.attribute: the released tables would have two columns {name!r}; rename an attribute")


def _tables(spec: Spec) -> tuple[tuple[int, ...], ...]:
    """Return the axes of the tables: those listed in `tables`, or all of `ways` attributes (default 2)."""
    schema = spec.schema
    listed, ways = spec.release.parameters.get("tables"), spec.release.parameters.get("ways")
    if listed is not None and ways is not None:
        raise ValueError("$.release.parameters: set either `tables` or `ways`")
    if listed is None:
        ways = min(2, len(schema.attributes)) if ways is None else check.count("$.release.parameters.ways", ways)
        _check_tables(math.comb(len(schema.attributes), ways), ways)
        if ways > len(schema.attributes):
            raise ValueError(f"$.release.parameters.ways: expected at most {len(schema.attributes)}, got {ways}")
        return tuple(itertools.combinations(range(len(schema.attributes)), ways))
    if not isinstance(listed, list) or not listed or not all(isinstance(names, list) and names for names in listed):
        raise ValueError("$.release.parameters.tables: expected a list of at least one list of attribute names")
    _check_tables(len(listed), max(map(len, listed)))
    return tuple(schema.axes(names) for names in listed)


def _check_tables(tables: int, ways: int) -> None:
    if tables > MOST_TABLES or ways > MOST_WAYS:
        raise ValueError(
            f"$.release.parameters: {tables} tables of up to {ways} attributes; "
            f"at most {MOST_TABLES} tables of {MOST_WAYS} attributes are supported"
        )


def _check_ordered(spec: Spec) -> None:
    attributes = spec.schema.attributes
    if len(attributes) != 1 or not isinstance(attributes[0], (Bounded, Ordinal)):
        raise ValueError(
            "$.release.attributes: ranges need exactly one integer, numeric or ordinal attribute, "
            f"got {', '.join(f'{one.name} ({type(one).__name__.lower()})' for one in attributes)}"
        )


def _candidates(spec: Spec, workload: Workload) -> list[Candidate]:
    """Return every method that serves the workload and takes the spec's own parameters."""
    own = {
        name: value for name, value in spec.release.parameters.items() if name not in KIND_PARAMETERS[spec.release.kind]
    }
    cards = [card for card in catalog.cards().values() if set(own) <= set(card.parameters)]
    found = [best for card in cards if (best := _best(card, workload, spec, own)) is not None]
    if own and not found:
        raise ValueError(f"$.release.parameters: unknown parameter {min(own)!r} for kind {spec.release.kind!r}")
    return found


def _best(card: Card, workload: Workload, spec: Spec, own: dict[str, Any]) -> Candidate | None:
    """Return the method under the noise that suits it best within the budget, or None if it does not serve."""
    candidates = []
    for loss in affordable(spec):
        strategy = card.strategy(workload, loss, **own) if card.strategy is not None else None
        if strategy is not None:
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
    decoder = mechanism.strategy.decoder
    if isinstance(workload, AllRanges):
        variances = [noise.variance for noise in mechanism.noises]
        if isinstance(mechanism.strategy.map, Tree) and len(variances) > 1:
            return tree_average(mechanism.strategy.map, variances)
        if not isinstance(mechanism.strategy, RangeStrategy):
            raise NotSupported(f"{type(mechanism.strategy).__name__} has no exact mean error over ranges")
        return mechanism.strategy.average_coefficient() * variances[0]
    total = 0.0
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
