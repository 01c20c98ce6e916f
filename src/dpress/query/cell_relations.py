"""Relations from cells: what a table of the attributes together says of how they depend on each other, at no cost.

relation, where -> `CellTable` -> columns over its cells -> `inference.cell_models` -> an answer for every coefficient.
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.cell_models import CellModel
from dpress.query.boxes import products
from dpress.query.cell_table import CellTable
from dpress.query.query_tree import TOTAL, Condition, Query, named, valued
from dpress.query.relation_grammar import INTERCEPT, LOGISTIC, Relation, relation
from dpress.query.result import Result

if TYPE_CHECKING:
    from dpress.query.answers import ReleaseAnswers

OF_SAMPLE = (
    "The interval is of the counted rows; with sampling it is of a population that they are drawn from, one by one."
)
MIDDLES = "A number is the middle of its cell: what more exact ones would give is left open."
MOST_TERMS = 64
Factor = dict[str, Array]  # what an attribute is as regressors: their values in its cells, by their names
Number = tuple[float, float, float]  # the value, the standard error of noise, and that of sampling


def parts_of(schema: Schema, query: Query) -> tuple[tuple[tuple[tuple[str, str], ...], Query], ...]:
    """Return the queries of all coefficients of a regression, each with its name; else the query alone.

    Raises:
        ValueError: it is no relation of these attributes, or has too many coefficients.
    """
    stated = relation(schema.names, query.attribute)
    if stated.coefficient or not stated.terms:
        return (((), query),)
    names = _coefficients(schema, stated)
    return tuple(((("coefficient", name),), replace(query, attribute=stated.only(name).text)) for name in names)


def answered(query: Query, answers: "ReleaseAnswers", schema: Schema, confidence: float, text: str) -> Result:
    """Answer a relation, of a regression one coefficient, from the cells of its attributes.

    Rows in the cells of missing and of other values of these are left out.

    Args:
        query: the relation.
        answers: of the release.
        schema: of its attributes.
        confidence: of the intervals.
        text: as it was asked.

    Raises:
        ValueError: no table holds the attributes together, or the relation is none of such attributes.
    """
    stated = relation(schema.names, query.attribute)
    if stated.of not in READERS:
        raise ValueError(f"this release answers no {stated.of}; {LOGISTIC} is answered from its cells")
    table = _table(answers, schema, stated, query.where)
    z = table.critical(confidence)
    (value, noise, sampling), reason = READERS[stated.of](schema, stated, table, z)
    half, both = z * noise, z * math.hypot(noise, sampling)
    used = [schema.attribute(name).with_cells for name in stated.attributes]
    notes = (reason or OF_SAMPLE,) if reason or not math.isnan(noise) else ()
    middles = (MIDDLES,) if any(map(_wide, used)) and not reason else ()
    without = [attribute.name for attribute in used if attribute.extra]
    left_out = (f"Rows without a listed value of {', '.join(without)} are left out.",) if without else ()
    return Result(
        query=text,
        of="relation",
        value=value,
        standard_error=noise,
        interval=(value - half, value + half),
        confidence=confidence,
        note=" ".join((*notes, *middles, *left_out, *table.notes)) or None,
        sampling=None if math.isnan(sampling) else sampling,
        population=None if math.isnan(sampling) else (value - both, value + both),
    )


def values_of(attribute: Tabular) -> Array | None:
    """Return the number of every cell, shape (cells,): its middle, or an ordinal value; None where they are none.

    Cells of missing and of other values have 0, and are left out elsewhere.
    """
    values = np.zeros(attribute.size)
    if (column := attribute.numbers) is not None:
        edges = column.edges_at(np.arange(column.ordered + 1)).astype(np.float64)
        values[: column.ordered] = (edges[:-1] + edges[1:] - column.whole) / 2
        return values
    if attribute.cyclic or attribute.ordered != attribute.size - len(attribute.extra):
        return None
    try:
        values[: attribute.ordered] = [*map(float, attribute.labels_between(0, attribute.ordered))]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _wide(attribute: Tabular) -> bool:
    """Return whether a cell holds different numbers."""
    return attribute.numbers is not None and not attribute.unbinned


def _factor(attribute: Tabular) -> Factor:
    """Return what an attribute is as regressors: its number, or 1 in each of its cells but the first."""
    if (values := values_of(attribute)) is not None:
        return {named(attribute.name): values}
    labels = attribute.labels_between(0, attribute.size - len(attribute.extra))
    if len(labels) > MOST_TERMS:
        raise ValueError(f"{attribute.name}: {len(labels) - 1} coefficients are too many, at most {MOST_TERMS}")
    steps = np.eye(attribute.size)
    return {
        f"{named(attribute.name)} = {valued(label)}": steps[place] for place, label in enumerate(labels) if place > 0
    }


def _coefficients(schema: Schema, stated: Relation) -> tuple[str, ...]:
    """Return what the coefficients are called, the intercept first."""
    factors = {name: _factor(schema.attribute(name).with_cells) for name in stated.attributes[1:]}
    names = [INTERCEPT]
    for product in stated.products:
        names += [" * ".join(choice) for choice in itertools.product(*(factors[name] for name in product))]
    if len(names) > MOST_TERMS:
        raise ValueError(f"{stated.text}: {len(names)} coefficients are too many, at most {MOST_TERMS}")
    return tuple(names)


def _columns(stated: Relation, table: CellTable) -> Array:
    """Return the columns of the coefficients over all cells of a table, shape (coefficients, cells)."""
    along = {attribute.name: _along(table, attribute, _factor(attribute)) for attribute in table.attributes
             if attribute.name in stated.attributes[1:]}  # fmt: skip
    columns = [np.ones(table.counts.shape)]
    for product in stated.products:
        choices = itertools.product(*(along[name].values() for name in product))
        columns += [math.prod(choice, start=columns[0]) for choice in choices]
    return np.array(columns).reshape(len(columns), -1)


def _along(table: CellTable, attribute: Tabular, factor: Factor) -> Factor:
    """Return values of an attribute's cells so that they stand along its axis of the table."""
    shape = [attribute.size if other is attribute else 1 for other in table.attributes]
    return {name: values.reshape(shape) for name, values in factor.items()}


def _table(answers: "ReleaseAnswers", schema: Schema, stated: Relation, where: Condition | None) -> CellTable:
    """Return the cells of a relation's attributes, of the rows of a condition with listed values of all of them."""
    tested = {test.attribute for test in (where or TOTAL).tests}
    names = [name for name in schema.names if name in {*stated.attributes, *tested}]
    table, axes = answers.cell_table(names), schema.axes(names)
    inside = sum(_outer([box[axis] for axis in axes]) for box in products(schema, where or TOTAL))
    for attribute in table.attributes:
        if attribute.name in stated.attributes:
            listed = np.arange(attribute.size) < attribute.size - len(attribute.extra)
            inside = inside * _along(table, attribute, {"": listed.astype(np.float64)})[""]
    return table.among(stated.attributes, np.asarray(inside))


def _outer(weights: list[Array]) -> Array:
    shapes = np.ix_(*weights)
    return np.asarray(math.prod(shapes))


def _regression(schema: Schema, stated: Relation, table: CellTable, z: float) -> tuple[Number, str]:
    """Return a coefficient with its errors, or why there is none."""
    outcome = next(attribute for attribute in table.attributes if attribute.name == stated.names[0])
    values = values_of(outcome) if stated.of == "regression" else _chance(schema, stated, outcome)
    if values is None:
        raise ValueError(f"{outcome.name} holds no numbers; the chance of one of its values is {LOGISTIC}")
    names = _coefficients(schema, stated)
    if stated.coefficient not in names:
        raise ValueError(f"{stated.only('').text} has a coefficient for each of {', '.join(names)}; name one of them")
    along = _along(table, outcome, {"": values})[""]
    shape = table.counts.shape
    model = CellModel(
        counts=table.counts.ravel(),
        covariance=lambda forms: table.covariance(forms.reshape(-1, *shape)),
        columns=_columns(stated, table),
        outcome=np.broadcast_to(along, shape).ravel(),
        link="identity" if stated.of == "regression" else "logistic",
        z=z,
    )
    place, fitted = names.index(stated.coefficient), model.fitted
    return (float(fitted.value[place]), float(fitted.noise[place]), float(fitted.sampling[place])), model.refusal


def _chance(schema: Schema, stated: Relation, outcome: Tabular) -> Array:
    """Return 1 in the cells of a logistic regression's outcome, and 0 in all others.

    Raises:
        ValueError: none is named and there are not two, or they are all of them or none.
    """
    listed = outcome.size - len(outcome.extra)
    if stated.outcome == TOTAL:
        if listed != 2:
            raise ValueError(f"{outcome.name} has {listed} values: say whose chance it is, {LOGISTIC}")
        return np.asarray(np.eye(outcome.size)[1])
    axis = schema.names.index(outcome.name)
    inside = np.sum([box[axis] for box in products(schema, stated.outcome)], axis=0)
    if inside[:listed].all() or not inside[:listed].any():
        raise ValueError(f"{stated.outcome.text!r} holds of all listed values of {outcome.name}, or of none")
    return np.asarray(inside)


READERS: Mapping[str, Callable[[Schema, Relation, CellTable, float], tuple[Number, str]]] = {
    "logistic": _regression,
    "regression": _regression,
}
