"""What a plan of a joint distribution says to people."""

from dpress.release.plan import Plan
from dpress.release.plan_text import PlanText, plain, promise, tables

__all__ = ["plain", "promise", "text"]


def text(planned: Plan) -> PlanText:
    """Return the plan; its errors are predicted for shares drawn evenly."""
    return tables(planned, even="shares drawn evenly")
