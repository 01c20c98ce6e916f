"""From the support that reports give to each value to unbiased counts with their variance.

A report supports a value with probability p where the user holds it, and q where not; the number of supports is then
p n_v + q (N - n_v) on average. `estimate` and `variance` are the methods of every oracle that works so.
"""

from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.linear import Array, Identity
from dpress.core.measurement import Measurement

Supports = npt.NDArray[np.int64]


class PureOracle(Protocol):
    """A pure oracle: two probabilities say all that its estimates need (Wang, Blocki, Li and Jha 2017)."""

    @property
    def p(self) -> Fraction:
        """P(a report supports v) for a user who holds v."""
        ...

    @property
    def q(self) -> Fraction:
        """P(a report supports v) for a user who holds another value."""
        ...


def estimate(oracle: PureOracle, tally: Supports, users: int) -> Measurement:
    """Return the unbiased count of every value with its variance, shape (k,); see `counts`."""
    return counts(tally, users, oracle.p, oracle.q)


def variance(oracle: PureOracle, users: int, frequency: float = 0.0) -> float:
    """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
    return float(variances(users, np.asarray(users * frequency), oracle.p, oracle.q))


def counts(supports: Supports, users: int, p: Fraction, q: Fraction) -> Measurement:
    """Return the unbiased counts (S_v - N q) / (p - q) and their variance.

    Error: (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2 in counts squared, the users' values being fixed; the
    estimate stands in for n_v, kept between 0 and N.
    Source: Wang, Blocki, Li and Jha 2017, pure protocols.

    Args:
        supports: S, how many reports support each value, shape (k,).
        users: N.
        p: probability of support by a user who holds the value.
        q: probability of support by a user who does not.
    """
    found = (supports - users * float(q)) / float(p - q)
    held = np.clip(found, 0, users)
    return Measurement(map=Identity(supports.size), answers=found, variance=variances(users, held, p, q))


def variances(users: int, held: Array, p: Fraction, q: Fraction) -> Array:
    """Return the exact variance of the counts of values that `held` users hold, in counts squared."""
    own, other = float(p * (1 - p) / (p - q) ** 2), float(q * (1 - q) / (p - q) ** 2)
    return np.asarray(held * own + (users - held) * other)
