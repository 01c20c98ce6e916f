"""The page of a list of predicates: every answer with its interval, and how wrong all of them can be at once.

Data flow: release -> facts, view -> `page.html.j2`.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from dpress.attributes.attribute import Tabular
from dpress.core.maps.set_sums import SetSums
from dpress.query.release import Release
from dpress.query.schema_queries import conditions_of
from dpress.release.plan.largest_answer import largest_answer
from dpress.release.room import Page
from dpress.reporting import figures, page_tables
from dpress.reporting.accuracy import example
from dpress.reporting.added_noise import added_noise
from dpress.reporting.counted import opened
from dpress.reporting.counts import Part, asking, counts, predicted, shown_as
from dpress.reporting.facts import Facts, facts
from dpress.reporting.frame import frame
from dpress.reporting.headline import headline
from dpress.reporting.render import rendered
from dpress.reporting.titled_conditions import titled_text
from dpress.reporting.views import View

TEMPLATE = "kinds/queries/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    return rendered(TEMPLATE, context(facts(release)))


def context(facts: Facts) -> dict[str, Any]:
    """Return the facts that the template names."""
    (whole,) = facts.views
    return {
        **frame(facts),
        **opened(facts, headline(facts)),
        "names": [attribute.caption for attribute in _named(facts)],
        **predicted(facts, asking(facts)),
        "counts": counts([whole]),
        "shown_as": shown_as(facts, [whole]),
        "part": _part(facts, _numbered(facts, whole)),
        "files": page_tables.files([whole]),
        "example": example(facts, facts.workload.texts[0]),
        "asked": facts.workload.queries,
        "cells": facts.workload.cells,
        "noise": added_noise(facts.mechanism),
        "all_determined": not isinstance(facts.mechanism.strategy.map, SetSums),
        "at_once": largest_answer(facts.mechanism, facts.workload),
    }


def _named(facts: Facts) -> list[Tabular]:
    """Return the attributes that the queries are about; all, where one cannot be read."""
    names = set[str]()
    with suppress(ValueError):
        names = {test.attribute for text in facts.workload.texts for test in conditions_of(facts.schema, text).tests}
    return [attribute for attribute in facts.schema.tabular if not names or attribute.name in names]


def _part(facts: Facts, view: View) -> Part:
    """Return the figure and the table of the queries, the table in their order where they are few."""
    axis = replace(view.axes[0], ordered=view.axes[0].size)
    table = page_tables.table(replace(view, axes=(axis,)))
    return Part(name=view.name, figure=figures.figure(view, facts.range_variances), table=table)


def _numbered(facts: Facts, view: View) -> View:
    """Return the queries in titles, with their numbers before them: a figure shortens what is long."""
    (axis,) = view.axes
    labels = tuple(f"{number}. {titled_text(facts.schema, label)}" for number, label in enumerate(axis.labels, 1))
    return replace(view, axes=(replace(axis, labels=labels, ticks=labels),))


PAGE = Page(page=page)
