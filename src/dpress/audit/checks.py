"""What one check of an audit says, from what was found of an instance, and between which neighbours it looks."""

import math
from typing import Any

from dpress.audit.exact import ExactLoss
from dpress.audit.verdict import Check, Kind
from dpress.core.basics.check import float_up
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.loss import Loss

ROWS = (1, 3)


def units() -> list[Unit]:
    """Return units of one row and of three, under every relation."""
    return [Unit(relation=one, column=None if n == 1 else "person", rows=n) for one in Relation for n in ROWS]


def exact_check(kind: Kind, name: str, relation: str, claimed: Loss, found: ExactLoss, *, remark: str = "") -> Check:
    """Return an exact check."""
    loss = math.inf if found.loss is None else float_up(found.loss)
    remarks = "; ".join(filter(None, (remark, found.remark)))
    return Check(
        kind=kind, instance=name, relation=relation, claimed=claimed, loss=loss, kept=found.kept, remark=remarks
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


def claimed_of(mechanism: Any) -> Any:
    """Return the proven claim of an instance; without one the published."""
    return mechanism.claim.proven or mechanism.claim.published


def relation_of(unit: Unit) -> str:
    """Return the neighbours of a unit in words."""
    return str(unit.relation) if unit.rows == 1 else f"{unit.relation}, {unit.rows} rows"
