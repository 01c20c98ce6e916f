"""The error in figures, and an example of a query with its answer.

Data flow: facts -> Accuracy, Example -> template.
"""

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.query.result import Result
from dpress.reporting.facts import Facts
from dpress.reporting.rounding import error, interval, number, unit_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How large the predicted error is.

    Args:
        method: its name, with the catalogue's summary and paper.
        mean_variance: predicted, in counts squared.
        typical: its square root, in rows or people.
        bound: the square root of the lower bound.
        ratio: typical error over bound; empty where no bound is known.
    """

    method: str
    summary: str
    paper: str
    mean_variance: str
    typical: str
    bound: str
    ratio: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A query as typed in a shell, and its answer."""

    command: str
    answer: str


def accuracy(facts: Facts) -> Accuracy:
    """Return the figures of the predicted error."""
    variance, bound, card = facts.predicted_error, facts.lower_bound, catalog.card(facts.method)
    return Accuracy(
        method=card.name,
        summary=card.summary,
        paper=card.paper,
        mean_variance=_variance(variance),
        typical=error(math.sqrt(variance)),
        bound=error(math.sqrt(bound)),
        ratio=_ratio(math.sqrt(variance / bound)) if bound > 0 else "",
    )


def _variance(value: float) -> str:
    if math.isinf(value):
        return number(value)
    return number(value, 10.0 ** min(0, math.floor(math.log10(value)) - 2)) if value > 0 else "0"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 10 else number(value)


def example(facts: Facts, query: str) -> Example:
    """Return a query and its answer; the total, where the query language cannot spell a name or a label."""
    try:
        result = facts.query(query)
    except ValueError:
        result = facts.query("total")
    return Example(command=f"dpress query FOLDER {shlex.quote(result.query)}", answer=answered(result))


def total(facts: Facts) -> str:
    """Return how many were counted, in all: with its error, or exactly."""
    result = facts.query("total")
    return answered(result, finest=1.0) if result.standard_error else number(result.value)


def query_of(attributes: Sequence[Tabular], *, middle: bool = True) -> str:
    """Return a query on the middle half of these attributes, or on their first values, by the titles of these."""
    return " and ".join(_condition(attribute, middle=middle) for attribute in attributes)


def _condition(attribute: Tabular, *, middle: bool) -> str:
    if middle and attribute.middle is not None:
        return f"{attribute.name} in {attribute.middle}"
    name, first = attribute.name, first_value(attribute)
    return f'{name} = "{first}"' if " " in first else f"{name} = {first}"


def first_value(attribute: Tabular) -> str:
    """Return an attribute's first value as a query may name it: by its label, where that is one's alone."""
    if attribute.labelled and attribute.code(attribute.captions[0]) == 0 and '"' not in attribute.captions[0]:
        return attribute.captions[0]
    return attribute.labels_between(0, 1)[0]


def answered(result: Result, finest: float = 0.0) -> str:
    """Return an answer with its interval and standard error, in no more digits than that warrants, or than `finest`."""
    unit = max(finest, unit_for(result.standard_error))
    unit = max(1.0, unit) if result.value % 1 == 0 else unit
    return (
        f"{number(result.value, unit)}, 95 % interval {interval(*result.interval, unit)}, "
        f"standard error {error(result.standard_error)}"
    )
