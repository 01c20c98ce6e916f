"""What a plan of sets says: the ways to ask about the values, with their errors."""

import math
from typing import Any

from dpress.core.basics.losses.any_loss import describe
from dpress.kinds.sets.answers import privset_of
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords, cautions, number


def text(planned: Plan) -> PlanText:
    """Return the candidates and what the prediction supposes."""
    header = ("", "method", "proven", "mean variance", "typical error", "a device is asked about", "bytes")
    rows = [_row(candidate, chosen=candidate is planned.chosen) for candidate in planned.candidates]
    privset = privset_of(planned.chosen.mechanism)
    even = f"who hold {privset.cap / 2:g} values on average, all values alike frequent"
    capped = (
        f"Of a set of m > {privset.cap:,} values {privset.cap:,} stay, drawn at random on the device: each counts "
        f"{privset.cap:,}/m of a person, and counts are too low by that. `dpress check` tells "
        "how much, from rows like those expected."
        if privset.cap < privset.values
        else "All values of a set count."
    )
    remarks = [f"Predicted for {planned.choice.users:,} users, {even}; counts of all users.", capped]
    listing = Listing(header=header, rows=rows, numbers=(3, 4, 6))
    return PlanText(candidates=listing, remarks=[*remarks], hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with how many values a device is asked about."""
    most = max(report.size for report in privset_of(candidate.mechanism).reports)
    return plan_text.plain(planned, candidate) | {"attributes_asked": 1, "values_asked": most}


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    error, mechanism = candidate.predicted_error, candidate.mechanism
    width = max(report_type.width for report_type in privset_of(mechanism).types)
    figures = [describe(mechanism.claim.proven), number(error), f"+- {math.sqrt(error):,.1f}"]
    return ["*" if chosen else "", candidate.method, *figures, candidate.asks, f"{width:,}"]


WORDS = PlanWords(text=text, plain=plain)
