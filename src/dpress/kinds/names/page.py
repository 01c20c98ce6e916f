"""The page of names: those that were released with their counts, the rest, and what delta says of a name.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

from typing import Any

from dpress.kinds.names.answers import ANSWERING
from dpress.mechanisms.selection.above_threshold import EVEN, LIKELY
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting import page_tables
from dpress.reporting.counts import facts_of_values, values_context
from dpress.reporting.facts import Facts
from dpress.reporting.render import rendered
from dpress.reporting.rounding import ceiling

TEMPLATE = "kinds/names/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    answers = ANSWERING.of(release)
    facts = facts_of_values(answers)
    return rendered(TEMPLATE, values_context(facts, answers) | _context(facts, release))


def _context(facts: Facts, release: Release) -> dict[str, Any]:
    """Return the facts that this template names beside."""
    mechanism = ANSWERING.of(release).mechanism
    return {
        "attributes": page_tables.attributes(release.schema, facts.model),
        "threshold": mechanism.threshold,
        "half": mechanism.count_for(EVEN),
        "nearly": mechanism.count_for(LIKELY),
        "delta": ceiling(facts.charged.delta) if facts.charged.delta else "",
        "bounded": facts.tail == "laplace",
        "persons": facts.claim.unit.name if facts.claim.unit.columns else "",
    }


PAGE = Page(page=page)
