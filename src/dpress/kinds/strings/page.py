"""The page of strings: those that were found with their counts, and what was tested.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpress.core.domain import Schema
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM
from dpress.release.release import Release
from dpress.reporting import page_tables
from dpress.reporting.accuracy import example, query_of, total
from dpress.reporting.counts import counts, part, predicted
from dpress.reporting.facts import Facts, facts
from dpress.reporting.frame import frame
from dpress.reporting.render import rendered

TEMPLATE = "kinds/strings/page.html.j2"


def page(release: Release, queries: Sequence[str] = ()) -> str:
    """Return the page as HTML; it draws no queries."""
    del queries
    own = replace(facts(release), schema=Schema((release.answers.attribute,)))
    return rendered(TEMPLATE, context(own, release))


def context(own: Facts, release: Release) -> dict[str, Any]:
    """Return the facts that the template names."""
    whole, answers = own.views, release.answers
    method, tested = answers.method, answers.tested
    return {
        **frame(own),
        **predicted(own, lambda one: one.method),
        "counts": counts(whole),
        "parts": [part(own, view) for view in whole],
        "hidden": 0,
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(own, query_of(own.schema.tabular)),
        "total": total(own),
        "adjusted": None,
        "released": len(answers.strings),
        "tested": len(tested.strings),
        "rest": answers.attribute.labels[-1],
        "longest": method.longest,
        "number": method.round + 1,
        "rounds": len(method.depths),
        "following": answers.following,
        "deviations": f"{tested.threshold:.2f}",
        "false_alarm": f"{100 * FALSE_ALARM:g} %",
        "level": f"{100 * answers.level(0.95):.4g}",
    }
