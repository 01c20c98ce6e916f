"""The page of sets: how many people hold each value, and how many values a person holds.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

import math

from dpress.kinds.sets.answers import ANSWERING
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.accuracy import answered
from dpress.reporting.counts import table_context
from dpress.reporting.facts import facts
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number

TEMPLATE = "kinds/sets/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    about, answers = facts(release), ANSWERING.of(release)
    size = answers.set_size
    context = {
        **table_context(about),
        "listed": len(answers.attribute.listed),
        "beside": "".join(f" and “{name}”" for name in answers.attribute.extra),
        "cap": answers.method.cap,
        "asked": max(report.size for report in answers.method.reports),
        "mean_size": number(size.mean, 10.0 ** math.floor(math.log10(max(1e-9, math.sqrt(size.variance))))),
        "size_answer": answered(about.query("set size")),
    }
    return rendered(TEMPLATE, context)


PAGE = Page(page=page)
