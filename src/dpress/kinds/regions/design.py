"""Which tables of which levels are measured, with which shares of the budget: those of the least mean variance.

spec -> spine, tables by level -> shares -> the mechanism, with its exact error.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.spine import Spine
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.inference.regions.allocation import Allocation, shares
from dpress.inference.regions.measured import Table
from dpress.kinds.regions.kind import Regions
from dpress.kinds.regions.level_files import check_levels
from dpress.kinds.regions.levels import level_depth, level_names, region_column, spine_of
from dpress.kinds.regions.measured_tables import MeasuredTables, axes_of, measured_tables
from dpress.kinds.regions.public_totals import public_totals
from dpress.kinds.regions.region_errors import mean_variance
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.region_tables import RegionTables, WholeCounts
from dpress.mechanisms.linear.spine_marginals import SpineMarginals
from dpress.query.boxes import products
from dpress.release.plan import strategies
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind, of_methods

METHOD = "spine_marginals"
GRAINS = 10_000  # of the budget, of which every table has a whole number


def choose(spec: Spec) -> Choice:
    """Return the tables of every level with their shares of the budget.

    Error: mean variance of a cell, over levels, tables and regions, exact after least squares.

    Raises:
        NotSupported: devices are asked, no attribute has levels, or another method is named.
        ValueError: a table, a level or a parameter is wrong; the line names its place.
    """
    _check(spec)
    place, parameters = region_column(spec.schema.tabular), of_kind(spec, Regions)
    others = spec.schema.subset(name for name in spec.schema.names if name != place.name)
    schema, levels, spine = Schema((place, *others.attributes)), level_names(place), spine_of(place)
    public = public_totals(parameters.invariants or {}, place, levels, spine)
    public_to = max((totals.depth for totals in public), default=-1)
    tables = measured_tables(parameters, levels, others.names, spine, public_to)
    if not any(tables.levels):
        raise ValueError(f"{PLACE}.invariants: nothing is left to measure; name a coarser level")
    check_levels(
        levels, [*strategies.VALUE_COLUMNS, "adjusted", *(["hidden"] if spec.release.display else []), *others.names]
    )
    whole = _whole(parameters, others, tables)
    candidates = []
    for loss in spec.privacy.loss.payable:
        shared = _shared(spine, others.shape, tables, [totals.depth for totals in public], loss)
        strategy = SpineMarginals(spine=spine, shape=others.shape, tables=shared.tables, shares=shared.shares)
        noisy = MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
        mechanism = RegionTables(noisy=noisy, public=public, whole=whole)
        error = mean_variance(mechanism.queries, _counting(parameters, levels, others.names, tables))
        candidates.append(Candidate(method=METHOD, mechanism=mechanism, predicted_error=error))
    chosen = min(candidates, key=lambda candidate: candidate.predicted_error)
    every = dict.fromkeys(table for level in tables.weights for table in level)
    return Choice(
        workload=Marginals(schema.shape, tuple((0, *(1 + axis for axis in table)) for table in every)),
        schema=schema,
        candidates=(chosen,),
        chosen=chosen,
        lower_bound=0.0,
        users=parameters.users or strategies.USERS,
        attributes=schema.attributes,
    )


def _check(spec: Spec) -> None:
    """Refuse what no release of regions has."""
    if spec.privacy.model == "local":
        raise NotSupported('$.privacy.model: kind = "regions" is of a table that a curator holds; got "local"')
    if spec.release.method not in (strategies.AUTO, METHOD):
        raise NotSupported(f'$.release.method: {spec.release.method!r} does not serve kind = "regions"; use {METHOD!r}')
    if spec.release.postprocess:
        raise NotSupported('$.release.postprocess: kind = "regions" has none; `records = true` gives whole numbers')
    of_methods(spec, {METHOD: Parameters})
    strategies.check_columns(spec, adjusted=of_kind(spec, Regions).records)


def _counting(
    parameters: Regions, levels: Sequence[str], others: Sequence[str], tables: MeasuredTables
) -> Sequence[Mapping[Table, float]]:
    """Return how much every table counts in the predicted error: the goal alone, where there is one.

    Raises:
        ValueError: the goal is no level, or no table that is known of it.
    """
    if (goal := parameters.goal) is None:
        return tables.weights
    level, table = level_depth(goal.level, levels, "goal.level"), axes_of(goal.table, others, "goal.table")
    if not any(set(table) <= set(other) for finer in tables.weights[level:] for other in finer):
        raise ValueError(f"{PLACE}.goal: no table of {goal.level} has {', '.join(goal.table)}")
    return [{table: float(at == level)} for at in range(len(levels))]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTables:
    """The tables of every level that are measured, and their shares of the loss, level by level."""

    tables: tuple[tuple[Table, ...], ...]
    shares: tuple[Fraction, ...]


def _shared(
    spine: Spine, shape: tuple[int, ...], tables: MeasuredTables, public: Sequence[int], loss: Loss
) -> SharedTables:
    """Return the shares of the least weighted mean variance; a table that is best left out at a level has none."""
    best = shares(
        Allocation(
            spine=spine,
            shape=shape,
            tables=tables.levels,
            workload=tables.weights,
            power=power_of(loss),
            exact=public,
        )
    )
    ordered = [sorted(level.items(), key=lambda item: (len(item[0]), item[0])) for level in best]
    grains = [{table: max(1, round(GRAINS * share)) for table, share in level} for level in ordered]
    total = sum(sum(level.values()) for level in grains)
    return SharedTables(
        tables=tuple(map(tuple, grains)),
        shares=tuple(Fraction(part, total) for level in grains for part in level.values()),
    )


def _whole(parameters: Regions, others: Schema, tables: MeasuredTables) -> WholeCounts | None:
    """Return what is made of the estimates; None where no records are asked for.

    Raises:
        ValueError: no table of the finest level has all attributes, or a condition cannot be read or leaves nothing.
    """
    if not parameters.records:
        if parameters.impossible:
            raise ValueError(f"{PLACE}.impossible: only `records` are without what is impossible; set records = true")
        return None
    if tuple(range(len(others.names))) not in tables.levels[-1]:
        raise ValueError(f"{PLACE}.records: needs a table of all attributes at the finest level: {[*others.names]}")
    mask = np.zeros(others.size, dtype=bool)
    for number, text in enumerate(parameters.impossible or [], 1):
        try:
            boxes = products(others, text)
        except ValueError as error:
            raise ValueError(f"{PLACE}.impossible[#{number}]: {error}") from None
        for weights in boxes:
            mask |= functools.reduce(np.multiply.outer, weights, np.ones(())).ravel() > 0
    if mask.all():
        raise ValueError(f"{PLACE}.impossible: nobody is left")
    return WholeCounts(impossible=tuple(np.flatnonzero(mask).tolist()))
