"""What an audit says: one check after the other, each with what it looked at and what it found."""

from dataclasses import dataclass
from typing import Literal

from dpress.core.basics.losses.loss import Loss

Kind = Literal[
    "exact channel",
    "channel by seed",
    "exact matrix",
    "rounded matrix",
    "exact choice",
    "exact groups",
    "exact outputs",
    "exact scores",
    "exact sum",
    "sampled events",
]

_KEPT = {"channel by seed": "kept exactly for the seeds drawn", "rounded matrix": "kept, rounding bounded"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of one instance of a method.

    Args:
        kind: how it was checked.
        instance: which tiny instance, e.g. "k = 3".
        relation: between which neighbours.
        claimed: the loss that the instance claims.
        kept: False only where the claim is broken: exactly, or beyond the confidence.
        loss: of an exact check, the largest loss found, rounded up (rho under zCDP); infinity is possible. Of exact
            outputs the largest delta, at the epsilon that is claimed.
        lower_bound: of a sampled check, what the loss exceeds with this confidence.
        samples: of a sampled check, outputs drawn from each neighbour.
        confidence: of a sampled check.
        remark: what the check rests on or leaves out.
    """

    kind: Kind
    instance: str
    relation: str
    claimed: Loss
    kept: bool
    loss: float | None = None
    lower_bound: float | None = None
    samples: int | None = None
    confidence: float | None = None
    remark: str = ""

    @property
    def verdict(self) -> str:
        """The verdict as text: only what was computed exactly counts as kept."""
        if not self.kept:
            return "VIOLATED"
        if self.samples is not None:
            return f"not contradicted by {self.samples:,} samples"
        return _KEPT.get(self.kind, "kept exactly")


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All checks of one method under one loss.

    Args:
        method: its name in the catalogue.
        model: "central" or "local".
        checks: at least one.
    """

    method: str
    model: str
    checks: tuple[Check, ...]

    @property
    def kept(self) -> bool:
        """Whether no check found the claim broken."""
        return all(check.kept for check in self.checks)
