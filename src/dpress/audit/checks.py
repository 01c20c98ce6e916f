"""What one check of an audit says, from what was found of an instance, and between which neighbours it looks."""

import math
from typing import Any

from dpress.audit import sampled
from dpress.audit.exact import ExactDelta, ExactLoss
from dpress.audit.outcomes import Outcomes
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.check import float_up
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.loss import Loss


def exact_check(kind: Kind, name: str, relation: str, claimed: Loss, exact: ExactLoss, *, remark: str = "") -> Check:
    """Return an exact check."""
    loss = math.inf if exact.loss is None else float_up(exact.loss)
    remarks = "; ".join(filter(None, (remark, exact.remark)))
    return Check(
        kind=kind, instance=name, relation=relation, claimed=claimed, loss=loss, kept=exact.kept, remark=remarks
    )


def sampled_check(name: str, relation: str, claimed: Loss, low: float, *, samples: int, alpha: float) -> Check:
    """Return a sampled check."""
    return Check(
        kind="sampled events",
        instance=name,
        relation=relation,
        claimed=claimed,
        kept=low <= float_up(claimed.amount),
        lower_bound=low,
        samples=samples,
        confidence=1 - alpha,
    )


def outcomes_check(name: str, source: Outcomes, unit: Unit, claimed: Loss, samples: int) -> Check:
    """Return the sampled check of a mechanism with few outcomes."""
    alpha = sampled.ALPHA / len(Relation)
    bound = sampled.OUTCOMES[claimed.form]
    low = bound(source, samples, alpha=alpha)
    return sampled_check(name, relation_of(unit), claimed, low, samples=samples, alpha=alpha)


def delta_check(kind: Kind, name: str, made: Any, exact_delta: ExactDelta) -> Check:
    """Return an exact check whose loss is delta."""
    return Check(
        kind=kind,
        instance=name,
        relation=relation_of(made.unit),
        claimed=claimed_of(made),
        kept=exact_delta.kept,
        loss=float_up(exact_delta.delta),
        remark=exact_delta.remark,
    )


def claimed_of(mechanism: Any) -> Any:
    """Return the proven claim of an instance; without one the published."""
    return mechanism.claim.proven or mechanism.claim.published


def relation_of(unit: Unit) -> str:
    """Return the neighbours of a unit in words."""
    return str(unit.relation) if unit.rows == 1 else f"{unit.relation}, {unit.rows} rows"
