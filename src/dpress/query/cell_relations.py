"""Relations from cells: what a table of the attributes together says of how they depend on each other, at no cost.

relation, where -> `CellTable` -> regressions, correlations or a test of its cells -> a `Result` for every number.
"""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.maps.linear import Array
from dpress.inference.cell_correlations import CellCorrelation
from dpress.inference.cell_models import CellModel
from dpress.inference.noisy_independence import DRAWS, MOST_CELLS, NoisyIndependence
from dpress.query.boxes import products
from dpress.query.cell_table import CellTable
from dpress.query.query_tree import TOTAL, Condition, Query, named
from dpress.query.relation_grammar import INTERCEPT, LOGISTIC, TESTED, Relation, relation
from dpress.query.relation_terms import DRAWN_ROWS, check_terms, steps
from dpress.query.result import Result

if TYPE_CHECKING:
    from dpress.query.answers import ReleaseAnswers

OF_SAMPLE = f"{DRAWN_ROWS}."
MIDDLES = "A number is the middle of its cell: what more exact ones would give is left open."
HIDDEN = "The noise hides the count, or what else is divided by, so that nothing is known of this."
SIMULATED = (
    f"The p-value is of {DRAWS:,} tables simulated under independence, with the sampling of rows and the noise; "
    f"none is below {1 / (DRAWS + 1):g}."
)
UNTOLD = "Values that noise does not tell from none are left out of V."
Factor = dict[str, Array]  # what an attribute is as regressors: their values in its cells, by their names
Ends = tuple[float, float]
NO_ENDS = (math.nan, math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A number of a relation.

    Args:
        value: NaN where noise hides it.
        noise: its standard error; NaN where none is known.
        sampling: that of the rows as a sample; NaN where it is not stated.
        interval: of the noise.
        population: of both.
        notes: what else is to be known, a sentence each.
    """

    value: float
    noise: float = math.nan
    sampling: float = math.nan
    interval: Ends = NO_ENDS
    population: Ends = NO_ENDS
    notes: tuple[str, ...] = ()


Numbered = Callable[[str], Answer]
"""From the name of a coefficient, or of what a test has, to it; of other relations from nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """A relation of a release.

    Args:
        number: each of its numbers, by its name.
        notes: what else is to be known of all, a sentence each.
    """

    number: Numbered
    notes: tuple[str, ...]


Solver = Callable[[Relation, Condition | None, float], Solved]
"""From a relation without a coefficient, the condition of its rows and a confidence to its numbers."""


def _around(number: tuple[float, float, float], z: float, reason: str, bounds: Ends = (-math.inf, math.inf)) -> Answer:
    """Return a value with its errors as an answer, its intervals cut to what is possible."""
    value, noise, sampling = number
    low, high = ([value + sign * z * error for error in (noise, math.hypot(noise, sampling))] for sign in (-1, 1))
    ends = [(float(np.maximum(a, bounds[0])), float(np.minimum(b, bounds[1]))) for a, b in zip(low, high, strict=True)]
    notes = (reason,) if math.isnan(value) else () if math.isnan(noise) else (OF_SAMPLE,)
    return Answer(value=value, noise=noise, sampling=sampling, interval=ends[0], population=ends[1], notes=notes)


def parts_of(schema: Schema, query: Query) -> tuple[tuple[tuple[tuple[str, str], ...], Query], ...]:
    """Return the queries of all coefficients of a regression, or numbers of a test, with their names; else it alone.

    Raises:
        ValueError: it is no relation of these attributes, or has too many coefficients.
    """
    stated = relation(schema.names, query.attribute)
    tested = stated.of == "independence"
    if stated.coefficient or not (stated.terms or tested):
        return (((), query),)
    names, word = (TESTED, "number") if tested else (_coefficients(schema, stated), "coefficient")
    return tuple((((word, name),), replace(query, attribute=stated.only(name).text)) for name in names)


def solver(answers: "ReleaseAnswers", schema: Schema) -> Solver:
    """Return what solves the relations of a release, and keeps the last one: for all of its coefficients in turn.

    Args:
        answers: of the release.
        schema: of its attributes.
    """
    return functools.lru_cache(maxsize=1)(functools.partial(_solved, answers, schema))


def _solved(
    answers: "ReleaseAnswers", schema: Schema, stated: Relation, where: Condition | None, confidence: float
) -> Solved:
    """Return all numbers of a relation, from the cells of its attributes."""
    table = _table(answers, schema, stated, where)
    z = table.critical(confidence)
    if stated.terms:
        number = _regression(schema, stated, table, z)
    else:
        number = (_independence if stated.of == "independence" else _correlation)(stated, table, z)
    without = [attribute.name for attribute in table.attributes if attribute.extra]
    left_out = (f"Rows without a listed value of {', '.join(without)} are left out.",) if without else ()
    return Solved(number=number, notes=(*left_out, *table.notes))


def answered(query: Query, solve: Solver, schema: Schema, confidence: float, text: str) -> Result:
    """Answer a relation, of a regression one coefficient, from the cells of its attributes.

    Rows in the cells of missing and of other values of these are left out.

    Args:
        query: the relation.
        solve: see `solver`.
        schema: of its attributes.
        confidence: of the intervals.
        text: as it was asked.

    Raises:
        ValueError: no table holds the attributes together, or the relation is none of such attributes.
    """
    stated = relation(schema.names, query.attribute)
    solved = solve(stated.only(""), query.where, confidence)
    answer = solved.number(stated.coefficient)
    of_sample = not math.isnan(answer.sampling)
    return Result(
        query=text,
        of="relation",
        value=answer.value,
        standard_error=answer.noise,
        interval=answer.interval,
        confidence=confidence,
        note=" ".join((*answer.notes, *solved.notes)) or None,
        sampling=answer.sampling if of_sample else None,
        population=answer.population if of_sample else None,
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
    if not _in_order(attribute):
        return None
    try:
        values[: attribute.ordered] = [*map(float, attribute.labels_between(0, attribute.ordered))]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def _in_order(attribute: Tabular) -> bool:
    return not attribute.cyclic and attribute.ordered == attribute.proper


def _middles(attributes: tuple[Tabular, ...]) -> tuple[str, ...]:
    """Return that numbers are middles, where a cell holds different ones."""
    wide = (attribute.numbers is not None and not attribute.unbinned for attribute in attributes)
    return (MIDDLES,) if any(wide) else ()


def _factor(attribute: Tabular) -> Factor:
    """Return what an attribute is as regressors: its number, or 1 in each of its cells but the first."""
    if (values := values_of(attribute)) is not None:
        return {named(attribute.name): values}
    cells = np.arange(attribute.size)
    return {name: (cells == cell).astype(np.float64) for name, cell in steps(attribute).items()}


def _coefficients(schema: Schema, stated: Relation) -> tuple[str, ...]:
    """Return what the coefficients are called, the intercept first."""
    factors = {name: _factor(schema.attribute(name).with_cells) for name in stated.attributes[1:]}
    names = [INTERCEPT]
    for product in stated.products:
        names += [" * ".join(choice) for choice in itertools.product(*(factors[name] for name in product))]
    check_terms(stated.text, len(names))
    return tuple(names)


def _columns(stated: Relation, table: CellTable) -> Array:
    """Return the columns of the coefficients over all cells of a table, shape (coefficients, cells)."""
    regressors = [attribute for attribute in table.attributes if attribute.name in stated.attributes[1:]]
    along = {attribute.name: _along(table, attribute, _factor(attribute)) for attribute in regressors}
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
            listed = np.arange(attribute.size) < attribute.proper
            inside = inside * _along(table, attribute, {"": listed.astype(np.float64)})[""]
    return table.among(stated.attributes, np.asarray(inside))


def _outer(weights: list[Array]) -> Array:
    return np.asarray(math.prod(np.ix_(*weights)))


def _regression(schema: Schema, stated: Relation, table: CellTable, z: float) -> Numbered:
    """Return what gives a coefficient with its errors, or why there is none; nothing of the cells is kept."""
    outcome = next(attribute for attribute in table.attributes if attribute.name == stated.names[0])
    values = values_of(outcome) if stated.of == "regression" else _chance(schema, stated, outcome)
    if values is None:
        raise ValueError(f"{outcome.name} holds no numbers; the chance of one of its values is {LOGISTIC}")
    names = _coefficients(schema, stated)
    shape = table.counts.shape
    model = CellModel(
        counts=table.counts.ravel(),
        covariance=lambda forms: table.covariance(forms.reshape(-1, *shape)),
        columns=_columns(stated, table),
        outcome=np.broadcast_to(_along(table, outcome, {"": values})[""], shape).ravel(),
        link="identity" if stated.of == "regression" else "logistic",
        z=z,
    )
    fitted, refusal = model.fitted, model.refusal
    middles = _middles(tuple(each for each in table.attributes if stated.of == "regression" or each is not outcome))

    def number(coefficient: str) -> Answer:
        if coefficient not in names:
            raise ValueError(f"{stated.text} has a coefficient for each of {', '.join(names)}; name one of them")
        place = names.index(coefficient)
        estimate = (float(fitted.value[place]), float(fitted.noise[place]), float(fitted.sampling[place]))
        answer = _around(estimate, z, refusal)
        return replace(answer, notes=(*answer.notes, *middles))

    return number


def _chance(schema: Schema, stated: Relation, outcome: Tabular) -> Array:
    """Return 1 in the cells of a logistic regression's outcome, and 0 in all others.

    Raises:
        ValueError: none is named and there are not two, or they are all of them or none.
    """
    listed = outcome.proper
    if stated.outcome == TOTAL:
        if listed != 2:
            raise ValueError(f"{outcome.name} has {listed} values: say whose chance it is, {LOGISTIC}")
        return np.asarray(np.eye(outcome.size)[1])
    axis = schema.names.index(outcome.name)
    inside = np.sum([box[axis] for box in products(schema, stated.outcome)], axis=0)
    if inside[:listed].all() or not inside[:listed].any():
        raise ValueError(f"{stated.outcome.text!r} holds of all listed values of {outcome.name}, or of none")
    return np.asarray(inside)


def _correlation(stated: Relation, table: CellTable, z: float) -> Numbered:
    """Return what gives a covariance, a correlation, or a correlation of ranks."""
    answer = _correlated(stated, table, z)
    return lambda _: answer


def _correlated(stated: Relation, table: CellTable, z: float) -> Answer:
    counts, covariance = table.listed
    if stated.of == "rank correlation":
        if unordered := [attribute.name for attribute in table.attributes if not _in_order(attribute)]:
            raise ValueError(f"{unordered[0]} has no order; `independence NAME NAME` is of any two attributes")
        ranks = CellCorrelation(counts=counts, covariance=covariance, scores=None, z=z)
        return _around(ranks.correlation, z, HIDDEN, (-1.0, 1.0))
    first, second = (_numbers(attribute)[:size] for attribute, size in zip(table.attributes, counts.shape, strict=True))
    made = CellCorrelation(counts=counts, covariance=covariance, scores=(first, second), z=z)
    bounds = (-1.0, 1.0) if stated.of == "correlation" else (-math.inf, math.inf)
    number = made.correlation if stated.of == "correlation" else made.covariance_of_scores
    answer = _around(number, z, HIDDEN, bounds)
    return replace(answer, notes=(*answer.notes, *_middles(table.attributes)))


def _numbers(attribute: Tabular) -> Array:
    if (values := values_of(attribute)) is None:
        raise ValueError(
            f"{attribute.name} holds no numbers; `rank correlation NAME NAME` is of ordered attributes, `independence "
            "NAME NAME` of any"
        )
    return values


def _independence(stated: Relation, table: CellTable, z: float) -> Numbered:
    """Return what gives each number of the test of independence, computed when it is asked for."""
    counts, covariance = table.listed
    if counts.size > MOST_CELLS:
        raise ValueError(f"{' x '.join(stated.names)}: {counts.size:,} cells are too many for a test, at most 2^10")
    noise = covariance(np.eye(counts.size).reshape(-1, *counts.shape))
    test = NoisyIndependence(counts=counts, noise=noise, tail=table.tail, z=z)

    def number(name: str) -> Answer:
        if name not in TESTED:
            raise ValueError(f"{stated.text} has {', '.join(TESTED)}; name one of them, as `p-value in {stated.text}`")
        if name == "chi-square":
            return Answer(value=test.statistic)
        if name == "p-value":
            return Answer(value=test.p_value, notes=() if math.isnan(test.p_value) else (SIMULATED,))
        return _associated(test)

    return number


def _associated(test: NoisyIndependence) -> Answer:
    """Return Cramer's V with its errors."""
    made, every = test.association, tuple(map(len, test.significant)) == test.counts.shape
    notes = (HIDDEN,) if math.isnan(made.value) else () if math.isnan(made.noise) else (OF_SAMPLE,)
    return Answer(
        value=made.value,
        noise=made.noise,
        sampling=made.sampling,
        interval=made.interval,
        population=made.population,
        notes=notes if every else (*notes, UNTOLD),
    )
