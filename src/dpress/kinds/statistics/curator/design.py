"""Which sums to measure for the statistics that are asked for, and how they share the budget.

parameters -> parts with the attributes' finest levels -> the error of each under the whole budget -> shares.
"""

import math
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import msgspec

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import part_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.assumed_shape import check
from dpress.kinds.statistics.attribute_levels import check_units, finest
from dpress.kinds.statistics.curator import discovery, first_step
from dpress.kinds.statistics.curator.cells_near import CutCells
from dpress.kinds.statistics.curator.conditions import held_by, within
from dpress.kinds.statistics.curator.cut_cells import better_cut, cut_cells, with_parts
from dpress.kinds.statistics.curator.discovery import Discovery
from dpress.kinds.statistics.curator.distinct_of_groups import check_distinct, distinct_parts
from dpress.kinds.statistics.curator.first_step import decoder_of, grouping
from dpress.kinds.statistics.curator.parts_of_budget import CHOOSING, CUTTING, METHOD, Measured, Parts
from dpress.kinds.statistics.curator.prediction import best_shares, mean_square, standard_errors
from dpress.kinds.statistics.curator.quantiles import MOST_NODES, Wanted, choice, errs_less, tree, wanted
from dpress.kinds.statistics.curator.sampling import check_replicates, replicate_attributes, replicate_sums
from dpress.kinds.statistics.curator.totals_of_persons import person_parts
from dpress.kinds.statistics.curator.weights import check_apart, check_weight, row_weight
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import check_groups, check_measured, check_used, chosen_of, measured
from dpress.mechanisms.discovery.bounds_from_outside import GROUPS_SHARE, searched
from dpress.mechanisms.linear.group_distribution import GroupDistribution
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.moment_sums import Condition, MomentSums
from dpress.mechanisms.linear.person_sums import PersonSums
from dpress.mechanisms.linear.row_weight import RowWeight
from dpress.mechanisms.statistics.group_quantiles import ChosenLevels
from dpress.query.boxes import product
from dpress.query.schema_queries import query_of
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.display_rules import check_counted
from dpress.release.plan.parameter_checks import of_kind, of_methods

UNIT = "squared error, widths of the bounds"
ROUNDS = 6  # of shares for the precision that is asked for
CLOSE = 0.01  # relative: so near is met
MOST_GROUPS, MOST_LISTED = 1 << 24, 1 << 12


@dataclass(frozen=True, kw_only=True)
class _Goal:
    """What is asked for.

    Args:
        spec: the specification.
        terms: its parameters.
        degrees: the highest moment of every measured attribute.
        quantiles: one entry for every attribute that has some.
        schema: the attributes, measured ones with their finest levels.
        cut: the attributes whose cells are cut near their quantiles.
    """

    spec: Spec
    terms: Statistics
    degrees: dict[str, int]
    quantiles: tuple[Wanted, ...]
    schema: Schema
    cut: frozenset[str] = frozenset()

    @property
    def by(self) -> tuple[str, ...]:
        """The attributes of the groups."""
        return tuple(self.terms.by or ())

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.schema.axes(self.by)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return groups_in(self.schema.shape, self.axes)

    @property
    def measured(self) -> set[str]:
        """The attributes with moments or quantiles."""
        return {*self.degrees, *(quantiles.name for quantiles in self.quantiles)}

    @property
    def persons(self) -> tuple[PersonSums, ...]:
        """What is measured of persons."""
        return person_parts(self.spec, self.schema, self.axes, self.terms)

    @property
    def weight(self) -> RowWeight | None:
        """How rows are weighted."""
        return row_weight(self.schema, self.terms.weight)

    @property
    def conditions(self) -> set[str]:
        """The attributes that conditions are about."""
        return {self.schema.names[axis] for part in _moments(self, self.measured) for axis in part.tested}

    def with_intervals(self, **terms: Any) -> "_Goal":
        """Return the same with intervals for all quantiles, and other parameters where some are given."""
        return replace(self, terms=msgspec.structs.replace(self.terms, intervals=True, **terms))


def choose(spec: Spec) -> Choice:
    """Return the one method that serves, with the shares of the budget that suit the statistics.

    Raises:
        NotSupported: there are too many groups.
        ValueError: attributes or parameters do not fit, or the budget does not give the precision.
    """
    terms = of_kind(spec, Statistics)
    name = discovery.discovered(spec.schema, terms.by or ())
    methods = _methods(terms) if name is None else (discovery.METHOD,)
    if spec.release.method not in ("auto", *methods):
        serve = " or ".join(map(repr, methods))
        raise NotSupported(
            f"$.release.method: {spec.release.method!r} does not serve kind = 'statistics'; {serve} does"
        )
    of_methods(spec, dict.fromkeys(methods, Parameters))
    goal = _goal(spec, terms)
    persons = goal.persons
    weights = {terms.weight} if terms.weight else set[str]()
    check(goal.schema, terms.assume or {}, goal.measured | weights)
    weights.update(attribute.name for attribute in replicate_attributes(spec.schema, terms))
    used = {*goal.by, *goal.measured, *goal.conditions, *(terms.totals or ())}
    check_apart(spec.schema, terms, used)
    check_distinct(spec, terms, used | weights)
    used |= {*weights, *(terms.distinct or ())}
    check_used(goal.schema, used, "by, mean, sum, variance, median, quantiles, share, totals, distinct, weight")
    if terms.private_bounds:
        if name is not None:
            raise NotSupported(f"{first_step.HERE}: groups that are discovered need bounds that are stated")
        candidates = [_bounding(goal, loss) for loss in spec.privacy.loss.payable]
    elif name is None:
        goal = _with_cut_cells(goal, spec.privacy.loss.payable[0])
        candidates = [_candidate(goal, loss) for loss in spec.privacy.loss.payable]
    else:
        if persons or terms.distinct:
            what = "persons and totals" if persons else "different values"
            raise NotSupported(f"{PLACE}: {what} are counted in groups that are listed, not discovered")
        candidates = [_discovering(goal, search) for search in discovery.discoveries(spec, name)]
    best = min(candidates, key=lambda candidate: candidate.predicted_error)
    strategy = decoder_of(grouping(best.mechanism)).strategy
    check_counted(spec, counted=strategy is not None and any(part.counts_rows for part in strategy.of_rows))
    return chosen_of((best,), goal.schema, goal.by, users=terms.users, unit=UNIT)


def _methods(terms: Statistics) -> tuple[str, ...]:
    """Return the methods that may serve: for quantiles, cells or, where these need no intervals, levels are chosen."""
    if terms.private_bounds:
        return (first_step.METHOD,)
    if terms.weight or not (terms.median or terms.quantiles):
        return (METHOD,)
    return (METHOD, CUTTING) if terms.intervals else (METHOD, CUTTING, CHOOSING)


def _with_cut_cells(goal: _Goal, loss: Loss) -> _Goal:
    """Return the goal with the attributes whose cells are cut: those that err less so, where there are no groups."""
    spec, method = goal.spec, goal.spec.release.method
    if method not in ("auto", CUTTING) or (method == "auto" and (goal.groups > 1 or goal.weight is not None)):
        return goal
    share = _even_share(goal, loss)
    cut = frozenset(
        wish.name
        for wish in goal.quantiles
        if method == CUTTING
        or (
            wish.name not in goal.conditions
            and better_cut(goal.schema, wish, share, spec.privacy.protected, goal.terms)
        )
    )
    schema = Schema(tuple(with_parts(axis) if axis.name in cut else axis for axis in goal.schema.tabular))
    return replace(goal, schema=schema, cut=cut)


def _even_share(goal: _Goal, loss: Loss) -> Loss:
    return part_of(loss, Fraction(1, len(goal.degrees) + len(goal.quantiles) + 1))


def _bounding(goal: _Goal, loss: Loss) -> Candidate:
    """Return the mechanism that chooses bounds first; its error is in widths of those that are chosen."""
    terms = goal.terms
    if terms.precision:
        raise ValueError(f"{PLACE}.precision: it needs bounds that are known beforehand, and `private_bounds` are not")
    taken = {*(terms.unit or ()), *(terms.assume or ()), *(terms.totals or ()), *goal.conditions}
    axes = first_step.axes_of(goal.spec.schema, terms.private_bounds or (), goal.measured, taken=taken)
    groups = _measured(goal.with_intervals(), part_of(loss, GROUPS_SHARE)).sums
    mechanism = searched(groups, loss, tuple(axes))
    first_step.check_enough(mechanism, terms.users)
    error = mean_square(groups, terms.users)
    return Candidate(method=first_step.METHOD, mechanism=mechanism, predicted_error=error)


def _candidate(goal: _Goal, loss: Loss) -> Candidate:
    """Return what measures groups that are listed."""
    measured = _measured(goal, loss)
    error = mean_square(measured.mechanism, goal.terms.users)
    return Candidate(method=measured.method, mechanism=measured.mechanism, predicted_error=error)


def _discovering(goal: _Goal, search: Discovery) -> Candidate:
    """Return the mechanism that finds the groups first; its error is that of the smallest ones that are found."""
    counts_only = not (goal.measured or goal.terms.share)
    discovery.check_counts(goal.spec, counts_only=counts_only, by=goal.by)
    groups, users = goal.groups, search.rows * goal.groups
    measured = _measured(goal.with_intervals(users=users), search.loss)
    cells = max([1, *(distribution.tree.cells for distribution in measured.parts.distributions)])
    if (most := min(MOST_GROUPS, MOST_NODES // cells) // groups - 1) < 1:
        raise NotSupported(
            f"{PLACE}.by: {groups:,} groups of {cells:,} cells for each name are too many; use fewer `bins`"
        )
    sums = measured.sums
    return Candidate(
        method=discovery.METHOD, mechanism=search.of_groups(sums, most), predicted_error=mean_square(sums, users)
    )


def _measured(goal: _Goal, loss: Loss) -> Measured:
    """Return what is measured under a loss, or under less of it where every statistic's precision needs no more.

    Errors fall as shares say only where noise is many steps wide; a statistic whose error is then above the precision
    by more than a hundredth is asked for with less, again.
    """
    terms, parts = goal.terms, _parts(goal, loss)
    stated, assumed = terms.precision or {}, terms.assume or {}
    even = Measured(parts=parts, loss=loss, shares=parts.even, unit=goal.spec.privacy.protected)
    wanted = dict(stated)
    for _ in range(ROUNDS):
        shares, needed = best_shares(even, goal.schema, users=terms.users, precision=wanted, assumed=assumed)
        made = replace(even, loss=needed, shares=shares)
        if not stated:
            break
        errors = standard_errors(made.mechanism, goal.schema, terms.users, assumed)
        missed = {name for name, target in stated.items() if (1 + CLOSE) * target < errors[name] < math.inf}
        if not missed:
            break
        wanted |= {name: wanted[name] * stated[name] / errors[name] for name in missed}
    return made


def _parts(goal: _Goal, loss: Loss) -> Parts:
    """Return what is measured; a tree of every attribute's quantiles, or a choice that may and is to err less."""
    schema, by, method = goal.schema, goal.axes, goal.spec.release.method
    trees, chosen, cut = list[GroupDistribution](), list[ChosenLevels](), list[CutCells]()
    share = _even_share(goal, loss)
    for quantiles in goal.quantiles:
        if quantiles.name in goal.cut:
            cut.append(cut_cells(schema, by, quantiles, goal.terms.users))
            trees.append(cut[-1].distribution)
            continue
        if not (goal.terms.intervals or goal.cut or goal.terms.weight) and method in ("auto", CHOOSING):
            levels = choice(schema, by, quantiles, share, goal.spec.privacy.protected)
            if method == CHOOSING or errs_less(levels, goal.terms.users / goal.groups):
                chosen.append(levels)
                continue
        trees.append(replace(tree(schema, by, quantiles, loss), weight=goal.weight))
    counted = {schema.names[distribution.axis] for distribution in trees if distribution.counts_rows}
    moments = tuple(_moments(goal, counted, alone=not chosen))
    cut.sort(key=lambda cells: cells.distribution.axis)
    return Parts(
        moments=moments,
        distributions=tuple(trees),
        replicates=replicate_sums(schema, goal.terms, moments, loss.order),
        distinct=distinct_parts(schema, by, goal.terms),
        persons=goal.persons,
        chosen=tuple(chosen),
        cut=tuple(cut),
    )


def _moments(goal: _Goal, counted: AbstractSet[str], *, alone: bool = True) -> Iterator[MomentSums]:
    """Yield what is measured of every attribute and condition; the counts alone where nothing else counts rows.

    Args:
        goal: what is asked for.
        counted: the attributes whose quantiles are found by counts of rows.
        alone: whether there is nothing else to publish where there are no sums.
    """
    schema, by, shares, weight = goal.schema, goal.axes, goal.terms.share or (), goal.weight
    for name, degree in goal.degrees.items():
        axis = schema.axes([name])[0]
        steps = schema.tabular[axis].ordered - 1
        yield MomentSums(
            shape=schema.shape, by=by, degree=2 if degree > 1 else 1, steps=steps, axis=axis, weight=weight
        )
    complete = False  # whether a share counts every row
    for place, text in enumerate(shares, 1):
        where, among = _share(goal, text, f"{PLACE}.share[#{place}]")
        complete |= not among
        yield MomentSums(shape=schema.shape, by=by, degree=1, where=where, among=among, weight=weight)
    measured = {*goal.degrees, *counted}
    partial = not complete and all(schema.attribute(name).with_cells.extra for name in measured)
    if partial and (measured or alone or shares):
        yield MomentSums(shape=schema.shape, by=by, degree=0, weight=weight)


def _share(goal: _Goal, text: str, place: str) -> tuple[Condition, Condition]:
    """Return the cells of a share's condition, and of the rows that it is among; none of all.

    Raises:
        ValueError: it cannot be read, or is not to be measured.
    """
    schema = goal.schema
    try:
        query = query_of(schema, f"share {text}")
        where = held_by(product(schema, query.first))
        among = () if query.where is None else held_by(product(schema, query.where))
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if query.by:
        raise ValueError(f"{place}: groups are those of `by`, got {text!r}")
    if among:
        _check_condition(goal, among, place)
    where = within(where, among)
    _check_condition(goal, where, place)
    return where, among


def _check_condition(goal: _Goal, where: Condition, place: str) -> None:
    attributes = [goal.schema.tabular[axis] for axis, _ in where]
    if not where or not all(cells for _, cells in where):
        raise ValueError(f"{place}: expected a condition that holds for some rows and not for all")
    for name, column in ((attribute.name, attribute.read_from) for attribute in attributes):
        if name in goal.by:
            raise ValueError(f"{place}: {name} is in `by`: within a group it is always or never so")
        if name in goal.degrees:
            raise ValueError(
                f"{place}: {name} has a mean, a sum or a variance, and so no cells for a condition; read its column "
                f'once more, as an attribute of another name with column = "{column}"'
            )
    if sum(len(cells) for _, cells in where) > MOST_LISTED:
        raise ValueError(f"{place}: the condition names more than {MOST_LISTED:,} cells; use fewer `bins`")


def _goal(spec: Spec, terms: Statistics) -> _Goal:
    """Return what is asked for, checked.

    Raises:
        NotSupported: there are too many groups.
        ValueError: an attribute is missing, or used twice.
    """
    by, schema, units = tuple(terms.by or ()), spec.schema, terms.unit or {}
    degrees, quantiles = measured(schema, terms, by)
    for name in terms.totals or ():
        check_measured(schema, name, by, f"{PLACE}.totals")
    check_groups(schema, by)
    check_weight(schema, terms)
    check_replicates(schema, terms)
    if terms.replicates:  # the design effect of a mean compares with its variance
        degrees = dict.fromkeys(degrees, 2)
    highest = dict.fromkeys((*(terms.totals or ()), *filter(None, [terms.weight])), 1) | degrees
    check_units(units, schema.names)
    levels = Schema(
        tuple(
            finest(axis, highest.get(axis.name), quantiles=axis.name in quantiles, unit=units.get(axis.name))
            for axis in schema.tabular
        )
        + replicate_attributes(schema, terms)
    )
    wishes = tuple(wanted(schema, levels, name, shares) for name, shares in quantiles.items())
    goal = _Goal(spec=spec, terms=terms, degrees=degrees, quantiles=wishes, schema=levels)
    if goal.groups > MOST_GROUPS:
        raise NotSupported(f"{PLACE}.by: {goal.groups:,} groups are more than 2^24; use fewer attributes or `bins`")
    return goal
