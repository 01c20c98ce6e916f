"""What a plan of a joint distribution says to people."""

from dataclasses import replace
from typing import Any

from dpress.kinds.joint.central import measured
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import PlanText, PlanWords, tables


def text(planned: Plan) -> PlanText:
    """Return the plan; its errors are predicted for shares drawn evenly, of a table for any shares."""
    written = tables(planned, even="shares drawn evenly")
    if planned.design.local:
        return written
    listing = written.candidates
    rows = [[*row, measured(candidate)] for row, candidate in zip(listing.rows, planned.candidates, strict=True)]
    remark = "The error is that of the tables asked for. What larger tables tell the joint beyond them is not in it."
    return replace(
        written,
        candidates=replace(listing, header=(*listing.header, "measures"), rows=rows),
        remarks=[*written.remarks, remark],
    )


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data; of a table with what is measured."""
    measures = {} if planned.design.local else {"measures": measured(candidate)}
    return plan_text.plain(planned, candidate) | measures


WORDS = PlanWords(text=text, plain=plain)
