"""From samples to a lower bound on the loss, with a confidence: counts for epsilon, bounded means for rho.

Paper: Clopper and Pearson 1934 (exact intervals of a proportion); Jagielski, Ullman, Oprea 2020 (lower bounds on
epsilon by counting); Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang 2021 (variational Renyi divergence); Maurer and
Pontil 2009, Theorem 4 (empirical Bernstein). Rho is bounded by its own definition, without a detour through
(epsilon, delta).
"""

import itertools
import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpress.core.basics.extras import scipy

Floats = npt.NDArray[np.float64]

ORDERS = (1.01, 1.25, 1.5, 2.0, 4.0)
SCALES = (0.7, 1.0, 1.2, 1.5)
"""Of the stated log ratio: a mechanism that overspends has a larger one."""
THRESHOLDS = 256
SMALLEST = 1e-12  # probability beyond delta
LEAST = -1e6  # the promise of an event that shows nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The outputs whose score is at least `threshold`.

    Args:
        threshold: the smallest score inside.
        promise: the bound that it promised when it was chosen.
    """

    threshold: float
    promise: float

    def hits(self, scores: Floats) -> int:
        """Return how many scores lie in the event."""
        return int((scores >= self.threshold).sum())


def proportion_low(hits: npt.ArrayLike, draws: int, alpha: float) -> Floats:
    """Return what a probability exceeds with confidence 1 - alpha (Clopper-Pearson, one-sided)."""
    counts = np.asarray(hits, dtype=np.float64)
    return np.asarray(
        np.where(counts > 0, scipy("special").betaincinv(np.maximum(counts, 1), draws - counts + 1, alpha), 0.0)
    )


def proportion_high(hits: npt.ArrayLike, draws: int, alpha: float) -> Floats:
    """Return what a probability lies below with confidence 1 - alpha."""
    return 1 - proportion_low(draws - np.asarray(hits), draws, alpha)


def epsilon_low(first: int, second: int, draws: int, alpha: float, delta: float = 0.0) -> float:
    """Return ln((p_low - delta) / q_high), at least 0: a lower bound on epsilon with confidence 1 - alpha.

    Args:
        first: how many of `draws` outputs of one neighbour lie in an event chosen beforehand.
        second: the same of the other neighbour.
        draws: outputs of each.
        alpha: the chance of a bound that is too large; half of it for either proportion.
        delta: that is claimed beside epsilon.

    >>> round(epsilon_low(731_059, 268_941, 1_000_000, 0.01), 3)
    0.994
    """
    low, high = proportion_low(first, draws, alpha / 2), proportion_high(second, draws, alpha / 2)
    more = float(low) - delta
    return max(0.0, math.log(more / float(high))) if more > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A bounded function g = clip(scale score, -limit, limit) and an order alpha > 1.

    The variational form of the Renyi divergence bounds D_alpha / alpha, and so rho, from below for any bounded g:
    ln E_P[exp((alpha - 1) g)] / (alpha - 1) - ln E_Q[exp(alpha g)] / alpha, with equality for the log ratio itself.
    """

    order: float
    scale: float
    limit: float

    def rho_low(self, first: Floats, second: Floats, draws: int, alpha: float) -> float:
        """Return the bound with confidence 1 - alpha, at least 0.

        Args:
            first: scores of outputs of one neighbour.
            second: scores of the other neighbour, which has the smaller ones.
            draws: how many they stand for: their number, unless the witness is only being chosen.
            alpha: the chance of a bound that is too large; half of it for either mean.
        """
        top = self._mean_bound((self.order - 1) * self._values(first), self.order - 1, draws, -1, alpha / 2)
        rest = self._mean_bound(self.order * self._values(second), self.order, draws, 1, alpha / 2)
        return max(0.0, math.log(top) / (self.order - 1) - math.log(rest) / self.order) if top > 0 else 0.0

    def _values(self, scores: Floats) -> Floats:
        return np.clip(self.scale * scores, -self.limit, self.limit)

    def _mean_bound(self, exponents: Floats, factor: float, draws: int, side: int, alpha: float) -> float:
        """Return a bound on the mean of exp(exponents) from below (side -1) or above, by empirical Bernstein."""
        values = np.exp(exponents)
        width, log = 2 * math.sinh(factor * self.limit), math.log(2 / alpha)
        slack = math.sqrt(2 * float(values.var(ddof=1)) * log / draws) + 7 * width * log / (3 * (draws - 1))
        return float(values.mean()) + side * slack


def best_witness(first: Floats, second: Floats, draws: int, alpha: float) -> Witness:
    """Return the witness that promises the largest bound on rho for so many later draws."""
    scores = np.abs(np.concatenate([first, second]))
    limits = [max(float(np.quantile(scores, share)), 1e-9) for share in (0.9, 0.99, 0.999, 1)]
    grid = itertools.product(ORDERS, SCALES, limits)
    choices = (Witness(order=order, scale=scale, limit=scale * limit) for order, scale, limit in grid)
    return max(choices, key=lambda witness: witness.rho_low(first, second, draws, alpha))


def best_event(first: Floats, second: Floats, draws: int, alpha: float, delta: float = 0.0) -> Event:
    """Return the event that promises the largest bound on ln (P(first) - delta) / P(second).

    Scores are larger for outputs that `first` makes likelier; the number of later draws weighs small events.
    """
    thresholds = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, THRESHOLDS), method="lower"))
    ordered = np.sort(first), np.sort(second)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    p, q = ((len(sample) - np.searchsorted(sample, thresholds) + 1) / (len(sample) + 2) for sample in ordered)
    errors = np.sqrt((1 - p) / p), np.sqrt((1 - q) / q)
    if delta:  # what is left of p beyond its error is small, so that no ratio of errors serves
        left = p * (1 - z * errors[0] * (1 / math.sqrt(draws) + 1 / math.sqrt(len(first)))) - delta
        bounds = np.where(left > 0, np.log(np.maximum(left, SMALLEST) / (q + 2 * z**2 / draws)), -math.inf)
        place = int(np.where(bounds.max() > -math.inf, bounds, p - q).argmax())
        return Event(threshold=float(thresholds[place]), promise=max(float(bounds[place]), LEAST))
    bounds = np.log(p / q) - z * (errors[0] + errors[1]) / math.sqrt(draws)
    bounds -= np.hypot(*errors) / math.sqrt(len(first))  # a rare event that looks best owes that to chance
    place = int(bounds.argmax())
    return Event(threshold=float(thresholds[place]), promise=float(bounds[place]))
