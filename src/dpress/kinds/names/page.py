"""The page of names: those that were released with their counts, the rest, and what delta says of a name.

Data flow: release -> facts, the table's view -> `page.html.j2`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpress.core.claim import ApproxDP
from dpress.core.domain import Schema
from dpress.mechanisms.selection.above_threshold import EVEN, SURE
from dpress.release.release import Release
from dpress.reporting import page_tables
from dpress.reporting.accuracy import example, query_of, total
from dpress.reporting.counts import counts, part, predicted
from dpress.reporting.facts import Facts, facts
from dpress.reporting.frame import frame
from dpress.reporting.render import rendered
from dpress.reporting.rounding import ceiling

TEMPLATE = "kinds/names/page.html.j2"


def page(release: Release, queries: Sequence[str] = ()) -> str:
    """Return the page as HTML; it draws no queries."""
    del queries
    own = replace(facts(release), schema=Schema((release.answers.attribute,)))
    return rendered(TEMPLATE, context(own, release))


def context(own: Facts, release: Release) -> dict[str, Any]:
    """Return the facts that the template names."""
    whole, mechanism = own.views, release.answers.mechanism
    return {
        **frame(own),
        **predicted(own, lambda one: one.method),
        "attributes": page_tables.attributes(release.schema, own.model),
        "counts": counts(whole),
        "parts": [part(own, view) for view in whole],
        "hidden": 0,
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(own, query_of(own.schema.tabular)),
        "total": total(own),
        "adjusted": None,
        "released": len(release.answers.names),
        "rest": release.answers.attribute.labels[-1],
        "threshold": mechanism.threshold,
        "half": mechanism.count_for(EVEN),
        "nearly": mechanism.count_for(SURE),
        "delta": ceiling(own.charged.delta) if isinstance(own.charged, ApproxDP) else "",
        "bounded": own.tail == "laplace",
        "persons": own.claim.unit.column,
    }
