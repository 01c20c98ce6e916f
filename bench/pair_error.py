"""What was predicted of the error of pair tables before: from sizes, users and epsilon alone."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpress.inference.joint.pair_tables import Tables


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
