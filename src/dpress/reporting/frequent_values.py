"""What pages of values that nobody listed share: which are frequent enough, the most frequent, and all that were kept.

answers of such a release -> facts in the order of counts -> what `counts.html.j2` names.
"""

import functools
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.query.found_values import FoundValues
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import Condition, Query
from dpress.reporting import figures, page_tables
from dpress.reporting.counted import how_many
from dpress.reporting.counts import Part, only_table, together
from dpress.reporting.facts import Facts, facts
from dpress.reporting.findings import Groups, largest
from dpress.reporting.long_axes import TOP
from dpress.reporting.rounding import interval, number, unit_for
from dpress.reporting.views import View

MOST_VALUES = 512  # that are compared


def facts_of_values(answers: FoundValues) -> Facts:
    """Return the facts of a release of values that nobody listed, with those that were found, most frequent first."""
    labels = [answers.attribute.labels[place] for place in _order(answers)]
    ranked = msgspec.structs.replace(answers.attribute, values=tuple(labels))
    return replace(facts(answers.release), schema=Schema((ranked,)))


def values_context(facts: Facts, answers: FoundValues) -> dict[str, Any]:
    """Return what `counts.html.j2` names, the most frequent value first.

    Args:
        facts: as `facts_of_values` returns them.
        answers: of the release.
    """
    (view,), released = facts.views, len(answers.values)
    view = view.taken(0, np.array(_order(answers)))
    counted = f"{number(released)} {'value' if released == 1 else 'values'} of {answers.attribute.caption}"
    frequent = f"{counted} {'is' if released == 1 else 'are'} frequent enough to be released."
    opening = how_many(facts), frequent, most_frequent(facts, released)
    return only_table(facts, view, _part(facts, view, released)) | {
        "opening": tuple(filter(None, opening)),
        "named": released > 1,
        "released": released,
        "rest": answers.attribute.labels[-1],
    }


def most_frequent(facts: Facts, released: int) -> str:
    """Return which value is the most frequent, as far as the noise tells it; empty where fewer than two are released.

    Error: as of `largest`. A value that was not released has a lower noisy count than all that were.
    """
    (attribute,) = facts.schema.tabular
    if not 1 < released <= MOST_VALUES:
        return ""
    rows = [
        Condition(word="=", attribute=attribute.name, values=(label,))
        for label in attribute.labels_between(0, released)
    ]
    first = facts.answered(Query(of="count", first=rows[0]), CONFIDENCE)

    def exceeds(place: int, other: int, confidence: float) -> bool:
        query = Query(of="difference", first=rows[place], second=rows[other])
        return facts.answered(query, confidence).interval[0] > 0

    groups = Groups(
        labels=attribute.labels_between(0, released), values=-np.arange(released, dtype=np.float64), exceeds=exceeds
    )
    if largest(groups) is None:
        return "The noise hides which is the most frequent."
    unit = unit_for(first.standard_error)
    most = f"{number(first.value, unit)} ({interval(*first.interval, unit)})"
    return f"The most frequent is {attribute.captions[0]}: {most}."


def _order(answers: FoundValues) -> list[int]:
    """Return the places of the values, the most frequent first, then that of the rest."""
    return [*np.argsort(-answers.counts[:-1], kind="stable").tolist(), len(answers.values)]


def _part(facts: Facts, view: View, released: int) -> Part:
    """Return the figure of the most frequent values, and the table with the rest below them."""
    values = view.taken(0, np.arange(released)) if released else view
    shown = figures.figure(values, facts.range_variances, functools.partial(together, facts))
    return Part(name=view.name, figure=shown, table=page_tables.table(view, TOP, beside=min(1, released)))
