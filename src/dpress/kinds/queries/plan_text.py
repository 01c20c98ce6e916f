"""What a plan of this kind says to people: the atoms of the queries, and how wrong all answers can be at once."""

import dataclasses
from typing import Any, cast

from dpress.core.basics.claim import Relation
from dpress.core.basics.losses.any_loss import NORMS
from dpress.core.maps.workload import Predicates
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.largest_answer import largest_answer
from dpress.release.plan.largest_error import LargestError
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import PlanText, PlanWords


def text(planned: Plan) -> PlanText:
    """Return the text of a plan, with the queries' sensitivity and the bound on all answers at once."""
    written, candidate = plan_text.tables(planned), planned.chosen
    remarks = [_formed(planned), *written.remarks, *plan_text.at_once(candidate.method, _largest(planned, candidate))]
    return dataclasses.replace(written, remarks=remarks)


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the bound on all answers at once."""
    largest = dataclasses.asdict(_largest(planned, candidate))
    return plan_text.plain(planned, candidate) | {"largest_error": largest}


def _largest(planned: Plan, candidate: Candidate) -> LargestError:
    return largest_answer(*_measuring(planned, candidate))


def _measuring(planned: Plan, candidate: Candidate) -> tuple[MatrixMechanism, Predicates]:
    return cast("MatrixMechanism", candidate.mechanism), cast("Predicates", planned.workload)


def _formed(planned: Plan) -> str:
    """Return how many atoms there are, and how much one row can change all answers together."""
    mechanism, workload = _measuring(planned, planned.chosen)
    norm = NORMS[mechanism.loss.order]
    relation = mechanism.unit.relation
    sensitivity = max(workload.sums.sensitivity(1, change) for change in {relation, Relation.ADD_REMOVE})
    how = "added or removed" if relation is Relation.ADD_REMOVE else "replaced"
    queries = "1 query forms" if workload.queries == 1 else f"{workload.queries:,} queries form"
    return (
        f"{queries} {workload.cells:,} cells of rows; one row that is {how} changes at most {sensitivity:,} of the "
        f"answers ({norm} sensitivity {sensitivity:,})."
    )


WORDS = PlanWords(text=text, plain=plain)
