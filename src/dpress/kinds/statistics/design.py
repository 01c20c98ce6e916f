"""Which sums to measure for the statistics that are asked for, and how they share the budget.

parameters -> parts with the attributes' finest levels -> the error of each under the whole budget -> shares.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec
import numpy as np

from dpress.core.attribute import Tabular
from dpress.core.bounded_attribute import Integer, Number
from dpress.core.claim import ZCDP, PureDP
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported
from dpress.core.parameters import PLACE, Parameters
from dpress.core.ranges import Prefixes
from dpress.core.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import devices, discovery
from dpress.kinds.statistics.assumed_shape import check
from dpress.kinds.statistics.discovery import Discovery
from dpress.kinds.statistics.finest_levels import check_units, finest
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import check_groups, check_measured, measured
from dpress.kinds.statistics.person_parts import person_parts
from dpress.kinds.statistics.prediction import best_shares, mean_square
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.hierarchy import Hierarchy, best_tree
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.release.candidate import Candidate, Choice
from dpress.release.parameter_checks import of_kind, of_methods
from dpress.release.query_language import parse
from dpress.release.strategies import affordable

METHOD = "group_statistics"
UNIT = "squared error, widths of the bounds"
MOST_CELLS = 1 << 12  # of quantiles, where an integer attribute states no bins
Added = tuple[tuple[MomentSums, ...], tuple[PersonSums, ...]]
MOST_GROUPS, MOST_NODES, MOST_LISTED = 1 << 17, 1 << 24, 1 << 12


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What is asked for.

    Args:
        by: the attributes of the groups.
        degrees: the highest moment of every measured attribute.
        quantiles: of every attribute that has some.
        shares: the conditions.
        schema: the attributes, measured ones with their finest levels.
        cells: of every attribute that has quantiles.
    """

    by: tuple[str, ...]
    degrees: dict[str, int]
    quantiles: dict[str, tuple[Fraction, ...]]
    shares: tuple[str, ...]
    schema: Schema
    cells: dict[str, int]


def choose(spec: Spec) -> Choice:
    """Return the one method that serves, with the shares of the budget that suit the statistics.

    Raises:
        NotSupported: there are too many groups.
        ValueError: attributes or parameters do not fit, or the budget does not give the precision.
    """
    if spec.privacy.model == "local":
        return devices.chosen(spec)
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "statistics" has no tables to adjust')
    own = of_kind(spec, Statistics)
    name = discovery.discovered(spec.schema, own.by or ())
    method = METHOD if name is None else discovery.METHOD
    if spec.release.method not in ("auto", method):
        raise NotSupported(
            f"$.release.method: {spec.release.method!r} does not serve kind = 'statistics'; {method!r} does"
        )
    of_methods(spec, {method: Parameters})
    asked = _asked(spec.schema, own)
    moments = tuple(_moments(asked))
    persons = person_parts(spec, asked.schema, asked.by, own)
    check(asked.schema, own.assume or {}, {*asked.degrees, *asked.quantiles})
    _check_used(asked, moments, {*(own.totals or ())})
    if name is None:
        candidates = [_candidate(spec, own, asked, (moments, persons), loss) for loss in affordable(spec)]
    else:
        if persons:
            raise NotSupported(f"{PLACE}: persons and totals are counted in groups that are listed, not discovered")
        candidates = [_discovering(spec, own, asked, moments, one) for one in discovery.discoveries(spec, name)]
    chosen = min(candidates, key=lambda one: one.predicted_error)
    return Choice(
        workload=Marginals(asked.schema.shape, (asked.schema.axes(asked.by),)),
        schema=asked.schema,
        candidates=(chosen,),
        chosen=chosen,
        lower_bound=0.0,
        users=own.users,
        unit=UNIT,
        attributes=asked.schema.attributes,
    )


def _candidate(spec: Spec, own: Statistics, asked: _Asked, added: Added, loss: PureDP | ZCDP) -> Candidate:
    """Return the mechanism under a loss, or under less of it where every statistic's precision needs no more."""
    (moments, persons), distributions = added, tuple(_distributions(asked, loss))
    parts = len(moments) + len(distributions) + len(persons)
    even = GroupStatistics(
        moments=moments, distributions=distributions, persons=persons, shares=(Fraction(1, parts),) * parts
    )
    unit = spec.privacy.protected
    stated, assumed = own.precision or {}, own.assume or {}
    shares, needed = best_shares(even, asked.schema, loss, unit, users=own.users, precision=stated, assumed=assumed)
    strategy = replace(even, shares=shares)
    mechanism = MatrixMechanism(strategy=strategy, loss=needed, unit=unit)
    error = mean_square(mechanism, own.users)
    return Candidate(method=METHOD, mechanism=mechanism, predicted_error=error)


def _discovering(
    spec: Spec, own: Statistics, asked: _Asked, moments: tuple[MomentSums, ...], found: Discovery
) -> Candidate:
    """Return the mechanism that finds the groups first; its error is that of the smallest ones that are found."""
    discovery.check_counts(spec, counts_only=not (asked.degrees or asked.quantiles or asked.shares), by=asked.by)
    groups = groups_in(asked.schema.shape, asked.schema.axes(asked.by))
    smallest = msgspec.structs.replace(own, users=found.rows * groups)
    inner = _candidate(spec, smallest, asked, (moments, ()), found.loss)
    cells = max([1, *asked.cells.values()])
    most = min(MOST_GROUPS, MOST_NODES // cells) // groups - 1
    if most < 1:
        raise NotSupported(
            f"{PLACE}.by: {groups:,} groups of {cells:,} cells for each name are too many; use fewer `bins`"
        )
    if not isinstance(inner.mechanism, MatrixMechanism):
        raise TypeError(f"{inner.method} measures no groups")
    return Candidate(
        method=discovery.METHOD,
        mechanism=found.of_groups(inner.mechanism, most),
        predicted_error=inner.predicted_error,
    )


def _moments(asked: _Asked) -> Iterator[MomentSums]:
    """Yield what is measured of every attribute and condition; the counts alone where nothing else counts rows."""
    schema, by = asked.schema, asked.schema.axes(asked.by)
    for name, degree in asked.degrees.items():
        axis = schema.axes([name])[0]
        steps = schema.tabular[axis].ordered - 1
        yield MomentSums(shape=schema.shape, by=by, degree=2 if degree > 1 else 1, steps=steps, axis=axis)
    for place, text in enumerate(asked.shares, 1):
        try:
            weights = parse(schema, text)
        except ValueError as error:
            raise ValueError(f"{PLACE}.share[#{place}]: {error}") from None
        where = tuple((axis, tuple(np.flatnonzero(own).tolist())) for axis, own in enumerate(weights) if not own.all())
        _check_condition(asked, where, f"{PLACE}.share[#{place}]")
        yield MomentSums(shape=schema.shape, by=by, degree=1, where=where)
    measured = {*asked.degrees, *asked.quantiles}
    if not asked.shares and all(_may_be_missing(schema.attribute(name)) for name in measured):
        yield MomentSums(shape=schema.shape, by=by, degree=0)


def _check_condition(asked: _Asked, where: tuple[tuple[int, tuple[int, ...]], ...], place: str) -> None:
    names = [asked.schema.names[axis] for axis, _ in where]
    if not where or not all(cells for _, cells in where):
        raise ValueError(f"{place}: expected a condition that holds for some rows and not for all")
    for name in names:
        if name in asked.by:
            raise ValueError(f"{place}: {name} is in `by`: within a group it is always or never so")
        if name in asked.degrees:
            raise ValueError(f"{place}: {name} has a mean, a sum or a variance, and so no cells for a condition")
    if sum(len(cells) for _, cells in where) > MOST_LISTED:
        raise ValueError(f"{place}: the condition names more than {MOST_LISTED:,} cells; use fewer `bins`")


def _distributions(asked: _Asked, loss: PureDP | ZCDP) -> Iterator[GroupDistribution]:
    schema, by = asked.schema, asked.schema.axes(asked.by)
    for name, quantiles in asked.quantiles.items():
        axis, cells = schema.axes([name])[0], asked.cells[name]
        branching, root = best_tree(Prefixes(cells), "epsilon" if isinstance(loss, PureDP) else "rho")
        yield GroupDistribution(
            shape=schema.shape,
            by=by,
            axis=axis,
            levels=schema.tabular[axis].ordered,
            tree=Hierarchy(cells, branching, root),
            quantiles=quantiles,
        )


def _may_be_missing(attribute: object) -> bool:
    return isinstance(attribute, Number) and attribute.size > attribute.ordered


def _asked(schema: Schema, own: Statistics) -> _Asked:
    """Return what is asked for, checked.

    Raises:
        NotSupported: there are too many groups.
        ValueError: an attribute is missing, used twice or not used.
    """
    by = tuple(own.by or ())
    degrees, quantiles = measured(schema, own, by)
    degrees_of_totals: dict[str, int] = {}
    for name in own.totals or ():
        check_measured(schema, name, by, f"{PLACE}.totals")
        degrees_of_totals.setdefault(name, 1)
    check_groups(schema, by)
    highest, units = degrees_of_totals | degrees, own.unit or {}
    check_units(units, schema.names)
    levels = Schema(
        tuple(
            finest(one, highest.get(one.name), quantiles=one.name in quantiles, unit=units.get(one.name))
            for one in schema.tabular
        )
    )
    cells = {name: _cells(schema, name, levels) for name in quantiles}
    found = _Asked(
        by=by,
        degrees=degrees,
        quantiles=quantiles,
        shares=tuple(own.share or ()),
        schema=levels,
        cells=cells,
    )
    _check_size(found)
    return found


def _cells(schema: Schema, name: str, finer: Schema) -> int:
    own: Tabular = next(one for one in schema.tabular if one.name == name)
    levels = next(one for one in finer.tabular if one.name == name).ordered
    stated = own.ordered if not isinstance(own, Integer) or own.bins else min(own.ordered, MOST_CELLS)
    return min(stated, levels)


def _check_used(asked: _Asked, moments: tuple[MomentSums, ...], totals: set[str]) -> None:
    names = asked.schema.names
    conditions = {names[axis] for part in moments for axis, _ in part.where}
    for name in names:
        if name not in {*asked.by, *asked.degrees, *asked.quantiles, *conditions, *totals}:
            raise ValueError(
                f"$.release.attributes: {name!r} neither makes groups nor is measured; name it in {PLACE} (by, mean, "
                "sum, variance, median, quantiles, share, totals) or leave it out"
            )


def _check_size(asked: _Asked) -> None:
    groups = groups_in(asked.schema.shape, asked.schema.axes(asked.by))
    if groups > MOST_GROUPS:
        raise NotSupported(f"{PLACE}.by: {groups:,} groups are more than 2^17; use fewer attributes or `bins`")
    for name, cells in asked.cells.items():
        if groups * cells > MOST_NODES:
            raise NotSupported(
                f"{PLACE}: quantiles of {name} in {groups:,} groups take {groups * cells:,} cells, more than 2^24; set "
                "fewer `bins`"
            )
