"""The smallest budget under which a plan's typical error is as small as wished: a search over plans.

specification, error -> plans under other budgets -> the plan whose budget is smallest; no row is read.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import msgspec

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import describe
from dpress.data.specification.spec import Asked, Spec, spec_of
from dpress.release.plan.candidate import of_root
from dpress.release.plan.plan import Plan, plan

NEAR = 1.01  # how far above the smallest budget the found one may be
DIGITS = 3  # of the budget, rounded up
LEAST, MOST = 1e-6, 1e3  # budgets that are tried


def plan_for_error(spec: Asked, error: float) -> Plan:
    """Return the plan under the smallest budget at which the best method's typical error is at most a wished one.

    The typical error is the root of the predicted error, in the unit of the plan. The specification's own epsilon or
    rho is replaced (a delta stays); it is at most 1 % above the smallest, to three digits. About fifteen plans.

    Args:
        spec: what is asked for: a specification, its file, its text or plain objects.
        error: the wished typical error, above 0.

    Raises:
        NotSupported: no budget up to 1,000 reaches the error, or no method predicts one.
        ValueError: the error is no such number; see `plan`.

    >>> import dpress
    >>> age = {"name": "age", "kind": "integer", "bounds": [0, 99], "bins": 10}
    >>> plain = {"attribute": [age], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    >>> dpress.plan_for_error(plain, 10).spec.privacy.epsilon
    0.142
    """
    if isinstance(error, bool) or not isinstance(error, (int, float)) or not 0 < error < math.inf:
        raise ValueError(f"error: expected a number above 0, got {error!r}")
    specification = spec_of(spec)
    name = specification.privacy.loss.names[0]

    def typical(budget: float) -> float:
        chosen = plan(_under(specification, name, budget)).chosen
        if not math.isfinite(chosen.predicted_error):
            raise NotSupported(
                f"{chosen.method} has no typical error of all its answers together by which a budget could be chosen; "
                "try one, and look at the error of each in its plan"
            )
        return math.sqrt(chosen.predicted_error)

    def reaches(budget: float) -> bool:
        return typical(budget) <= error

    budget = least_budget(reaches, float(getattr(specification.privacy, name)))
    if budget is None:
        reached = f"at {MOST:g} it is {typical(MOST):,.4g}"
        unit = of_root(plan(specification).choice.unit)
        raise NotSupported(f"no {name} up to {MOST:g} has a typical error of {error:g} {unit}; {reached}")
    return plan(_under(specification, name, budget))


def least_budget(reaches: Callable[[float], bool], start: float) -> float | None:
    """Return the smallest budget that reaches an error, to 1 % and rounded up to three digits; None where none does.

    Args:
        reaches: whether a budget does; larger ones do, too.
        start: a budget to begin with.
    """
    low, high = _around(reaches, start)
    if high is None:
        return None
    while high / low > NEAR:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return rounded_up(high)


def _around(reaches: Callable[[float], bool], start: float) -> tuple[float, float | None]:
    """Return a budget that does not reach and one that does, at most twice it; None where none does."""
    budget = start
    if reaches(budget):
        while budget > LEAST and reaches(budget / 2):
            budget /= 2
        return budget / 2, budget
    while budget < MOST:
        if reaches(min(2 * budget, MOST)):
            return budget, min(2 * budget, MOST)
        budget = min(2 * budget, MOST)
    return budget, None


def rounded_up(budget: float) -> float:
    """Return a budget in three digits, not below it.

    >>> rounded_up(0.14151), rounded_up(12.0)
    (0.142, 12.0)
    """
    step = Fraction(10) ** (math.floor(math.log10(budget)) - DIGITS + 1)
    return float(math.ceil(Fraction(repr(budget)) / step) * step)


def _under(spec: Spec, name: str, budget: float) -> Spec:
    privacy = msgspec.structs.replace(spec.privacy, **{name: budget})
    return msgspec.structs.replace(spec, privacy=privacy)


def sentence(planned: Plan, error: float) -> str:
    """Return which budget was found, for a terminal."""
    return (
        f"{describe(planned.spec.privacy.loss)} is, to 1 %, the smallest budget with a typical error of at most "
        f"{error:g} {of_root(planned.choice.unit)}: write it into [privacy], or publish the design that --out writes."
    )
