"""The page of a joint distribution: the finding, the baseline, what is biased, and the records.

Data flow: release -> facts, views, pairs -> `page.html.j2`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.inference.joint.contrast import Contrast
from dpress.inference.joint.factors import Joint
from dpress.inference.joint.independence_tests import ALPHA
from dpress.kinds.joint import pairs_offline, residuals
from dpress.kinds.joint.answers import ANSWERING
from dpress.kinds.joint.dependence import MOST_ROWS, Pair, listing, pairs
from dpress.kinds.joint.fitted import FittedTable, pairs_of
from dpress.kinds.joint.pair_matrix import anchor, matrix
from dpress.mechanisms.protocol.collection import method_of
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting.added_noise import added_noise
from dpress.reporting.counted import counted, how_many, largest_groups
from dpress.reporting.counts import MOST_VIEWS, Part, page_of_counts, part
from dpress.reporting.facts import Facts, facts
from dpress.reporting.headline import headline
from dpress.reporting.page_data import page_data
from dpress.reporting.page_tables import Table, table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import number
from dpress.reporting.views import View, axis_of

TEMPLATE = "kinds/joint/page.html.j2"
SIGNIFICANCE = (
    "A group is named, and a pair called significant, only where it is: the chance of any wrong group is 5 % at most, "
    "and that of any wrong pair about 5 %."
)
MOST_PAIRS = 6  # with figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """What a page takes from a release of a joint distribution, beside what it takes from every release.

    Args:
        users: how many took part.
        joint: the distribution that was fitted, or None.
        contrasts: what the tallies say of every pair beyond independence.
        refits: how many times it was fitted again for its errors; 0 where the tallies alone do not give it.
        cells: the fitted joint with its own intervals, or None where it has no table of its own.
        records: how many synthetic records were drawn.
        assumed: what a baseline takes for granted about the people.
        separate: whether the error of a count is that of its table alone.
    """

    users: float
    joint: Joint | None
    contrasts: tuple[Contrast, ...]
    refits: int
    cells: View | None
    records: int
    assumed: str
    separate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The sections on a fitted joint distribution.

    Args:
        listed: all pairs, as a table.
        pairs: how many.
        shown: of them in the table.
        dependent: how many depend on each other significantly.
        first: of those the clearest, or the first of all.
        alpha: the significance level, in percent.
        departure: of the fitted joint from the baseline, a share of the people, averaged over the pairs.
        method: that fitted it.
        at_once: every report is about all attributes.
        ways: how many attributes a report is about.
        reason: why the fit ended where it did; empty where there is none.
        classes: the joint is one of latent classes.
        thinned: the joint keeps the tables of the strongest pairs only.
        refits: how many times it was fitted again; 0 where it has no intervals.
        cells: its largest cells, or None where it has no table of its own.
        records: how many synthetic records there are.
    """

    listed: Table
    pairs: int
    shown: int
    dependent: int
    first: str
    alpha: float
    departure: float
    method: str
    at_once: bool
    ways: int
    reason: str
    classes: bool
    thinned: bool
    refits: int
    cells: Table | None
    records: int

    @property
    def sentence(self) -> str:
        """Which pairs are significant."""
        if not self.dependent:
            return f"{'No pair can' if self.pairs > 1 else 'The pair cannot'} be told from independence."
        if self.pairs == 1:
            return f"The dependence of the pair {self.first} is significant: the two attributes depend on each other."
        which = "all" if self.dependent == self.pairs else number(self.dependent)
        left = {0: "", 1: " The other one cannot be told from independence."}
        others = left.get(self.pairs - self.dependent, " The others cannot be told from independence.")
        verb = "is" if self.dependent == 1 else "are"
        return f"Of {number(self.pairs)} pairs {which} {verb} significant, {self.first} most clearly.{others}"


def fit(release: Release) -> Fit:
    """Return what a page takes from a release of a joint distribution."""
    answers = ANSWERING.of(release)
    refits = answers.refits()
    return Fit(
        users=answers.people,
        joint=answers.fitted,
        contrasts=_contrasts(release) if answers.evidence is None else answers.evidence.contrasts(),
        refits=0 if refits is None else len(refits.again),
        cells=_cells(answers.joint_table()),
        records=release.detail.records,
        assumed=_assumed(release),
        separate=pairs_of(release.mechanism) is None,
    )


def _assumed(release: Release) -> str:
    """Return what the fit takes for granted; empty for all but a baseline."""
    return str(getattr(method_of(release.mechanism), "assumes", ""))


def _contrasts(release: Release) -> tuple[Contrast, ...]:
    collection = release.collection
    if collection is None:
        return ()
    return collection.estimator.contrasts(collection.tallies_in(release.kept))


def _cells(joint: FittedTable | None) -> View | None:
    if joint is None:
        return None
    return View(
        axes=tuple(axis_of(axis) for axis in joint.axes),
        count=joint.count,
        half=joint.refits.half_width(joint.error**2, CONFIDENCE),
        error=joint.error,
        file=joint.name,
    )


def page(release: Release) -> str:
    """Return the page as HTML."""
    about, fitted = facts(release), fit(release)
    signed, joint = pairs_offline.form(release), fitted.joint is not None
    data = page_data(about, about.views, separate=fitted.separate, signed=signed, fitted=joint)
    return rendered(TEMPLATE, context(about, fitted, data))


def context(facts: Facts, fitted: Fit, data: str | None) -> dict[str, Any]:
    """Return the facts that the template names."""
    ranked = _ranked(facts, fitted)
    whole, tables = facts.views, facts.mechanism.decoder.tables
    parts, most = _parts(facts, whole, ranked, fitted.users), MOST_PAIRS if ranked else MOST_VIEWS
    places = {axes: place for place, axes in enumerate(tables)} if data else {}
    return {
        **page_of_counts(facts, whole, parts, hidden=max(0, (len(ranked) or len(whole)) - most)),
        "data": data,
        **_of_pairs(facts, fitted, ranked),
        "matrix": matrix(ranked, facts.schema.captions, shown=MOST_PAIRS, places=places) if ranked else None,
        "tables_of_pairs": any(len(axes) > 1 for axes in tables),
        "assumed": fitted.assumed,
        "noise": None if facts.model == "local" else added_noise(facts.mechanism),
        "cells_asked": facts.workload.queries,
    }


def opening(release: Release) -> tuple[str, ...]:
    """Return the sentences that the page opens with; before the joint is fitted those of counts."""
    about = facts(release)
    fitted = None if release.detail is None else fit(release)
    ranked = [] if fitted is None else _ranked(about, fitted)
    if fitted is None or not ranked:
        return counted(about, headline(about))
    return tuple(_of_pairs(about, fitted, ranked)["opening"])


def _ranked(facts: Facts, fitted: Fit) -> list[Pair]:
    """Return the pairs, the clearest first; none where no joint was fitted."""
    return [] if fitted.joint is None else pairs(fitted.contrasts, fitted.joint, facts.schema.captions)


def _of_pairs(facts: Facts, fitted: Fit, ranked: Sequence[Pair]) -> dict[str, Any]:
    """Return what the pairs say, which the page opens with; nothing where none was published."""
    if not ranked:
        return {"findings": None}
    made = findings(facts, fitted, ranked)
    groups = largest_groups(facts, headline(facts))
    return {
        "findings": made,
        "opening": (how_many(facts), *groups, made.sentence),
        "named": SIGNIFICANCE if groups else False,
    }


def _parts(facts: Facts, whole: Sequence[View], ranked: Sequence[Pair], users: float) -> list[Part]:
    """Return the tables of the clearest pairs with their residuals; all tables, where no pair was published."""
    if not ranked:
        return [part(facts, view) for view in whole[:MOST_VIEWS]]
    by_axes = dict(zip(facts.mechanism.decoder.tables, whole, strict=True))
    shown = [(by_axes[pair.axes], pair) for pair in ranked[:MOST_PAIRS]]
    drawn = [part(facts, view, residuals.figure(view, pair, users)) for view, pair in shown]
    return [
        replace(drawing, anchor=anchor(pair.axes), line=pair.line)
        for drawing, (_, pair) in zip(drawn, shown, strict=True)
    ]


def findings(facts: Facts, fitted: Fit, ranked: Sequence[Pair]) -> Findings:
    """Return the facts of the sections on a fitted joint distribution.

    Args:
        facts: facts of the release.
        fitted: of the joint distribution.
        ranked: the pairs, at least one, the clearest first.
    """
    dependent = [pair for pair in ranked if pair.test.significant]
    mechanism = facts.mechanism
    sets = mechanism.decoder.tables if facts.model == "central" else [report.axes for report in mechanism.types]
    return Findings(
        listed=listing(list(ranked)),
        pairs=len(ranked),
        shown=min(MOST_ROWS, len(ranked)),
        dependent=len(dependent),
        first=(dependent or ranked)[0].name,
        alpha=100 * ALPHA,
        departure=float(np.mean([pair.fitted for pair in ranked])),
        method=facts.method,
        at_once=len(sets) == 1,
        ways=max(map(len, sets)),
        reason="" if fitted.joint is None else fitted.joint.reason,
        classes=fitted.joint is not None and bool(fitted.joint.hidden),
        thinned=fitted.joint is not None and len(fitted.joint.factors) > 1,
        refits=fitted.refits,
        cells=None if fitted.cells is None else _renamed(table(fitted.cells)),
        records=fitted.records,
    )


def _renamed(shown: Table) -> Table:
    """Return the table of the joint, whose counts are fitted."""
    return replace(shown, names=tuple("fitted count" if name == "count" else name for name in shown.names))


PAGE = Page(page=page, opening=opening)
