"""Which of the values that nobody listed is the most frequent: facts in the order of counts -> a sentence."""

import numpy as np

from dpress.query.query_tree import Condition, Query
from dpress.reporting.facts import Facts
from dpress.reporting.findings import CONFIDENCE, Estimate, Groups, largest, largest_estimates
from dpress.reporting.rounding import interval, number, unit_for

MOST_VALUES = 512  # that are compared


def most_frequent(facts: Facts, released: int) -> str:
    """Return which value is the most frequent, as far as the noise tells it; empty where fewer than two are released.

    Error: as of `largest`. A value that was not released has a lower noisy count than all that were.

    Args:
        facts: of the release, the most frequent value first.
        released: how many values there are.
    """
    (attribute,) = facts.schema.tabular
    if not 1 < released <= MOST_VALUES:
        return ""
    labels = attribute.labels_between(0, released)
    rows = [Condition(word="=", attribute=attribute.name, values=(label,)) for label in labels]

    def exceeds(place: int, other: int, confidence: float) -> bool:
        query = Query(of="difference", first=rows[place], second=rows[other])
        return facts.answered(query, confidence).interval[0] > 0

    def estimate(place: int, confidence: float) -> Estimate:
        result = facts.answered(Query(of="count", first=rows[place]), confidence)
        return Estimate(value=result.value, ends=result.interval)

    falling = -np.arange(released, dtype=np.float64)
    groups = Groups(labels=attribute.captions[:released], values=falling, exceeds=exceeds)
    if largest(groups) is None:
        return f"{largest_estimates('', groups, estimate, facts.noun)}; the noise hides which is the most frequent."
    first = facts.answered(Query(of="count", first=rows[0]), CONFIDENCE)
    unit = unit_for(first.standard_error)
    most = f"{number(first.value, unit)} ({interval(*first.interval, unit)})"
    return f"The most frequent is {attribute.captions[0]}: {most}."
