"""Audit of joint distributions from bits: what makes the reports."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpress.audit import reports
from dpress.core.basics.rng import Generator
from dpress.core.reports.oracle import Oracle, Payloads, Values
from dpress.mechanisms.joint.bit_joint import BitJoint
from dpress.mechanisms.joint.rr_ldp import RrLdp


def sent(made: BitJoint) -> list[tuple[str, Oracle]]:
    """Return by name what makes the reports; one oracle of all attributes as one over the cells of their table."""
    if isinstance(made.oracle, RrLdp):
        return [("example", cast("Oracle", AsCells(made.oracle)))]
    return reports.sent(made)


@dataclass(frozen=True, slots=True)
class AsCells:
    """`rr_ldp` over several attributes as an oracle over the cells of their table, row-major.

    Args:
        oracle: makes the reports.
    """

    oracle: RrLdp

    def __getattr__(self, name: str) -> Any:
        """Everything but the values' shape is the oracle's own."""
        return getattr(self.oracle, name)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every cell."""
        codes = np.array(np.unravel_index(values, self.oracle.sizes), dtype=np.int32)
        return self.oracle.perturb(codes, rng=rng)
