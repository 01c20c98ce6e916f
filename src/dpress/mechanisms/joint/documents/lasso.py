"""`lasso`: the joint table from the counts of single bits, by non-negative LASSO on the candidates' codes.

tallies of every attribute's bits -> unbiased shares, stacked -> LASSO on a sparse 0/1 design -> shares of the cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics.extras import load, scipy
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card
from dpress.inference.joint.bit_evidence import BitEvidence
from dpress.inference.joint.likelihood import Fold, Split
from dpress.mechanisms.joint.bit_joint import example
from dpress.mechanisms.joint.documents.bit_reports import PenalisedReports

ROUNDS = 100_000
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasso:
    """beta >= 0 of least ||y - M beta||^2 / (2 m) + penalty sum(beta); a column of M is a cell's codes, side by side.

    Published weaknesses, kept on purpose: the counts of single bits are one-way, so that every joint table with the
    same one-way tables fits equally well and which one comes out is the solver's choice; correlation cannot be known.
    The penalty takes something off the sum: shares add up to less than 1, or to more where the noise adds up.
    The penalty is the standard deviation that the noise alone gives the correlation with a column, sigma sqrt(bits of
    a cell) / m, from the public f, p, q and the number of reports. The document names no weight: this multiple was
    taken because it gives the document's errors; a larger `scale` was nearer to the truth on the same tables.
    Promise: post-processing of reports; no privacy is spent.
    Paper: Chu, Long, Liu, RR-LDP, the LASSO estimator; after Erlingsson, Pihur, Korolova 2014, Section 4.

    Args:
        scale: multiplies the penalty; `penalty` in a specification.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ValueError(f"scale must be > 0, got scale={self.scale}")

    @classmethod
    def penalised(cls, penalty: float) -> "Lasso":
        """Return the estimator with a stated penalty."""
        return cls(scale=penalty)

    def joint(self, fold: Fold, split: Split, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> Array:
        """Return the estimated shares of all cells, flat."""
        del fold, split  # only the tallies are used
        return self.estimate(evidence, tallies)

    def estimate(self, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> Array:
        """Return P0 = beta / N, the shares of the cells, flat and row-major.

        Memory: 12 bytes for every bit that a cell sets.

        Args:
            evidence: of every attribute.
            tallies: of every attribute, see `BitEvidence.tally`; they add up over batches.

        Raises:
            NotSupported: scikit-learn is not installed.
        """
        pairs = zip(evidence, tallies, strict=True)
        shares = np.concatenate([attribute.bit_shares(tally) for attribute, tally in pairs])
        matrix = design(evidence)
        solver = _linear_model().Lasso(
            alpha=self.penalty(evidence, tallies), positive=True, fit_intercept=False, max_iter=ROUNDS, tol=1e-6
        )
        return np.asarray(solver.fit(matrix, shares).coef_, dtype=np.float64)

    def penalty(self, evidence: Sequence[BitEvidence], tallies: Sequence[Counts]) -> float:
        """Return the weight of sum(beta), beta in shares."""
        rows = sum(len(attribute.rows) for attribute in evidence)
        noise = 0.0
        for attribute, tally in zip(evidence, tallies, strict=True):
            variance = attribute.p_star * (1 - attribute.p_star) / (attribute.q_star - attribute.p_star) ** 2
            reports = np.maximum(tally[:, -1], 1)
            noise += variance * float((attribute.design.sum(axis=1).mean(axis=1) / reports).sum())
        return self.scale * math.sqrt(noise) / rows


def design(evidence: Sequence[BitEvidence]) -> Any:
    """Return the 0/1 design M as a CSC matrix: a column for every cell, row-major, a row for every bit."""
    sparse = scipy("sparse")
    cells = math.prod(attribute.size for attribute in evidence)
    inner, parts = cells, []
    for attribute in evidence:
        inner //= attribute.size
        columns = np.arange(cells) // inner % attribute.size
        parts.append(sparse.csc_matrix(attribute.rows.astype(np.float64))[:, columns])
    return sparse.vstack(parts, format="csc")


def _linear_model() -> Any:
    return load("sklearn.linear_model", extra="lasso", need="lasso needs scikit-learn")


CARD = Card(
    name="lasso",
    family="joint",
    model="local",
    paper="joint: the LASSO estimator (Chu, Long, Liu)",
    summary="The document's LASSO on the counts of single bits; it cannot see correlation.",
    method=Lasso,
    example=lambda loss, unit: example(loss, Lasso()),  # noqa: ARG005  # a local claim has its own unit
    parameters=PenalisedReports,
)
