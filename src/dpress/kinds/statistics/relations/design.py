"""How moments and products are measured for the relations that are wished for: by corners, edge middles or products.

parameters -> numbers, categories, groups -> a strategy of every degree -> the least error of covariances.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.parameters import PLACE, Parameters, names
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics.assumed_shape import check
from dpress.kinds.statistics.attribute_levels import check_units, finest
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.measured_attributes import (
    attribute_named,
    check_groups,
    check_measured,
    check_used,
    chosen_of,
)
from dpress.kinds.statistics.product import RELATIONS
from dpress.kinds.statistics.relations.terms import terms
from dpress.mechanisms.linear.cross_moments import LARGEST, CrossMoments, Degree, feature_places
from dpress.mechanisms.linear.groups import groups_in
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.relation_grammar import MEASURED, Relation, relation
from dpress.release.plan.candidate import Candidate, Choice
from dpress.release.plan.display_rules import check_counted
from dpress.release.plan.parameter_checks import of_kind, of_methods

UNIT = "squared error of a covariance, products of the bounds' widths"
WEIGHTS = ("weight", "replicates")
BESIDE = ("by", "relations", "unit", "assume", "users")
MOST_GROUPS, MOST_CELLS, MOST_NUMBERS, MOST_CORNERS = 1 << 12, 1 << 16, 20, 1 << 10
MEAN, SPREAD = 0.5, 1 / 6  # of t: how far numbers are supposed to lie from the middle when scales are chosen


def choose(spec: Spec) -> Choice:
    """Return the one method that serves, in the form that errs least.

    Raises:
        NotSupported: there are too many groups or numbers, or another method is named.
        ValueError: attributes, relations or parameters do not fit.
    """
    wished = of_kind(spec, Statistics)
    for name in names(Statistics):
        if name in WEIGHTS and getattr(wished, name) is not None:
            raise ValueError(f"{PLACE}.{name}: `relations` are of rows and take no weight; leave it out")
        if name not in BESIDE and getattr(wished, name) != getattr(Statistics(), name):
            raise ValueError(
                f"{PLACE}.{name}: `relations` share one measurement of their numbers, counts, means and variances too; "
                "publish other statistics by another release"
            )
    if spec.release.method not in ("auto", RELATIONS):
        raise NotSupported(f"$.release.method: {spec.release.method!r} measures no `relations`; {RELATIONS!r} does")
    of_methods(spec, {RELATIONS: Parameters})
    bare = _strategy(spec, wished)
    schema = _finest(spec.schema, bare, wished)
    check(schema, wished.assume or {}, {schema.names[axis] for axis in bare.axes})
    steps = tuple(schema.tabular[axis].ordered - 1 for axis in bare.axes)
    bare = replace(bare, shape=schema.shape, steps=steps)
    candidates = [
        _candidate(replace(bare, degree=degree, scales=scales), loss, spec)
        for loss in spec.privacy.loss.payable
        for degree, scales in scaled(bare, loss.order)
    ]
    best = min(candidates, key=lambda candidate: candidate.predicted_error)
    check_counted(spec, counted=bare.counts_all)
    return chosen_of((best,), schema, wished.by or (), users=wished.users, unit=UNIT)


def _candidate(strategy: CrossMoments, loss: Loss, spec: Spec) -> Candidate:
    mechanism = MatrixMechanism(strategy=strategy, loss=loss, unit=spec.privacy.protected)
    users = of_kind(spec, Statistics).users
    rows = users / groups_in(strategy.shape, strategy.by)
    cells = strategy.groups / groups_in(strategy.shape, strategy.by)
    forms = _forms(strategy.numbers)
    variances = np.einsum("ij,jk,ik->i", forms, strategy.covariance(mechanism.noises[0].variance), forms)
    error = float(variances.mean()) * cells / rows**2 / 16
    return Candidate(method=RELATIONS, mechanism=mechanism, predicted_error=error)


def _strategy(spec: Spec, wished: Statistics) -> CrossMoments:
    """Return what is to be measured, of one level and degree 0 so far."""
    schema, by = spec.schema, tuple(wished.by or ())
    if listless := [attribute.name for attribute in schema.tabular if attribute.discovered]:
        raise NotSupported(f"{PLACE}.relations: they are of groups and regressors that are listed; list {listless[0]}")
    check_groups(schema, by)
    check_units(wished.unit or {}, schema.names)
    relations = [*dict.fromkeys(_relation(schema, text, place) for place, text in enumerate(wished.relations or (), 1))]
    numbers, categories = _parts(schema, relations, by)
    check_used(schema, {*by, *numbers, *categories}, "by, relations")
    within = schema.axes(categories)
    if (groups := groups_in(schema.shape, schema.axes(by))) > MOST_GROUPS:
        raise NotSupported(f"{PLACE}.by: {groups:,} groups are more than 2^12, which relations are read off in")
    if (cells := groups * groups_in(schema.shape, within)) > MOST_CELLS:
        raise NotSupported(f"{PLACE}.relations: {cells:,} groups times values of {', '.join(categories)}, at most 2^16")
    if len(numbers) > MOST_NUMBERS:
        raise NotSupported(f"{PLACE}.relations: {len(numbers)} numbers are too many, at most {MOST_NUMBERS}")
    strategy = CrossMoments(
        shape=schema.shape,
        by=schema.axes(by),
        axes=schema.axes(numbers),
        steps=(1,) * len(numbers),
        degree=0,
        scales=(1, 1, 1, 1),
        within=within,
        relations=tuple(each.text for each in relations),
    )
    for place, each in enumerate(relations, 1):
        if each.of == "regression":
            _check_terms(strategy, schema, each, f"{PLACE}.relations[#{place}]")
    return strategy


def _check_terms(strategy: CrossMoments, schema: Schema, each: Relation, place: str) -> None:
    try:
        terms(strategy, schema, each)
    except ValueError as error:
        raise type(error)(f"{place}: {error}") from None


def _relation(schema: Schema, text: str, place: int) -> Relation:
    """Return a relation of a specification: a whole regression."""
    try:
        each = relation(schema.names, text)
    except ValueError as error:
        raise ValueError(f"{PLACE}.relations[#{place}]: {error}") from None
    if each.of not in MEASURED:
        raise ValueError(f"{PLACE}.relations[#{place}]: {each.of} is measured by no relation; a histogram answers it")
    if each.coefficient:
        whole = each.only("").text
        raise ValueError(f"{PLACE}.relations[#{place}]: name the regression, `{whole}`, which has all coefficients")
    return each


def _parts(schema: Schema, relations: list[Relation], by: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the attributes that are numbers, and those of which cells are kept apart, in the order of the schema."""
    used: dict[str, str] = {}
    for number, each in enumerate(relations, 1):
        for name in each.attributes:
            used.setdefault(name, f"{PLACE}.relations[#{number}]")
    outcomes = {name for each in relations for name in each.names}
    numbers, categories = [], []
    for name, place in used.items():
        attribute = attribute_named(schema, name, place)
        if name in by:
            raise ValueError(f"{place}: {name} is in `by`, too; within a group it does not vary")
        if attribute.numbers is not None or name in outcomes:
            check_measured(schema, name, by, place)
            numbers.append(name)
        else:
            categories.append(name)
    if not numbers:
        raise ValueError(f"{PLACE}.relations: expected at least one integer or numeric attribute")
    order = schema.names.index
    return sorted(numbers, key=order), sorted(categories, key=order)


def _finest(schema: Schema, strategy: CrossMoments, wished: Statistics) -> Schema:
    """Return the attributes, numbers with their finest levels."""
    units, measured = wished.unit or {}, {schema.names[axis] for axis in strategy.axes}
    return Schema(
        tuple(
            finest(axis, 1 if axis.name in measured else None, quantiles=False, unit=units.get(axis.name))
            for axis in schema.tabular
        )
    )


def _forms(numbers: int) -> Array:
    """Return the forms of all covariances and variances as if every mean of t were 1/2 and every variance 1/6."""
    pairs = tuple(itertools.combinations(range(numbers), 2))
    places = feature_places(numbers, pairs)
    forms = []
    for i, j in itertools.combinations_with_replacement(range(1, numbers + 1), 2):
        form = np.zeros(1 + 2 * numbers + len(pairs))
        np.add.at(form, [places[i, j], i, j, 0], [1.0, -MEAN, -MEAN, MEAN**2 - SPREAD * (i == j)])
        forms.append(form)
    return np.array(forms)


def scaled(strategy: CrossMoments, order: int) -> Iterator[tuple[Degree, tuple[int, ...]]]:
    """Yield every degree that serves with the scales that suit covariances best.

    With weight c_k of a feature's variance and scales a_k, sum c_k / a_k^2 is least for a_k proportional to c_k^(1/3)
    under L1, c_k^(1/4) under L2. Under L2 products are never worse than corners, which are a rotation of more of them.

    Args:
        strategy: of any degree.
        order: of the norm that the noise is for.
    """
    p, pairs = strategy.numbers, len(strategy.pairs)
    forms = _forms(p)
    forms[:, 0] += forms[:, 1 + p : 1 + 2 * p].sum(axis=1) / 2
    forms[:, 1 + p : 1 + 2 * p] /= 2  # of 2 t^2 - 1, in the place of t^2
    weights = (forms**2).sum(axis=0)
    count, levels, squares, products = np.split(weights, [1, 1 + p, 1 + 2 * p])
    means = np.array([count[0], levels.mean(), squares.mean(), products.mean() if pairs else 1.0])
    scales = means ** (1 / (order + 2))
    yield 0, _integers(scales, [1, p, p, pairs])
    if order > 1:
        return
    if 2**p <= MOST_CORNERS:
        block = 2**p * (count.sum() + levels.sum() + products.sum())
        ratio = float((squares.sum() / p / block) ** (1 / 3))
        yield 1, _integers(np.array([1.0, ratio]), [1, p])
    if 3**p <= MOST_CORNERS:
        yield 2, (LARGEST,)


def _integers(scales: Array, times: list[int]) -> tuple[int, ...]:
    """Return the scales as integers of which a row adds at most 2^30 in all."""
    unit = LARGEST / float(scales @ np.array(times))
    return tuple(max(1, math.floor(unit * scale)) for scale in scales)
