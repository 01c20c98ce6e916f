"""The page of sets: how many people hold each value, and how many values a person holds.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

import functools
import math

import numpy as np

from dpress.attributes.listed.attribute import Categorical
from dpress.kinds.sets.answers import ANSWERING
from dpress.query.query_tree import Condition, Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.release.room import Page
from dpress.reporting.accuracy import answered
from dpress.reporting.counted import how_many
from dpress.reporting.counts import only_table, part
from dpress.reporting.facts import Facts, facts
from dpress.reporting.findings import CONFIDENCE, Estimate, Groups, amount, largest
from dpress.reporting.long_axes import largest_first
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/sets/page.html.j2"
MOST_VALUES = 512  # that are compared


def page(release: Release) -> str:
    """Return the page as HTML."""
    about, answers = facts(release), ANSWERING.of(release)
    size, view = answers.set_size, largest_first(about.views[0])
    context = {
        **only_table(about, view, part(about, about.views[0])),
        "opening": opening(about, answers.attribute),
        "named": True,
        "listed": len(answers.attribute.listed),
        "beside": "".join(f" and “{name}”" for name in answers.attribute.extra),
        "cap": answers.method.cap,
        "asked": max(report.size for report in answers.method.reports),
        "mean_size": number(size.mean, 10.0 ** math.floor(math.log10(max(1e-9, math.sqrt(size.variance))))),
        "size_answer": answered(about.query("set size")),
    }
    return rendered(TEMPLATE, context)


def opening(facts: Facts, attribute: Categorical) -> tuple[str, ...]:
    """Return how many values a person holds, and which most people hold, where one lies above all others.

    Error: a value is named where its interval lies above those of all others, which hold together (Bonferroni).
    """
    size = facts.answered(Query(of="set size"), CONFIDENCE)
    held = f"A person holds {amount(Estimate(value=size.value, ends=size.interval))} values on average."

    @functools.cache
    def count(place: int, confidence: float) -> Result:
        value = Condition(word="=", attribute=attribute.name, values=(attribute.labels[place],))
        return facts.answered(Query(of="count", first=value), confidence)

    def exceeds(first: int, second: int, confidence: float) -> bool:
        return count(first, confidence).interval[0] > count(second, confidence).interval[1]

    if attribute.size > MOST_VALUES:
        return how_many(facts), held
    values = np.array([count(place, CONFIDENCE).value for place in range(attribute.size)])
    place = largest(Groups(labels=attribute.captions, values=values, exceeds=exceeds))
    if place is None:
        return how_many(facts), held, "The noise hides which value is the most frequent."
    people = amount(Estimate(value=values[place], ends=count(place, CONFIDENCE).interval), facts.noun)
    return how_many(facts), held, f"The most frequent value is {attribute.captions[place]}: {people}."


PAGE = Page(page=page)
