"""`em`: the document's expectation maximisation over all cells of the joint table, as published.

reports' likelihoods -> uniform start -> posterior means -> until no share changes by delta.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Tally
from dpress.inference.joint.bit_evidence import BitEvidence
from dpress.inference.joint.likelihood import Fold, Split
from dpress.inference.joint.mixture import Fit, checked, step, users
from dpress.mechanisms.joint.bit_joint import example
from dpress.mechanisms.joint.documents.bit_reports import BitReports

DELTA = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Em:
    """EM from a uniform start (or from another one), stopped when max |P_t - P_(t-1)| < delta.

    That is the rule as meant. Line 37 of the document's Algorithm 2 prints |max P_t - max P_(t-1)| < delta, the change
    of the largest share, whichever cell has it; that is never more, so that the rule as printed never stops later.
    Published weaknesses, kept on purpose: the stopping rule looks at shares, and with many cells no share is as large
    as delta, so that it fires at once and the estimate stays near its start (about uniform for thousands of cells);
    and plain EM converges slowly. `joint.early_stop` climbs the same likelihood and is stopped by the noise.
    Promise: post-processing of reports; no privacy is spent.
    Paper: Chu, Long, Liu, RR-LDP, the EM estimator; after Fanti et al. 2016 and Ren et al. 2018 (LoPub).

    Args:
        delta: the change of every share below which it stops.
        steps: the most EM steps.
    """

    delta: float = DELTA
    steps: int = 1000

    def __post_init__(self) -> None:
        if not self.delta > 0 or self.steps < 1:
            raise ValueError(f"em needs delta > 0 and steps >= 1, got delta={self.delta}, steps={self.steps}")

    def joint(self, fold: Fold, split: Split, evidence: Sequence[BitEvidence], tallies: Sequence[Tally]) -> Array:
        """Return the estimated shares of all cells, flat."""
        del evidence, tallies  # only the reports' likelihoods are used
        return self.estimate(fold, split).table

    def estimate(self, fold: Fold, split: Split, start: Array | None = None) -> Fit:
        """Return the estimated joint table; its `gap` says how far from the maximum the rule stopped.

        Memory: that of the fold, and a few tables of 8 bytes a cell; one pass a step, and one for the gap.

        Args:
            fold: over the reports' halves.
            split: of the attributes.
            start: shares of the cells, left out uniform; a cell that starts at 0 is no candidate and stays 0.
        """
        table, reports = checked(np.ones(split.cells) if start is None else start, split.cells), users(fold)
        for done in range(1, self.steps + 1):  # noqa: B007  # counted for the answer
            before, table = table, step(fold, split, table, reports).table
            change = float(np.abs(table - before).max())
            if change < self.delta:
                break
        last = step(fold, split, table, reports)
        rule = "fired" if change < self.delta else "had not fired"
        return Fit(
            table=table,
            gap=last.gap,
            passes=done + 1,
            log_likelihood=last.log_likelihood,
            reason=f"the published rule (no share changes by {self.delta:g}) {rule} after {done} steps",
        )


CARD = Card(
    name="em",
    family="joint",
    model="local",
    paper="joint: the EM estimator (Chu, Long, Liu)",
    summary="The document's EM over all cells, from a uniform start; its rule stops it at once where cells are many.",
    method=Em,
    example=lambda loss, unit: example(loss, Em()),  # noqa: ARG005  # a local claim has its own unit
    parameters=BitReports,
)
