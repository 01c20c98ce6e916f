"""What is predicted of the error of pair tables before anybody answers: from sizes, users and epsilon alone.

Known: the noise of the consistent tables, and that of the product of one-way tables. Unknown before: how strongly the
attributes depend on each other, which decides where between the two (plus the product's bias) the shrunk tables lie.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.inference.consistency import Axes
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables

Spread = Callable[[int], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedError:
    """Mean total variation over all pairs, predicted for equal shares.

    Args:
        tables: of the consistent tables before shrinkage; an upper figure, since shrinkage and signs only help.
        product: of the product of the one-way tables, were all attributes independent; nothing does better.
    """

    tables: float
    product: float

    def shrunk(self, bias: float) -> float:
        """Return a cautious figure for the shrunk tables, were the product's own total variation `bias` without noise.

        Formula: sqrt(product^2 + tables^2 bias^2 / (tables^2 + bias^2)): the best linear shrinkage of one residual.
        The real ones do better where few cells hold most people. The bias is a guess: nobody knows it before.
        """
        linear = math.hypot(self.tables, bias)
        return math.hypot(self.product, self.tables * bias / linear) if linear else 0.0


def concentration(sizes: Sequence[int]) -> float:
    """Return the sum of the squared shares of a table to reckon with before anybody answers.

    Formula: prod 2 / (n_i + 1), its expectation where the attributes are independent and the shares of each are drawn
    evenly from all that there can be. A public assumption: real shares are uneven, and equal ones, with their
    prod 1 / n_i, overstate the sampling variance.

    >>> concentration((2, 3))
    0.3333333333333333
    """
    return math.prod(2 / (size + 1) for size in sizes)


def planned(
    shape: Axes,
    sets: Sequence[Axes],
    users: int,
    spread: Spread,
    *,
    weights: Sequence[float] | None = None,
    sampling: float | None = None,
) -> Tables:
    """Return tables of equal shares with the noise that a draw of the report types would give.

    Args:
        shape: the number of cells of every attribute.
        sets: the attributes of every report type, rising.
        users: everybody.
        spread: from a number of cells to `held` and `other` of the oracle, see `Noise`.
        weights: the chance of every report type, adding up to 1; equal if not given.
        sampling: of every report type, see `Noise`; 1 - its chance if not given.
    """
    chances = [1 / len(sets)] * len(sets) if weights is None else weights
    noisy = []
    for axes, chance in zip(sets, chances, strict=True):
        kept = tuple(shape[axis] for axis in axes)
        held, unheld = spread(math.prod(kept))
        noise = Noise(
            users=max(round(users * chance), 1),
            held=held,
            other=unheld,
            sampling=1 - chance if sampling is None else sampling,
        )
        noisy.append(NoisyTable(axes=axes, shares=np.full(kept, 1 / math.prod(kept)), noise=noise))
    return Tables(shape=shape, noisy=tuple(noisy))


def expected(tables: Tables) -> PredictedError:
    """Return the predicted mean total variation over all pairs that some report type holds; the shares do not matter.

    Formula: E |x| = sqrt(2 / pi) sd for normal noise, so k sd / sqrt(2 pi) for a table of k cells with the standard
    error sd each; of the product, sd^2 = v_i / n_j^2 + v_j / n_i^2 to first order.
    """
    pairs = [pair for pair in itertools.combinations(range(len(tables.shape)), 2) if tables.holds(pair)]
    measured, product = [], []
    for first, second in pairs:
        sizes = tables.shape[first], tables.shape[second]
        measured.append(_variation(math.prod(sizes), tables.variance((first, second))))
        variance = tables.variance((first,)) / sizes[1] ** 2 + tables.variance((second,)) / sizes[0] ** 2
        product.append(_variation(math.prod(sizes), variance))
    return PredictedError(tables=float(np.mean(measured)), product=float(np.mean(product)))


def _variation(cells: int, variance: float) -> float:
    return cells * math.sqrt(variance / (2 * math.pi))
