"""What a delta would buy: the error of the same release where the promise may fail with a chance of a millionth.

plan under epsilon -> the same specification under epsilon and a delta -> its error, and whether it needs the delta.
"""

import contextlib
import math
from dataclasses import dataclass

import msgspec

from dpress.core.basics.errors import NotSupported
from dpress.release.plan.candidate import UNIT
from dpress.release.plan.plan import Plan, plan
from dpress.release.plan.plan_text import number

DELTA = 1e-6
NEARLY = 1.05  # how many times the typical error must be smaller for a delta to buy anything


@dataclass(frozen=True, slots=True, kw_only=True)
class WithDelta:
    """What the budget's epsilon with a delta beside it would give.

    Args:
        delta: the chance that the promise of epsilon fails.
        method: that would be chosen.
        predicted_error: its error, in the unit of the plan.
    """

    delta: float
    method: str
    predicted_error: float


def with_delta(planned: Plan) -> WithDelta | None:
    """Return what a delta would buy, also where that is nothing.

    None where the budget is no curator's epsilon alone, no delta is taken, or no error is predicted. Reads no data; it
    plans once more.
    """
    spec = planned.spec
    if planned.design.local or spec.privacy.loss.as_epsilon is None:
        return None
    privacy = msgspec.structs.replace(spec.privacy, delta=DELTA)
    with contextlib.suppress(NotSupported, ValueError):  # a kind, or a method that is named, that takes no delta
        other = plan(msgspec.structs.replace(spec, privacy=privacy)).chosen
        if max(other.predicted_error, planned.chosen.predicted_error) < math.inf and planned.chosen.predicted_error:
            return WithDelta(delta=DELTA, method=other.method, predicted_error=other.predicted_error)
    return None


def sentence(alternative: WithDelta, planned: Plan) -> str:
    """Return what a delta would buy in words: typical errors where they are counts, else how many times less."""
    epsilon = float(planned.spec.privacy.loss.amount)
    delta = f"{alternative.delta:g}".replace("e-0", "e-")
    budget = f"epsilon = {epsilon:g} and delta = {delta}"
    error, other = math.sqrt(planned.chosen.predicted_error), math.sqrt(alternative.predicted_error)
    if error < NEARLY * other:
        return f"With {budget}: no smaller error; a delta would buy nothing here."
    if planned.choice.unit == UNIT:
        gain = f"a typical error of +- {other:,.1f} instead of +- {error:,.1f}"
    else:
        gain = f"errors {number(round(error / other, 1))} times smaller"
    return f"With {budget}: {gain}, by {alternative.method}; the promise may then fail with a chance of {delta}."
