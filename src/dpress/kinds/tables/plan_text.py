"""What a plan of this kind says to people: variances, and how wrong all counts of a table can be at once."""

import dataclasses
from typing import Any, cast

from dpress.core.maps.workload import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import UNIT, Candidate
from dpress.release.plan.largest_error import LargestError, largest_error
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Offer, PlanText, PlanWords


def text(planned: Plan) -> PlanText:
    """Return the text of a plan, with the bound on all counts at once."""
    written = plan_text.tables(planned)
    bound = _largest(planned, planned.chosen)
    if bound is None:
        return written
    return dataclasses.replace(written, remarks=[*written.remarks, *plan_text.at_once(planned.chosen.method, bound)])


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the bound on all counts at once."""
    bound = _largest(planned, candidate)
    largest = {} if bound is None else {"largest_error": dataclasses.asdict(bound)}
    return plan_text.plain(planned, candidate) | largest


def instead(planned: Plan) -> Offer | None:
    """Return the one table that answers what another kind is asked; in the place of records the tables of pairs."""
    if planned.spec.privacy.model == "local":
        return None
    return Offer(kind="histogram" if planned.choice.unit == UNIT else "marginals")


def _largest(planned: Plan, candidate: Candidate) -> LargestError | None:
    """Return the bound for a table that a curator holds; None for a collection."""
    if candidate.collection is not None:
        return None
    return largest_error(cast("MatrixMechanism", candidate.mechanism), cast("Marginals", planned.workload))


WORDS = PlanWords(text=text, plain=plain, instead=instead)
