"""The columns of a regression, and what their coefficients are in the units of the attributes.

relation, schema -> columns (which cells, which number) -> names, and the transform from units of t.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.linear_relations import Column
from dpress.kinds.statistics.level_values import bounded, level_scale
from dpress.mechanisms.linear.cross_moments import CrossMoments
from dpress.query.query_tree import named
from dpress.query.relation_grammar import INTERCEPT, Relation
from dpress.query.relation_terms import check_terms, steps

Cells = tuple[tuple[int, int], ...]  # an axis of the cells kept apart, and which of its cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """What a coefficient is of.

    Args:
        name: as files and queries have it.
        cells: the cells of categorical attributes that it is about; none for all rows.
        number: whose slope it is, from 1; 0 for a step.
    """

    name: str
    cells: Cells
    number: int


def terms(strategy: CrossMoments, schema: Schema, relation: Relation) -> tuple[Term, ...]:
    """Return the terms of a regression, the intercept first; the first cell of an attribute is what others differ from.

    Raises:
        NotSupported: they are too many.
        ValueError: a product has two numbers.
    """
    listed = [Term(name=INTERCEPT, cells=(), number=0)]
    for product in relation.products:
        axes = schema.axes(product)
        numbers = [axis for axis in axes if axis in strategy.axes]
        if len(numbers) > 1:
            raise ValueError(
                f"{' * '.join(product)}: the product of two numbers as a regressor is not measured; let a number "
                "interact with an attribute of listed values"
            )
        choices = [_regressors(schema, axis, number=axis in numbers) for axis in axes]
        for choice in itertools.product(*(regressors.items() for regressors in choices)):
            cells = tuple((axis, cell) for axis, (_, cell) in zip(axes, choice, strict=True) if cell is not None)
            number = 1 + strategy.axes.index(numbers[0]) if numbers else 0
            listed.append(Term(name=" * ".join(name for name, _ in choice), cells=cells, number=number))
    check_terms(relation.text, len(listed))
    return tuple(listed)


def _regressors(schema: Schema, axis: int, *, number: bool) -> Mapping[str, int | None]:
    """Return what an attribute is as regressors, by name: its number, or a step in each of some cells."""
    attribute = schema.tabular[axis].with_cells
    return {named(attribute.name): None} if number else steps(attribute)


def categories(schema: Schema, axis: int) -> int:
    """Return how many cells of an attribute are values of its own: all but those of missing and other values."""
    return schema.tabular[axis].with_cells.proper


def axes_of(strategy: CrossMoments, schema: Schema, relation: Relation) -> tuple[int, ...]:
    """Return the axes of the categorical attributes of a relation, in the order in which cells are kept apart."""
    used = schema.axes(relation.attributes)
    return tuple(axis for axis in strategy.within if axis in used)


def column(term: Term, schema: Schema, axes: Sequence[int]) -> Column:
    """Return the column of a term, over the values of categorical attributes, those of the last running fastest."""
    shape = [categories(schema, axis) for axis in axes]
    chosen = dict(term.cells)
    masks = [
        np.arange(size) == chosen[axis] if axis in chosen else np.ones(size, dtype=bool)
        for axis, size in zip(axes, shape, strict=True)
    ]
    cells = np.ones(1)
    for mask in masks:
        cells = np.multiply.outer(cells, mask.astype(np.float64)).ravel()
    return Column(cells=cells, number=term.number)


def scale_of(strategy: CrossMoments, schema: Schema, number: int) -> tuple[float, float]:
    """Return the value at t = 0 of a number, from 1, and how far that at t = 1 is from it."""
    return level_scale(bounded(schema, strategy.axes[number - 1]), strategy.steps[number - 1])


def in_attribute_units(
    strategy: CrossMoments, schema: Schema, outcome: int, listed: Sequence[Term]
) -> tuple[Array, Array]:
    """Return the matrix and the shift that make coefficients in units of t those in the units of the attributes.

    With y = c_y + R_y t_y and x = c_x + R_x t_x a slope is R_y / R_x times that of t, and every step, the intercept
    too, is R_y times that of t less c_x times the slopes that hold in the same cells; c_y goes to the intercept.
    """
    centre, radius = scale_of(strategy, schema, outcome)
    transform, shift = np.zeros((len(listed), len(listed))), np.zeros(len(listed))
    shift[0] = centre
    places = {term.cells: place for place, term in enumerate(listed) if term.number == 0}
    for place, term in enumerate(listed):
        if term.number == 0:
            transform[place, place] += radius
            continue
        middle, width = scale_of(strategy, schema, term.number)
        transform[place, place] = radius / width
        transform[places[term.cells], place] -= radius * middle / width
    return transform, shift
