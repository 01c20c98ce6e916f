"""What a plan of this kind says to people."""

from dpress.release.candidate import UNIT
from dpress.release.other_kinds import Offer
from dpress.release.plan import Plan
from dpress.release.plan_text import plain, promise
from dpress.release.plan_text import tables as text

__all__ = ["instead", "plain", "promise", "text"]


def instead(planned: Plan) -> Offer | None:
    """Return the ranges that also answer for cells."""
    counts = planned.spec.privacy.model == "central" and planned.choice.unit == UNIT
    return Offer(kind="ranges") if counts else None
