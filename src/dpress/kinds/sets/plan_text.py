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
    rows = [_row(one, chosen=one is planned.chosen) for one in planned.candidates]
    own = privset_of(planned.chosen.mechanism)
    even = f"who hold {own.cap / 2:g} values on average, all values alike frequent"
    capped = (
        f"Of a set of m > {own.cap:,} values {own.cap:,} stay, drawn at random on the device: each counts {own.cap:,}/m"
        " of a person, and counts are too low by that. `dpress check` tells how much, from rows like those expected."
        if own.cap < own.values
        else "All values of a set count."
    )
    remarks = [f"Predicted for {planned.choice.users:,} users, {even}; counts of all users.", capped]
    listing = Listing(header=header, rows=rows, numbers=(3, 4, 6))
    return PlanText(candidates=listing, remarks=[*remarks], hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with how many values a device is asked about."""
    asked = max(one.size for one in privset_of(candidate.mechanism).reports)
    return plan_text.plain(planned, candidate) | {"attributes_asked": 1, "values_asked": asked}


def _row(one: Candidate, *, chosen: bool) -> list[str]:
    error, width = one.predicted_error, max(own.width for own in privset_of(one.mechanism).types)
    figures = [number(error), f"+- {math.sqrt(error):,.1f}"]
    return ["*" if chosen else "", one.method, describe(one.mechanism.claim.proven), *figures, one.asks, f"{width:,}"]


WORDS = PlanWords(text=text, plain=plain)
