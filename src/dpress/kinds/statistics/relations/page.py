"""What the page of relations says beyond that of other statistics: every regression of all rows, and the noise.

estimates of all groups together -> a table for each regression.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpress.kinds.statistics.relations.answers import ANSWERING, RelationAnswers
from dpress.kinds.statistics.relations.estimates import RelationEstimates, names_of
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import stated
from dpress.reporting.statistic_titles import of_relation

HEADER = ("coefficient", "value", "95 % interval", "standard error", "95 % interval with sampling")


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
        yield {"name": title, "table": Table(caption=title, names=HEADER, labels=1, rows=rows)}


def _texts(whole: RelationEstimates, name: str) -> tuple[str, ...]:
    """Return the value, interval, error, and the interval with sampling, of a coefficient."""
    statistic = whole.of(name)
    value, error = float(statistic.value[0]), float(statistic.standard_error[0])
    if math.isnan(value) or statistic.population is None:
        return ("not told from singular", "none", "not known", "none")
    low, high = (float(ends[0]) for ends in statistic.population)
    texts = stated(value, (float(statistic.low[0]), float(statistic.high[0])), error)
    return *texts, stated(value, (low, high), error)[1]
