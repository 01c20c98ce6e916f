"""What a plan of this kind says to people: the error of every statistic in a group of the expected size."""

import math
from typing import Any

from dpress.kinds.statistics import product
from dpress.release.plan import plan_text
from dpress.release.plan.candidate import Candidate
from dpress.release.plan.plan import Plan
from dpress.release.plan.plan_text import Listing, PlanText, PlanWords
from dpress.reporting.rounding import error as rounded


def text(planned: Plan) -> PlanText:
    """Return the text of a plan."""
    words: PlanText = _part(planned).text(planned)
    return words


def plain(planned: Plan, candidate: Candidate) -> dict[str, Any]:
    """Return a candidate as plain data, with the standard error of every statistic."""
    errors = expected_errors(planned, candidate)
    finite = {name: error if math.isfinite(error) else None for name, error in errors.items()}
    return plan_text.plain(planned, candidate) | {"standard_errors": finite}


def expected_errors(planned: Plan, candidate: Candidate) -> dict[str, float]:
    """Return the standard error of every statistic in a group of the expected size."""
    errors: dict[str, float] = _part(planned).expected_errors(planned, candidate)
    return errors


def listed(errors: dict[str, float], exact: tuple[str, ...] = ()) -> Listing:
    """Return a table of standard errors in words; 0 is that of a quantile whose interval is one cell.

    Args:
        errors: by statistic.
        exact: statistics that are known where their error is 0.
    """
    words = {name: "known" if name in exact and not error else typical(error) for name, error in errors.items()}
    return Listing(header=("statistic", "typical error"), rows=[[*pair] for pair in words.items()], numbers=(1,))


def typical(error: float) -> str:
    """Return a standard error in words; see `listed`."""
    if math.isinf(error):
        return "nothing can be said"
    return f"+- {rounded(error)}" if error else "within a cell"


def _part(planned: Plan) -> Any:
    return product.part("plan_text", product.of_spec(planned.spec))


WORDS = PlanWords(text=text, plain=plain)
