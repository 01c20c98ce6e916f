"""The distribution of levels from reports near them, with its error by a parametric bootstrap.

reports -> EM with and without evening out -> reports as they would be, fitted again -> how far these fits lie from the
first one.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.basics import rng as generators
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.numbers.sliding_window import EVENED, SlidingWindow, fitted
from dpress.inference.poisson import poisson

Mask = npt.NDArray[np.bool_]

RUNS = 40  # refits: a relative error of the standard error of 1 / sqrt(80), 11 %
SEED = 20261123  # of simulated reports: nothing private is drawn with it, and answers repeat themselves


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """A fitted distribution and its refits.

    Args:
        shares: of all groups' levels, adding up to 1, shape (groups, levels).
        again: of the refits, shape (runs, groups, levels).
        evened: whether neighbours were evened out.
    """

    shares: Array
    again: Array
    evened: bool

    def of(self, mask: Mask) -> tuple[Array, Array]:
        """Return the shares of a set of groups below every level's lower end and their errors, shape (levels + 1,).

        The last is 1 with error 0. An error is the root mean squared deviation of the refits, taken by
        sqrt(n / (n - 2)), a Student t's spread, as n refits do not tell it exactly; what evening out and the bounds of
        shares do to every fit is in it.
        """
        shares, again = _prefixes(self.shares[mask]), _prefixes(self.again[:, mask])
        runs = len(self.again)
        return shares, np.sqrt(((again - shares) ** 2).mean(axis=0) * runs / (runs - 2))

    def share(self, mask: Mask, levels: Mask) -> tuple[float, float]:
        """Return the share of some levels among a set of groups, and its error; see `of`."""
        shares, again = (_prefixes(table) for table in (self.shares[mask], self.again[:, mask]))
        share, refits = np.diff(shares) @ levels, np.diff(again) @ levels
        runs = len(self.again)
        return float(share), math.sqrt(float(((refits - share) ** 2).mean()) * runs / (runs - 2))


def distribution(window: SlidingWindow, reports: npt.NDArray[np.int64]) -> Distribution:
    """Return the distribution that is fitted to reports.

    Neighbours are evened out unless the reports contradict that: the likelihood that it costs is then more than in all
    refits of what it gives, which happens by chance once in RUNS + 1 times.
    Memory: RUNS times that of a fit.

    Args:
        window: that the reports were made by.
        reports: how often every output was reported, shape (groups, row).
    """
    users, rng = int(reports.sum()), generators.seeded(SEED)
    even, plain = (fitted(window, reports[None], evened=evened) for evened in (EVENED, 0.0))
    simulated = _simulated(window, even.shares[0], users, rng)
    again, free = (fitted(window, simulated, evened=evened) for evened in (EVENED, 0.0))
    lost, usual = plain.log_likelihood - even.log_likelihood, free.log_likelihood - again.log_likelihood
    if float(lost[0]) <= float(usual.max()):
        return Distribution(shares=even.shares[0], again=again.shares, evened=True)
    simulated = _simulated(window, plain.shares[0], users, rng)
    return Distribution(shares=plain.shares[0], again=fitted(window, simulated, evened=0.0).shares, evened=False)


def _simulated(window: SlidingWindow, shares: Array, users: int, rng: Generator) -> Array:
    """Return reports as they would be, were these the true shares, shape (RUNS, groups, row)."""
    expected = window.seen(shares) * users
    drawn = poisson(np.tile(expected.ravel(), RUNS), rng=rng).reshape(RUNS, *expected.shape)
    drawn[:, 0, 0] += drawn.sum(axis=(1, 2)) == 0  # so few users that nobody reported
    return np.asarray(drawn)


def _prefixes(shares: Array) -> Array:
    """Return the cumulative shares of the levels of some groups together, shape (..., levels + 1)."""
    levels = shares.sum(axis=-2)
    total = np.maximum(levels.sum(axis=-1, keepdims=True), math.ulp(0.0))
    sums = (levels / total).cumsum(axis=-1)
    sums[..., -1] = 1.0
    return np.concatenate([np.zeros((*sums.shape[:-1], 1)), sums], axis=-1)
