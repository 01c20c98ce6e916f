"""What shuffling adds: the central (epsilon, delta) of n reports that reach the analyst without order, time or sender.

Every user but one is, with probability gamma, a clone: the report is drawn from one public distribution B, whatever the
value. Let the analyst know whose reports are no clones. What is left are M = C + 1 reports, C ~ Binomial(n - 1, gamma):
clones, and the report of one user who holds x or x'. The likelihood of a report y under x against B is e^local where y
speaks for x, else 1, both divided by the same number: so the sums over the M reports of

    Z(y) = lambda (r(y, x) - e^epsilon r(y, x')),  r = e^local or 1,  lambda = 1 / E[r]

say all, and delta(epsilon) = E[max(0, sum of Z) / M] over M clones. It falls with M (sums / M are a martingale run
backwards). Classes of reports: b of B speak for x only, as many for x' only, `both` for both.

- Any randomiser: gamma = e^-local, B half for x and half for x' (Feldman, McMillan, Talwar 2021, "Hiding Among the
  Clones", Theorem 3.1: the comparison of A + D, C - A + 1 - D with its reverse; not the general theorem of 2022).
- Where a report speaks for values with two likelihoods only, B is the smallest likelihood (the blanket of Balle, Bell,
  Gascon, Nissim 2019), which hides more.

Every step is rounded toward a larger delta: C and the reports for both are replaced by lower ends of bins, what lies
outside the ranges that are summed counts in full, and binomial probabilities, which SciPy gives to some 1e-12 up to
n = 10^8, are moved by a relative 2^-30 to the unfavourable side; beyond 10^8 users count as 10^8.
"""

import functools
import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.extras import scipy
from dpress.core.reports.oracle import Clones

Floats = npt.NDArray[np.float64]

DEVIATIONS, MORE = 9, 60  # standard deviations, and counts beside them, that a range reaches
BINS, EXACT = 6, 40  # of the number of clones; every number where there are so few
SLACK = 2.0**-30
NEAR = 1e-6  # between a threshold and an integer
LARGEST = 50  # local epsilon, beyond which nobody hides
MOST = 10**8  # users beyond that add nothing to what is stated
STEPS = 2.0**-16  # in which epsilon is stated, relative to the local one


def any_randomiser(local: Fraction) -> Clones:
    """Return the clones that every randomiser of this epsilon has: a share of e^-epsilon, rounded down."""
    gamma = Fraction(math.exp(-float(local)) * (1 - SLACK))
    return Clones(local=local, gamma=gamma, only=Fraction(1, 2))


def central_delta(clones: Clones, users: int, epsilon: float) -> float:
    """Return a delta for which the collection of all reports is (epsilon, delta)-private, replacing one value.

    Args:
        clones: of a report.
        users: n, the number of reports of this type.
        epsilon: >= 0, of the collection.
    """
    low, high = _range(min(check.count("users", users), MOST) - 1, float(clones.gamma))
    others = scipy("stats").binom(min(users, MOST) - 1, float(clones.gamma) * (1 - SLACK))
    span = high - low + 1
    bins = span if span <= EXACT else BINS if span <= 1 << 14 else 1
    starts = np.unique(np.linspace(low, high + 1, bins + 1).astype(np.int64))[:-1]
    below = others.cdf(starts - 1)
    masses = np.diff(np.append(below, 1.0)) + SLACK**1.5
    delta = float(below[0]) * (1 + SLACK) + float(
        sum(mass * _given(clones, int(start) + 1, epsilon) for start, mass in zip(starts, masses, strict=True))
    )
    return min(1.0, delta * (1 + SLACK))


@functools.lru_cache(maxsize=256)
def central_epsilon(clones: Clones, users: int, delta: check.Number) -> float:
    """Return the smallest epsilon, up to 2^-16 of the local one, for which the collection is (epsilon, delta)-private.

    Raises:
        ValueError: delta is not strictly between 0 and 1.
    """
    allowed, local = check.probability("delta", delta), float(clones.local)
    if local > LARGEST:
        return local
    low, high = 0, round(1 / STEPS)  # the local epsilon holds whatever delta is
    while high - low > 1:
        middle = (low + high) // 2
        if holds(clones, users, middle * STEPS * local, allowed):
            high = middle
        else:
            low = middle
    return high * STEPS * local


def holds(clones: Clones, users: int, epsilon: float, delta: Fraction) -> bool:
    """Return whether the collection is certainly (epsilon, delta)-private."""
    return epsilon >= clones.local or central_delta(clones, users, epsilon) <= float(delta) * (1 - SLACK)


def _given(clones: Clones, reports: int, epsilon: float) -> float:
    """Return delta for M reports: the sum over how many of them speak for one of the two values only."""
    more, further = math.expm1(float(clones.local)), math.expm1(epsilon)
    only, both = float(clones.only), float(clones.both)
    scale = 1 / (1 + (only + both) * more)
    low, high = _range(reports, 2 * only)
    counts = np.arange(low, high + 1)
    some = scipy("stats").binom(reports, 2 * only)
    outside = float(some.cdf(low - 1) + some.sf(high))
    rest, missed = _rest(reports - counts, both / (1 - 2 * only) if both else 0.0, more)
    slope = more * (2 + further)  # what one report more for x, and one less for x', adds
    fixed = counts * math.expm1(float(clones.local) + epsilon) + further * rest
    threshold = fixed / slope
    above = _tail(counts - 1, np.ceil(threshold - NEAR) - 1) * counts / 2
    gains = slope * above * (1 + SLACK) - fixed * _tail(counts, np.ceil(threshold + NEAR)) * (1 - SLACK)
    total = float(some.pmf(counts) @ np.maximum(gains, 0.0)) * (1 + SLACK) / reports
    return min(1.0, scale * (total + (1 + more) * (outside * (1 + SLACK) + missed)))


def _rest(reports: npt.NDArray[np.int64], share: float, more: float) -> tuple[Floats, float]:
    """Return at least how much the reports for both or neither hide, and P(it is less)."""
    if not share:
        return reports.astype(np.float64), 0.0
    deviation = np.sqrt(reports * share * (1 - share))
    least = np.maximum(np.floor(reports * share - DEVIATIONS * deviation - MORE), 0)
    missed = scipy("stats").binom.cdf(least - 1, np.maximum(reports, 0), share)
    return reports + more * least, float(missed.max()) * (1 + SLACK)


def _range(number: int, share: float) -> tuple[int, int]:
    """Return a range of counts that a binomial leaves next to never."""
    mean, reach = number * share, DEVIATIONS * math.sqrt(number * share * (1 - share)) + MORE
    return max(0, math.floor(mean - reach)), min(number, math.ceil(mean + reach))


def _tail(number: npt.NDArray[np.int64], least: Floats) -> Floats:
    """Return P(Binomial(number, 1/2) >= least)."""
    inside = (least > 0) & (least <= number)
    held, trials = np.where(inside, least, 1.0), np.where(inside, number, 1).astype(np.float64)
    return np.where(inside, scipy("special").betainc(held, trials - held + 1, 0.5), np.where(least <= 0, 1.0, 0.0))
