"""Which sums to measure for the statistics that are asked for, and how they share the budget.

parameters -> parts with the attributes' finest levels -> the error of each under the whole budget -> shares.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import chosen_bounds, devices, discovery
from dpress.kinds.statistics.assumed_shape import check
from dpress.kinds.statistics.discovery import Discovery
from dpress.kinds.statistics.finest_levels import check_units, finest
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import check_groups, check_measured, measured
from dpress.kinds.statistics.parts_of_budget import Parts
from dpress.kinds.statistics.person_parts import person_parts
from dpress.kinds.statistics.prediction import best_shares, mean_square, strategy_of
from dpress.kinds.statistics.quantile_parts import MOST_NODES, Wanted, choice, errs_less, tree, wanted
from dpress.mechanisms.discovery.bounds_from_outside import GROUPS_SHARE, searched
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels, GroupQuantiles
from dpress.query.boxes import product
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind, of_methods

METHOD, CHOOSING = "group_statistics", "group_quantiles"
UNIT = "squared error, widths of the bounds"
MOST_GROUPS, MOST_LISTED = 1 << 17, 1 << 12


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What is asked for.

    Args:
        by: the attributes of the groups.
        degrees: the highest moment of every measured attribute.
        quantiles: one entry for every attribute that has some.
        shares: the conditions.
        schema: the attributes, measured ones with their finest levels.
    """

    by: tuple[str, ...]
    degrees: dict[str, int]
    quantiles: tuple[Wanted, ...]
    shares: tuple[str, ...]
    schema: Schema

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.schema.axes(self.by)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return groups_in(self.schema.shape, self.axes)


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
    methods = _methods(own) if name is None else (discovery.METHOD,)
    if spec.release.method not in ("auto", *methods):
        serve = " or ".join(map(repr, methods))
        raise NotSupported(
            f"$.release.method: {spec.release.method!r} does not serve kind = 'statistics'; {serve} does"
        )
    of_methods(spec, dict.fromkeys(methods, Parameters))
    asked = _asked(spec.schema, own)
    names = {one.name for one in asked.quantiles}
    persons = person_parts(spec, asked.schema, asked.by, own)
    check(asked.schema, own.assume or {}, {*asked.degrees, *names})
    _check_used(asked, tuple(_moments(asked, names)), {*(own.totals or ())})
    if own.private_bounds:
        if name is not None:
            raise NotSupported(f"{chosen_bounds.HERE}: groups that are discovered need bounds that are stated")
        candidates = [_bounding(spec, own, asked, persons, loss) for loss in spec.privacy.loss.payable]
    elif name is None:
        candidates = [_candidate(spec, own, asked, persons, loss) for loss in spec.privacy.loss.payable]
    else:
        if persons:
            raise NotSupported(f"{PLACE}: persons and totals are counted in groups that are listed, not discovered")
        candidates = [_discovering(spec, own, asked, one) for one in discovery.discoveries(spec, name)]
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


def _methods(own: Statistics) -> tuple[str, ...]:
    """Return the methods that may serve: a choice only where it may leave out intervals, and there are quantiles."""
    if own.private_bounds:
        return (chosen_bounds.METHOD,)
    return (METHOD,) if own.intervals or not (own.median or own.quantiles) else (METHOD, CHOOSING)


def _bounding(spec: Spec, own: Statistics, asked: _Asked, persons: tuple[PersonSums, ...], loss: Loss) -> Candidate:
    """Return the mechanism that chooses bounds first; its error is in widths of those that are chosen."""
    if own.precision:
        raise ValueError(f"{PLACE}.precision: it needs bounds that are known beforehand, and `private_bounds` are not")
    names = {one.name for one in asked.quantiles}
    conditions = {asked.schema.names[axis] for part in _moments(asked, names) for axis, _ in part.where}
    taken = {*(own.unit or ()), *(own.assume or ()), *(own.totals or ()), *conditions}
    axes = chosen_bounds.axes_of(spec.schema, own.private_bounds or (), {*asked.degrees, *names}, taken=taken)
    rest = part_of(loss, GROUPS_SHARE)
    inner = _candidate(spec, msgspec.structs.replace(own, intervals=True), asked, persons, rest)
    mechanism = searched(_measured(inner), loss, tuple(axes))
    chosen_bounds.check_enough(mechanism, own.users)
    return Candidate(method=chosen_bounds.METHOD, mechanism=mechanism, predicted_error=inner.predicted_error)


def _measured(candidate: Candidate) -> MatrixMechanism:
    """Return the mechanism that measures the groups of a candidate."""
    if not isinstance(candidate.mechanism, MatrixMechanism):
        raise TypeError(f"{candidate.method} measures no groups")
    return candidate.mechanism


def _candidate(spec: Spec, own: Statistics, asked: _Asked, persons: tuple[PersonSums, ...], loss: Loss) -> Candidate:
    """Return the mechanism under a loss, or under less of it where every statistic's precision needs no more."""
    unit = spec.privacy.protected
    parts = _parts(spec, own, asked, persons, loss)
    stated, assumed = own.precision or {}, own.assume or {}
    even = parts.under(loss, parts.even, unit)
    shares, needed = best_shares(even, asked.schema, users=own.users, precision=stated, assumed=assumed)
    mechanism = parts.under(needed, shares, unit)
    error = mean_square(mechanism, own.users)
    method = CHOOSING if isinstance(mechanism, GroupQuantiles) else METHOD
    return Candidate(method=method, mechanism=mechanism, predicted_error=error)


def _parts(spec: Spec, own: Statistics, asked: _Asked, persons: tuple[PersonSums, ...], loss: Loss) -> Parts:
    """Return what is measured; a tree of every attribute's quantiles, or a choice that may and is to err less."""
    schema, by, unit = asked.schema, asked.axes, spec.privacy.protected
    trees, chosen = list[GroupDistribution](), list[ChosenLevels]()
    share = part_of(loss, Fraction(1, len(asked.degrees) + len(asked.quantiles) + 1))
    for one in asked.quantiles:
        if own.intervals or spec.release.method not in ("auto", CHOOSING):
            trees.append(tree(schema, by, one, loss))
            continue
        found = choice(schema, by, one, share, unit)
        if spec.release.method == CHOOSING or errs_less(found, own.users / asked.groups):
            chosen.append(found)
        else:
            trees.append(tree(schema, by, one, loss))
    counted = {schema.names[one.axis] for one in trees}
    moments = tuple(_moments(asked, counted, alone=not chosen))
    return Parts(moments=moments, distributions=tuple(trees), persons=persons, chosen=tuple(chosen))


def _discovering(spec: Spec, own: Statistics, asked: _Asked, found: Discovery) -> Candidate:
    """Return the mechanism that finds the groups first; its error is that of the smallest ones that are found."""
    discovery.check_counts(spec, counts_only=not (asked.degrees or asked.quantiles or asked.shares), by=asked.by)
    groups = asked.groups
    smallest = msgspec.structs.replace(own, users=found.rows * groups, intervals=True)
    inner = _candidate(spec, smallest, asked, (), found.loss)
    groups_by = _measured(inner)
    cells = max([1, *(one.tree.cells for one in strategy_of(groups_by).distributions)])
    most = min(MOST_GROUPS, MOST_NODES // cells) // groups - 1
    if most < 1:
        raise NotSupported(
            f"{PLACE}.by: {groups:,} groups of {cells:,} cells for each name are too many; use fewer `bins`"
        )
    return Candidate(
        method=discovery.METHOD,
        mechanism=found.of_groups(groups_by, most),
        predicted_error=inner.predicted_error,
    )


def _moments(asked: _Asked, counted: AbstractSet[str], *, alone: bool = True) -> Iterator[MomentSums]:
    """Yield what is measured of every attribute and condition; the counts alone where nothing else counts rows.

    Args:
        asked: what is asked for.
        counted: the attributes whose quantiles are found by counts of rows.
        alone: whether there is nothing else to publish where there are no sums.
    """
    schema, by = asked.schema, asked.schema.axes(asked.by)
    for name, degree in asked.degrees.items():
        axis = schema.axes([name])[0]
        steps = schema.tabular[axis].ordered - 1
        yield MomentSums(shape=schema.shape, by=by, degree=2 if degree > 1 else 1, steps=steps, axis=axis)
    for place, text in enumerate(asked.shares, 1):
        try:
            weights = product(schema, text)
        except ValueError as error:
            raise ValueError(f"{PLACE}.share[#{place}]: {error}") from None
        where = tuple((axis, tuple(np.flatnonzero(own).tolist())) for axis, own in enumerate(weights) if not own.all())
        _check_condition(asked, where, f"{PLACE}.share[#{place}]")
        yield MomentSums(shape=schema.shape, by=by, degree=1, where=where)
    measured = {*asked.degrees, *counted}
    if (measured or alone) and not asked.shares and all(schema.attribute(name).with_cells.extra for name in measured):
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
    found = _Asked(
        by=by,
        degrees=degrees,
        quantiles=tuple(wanted(schema, levels, name, tuple(sorted(shares))) for name, shares in quantiles.items()),
        shares=tuple(own.share or ()),
        schema=levels,
    )
    if found.groups > MOST_GROUPS:
        raise NotSupported(f"{PLACE}.by: {found.groups:,} groups are more than 2^17; use fewer attributes or `bins`")
    return found


def _check_used(asked: _Asked, moments: tuple[MomentSums, ...], totals: set[str]) -> None:
    names = asked.schema.names
    conditions = {names[axis] for part in moments for axis, _ in part.where}
    quantiles = [one.name for one in asked.quantiles]
    for name in names:
        if name not in {*asked.by, *asked.degrees, *quantiles, *conditions, *totals}:
            raise ValueError(
                f"$.release.attributes: {name!r} neither makes groups nor is measured; name it in {PLACE} (by, mean, "
                "sum, variance, median, quantiles, share, totals) or leave it out"
            )
