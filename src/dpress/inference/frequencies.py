"""From the support that reports give to each value to unbiased counts with their variance.

A report supports a value with probability p where the user holds it, and q where not; the number of supports is then
p n_v + q (N - n_v) on average. `PureOracle` is a base of every oracle that works so.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Oracle

Supports = npt.NDArray[np.int64]
SPARE = 4  # z^2 of 95 %: the score interval of a count of zero is z^2 slopes of the variance long


class PureOracle(Oracle, Protocol):
    """A pure oracle: two probabilities say all that its estimates need (Wang, Blocki, Li and Jha 2017).

    `p` is P(a report supports v) for a user who holds v, `q` for a user who holds another value.
    """

    __slots__ = ()
    if TYPE_CHECKING:  # fields of many, whose defaults properties would be

        @property
        def p(self) -> Fraction: ...  # noqa: D102  # above
        @property
        def q(self) -> Fraction: ...  # noqa: D102

    def estimate(self, tally: Supports, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,); see `counts`."""
        return counts(tally, users, self.p, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        return float(variances(users, np.asarray(users * frequency), self.p, self.q))


def counts(supports: Supports, users: int, p: Fraction, q: Fraction) -> Measurement:
    """Return the unbiased counts (S_v - N q) / (p - q) and their variance.

    Error: (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2 in counts squared, the users' values being fixed. The
    estimate stands in for n_v, kept between 0 and N, and 4 b^2 is added, b what one more user who holds the value adds
    to the variance: where few reports support a value, the estimate alone makes it too small. Beside the noise of many
    users 4 b^2 is next to nothing.
    Source: Wang, Blocki, Li and Jha 2017, pure protocols; Wilson 1927 for what is added.

    Args:
        supports: S, how many reports support each value, shape (k,).
        users: N.
        p: probability of support by a user who holds the value.
        q: probability of support by a user who does not.
    """
    estimates = (supports - users * float(q)) / float(p - q)
    spread = variances(users, np.clip(estimates, 0, users), p, q)
    added = SPARE * float((1 - p - q) / (p - q)) ** 2 if users else 0.0
    return Measurement(map=Identity(supports.size), answers=estimates, variance=spread + added)


def variances(users: int, held: Array, p: Fraction, q: Fraction) -> Array:
    """Return the exact variance of the counts of values that `held` users hold, in counts squared."""
    held_variance, other_variance = float(p * (1 - p) / (p - q) ** 2), float(q * (1 - q) / (p - q) ** 2)
    return np.asarray(held * held_variance + (users - held) * other_variance)


def pair_form(held: Array, users: int, odds: tuple[Fraction, Fraction], supported: int) -> tuple[Array, Array, Array]:
    """Return what gives the covariances of counts by reports that each support the same number of values.

    A report supports s values, all sets of them alike but for whether they hold the user's own. With p and q the odds
    of the own and of another value, c = p (s - 1) / (k - 1) - p q is the covariance of the own value's support and
    another's, and d = (p (s - 1) (s - 2) + (1 - p) s (s - 1)) / ((k - 1) (k - 2)) - q^2 that of two others; over
    (p - q)^2. Exact.

    Args:
        held: h, how many users hold each value, shape (k,).
        users: n, how many reported.
        odds: p and q.
        supported: s; 1 for randomised response.

    Returns:
        squares, shape (k,), rows, shape (2, k), and what is between them, shape (2, 2); the sum of w_i w_j Cov over
        pairs i != j is d n ((sum w)^2 - sum w^2) + 2 (c - d) (sum w sum h w - sum h w^2).
    """
    (p, q), s, k = odds, supported, held.size
    if k < 2:
        return np.zeros(k), np.ones((2, k)), np.zeros((2, 2))
    shared = p * (s - 1) / (k - 1) - p * q
    others = (p * (s - 1) * (s - 2) + (1 - p) * s * (s - 1)) / ((k - 1) * (k - 2)) - q**2 if k > 2 else Fraction(0)
    alike, apart = float(others / (p - q) ** 2) * users, float((shared - others) / (p - q) ** 2)
    return -alike - 2 * apart * held, np.stack([np.ones(k), held]), np.array([[alike, apart], [apart, 0.0]])
