"""Unbiased tables from counts of bits: the channel inverted by one small matrix for every attribute.

how many reports have a bit, or are asked for none, on every attribute -> scores along every axis -> counts of cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.joint.bit_evidence import BitEvidence

STEPS = 10  # of the power method: each lowers the bound, and none is needed for it to hold


@dataclass(frozen=True, slots=True, kw_only=True)
class OneHotScores:
    """Of a one-hot string: S(v) = s_v - (sum_u s_u - 1) / n with s = (bit - p*) / (q* - p*).

    The bits' scores add up to 1 on average, whatever the value, so that taking out the noise of their sum leaves them
    unbiased. With h = q* (1 - q*) / (q* - p*)^2 and o = p* (1 - p*) / (q* - p*)^2 the variance of S(v) is
    (1 - 1/n)^2 h + (n - 1) o / n^2 for who holds v, and (1 - 1/n)^2 o + h / n^2 + (n - 2) o / n^2 for who does not.
    The covariance of two values neither of which is held is (h - (n + 1) o) / n^2, and with the one held it is always
    negative: where h <= (n + 1) o no covariance is positive. Elsewhere S = s, of independent bits, takes its place.
    Either way `inflation` is 1.

    Args:
        size: n.
        q_star: P(report 1 | true 1).
        p_star: P(report 1 | true 0).
    """

    size: int
    q_star: float
    p_star: float

    @property
    def noise(self) -> tuple[float, float]:
        """The variance of s where the true bit is 1, h, and where it is 0, o."""
        return _noise(self.q_star, self.p_star)

    @property
    def centred(self) -> bool:
        """Whether the scores add up to 1."""
        ones, zeros = self.noise
        return self.size == 1 or ones <= (self.size + 1) * zeros

    @property
    def variances(self) -> tuple[float, float]:
        """The variance of S(v) for who holds v, and for who does not."""
        (ones, zeros), n = self.noise, self.size
        if not self.centred:
            return ones, zeros
        kept = (1 - 1 / n) ** 2
        return kept * ones + (n - 1) * zeros / n**2, kept * zeros + (ones + (n - 2) * zeros) / n**2

    def counts(self, block: Array, axis: int) -> Array:
        """Return the scores' sums along an axis."""
        everybody, bits = np.split(block, [1], axis=axis)
        scores = (bits - self.p_star * everybody) / (self.q_star - self.p_star)
        if self.centred:
            scores -= (scores.sum(axis=axis, keepdims=True) - everybody) / self.size
        return np.asarray(scores)

    def squares(self, table: Array, axis: int) -> Array:
        """Return the sums of E S(v)^2 along an axis."""
        holder, rest = self.variances
        return np.asarray(rest * table.sum(axis=axis, keepdims=True) + (1 + holder - rest) * table)

    def covariance(self, shares: Array) -> Array:
        """Return the covariance of s."""
        ones, zeros = self.noise
        return np.asarray(np.diag(zeros + (ones - zeros + 1) * shares) - np.multiply.outer(shares, shares))

    @property
    def mean_square(self) -> float:
        """E[S(v)^2 | u], averaged."""
        holder, rest = self.variances
        return (1 + holder + (self.size - 1) * rest) / self.size

    inflation = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignScores:
    """Of a string of which value u sets the bits X[:, u]: S = A s + a, with A X + a 1^T = I and A of least norm.

    As above the scores add up to 1. Var(S(v) | u) = sum_b A[v, b]^2 (X[b, u] ? h : o). Filters that share bits make
    covariances K_u of either sign; for weights w >= 0 only the positive ones add, w^T K_u w <= w^T max(K_u, 0) w, and
    with D the diagonal of K_u that is at most the largest eigenvalue of D^-1/2 max(K_u, 0) D^-1/2 times w^T D w. For a
    matrix K >= 0 that eigenvalue is at most max_i (K z)_i / z_i, for every z > 0 (Collatz, Wielandt); `inflation` is
    the largest such bound over u, z from the power method. Over several attributes the factors multiply: with a_j the
    squared mean and D_j the sum of variances, prod(a_j + c_j D_j) - prod a_j <= prod c_j (prod(a_j + D_j) - prod a_j).

    Args:
        weights: a, then A, shape (n, m + 1).
        design: X, shape (m, n).
        moments: E[S(v)^2 | u], shape (n, n).
        noise: the variance of a bit that the value sets, and of one that it does not.
        inflation: see above.
    """

    weights: Array
    design: Array
    moments: Array
    noise: tuple[float, float]
    inflation: float

    @property
    def size(self) -> int:
        """The number of values, n."""
        return len(self.moments)

    def counts(self, block: Array, axis: int) -> Array:
        """Return the scores' sums along an axis."""
        return _along(self.weights, block, axis)

    def squares(self, table: Array, axis: int) -> Array:
        """Return the sums of E S(v)^2 along an axis."""
        return _along(self.moments, table, axis)

    def covariance(self, shares: Array) -> Array:
        """Return the covariance of S."""
        ones, zeros = self.noise
        matrix, values = self.weights[:, 1:], np.diag(shares) - np.multiply.outer(shares, shares)
        return np.asarray(_covariance(matrix, zeros + (ones - zeros) * self.design @ shares) + values)

    @property
    def mean_square(self) -> float:
        """E[S(v)^2 | u], averaged."""
        return float(self.moments.mean())


Scores = OneHotScores | DesignScores
"""An attribute's score S(v) of a report, linear in its bits, with E S(v) = [the user holds v].

`counts` takes the counts of reports along an axis, no condition first, then every bit; `squares` gives sum_u E[S(v)^2 |
u] times the table's entries for u; `covariance` is known up to a constant of rows and columns; `inflation` is a number
c >= 1: the variance of sum w(v) S(v) is at most c sum w(v)^2 Var S(v), for every w >= 0.
"""


def designed(evidence: BitEvidence) -> DesignScores:
    """Return the scores of strings with any design of one cohort.

    Raises:
        ValueError: the design's columns and a column of ones do not tell all values apart.
    """
    design = evidence.rows.astype(np.float64)
    size, gap = evidence.size, evidence.q_star - evidence.p_star
    if len(evidence.design) != 1 or np.linalg.matrix_rank(_without_mean(design)) < size - 1:
        raise ValueError("the bits of one cohort must tell all values apart")
    matrix = np.asarray(np.linalg.pinv(_without_mean(design)), dtype=np.float64)
    matrix -= matrix.mean(axis=0)  # rounding
    ones, zeros = _noise(evidence.q_star, evidence.p_star)
    spread = zeros + (ones - zeros) * design  # of every bit, for every value held
    offset = (1 - (matrix @ design).sum(axis=1)) / size - matrix.sum(axis=1) * evidence.p_star / gap
    noise = evidence.q_star * (1 - evidence.q_star), evidence.p_star * (1 - evidence.p_star)
    return DesignScores(
        weights=np.column_stack([offset, matrix / gap]),
        design=design,
        moments=np.eye(size) + matrix**2 @ spread,
        noise=noise,
        inflation=max(_bound(_covariance(matrix, variances_of_value)) for variances_of_value in spread.T),
    )


def unbiased(block: npt.NDArray[np.int64], scores: Sequence[Scores]) -> Array:
    """Return the unbiased count of every cell, sum over the reports of prod_j S_j(w_j).

    Args:
        block: how many reports have a bit of every attribute, no condition first, shape (m_1 + 1, ..., m_k + 1).
        scores: of the attributes.
    """
    out = block.astype(np.float64)
    for axis, axis_scores in enumerate(scores):
        out = axis_scores.counts(out, axis)
    return out


def variances(counts: Array, scores: Sequence[Scores], users: int) -> Array:
    """Return the variance of every cell's unbiased count, for the users' values as estimated.

    Coins of different users and of different attributes are independent, so that E[Z(w)^2 | x] = prod_j
    E[S_j(w_j)^2 | x_j] for Z(w) the product of a user's scores, and Var count(w) = sum_x n(x) prod_j E[S_j(w_j)^2 |
    x_j] - n(w). For n(x) stands the estimate, what is negative left out, scaled to all users.

    Args:
        counts: unbiased, shape (n_1, ..., n_k).
        scores: of the attributes.
        users: how many reported.
    """
    table = held(counts, users)
    out = table
    for axis, axis_scores in enumerate(scores):
        out = axis_scores.squares(out, axis)
    return np.asarray(np.maximum(out - table, 0))


def held(counts: Array, users: float) -> Array:
    """Return counts that could be true: what is negative left out, scaled to all users; equal where nothing is left."""
    positive = np.maximum(counts, 0)
    total = positive.sum()
    return np.asarray(positive * (users / total) if total > 0 else np.full(counts.shape, users / counts.size))


def _noise(q_star: float, p_star: float) -> tuple[float, float]:
    gap = (q_star - p_star) ** 2
    return q_star * (1 - q_star) / gap, p_star * (1 - p_star) / gap


def _without_mean(design: Array) -> Array:
    return np.asarray(design - design.mean(axis=1, keepdims=True))


def _covariance(matrix: Array, spread: Array) -> Array:
    return np.asarray((matrix * spread) @ matrix.T)


def _bound(covariance: Array) -> float:
    """Return a number that w^T K w / sum w^2 K_vv never exceeds for w >= 0; at least 1."""
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1)
    ratios = np.maximum(covariance / np.multiply.outer(scale, scale), 0)
    np.fill_diagonal(ratios, 1)
    vector = np.ones(len(ratios))
    for _ in range(STEPS):
        vector = ratios @ vector
        vector /= vector.max()
    return float((ratios @ vector / vector).max())


def _along(matrix: Array, table: Array, axis: int) -> Array:
    return np.asarray(np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis), dtype=np.float64)
