"""How wrong all counts of a release can be at once: with probability 1 - beta every one of k is within this.

noise, cells -> the exact quantile of the largest of k independent draws, or a union bound where counts share noise.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.maps.workload import Marginals
from dpress.inference.interval import Tail
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import Noise
from dpress.release.plan.linear_error import table_variances

BETA = 0.05  # the chance that some count is further off
STEPS = 200  # of a bisection, which halves an interval each time


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestError:
    """A bound on the error of all counts together, before any adjustment.

    Args:
        cells: k, how many counts there are.
        beta: the chance that at least one of them is further off, at most.
        within: how far off every count is otherwise, in counts.
        textbook: sensitivity ln(k / beta) / epsilon, the bound of the foundations for real-valued Laplace noise, in
            counts: 2 ln(k / beta) / epsilon for a histogram under replace-one; None for other noise or other counts.
        exact: `within` is the quantile of the largest error itself, and not a bound.
    """

    cells: int
    beta: float
    within: float
    textbook: float | None
    exact: bool


def largest_error(mechanism: MatrixMechanism, workload: Marginals, beta: float = BETA) -> LargestError:
    """Return how wrong the tables that were asked for can be at once.

    One noisy answer for every cell (`identity`, asked for as it is): the smallest t with
    P(|X| <= t)^k >= 1 - beta, exact for the discrete noise that is drawn. Sums of cells, and tables that were made to
    agree, share noise: the smallest t for which the tails of all cells add up to beta or less.
    Paper: foundations, max error of a k-bucket histogram.

    Args:
        mechanism: that measures the tables.
        workload: the tables.
        beta: strictly between 0 and 1.
    """
    if not 0 < beta < 1:
        raise ValueError(f"beta must lie strictly between 0 and 1, got beta={beta}")
    cells = workload.queries
    noise = mechanism.noises[0]
    if not isinstance(mechanism.strategy, Identity) or workload.tables != mechanism.decoder.tables:
        within = union_bound(_alike(mechanism, workload), mechanism.tail, beta)
        return LargestError(cells=cells, beta=beta, within=within, textbook=None, exact=False)
    return independent(noise, cells, beta)


def independent(noise: Noise, cells: int, beta: float) -> LargestError:
    """Return how wrong so many counts can be at once, each with noise of its own."""
    textbook = noise.textbook_bound(cells, beta)
    each = Fraction(-math.expm1(math.log1p(-beta) / cells))  # the chance that one of k independent ones may have
    return LargestError(cells=cells, beta=beta, within=float(noise.quantile(1 - each)), textbook=textbook, exact=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Counts whose errors are weighted sums of independent noise with the same variance.

    Args:
        number: how many there are.
        variance: of each with real-valued noise of the same scale, in counts squared.
        largest: the largest weight times scale of a single noise value in it; at most sqrt(variance / 2).
    """

    number: int
    variance: float
    largest: float


def union_bound(counts: Sequence[Alike], tail: Tail, beta: float) -> float:
    """Return the smallest t, up to rounding, for which the tails of all counts beyond t add up to beta or less."""

    def beyond(t: float) -> float:
        return math.fsum(count.number * tail_bound(count, t, tail) for count in counts)

    low, high = 0.0, 1.0
    while beyond(high) > beta:
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) <= beta else (middle, high)
    return high


def tail_bound(count: Alike, t: float, tail: Tail) -> float:
    """Return a bound on P(|Y| > t) for a weighted sum Y of independent noise.

    Chernoff, both sides. Gaussian: 2 exp(-t^2 / (2 variance)); the discrete one has no larger moments (Canonne, Kamath,
    Steinke 2020). Laplace, c_i weight times scale: E exp(z Y) <= prod 1 / (1 - z^2 c_i^2); the discrete one of scale b
    has sinh^2(z/2) / sinh^2(1/(2b)) <= z^2 b^2 in its place. As -log(1 - x) / x grows with x, the product is at most
    (1 - z^2 c^2)^(-s^2 / c^2), c the largest of the c_i and s^2 = sum c_i^2 = variance / 2. The best z is
    (sqrt(s^4 + c^2 t^2) - s^2) / (c^2 t).

    Args:
        count: the sum.
        t: in counts.
        tail: of the noise.
    """
    if count.variance == 0 or t <= 0:
        return float(count.variance > 0)
    if tail == "gaussian":
        return min(1.0, 2 * math.exp(-t * t / (2 * count.variance)))
    s2, c2 = count.variance / 2, count.largest**2
    z = (math.sqrt(s2 * s2 + c2 * t * t) - s2) / (c2 * t)
    return min(1.0, 2 * math.exp(-z * t - s2 / c2 * math.log1p(-z * z * c2)))


def _alike(mechanism: MatrixMechanism, workload: Marginals) -> list[Alike]:
    """Return the cells of every table, all of which are alike, those of equal tables together."""
    real = [float(noise.real_variance) for noise in mechanism.noises]
    variance = np.repeat(real, [part.rows for part in mechanism.parts]) if len(set(real)) > 1 else real[0]
    plain_sums = isinstance(mechanism.strategy, Identity)  # of noisy cells, each with weight 1
    numbers: Counter[float] = Counter()
    for table, each in zip(workload.tables, table_variances(mechanism.decoder, workload, variance), strict=True):
        numbers[each] += math.prod(workload.shape[axis] for axis in table)
    return [
        Alike(number=number, variance=each, largest=math.sqrt((real[0] if plain_sums else each) / 2))
        for each, number in numbers.items()
    ]
