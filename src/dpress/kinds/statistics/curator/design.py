"""Which sums to measure for the statistics that are asked for, and how they share the budget.

parameters -> parts with the attributes' finest levels -> the error of each under the whole budget -> shares.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.core.maps.workload import Marginals
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.assumed_shape import check
from dpress.kinds.statistics.curator import chosen_bounds, discovery
from dpress.kinds.statistics.curator.attribute_levels import check_units, finest, person_parts
from dpress.kinds.statistics.curator.discovery import Discovery
from dpress.kinds.statistics.curator.estimates import held_by
from dpress.kinds.statistics.curator.measured import decoder_of
from dpress.kinds.statistics.curator.parts_of_budget import CHOOSING, METHOD, Measured, Parts
from dpress.kinds.statistics.curator.prediction import best_shares, mean_square
from dpress.kinds.statistics.curator.quantile_parts import MOST_NODES, Wanted, choice, errs_less, tree, wanted
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import check_groups, check_measured, measured
from dpress.mechanisms.discovery.bounds_from_outside import GROUPS_SHARE, searched
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.moment_sums import MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels
from dpress.query.boxes import product
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.parameter_checks import of_kind, of_methods

UNIT = "squared error, widths of the bounds"
MOST_GROUPS, MOST_LISTED = 1 << 17, 1 << 12


@dataclass(frozen=True, kw_only=True)
class _Goal:
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
    if spec.release.postprocess:
        raise ValueError('$.release.postprocess: kind = "statistics" has no tables to adjust')
    terms = of_kind(spec, Statistics)
    name = discovery.discovered(spec.schema, terms.by or ())
    methods = _methods(terms) if name is None else (discovery.METHOD,)
    if spec.release.method not in ("auto", *methods):
        serve = " or ".join(map(repr, methods))
        raise NotSupported(
            f"$.release.method: {spec.release.method!r} does not serve kind = 'statistics'; {serve} does"
        )
    of_methods(spec, dict.fromkeys(methods, Parameters))
    goal = _goal(spec.schema, terms)
    names = {quantiles.name for quantiles in goal.quantiles}
    persons = person_parts(spec, goal.schema, goal.by, terms)
    check(goal.schema, terms.assume or {}, {*goal.degrees, *names})
    _check_used(goal, tuple(_moments(goal, names)), {*(terms.totals or ())})
    if terms.private_bounds:
        if name is not None:
            raise NotSupported(f"{chosen_bounds.HERE}: groups that are discovered need bounds that are stated")
        candidates = [_bounding(spec, terms, goal, persons, loss) for loss in spec.privacy.loss.payable]
    elif name is None:
        candidates = [_candidate(spec, terms, goal, persons, loss) for loss in spec.privacy.loss.payable]
    else:
        if persons:
            raise NotSupported(f"{PLACE}: persons and totals are counted in groups that are listed, not discovered")
        candidates = [_discovering(spec, terms, goal, search) for search in discovery.discoveries(spec, name)]
    chosen = min(candidates, key=lambda candidate: candidate.predicted_error)
    return Choice(
        workload=Marginals(goal.schema.shape, (goal.schema.axes(goal.by),)),
        schema=goal.schema,
        candidates=(chosen,),
        chosen=chosen,
        lower_bound=0.0,
        users=terms.users,
        unit=UNIT,
        attributes=goal.schema.attributes,
    )


def _methods(terms: Statistics) -> tuple[str, ...]:
    """Return the methods that may serve: a choice only where it may leave out intervals, and there are quantiles."""
    if terms.private_bounds:
        return (chosen_bounds.METHOD,)
    return (METHOD,) if terms.intervals or not (terms.median or terms.quantiles) else (METHOD, CHOOSING)


def _bounding(spec: Spec, terms: Statistics, goal: _Goal, persons: tuple[PersonSums, ...], loss: Loss) -> Candidate:
    """Return the mechanism that chooses bounds first; its error is in widths of those that are chosen."""
    if terms.precision:
        raise ValueError(f"{PLACE}.precision: it needs bounds that are known beforehand, and `private_bounds` are not")
    names = {quantiles.name for quantiles in goal.quantiles}
    conditions = {goal.schema.names[axis] for part in _moments(goal, names) for axis, _ in part.where}
    taken = {*(terms.unit or ()), *(terms.assume or ()), *(terms.totals or ()), *conditions}
    axes = chosen_bounds.axes_of(spec.schema, terms.private_bounds or (), {*goal.degrees, *names}, taken=taken)
    rest = part_of(loss, GROUPS_SHARE)
    groups = _measured(spec, msgspec.structs.replace(terms, intervals=True), goal, persons, rest).sums
    mechanism = searched(groups, loss, tuple(axes))
    chosen_bounds.check_enough(mechanism, terms.users)
    error = mean_square(groups, terms.users)
    return Candidate(method=chosen_bounds.METHOD, mechanism=mechanism, predicted_error=error)


def _candidate(spec: Spec, terms: Statistics, goal: _Goal, persons: tuple[PersonSums, ...], loss: Loss) -> Candidate:
    """Return what measures groups that are listed."""
    measured = _measured(spec, terms, goal, persons, loss)
    error = mean_square(measured.mechanism, terms.users)
    return Candidate(method=measured.method, mechanism=measured.mechanism, predicted_error=error)


def _measured(spec: Spec, terms: Statistics, goal: _Goal, persons: tuple[PersonSums, ...], loss: Loss) -> Measured:
    """Return what is measured under a loss, or under less of it where every statistic's precision needs no more."""
    unit = spec.privacy.protected
    parts = _parts(spec, terms, goal, persons, loss)
    stated, assumed = terms.precision or {}, terms.assume or {}
    even = parts.under(loss, parts.even, unit)
    shares, needed = best_shares(even, goal.schema, users=terms.users, precision=stated, assumed=assumed)
    return parts.under(needed, shares, unit)


def _parts(spec: Spec, terms: Statistics, goal: _Goal, persons: tuple[PersonSums, ...], loss: Loss) -> Parts:
    """Return what is measured; a tree of every attribute's quantiles, or a choice that may and is to err less."""
    schema, by, unit = goal.schema, goal.axes, spec.privacy.protected
    trees, chosen = list[GroupDistribution](), list[ChosenLevels]()
    share = part_of(loss, Fraction(1, len(goal.degrees) + len(goal.quantiles) + 1))
    for quantiles in goal.quantiles:
        if terms.intervals or spec.release.method not in ("auto", CHOOSING):
            trees.append(tree(schema, by, quantiles, loss))
            continue
        levels = choice(schema, by, quantiles, share, unit)
        if spec.release.method == CHOOSING or errs_less(levels, terms.users / goal.groups):
            chosen.append(levels)
        else:
            trees.append(tree(schema, by, quantiles, loss))
    counted = {schema.names[distribution.axis] for distribution in trees}
    moments = tuple(_moments(goal, counted, alone=not chosen))
    return Parts(moments=moments, distributions=tuple(trees), persons=persons, chosen=tuple(chosen))


def _discovering(spec: Spec, terms: Statistics, goal: _Goal, search: Discovery) -> Candidate:
    """Return the mechanism that finds the groups first; its error is that of the smallest ones that are found."""
    discovery.check_counts(spec, counts_only=not (goal.degrees or goal.quantiles or goal.shares), by=goal.by)
    groups = goal.groups
    smallest = msgspec.structs.replace(terms, users=search.rows * groups, intervals=True)
    measured = _measured(spec, smallest, goal, (), search.loss).sums
    strategy = decoder_of(measured).strategy
    trees = () if strategy is None else strategy.distributions
    cells = max([1, *(distribution.tree.cells for distribution in trees)])
    most = min(MOST_GROUPS, MOST_NODES // cells) // groups - 1
    if most < 1:
        raise NotSupported(
            f"{PLACE}.by: {groups:,} groups of {cells:,} cells for each name are too many; use fewer `bins`"
        )
    error = mean_square(measured, smallest.users)
    return Candidate(method=discovery.METHOD, mechanism=search.of_groups(measured, most), predicted_error=error)


def _moments(goal: _Goal, counted: AbstractSet[str], *, alone: bool = True) -> Iterator[MomentSums]:
    """Yield what is measured of every attribute and condition; the counts alone where nothing else counts rows.

    Args:
        goal: what is asked for.
        counted: the attributes whose quantiles are found by counts of rows.
        alone: whether there is nothing else to publish where there are no sums.
    """
    schema, by = goal.schema, goal.schema.axes(goal.by)
    for name, degree in goal.degrees.items():
        axis = schema.axes([name])[0]
        steps = schema.tabular[axis].ordered - 1
        yield MomentSums(shape=schema.shape, by=by, degree=2 if degree > 1 else 1, steps=steps, axis=axis)
    for place, text in enumerate(goal.shares, 1):
        try:
            weights = product(schema, text)
        except ValueError as error:
            raise ValueError(f"{PLACE}.share[#{place}]: {error}") from None
        where = held_by(weights)
        _check_condition(goal, where, f"{PLACE}.share[#{place}]")
        yield MomentSums(shape=schema.shape, by=by, degree=1, where=where)
    measured = {*goal.degrees, *counted}
    if (measured or alone) and not goal.shares and all(schema.attribute(name).with_cells.extra for name in measured):
        yield MomentSums(shape=schema.shape, by=by, degree=0)


def _check_condition(goal: _Goal, where: tuple[tuple[int, tuple[int, ...]], ...], place: str) -> None:
    names = [goal.schema.names[axis] for axis, _ in where]
    if not where or not all(cells for _, cells in where):
        raise ValueError(f"{place}: expected a condition that holds for some rows and not for all")
    for name in names:
        if name in goal.by:
            raise ValueError(f"{place}: {name} is in `by`: within a group it is always or never so")
        if name in goal.degrees:
            raise ValueError(f"{place}: {name} has a mean, a sum or a variance, and so no cells for a condition")
    if sum(len(cells) for _, cells in where) > MOST_LISTED:
        raise ValueError(f"{place}: the condition names more than {MOST_LISTED:,} cells; use fewer `bins`")


def _goal(schema: Schema, terms: Statistics) -> _Goal:
    """Return what is asked for, checked.

    Raises:
        NotSupported: there are too many groups.
        ValueError: an attribute is missing, used twice or not used.
    """
    by = tuple(terms.by or ())
    degrees, quantiles = measured(schema, terms, by)
    degrees_of_totals: dict[str, int] = {}
    for name in terms.totals or ():
        check_measured(schema, name, by, f"{PLACE}.totals")
        degrees_of_totals.setdefault(name, 1)
    check_groups(schema, by)
    highest, units = degrees_of_totals | degrees, terms.unit or {}
    check_units(units, schema.names)
    levels = Schema(
        tuple(
            finest(axis, highest.get(axis.name), quantiles=axis.name in quantiles, unit=units.get(axis.name))
            for axis in schema.tabular
        )
    )
    goal = _Goal(
        by=by,
        degrees=degrees,
        quantiles=tuple(wanted(schema, levels, name, tuple(sorted(shares))) for name, shares in quantiles.items()),
        shares=tuple(terms.share or ()),
        schema=levels,
    )
    if goal.groups > MOST_GROUPS:
        raise NotSupported(f"{PLACE}.by: {goal.groups:,} groups are more than 2^17; use fewer attributes or `bins`")
    return goal


def _check_used(goal: _Goal, moments: tuple[MomentSums, ...], totals: set[str]) -> None:
    names = goal.schema.names
    conditions = {names[axis] for part in moments for axis, _ in part.where}
    quantiles = [part.name for part in goal.quantiles]
    for name in names:
        if name not in {*goal.by, *goal.degrees, *quantiles, *conditions, *totals}:
            raise ValueError(
                f"$.release.attributes: {name!r} neither makes groups nor is measured; name it in {PLACE} (by, mean, "
                "sum, variance, median, quantiles, share, totals) or leave it out"
            )
