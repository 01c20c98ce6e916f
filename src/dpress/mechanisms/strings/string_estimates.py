"""How many hold each string, from all rounds that asked about it after it was found.

counts of strings by round -> inverse-variance mean of the shares -> counts, variances, what noise alone reaches.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpress.core.linear import Array
from dpress.core.oracle import Oracle
from dpress.mechanisms.oracle.subset_selection import SubsetSelection
from dpress.mechanisms.protocol.report_type import likely_shares, per_user

FALSE_ALARM = 0.05  # the chance that any string is released which nobody holds


@dataclass(frozen=True, slots=True, kw_only=True)
class StringCounts:
    """What one round says of whole strings; public.

    Args:
        strings: that it asked about.
        counts: how many of those who answered are estimated to hold each.
        users: how many answered.
        by: the oracle that they answered by.
    """

    strings: tuple[str, ...]
    counts: tuple[int, ...]
    users: int
    by: Oracle

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.strings) or self.users < 0:
            raise ValueError(f"expected a count for each of {len(self.strings)} strings, and users >= 0")


@dataclass(frozen=True, slots=True, eq=False)
class FoundStrings:
    """Counts of strings among all users.

    Args:
        strings: in the order of their bytes, shape (m,).
        counts: estimated, shape (m,).
        variances: of the counts, in counts squared, shape (m,).
        alone: the standard deviations of the counts of strings that nobody holds, shape (m,).
        shared: the part of the variances that is from oracles whose counts may correlate positively, shape (m,).
    """

    strings: tuple[str, ...]
    counts: Array
    variances: Array
    alone: Array
    shared: Array

    def sum_variance(self, weights: Array) -> float:
        """Return at most the variance of a weighted sum of counts, for weights of one sign, in counts squared.

        Formula: sum w^2 (v - s) + (sum |w| sqrt(s))^2, v the variances and s the part that is shared: a correlation is
        at most 1. Of `pgr` counts of neighbouring candidates do correlate, since their hyperplanes meet in one.
        """
        return float(weights**2 @ (self.variances - self.shared)) + float(abs(weights) @ np.sqrt(self.shared)) ** 2

    @property
    def threshold(self) -> float:
        """How many of its standard deviations a count must have: `alarm` over all strings that are tested."""
        return alarm(len(self.strings))

    @property
    def released(self) -> npt.NDArray[np.bool_]:
        """Which strings are released, shape (m,)."""
        return self.counts > self.threshold * self.alone


def alarm(tested: int) -> float:
    """Return the standard deviations that noise exceeds with the chance 5 % anywhere among so many tests (Bonferroni).

    >>> round(alarm(100), 2)
    3.29
    """
    return NormalDist().inv_cdf(1 - FALSE_ALARM / max(tested, 1))


def pooled(rounds: Sequence[StringCounts], users: int) -> FoundStrings:
    """Return the counts of the strings that the last of some rounds asked about.

    Formula: with c_r of n_r users in round r, v_r(f) the oracle's variance for one user where a share f holds the
    string, and w_r in proportion to n_r / v_r(0), the count is N sum w_r c_r / n_r, N all users. Its variance is
    N^2 (sum w_r^2 v_r(f) / n_r + f (1 - f) N / (N - 1) (sum w_r^2 / n_r - 1 / N)): the oracles' noise, and that of
    drawing who answers which round, without replacement.

    Args:
        rounds: those that were answered; each asks about all strings that an earlier one did.
        users: of all rounds, also those that asked about no string.
    """
    strings = rounds[-1].strings
    share, weight, drawn = (np.zeros(len(strings)) for _ in range(3))
    noise, held = np.zeros((2, 2, len(strings)))  # of counts that do not correlate positively; of others
    place = {one: number for number, one in enumerate(strings)}
    for one in rounds:
        if not one.users:
            continue
        rows = [place[own] for own in one.strings]
        zero, full = per_user(one.by, 0.0), per_user(one.by, 1.0)
        own = 1 / zero
        weight[rows] += one.users * own
        share[rows] += own * np.array(one.counts, dtype=np.float64)
        kind = int(not isinstance(one.by, SubsetSelection))
        noise[kind, rows] += one.users * own**2 * zero
        held[kind, rows] += one.users * own**2 * (full - zero)
        drawn[rows] += one.users * own**2
    weight = np.where(weight > 0, weight, math.inf)
    share = share / weight
    likely = likely_shares(share * users, users)
    spread = np.maximum(0, drawn / weight**2 - 1 / users) * users / max(users - 1, 1) * likely * (1 - likely)
    alone = np.where(np.isinf(weight), math.inf, users * np.sqrt(noise.sum(axis=0)) / weight)
    own, shared = users**2 * (noise + likely * held) / weight**2
    variances = np.where(np.isinf(alone), math.inf, own + shared + users**2 * spread)
    return FoundStrings(strings, share * users, variances, alone, shared)
