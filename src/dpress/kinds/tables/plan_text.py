"""What a plan of this kind says to people: variances, and how wrong all counts of a table can be at once."""

import dataclasses
import math
from typing import Any

from dpress.core.workload import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release import plan_text
from dpress.release.candidate import UNIT, Candidate
from dpress.release.largest_error import LargestError, largest_error
from dpress.release.other_kinds import Offer
from dpress.release.plan import Plan
from dpress.release.plan_text import PlanText, number, promise

__all__ = ["instead", "plain", "promise", "text"]


def text(planned: Plan) -> PlanText:
    """Return the text of a plan, with the bound on all counts at once."""
    found = plan_text.tables(planned)
    own = _largest(planned, planned.chosen)
    return found if own is None else dataclasses.replace(found, remarks=[*found.remarks, *_sentences(planned, own)])


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the bound on all counts at once."""
    own = _largest(planned, candidate)
    largest = {} if own is None else {"largest_error": dataclasses.asdict(own)}
    return plan_text.plain(planned, candidate) | largest


def instead(planned: Plan) -> Offer | None:
    """Return the one table that answers what another kind is asked; in the place of records the tables of pairs."""
    if planned.spec.privacy.model == "local":
        return None
    return Offer(kind="histogram" if planned.choice.unit == UNIT else "marginals")


def _largest(planned: Plan, candidate: Candidate) -> LargestError | None:
    """Return the bound for a table that a curator holds; None for a collection."""
    mechanism, workload = candidate.mechanism, planned.workload
    if not isinstance(mechanism, MatrixMechanism) or not isinstance(workload, Marginals):
        return None
    return largest_error(mechanism, workload)


def _sentences(planned: Plan, own: LargestError) -> list[str]:
    who = f"all {own.cells:,} counts of {planned.chosen.method} at once are" if own.cells > 1 else "the count is"
    found = [
        f"With probability {1 - own.beta:.0%} {who} within +- {number(math.ceil(10 * own.within) / 10)} of the truth"
    ]
    if own.textbook is not None:
        found.append(f"(the textbook's bound, sensitivity x ln(k / {own.beta:g}) / epsilon: {own.textbook:.1f})")
    return [*found[:-1], f"{found[-1]}."]
