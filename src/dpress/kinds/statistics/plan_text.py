"""What a plan of this kind says to people: the error of every statistic in a group of the expected size."""

import math
from typing import Any

from dpress.core.claim import describe
from dpress.kinds.statistics.assumed_shape import Assumed, supposed
from dpress.kinds.statistics.kind import Statistics
from dpress.kinds.statistics.prediction import standard_errors
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release import plan_text
from dpress.release.candidate import Candidate
from dpress.release.parameter_checks import of_kind
from dpress.release.plan import Plan
from dpress.release.plan_text import Listing, PlanText, number, promise

__all__ = ["plain", "promise", "text"]


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    chosen = planned.chosen
    errors = expected_errors(planned, chosen)
    rows = [[name, _typical(error)] for name, error in errors.items()]
    listing = Listing(header=("statistic", "typical error"), rows=rows, numbers=(1,))
    groups = _strategy(chosen).parts[0].groups
    where = f"a group of {planned.choice.users / groups:,.0f} rows ({planned.choice.users:,} in {groups:,} groups)"
    named = where if groups > 1 else f"{planned.choice.users:,} rows"
    basis = f"For {named}, {supposed(_assumed(planned))}; a count's error is exact, the others"
    loss = describe(chosen.mechanism.claim.proven)
    remarks: list[str | Listing] = [f"{basis} are approximations.", f"{chosen.method}: {loss} (proven)."]
    return PlanText(candidates=listing, remarks=remarks)


def _typical(error: float) -> str:
    """Return a standard error in words; 0 is that of a quantile whose interval is one cell."""
    if math.isinf(error):
        return "nothing can be said"
    return f"+- {number(error)}" if error else "within a cell"


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the standard error of every statistic."""
    errors = expected_errors(planned, candidate)
    known = {name: error if math.isfinite(error) else None for name, error in errors.items()}
    return plan_text.plain(planned, candidate) | {"standard_errors": known}


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size."""
    mechanism = candidate.mechanism
    if not isinstance(mechanism, MatrixMechanism):
        raise TypeError(f"{type(mechanism).__name__} measures no statistics")
    return standard_errors(mechanism, planned.choice.schema, planned.choice.users, _assumed(planned))


def _assumed(planned: Plan) -> Assumed:
    return of_kind(planned.spec, Statistics).assume or {}


def _strategy(candidate: Candidate) -> Any:
    mechanism: Any = candidate.mechanism
    return mechanism.strategy
