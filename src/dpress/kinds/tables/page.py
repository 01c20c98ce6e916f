"""The page of tables of counts: every published table, or the sums of one that were asked for.

Data flow: release -> facts, views -> `page.html.j2`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from dpress.kinds.tables.answers import ANSWERING
from dpress.mechanisms.protocol.one_way import OneWay
from dpress.query.release import Release
from dpress.release.plan.largest_error import LargestError, largest_error
from dpress.release.room import Page
from dpress.reporting import page_tables
from dpress.reporting.added_noise import added_noise
from dpress.reporting.counted import opening
from dpress.reporting.counts import MOST_VIEWS, page_of_counts, part
from dpress.reporting.error_form import Form
from dpress.reporting.facts import Facts, facts
from dpress.reporting.page_data import answering_data, page_data
from dpress.reporting.render import rendered
from dpress.reporting.report_form import of_tables
from dpress.reporting.views import View, view_of

TEMPLATE = "kinds/tables/page.html.j2"


def page(release: Release) -> str:
    """Return the page as HTML."""
    approximate, about = " ".join(ANSWERING.of(release).announced), facts(release)
    data = page_data(about, about.views, signed=_signed(release))
    return rendered(TEMPLATE, context(about, data) | {"approximate": approximate})


def answering(release: Release) -> dict[str, Any] | None:
    """Return what a page answers queries about the tables with; None where it cannot."""
    about = facts(release)
    return answering_data(about, about.views, signed=_signed(release))


def _signed(release: Release) -> Form | Literal["doubled"] | None:
    """Return what gives the variance of shares and differences of counts that devices reported."""
    if (collection := release.collection) is None:
        return None
    estimator, tallies = collection.estimator, collection.tallies_in(release.kept)
    if isinstance(estimator, OneWay):
        return of_tables(estimator.sum_forms(tallies))
    return None if estimator.query_variances(tallies) else "doubled"


def context(facts: Facts, data: str | None) -> dict[str, Any]:
    """Return the facts that the template names."""
    whole = facts.views
    sums = derived_views(facts, whole)
    shown = sums or whole
    parts = [part(facts, view) for view in shown[:MOST_VIEWS]]
    return {
        "data": data,
        **page_of_counts(facts, whole, parts, hidden=max(0, len(shown) - MOST_VIEWS)),
        "files": page_tables.files([*whole, *(view for view in sums if view.file != whole[0].file)]),
        "with_asked": facts.with_asked,
        "cells_asked": facts.workload.queries,
        "sums": bool(sums),
        "several": len(facts.mechanism.decoder.tables) > 1,
        "noise": None if facts.model == "local" else added_noise(facts.mechanism),
        "at_once": at_once(facts),
    }


def at_once(facts: Facts) -> LargestError | None:
    """Return how wrong all counts that were asked for can be at once; None for a collection."""
    return None if facts.model == "local" else largest_error(facts.mechanism, facts.workload)


def derived_views(facts: Facts, whole: Sequence[View]) -> list[View]:
    """Return a view of every table that was asked for but published only as sums of a larger table."""
    views = [view_of(table, facts.noun, facts.display) for table in facts.asked_tables()]
    return views if facts.with_asked else [replace(view, file=whole[0].file, derived=True) for view in views]


PAGE = Page(page=page, answering=answering, opening=opening)
