"""What a plan of strings says: in how many rounds, from which count on a string is found, how wrong its count is."""

import math
from typing import Any

from dpress.core.basics.losses.any_loss import describe
from dpress.kinds.strings.answers import pem_of
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords, cautions

CHANCES = (0.5, 0.99)


def text(planned: Plan) -> PlanText:
    """Return the method, its rounds, and from which count on a string is found with a chance of 50 % and 99 %."""
    pem, users = pem_of(planned.chosen.mechanism), planned.choice.users
    error = f"+- {math.sqrt(planned.chosen.predicted_error):,.1f}"
    half, nearly = (pem.count_for(chance, users) for chance in CHANCES)
    header = (
        "",
        "method",
        "proven",
        "rounds",
        *(f"count for {chance:.0%}" for chance in CHANCES),
        "error of a count",
        "bytes",
    )
    width = str(max(report_type.width for report_type in pem.types))
    row = ["*", "pem", describe(pem.claim.proven), str(len(pem.rounds)), f"{half:,}", f"{nearly:,}", error, width]
    remark = (
        f"Of {users:,} people, each in one of {len(pem.rounds)} rounds, a string of up to {pem.longest} bytes is found "
        f"with a chance of at least about 50 % where {half:,} hold it, and 99 % where {nearly:,} do. With a chance of "
        f"at most {100 * FALSE_ALARM:g} % any is released that nobody holds. A shorter `longest` makes fewer rounds, "
        "of more people each."
    )
    listing = Listing(header=header, rows=[row], numbers=(3, 4, 5, 6, 7))
    return PlanText(candidates=listing, remarks=[remark], hints=cautions(planned))


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with its rounds and the counts from which on strings are found."""
    pem, users = pem_of(candidate.mechanism), planned.choice.users
    counts = {f"{chance:g}": pem.count_for(chance, users) for chance in CHANCES}
    return plan_text.plain(planned, candidate) | {"rounds": len(pem.rounds), "count_for_chance": counts}


WORDS = PlanWords(text=text, plain=plain)
