"""The page of sets: how many people hold each value, and how many values a person holds.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

import functools
import math

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
from dpress.reporting.findings import CONFIDENCE, Estimate, Groups, amount, largest, largest_estimates
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
        "opening": _opening(about, answers.attribute),
        "named": True,
        "listed": len(answers.attribute.listed),
        "beside": "".join(f" and “{name}”" for name in answers.attribute.extra),
        "cap": answers.method.cap,
        "asked": max(report.size for report in answers.method.reports),
        "mean_size": number(size.mean, 10.0 ** math.floor(math.log10(max(1e-9, math.sqrt(size.variance))))),
        "size_answer": answered(about.query("set size")),
    }
    return rendered(TEMPLATE, context)


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page opens with."""
    return _opening(facts(release), ANSWERING.of(release).attribute)


def _opening(facts: Facts, attribute: Categorical) -> tuple[str, ...]:
    """Return how many values a person holds, and which most people hold, where one lies above all others.

    Where none does, or they are too many to be compared: the largest estimates.

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

    def estimate(place: int, confidence: float) -> Estimate:
        return Estimate(value=count(place, confidence).value, ends=count(place, confidence).interval)

    groups = Groups(labels=attribute.captions, values=facts.views[0].count, exceeds=exceeds)
    compared = attribute.size <= MOST_VALUES
    place = largest(groups) if compared else None
    if place is not None:
        people = amount(estimate(place, CONFIDENCE), facts.noun)
        return how_many(facts), held, f"The most frequent value is {attribute.captions[place]}: {people}."
    hidden = "; the noise hides which value is the most frequent" * compared
    return how_many(facts), held, f"{largest_estimates('', groups, estimate, facts.noun)}{hidden}."


PAGE = Page(page=page, opening=opening)
