"""What a plan of names says: from which count on a name is released, and how wrong its count is."""

import math
from typing import Any, cast

from dpress.core.basics.losses.any_loss import describe
from dpress.core.methods.mechanism import NameMechanism
from dpress.mechanisms.selection.above_threshold import EVEN, LIKELY
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords

CHANCES = (EVEN, LIKELY)


def text(planned: Plan) -> PlanText:
    """Return the method, from which count on a name is released with a chance of 50 % and 99 %, and errors."""
    rows = [_row(candidate, chosen=candidate is planned.chosen) for candidate in planned.candidates]
    header = ("", "method", "proven", *(f"count for {float(chance):.0%}" for chance in CHANCES), "error of a count")
    mechanism, who = _selection(planned.chosen), planned.spec.privacy.protected
    total = math.sqrt(mechanism.total_variance)
    what = f"different {who.column} that have it, of at most {who.rows:,} rows each" if who.column else "rows"
    half, nearly = (mechanism.count_for(chance) for chance in CHANCES)
    released = (
        f"A name that counts {half:,} is released with a chance of at least 50 %, one that counts {nearly:,} with "
        f"99 %, one that counts 1 with {float(mechanism.chance(1)):.2g}. Counted are {what}."
    )
    rest = f"The total has a typical error of +- {total:,.1f}; the rest is the total without the released counts."
    return PlanText(candidates=Listing(header=header, rows=rows, numbers=(3, 4, 5)), remarks=[released, rest])


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the counts from which on names are released."""
    mechanism = _selection(candidate)
    counts = {f"{float(chance):g}": mechanism.count_for(chance) for chance in CHANCES}
    return plan_text.plain(planned, candidate) | {"threshold": mechanism.threshold, "count_for_chance": counts}


def _selection(candidate: Candidate) -> NameMechanism:
    return cast("NameMechanism", candidate.mechanism)


def _row(candidate: Candidate, *, chosen: bool) -> list[str]:
    mechanism = _selection(candidate)
    counts = [f"{mechanism.count_for(chance):,}" for chance in CHANCES]
    error = f"+- {math.sqrt(candidate.predicted_error):,.1f}"
    return ["*" if chosen else "", candidate.method, describe(mechanism.claim.proven), *counts, error]


WORDS = PlanWords(text=text, plain=plain)
