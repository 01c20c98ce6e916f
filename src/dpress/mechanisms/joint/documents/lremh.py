"""`lremh`: LASSO chooses the candidates, EM estimates their shares, as published.

tallies -> `lasso` -> the cells that are not 0 -> `em` from there, on the reports' likelihoods.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card
from dpress.inference.joint.bit_evidence import BitEvidence
from dpress.inference.joint.likelihood import Fold, Split
from dpress.inference.joint.mixture import Fit
from dpress.mechanisms.joint.bit_joint import example
from dpress.mechanisms.joint.documents.bit_reports import PenalisedReports
from dpress.mechanisms.joint.documents.em import Em
from dpress.mechanisms.joint.documents.lasso import Counts, Lasso


@dataclass(frozen=True, slots=True, kw_only=True)
class Lremh:
    """`em` on the cells that `lasso` leaves, started at its shares.

    Published weaknesses, kept on purpose: a cell that LASSO sets to 0 stays 0, however much the reports speak for it,
    and LASSO sets cells to 0 without knowing any correlation; the stopping rule of `em` then fires at once, so that the
    estimate is LASSO's but for a step or two.
    Promise: post-processing of reports; no privacy is spent.
    Paper: Chu, Long, Liu, RR-LDP, the LREMH estimator.

    Args:
        lasso: chooses the candidates and the start.
        em: estimates their shares.
    """

    lasso: Lasso = field(default_factory=Lasso)
    em: Em = field(default_factory=Em)

    @classmethod
    def penalised(cls, penalty: float) -> "Lremh":
        """Return the estimator whose LASSO has a stated penalty."""
        return cls(lasso=Lasso(scale=penalty))

    def joint(self, fold: Fold, split: Split, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> Array:
        """Return the estimated shares of all cells, flat."""
        return self.estimate(fold, split, evidence, tallies).table

    def estimate(self, fold: Fold, split: Split, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> Fit:
        """Return the estimated joint table, 0 in the cells that LASSO dropped.

        Args:
            fold: over the reports' halves.
            split: of the attributes.
            evidence: of every attribute.
            tallies: of every attribute's bits, see `BitEvidence.tally`.

        Raises:
            ValueError: LASSO dropped every cell: the reports are too few for their noise.
        """
        start = self.start(evidence, tallies)
        if not start.any():
            raise ValueError("lasso dropped every candidate: the reports are too few for their noise")
        return self.em.estimate(fold, split, start)

    def start(self, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> Array:
        """Return LASSO's shares; cells at 0 are dropped."""
        return self.lasso.estimate(evidence, tallies)


CARD = Card(
    name="lremh",
    family="joint",
    model="local",
    paper="joint: the LREMH estimator (Chu, Long, Liu)",
    summary="The document's EM on the cells that its LASSO leaves.",
    method=Lremh,
    example=lambda loss, unit: example(loss, Lremh()),  # noqa: ARG005  # a local claim has its own unit
    parameters=PenalisedReports,
)
