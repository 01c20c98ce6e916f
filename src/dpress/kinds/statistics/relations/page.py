"""What the page of relations says beyond that of other statistics: every regression of all rows, and the noise.

estimates of all groups together -> a table for each regression.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics.relations.answers import ANSWERING, RelationAnswers
from dpress.kinds.statistics.relations.estimates import RelationEstimates, names_of
from dpress.query.published_tables import CONFIDENCE
from dpress.query.relation_grammar import Relation
from dpress.query.release import Release
from dpress.reporting.figures import Figure
from dpress.reporting.fitted_lines import fitted_line
from dpress.reporting.group_bars import bars
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import stated
from dpress.reporting.statistic_titles import of_relation

HEADER = ("coefficient", "value", "95 % interval", "standard error", "95 % interval with sampling")
POINTS = 61  # of a fitted line


def made(release: Release) -> dict[str, Any]:
    """Return what was measured, how wrong a count from it is, and every regression of all groups together."""
    answers = ANSWERING.of(release)
    strategy = answers.strategy
    names = " and ".join(release.schema.captions[axis] for axis in strategy.axes)
    error = math.sqrt(float(strategy.covariance(answers.mechanism.noises[0].variance)[0, 0]))
    noises = [(f"{names}: moments and products", "100.0 %", f"{error:.3g}")]
    fits = list(_fits(answers))
    return {"noises": noises, "shared_out": False, "asked": (), "shapes": (), "fits": fits}


def _fits(answers: RelationAnswers) -> Iterator[dict[str, Any]]:
    """Yield the title and the table of every regression."""
    schema = answers.release.schema
    whole = answers.estimates(np.ones(answers.size, dtype=bool), CONFIDENCE)
    for relation in whole.relations:
        if relation.of != "regression":
            continue
        named = [(name, of_relation(name, schema)) for name in names_of(answers.strategy, schema, relation)]
        title = named[0][1].partition(" in ")[2]
        rows = tuple((text.removesuffix(f" in {title}"), *_texts(whole, name)) for name, text in named)
        table = Table(caption=title, names=HEADER, labels=1, rows=rows)
        yield {"name": title, "table": table, "figure": _figure(whole, relation, schema)}


def _figure(whole: RelationEstimates, relation: Relation, schema: Schema) -> Figure:
    """Return the fitted line of a regression on one number; else the coefficients beside the intercept."""
    captions = dict(zip(schema.names, schema.captions, strict=True))
    if relation.products == (relation.terms[0],) and (number := schema.attribute(relation.terms[0][0]).numbers):
        ends = number.edges_at(np.array([0, number.ordered])).astype(np.float64)
        points = np.linspace(ends[0], ends[1], POINTS)
        titles = captions[relation.terms[0][0]], captions[relation.names[0]]
        return fitted_line(points, whole.line(relation, points), titles)
    names = names_of(whole.strategy, schema, relation)[1:]
    values = np.array([_ends(whole.of(name)) for name in names]).T
    statistic = Estimates(value=values[0], standard_error=values[1], low=values[2], high=values[3])
    texts = [of_relation(name, schema) for name in names]
    formula = of_relation(relation.text, schema)
    shown = [text.removesuffix(f" in {formula}").removeprefix("coefficient of ") for text in texts]
    return bars(shown, statistic, f"coefficient, in units of {captions[relation.names[0]]}", from_zero=False)


def _ends(statistic: Estimates) -> tuple[float, ...]:
    """Return the value, the error and the ends of the interval with sampling of the first set."""
    first, last = (statistic.low, statistic.high) if statistic.population is None else statistic.population
    return tuple(float(each[0]) for each in (statistic.value, statistic.standard_error, first, last))


def _texts(whole: RelationEstimates, name: str) -> tuple[str, ...]:
    """Return the value, interval, error, and the interval with sampling, of a coefficient."""
    statistic = whole.of(name)
    value, error = float(statistic.value[0]), float(statistic.standard_error[0])
    if math.isnan(value) or statistic.population is None:
        return ("not told from singular", "none", "not known", "none")
    low, high = (float(ends[0]) for ends in statistic.population)
    texts = stated(value, (float(statistic.low[0]), float(statistic.high[0])), error)
    return *texts, stated(value, (low, high), error)[1]
