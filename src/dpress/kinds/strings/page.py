"""The page of strings: those that were found with their counts, and what was tested.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

from typing import Any

from dpress.kinds.strings.answers import ANSWERING
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.counts import facts_of_values, values_context, values_opening
from dpress.reporting.render import rendered

TEMPLATE = "kinds/strings/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    answers = ANSWERING.of(release)
    facts = facts_of_values(answers)
    return rendered(TEMPLATE, values_context(facts, answers) | _context(release))


def _context(release: Release) -> dict[str, Any]:
    """Return the facts that this template names beside."""
    answers = ANSWERING.of(release)
    method, tested = answers.method, answers.tested
    return {
        "tested": len(tested.strings),
        "longest": method.longest,
        "number": method.round + 1,
        "rounds": len(method.rounds),
        "following": answers.following,
        "deviations": f"{tested.threshold:.2f}",
        "false_alarm": f"{100 * FALSE_ALARM:g} %",
        "level": f"{100 * answers.level(0.95):.4g}",
    }


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page opens with."""
    answers = ANSWERING.of(release)
    return values_opening(facts_of_values(answers), answers)


PAGE = Page(page=page, opening=opening)
