"""Tables of pairs as a few factors explain them that all attributes share, given noisy ones.

noisy tables less the products of their margins -> draws of factors from their posterior -> mean tables, and how much of
the tables they follow. Post-processing: it sees no record.
Paper: Salakhutdinov and Mnih 2008 (matrix factorisation by Gibbs sampling); MacKay 1994 (a factor that says nothing of
an attribute is shrunk away); Benzecri 1973 (what two categories have to do with each other has few dimensions).
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.normal import normal, uniform
from dpress.inference.records.blocks import Blocks
from dpress.inference.records.factor_count import Significant
from dpress.inference.records.latent_classes import Evidence

FACTORS, PER_SIGNIFICANT = 40, 4
"""At most, and for each that is beyond noise; those that the noise hides are shrunk to nothing."""
DRAWS, FEWEST_DRAWS, BURN_IN = 150, 30, 40
FEW_CELLS = 200
"""Of all attributes together; beyond them draws are fewer: one takes time in proportion to cells times FACTORS^3."""
SHAPE, SCALE = 0.5, 1.6
"""Of the inverse gamma prior of a factor's variance in an attribute, over a cell's share; its scale is SCALE over the
squared number of factors, so that few may be large and many are small."""
_TINY = 1e-12
_QUIET = 1e-12
"""The least variance of a share that counts: below it a system of equations has no digits left in floats."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LowRank:
    """The posterior mean of all tables.

    Args:
        tables: shares of all pairs of cells, shape (cells, cells); some may be below 0.
        degrees: posterior variance over that of the noise, the mean of all cells that were measured: 0 where factors
            follow nothing of the tables, 1 where all.
    """

    tables: Array
    degrees: float


def low_rank(evidence: Evidence, blocks: Blocks, first: Significant, *, rng: Generator) -> LowRank:
    """Return the posterior mean of all pairs of cells.

    Formula: the table of attributes a and b is p_a p_b^T + U_a U_b^T and noise of its variance. Cell i of a has a row
    of U with the prior N(0, p_i t_af) for factor f, and t_af an inverse gamma one. Given the other attributes the rows
    of one are normal, so that each draw is exact; the mean is over DRAWS rounds after BURN_IN.
    Error: no formula; for Gaussian noise and factors that are many or few it is near the best mean squared error.

    Args:
        evidence: the noisy tables, and the shares p of every attribute.
        blocks: which cells are of which attribute.
        first: where the draws begin, and with how many factors, 1 or more.
        rng: of the draws; nothing private is drawn.
    """
    product = np.outer(evidence.one_way, evidence.one_way)
    seen = np.isfinite(evidence.variances)
    precisions = np.where(seen, 1 / np.maximum(evidence.variances, _QUIET), 0.0)
    residuals = blocks.centred(np.where(seen, evidence.pairs - product, 0.0))
    scale = np.sqrt(evidence.one_way)
    factors = _first(first, scale)
    prior = SCALE / factors.shape[1] ** 2
    spreads = [np.full(factors.shape[1], np.mean((factors / scale[:, None]) ** 2)) for _ in blocks.sizes]
    draws = max(FEWEST_DRAWS, round(DRAWS * min(1.0, FEW_CELLS / scale.size)))
    total, squares = np.zeros_like(product), np.zeros_like(product)
    for number in range(BURN_IN + draws):
        for axis, part in enumerate(blocks.slices):
            weighted = precisions[part.start][:, None] * factors
            spread = scale[part, None] * np.sqrt(spreads[axis])
            factors[part] = spread * _normal_rows(spread, factors.T @ weighted, residuals[part] @ weighted, rng)
            sums = ((factors[part] / scale[part, None]) ** 2).sum(axis=0)
            spreads[axis] = (prior + sums / 2) / _gamma(SHAPE + (part.stop - part.start) / 2, sums.size, rng)
        if number >= BURN_IN:
            table = factors @ factors.T
            total += table
            squares += table**2
    mean = total / draws
    followed = (np.maximum(squares / draws - mean**2, 0.0) * precisions)[seen].mean()
    return LowRank(tables=product + mean, degrees=min(float(followed), 1.0))


def _first(first: Significant, scale: Array) -> Array:
    """Return the factors of what is beyond noise, and as many small ones beside, shape (cells, factors)."""
    values, vectors = np.linalg.eigh(first.deviations / np.outer(scale, scale))
    largest = np.argsort(-values)[: min(PER_SIGNIFICANT * first.factors, FACTORS)]
    return np.asarray(vectors[:, largest] * np.sqrt(np.maximum(values[largest], 1e-9)) * scale[:, None])


def _normal_rows(scale: Array, square: Array, linear: Array, rng: Generator) -> Array:
    """Return for every row x draws of N(A^-1 b, A^-1), A = I + diag(x) square diag(x), b = x linear."""
    matrices = np.eye(scale.shape[1]) + scale[:, :, None] * square * scale[:, None, :]
    means = np.linalg.solve(matrices, (scale * linear)[:, :, None])
    noise = normal(scale.size, rng=rng).reshape(*scale.shape, 1)
    roots = np.swapaxes(np.linalg.cholesky(matrices), 1, 2)
    return np.asarray((means + np.linalg.solve(roots, noise))[:, :, 0])


def _gamma(shape: float, size: int, rng: Generator) -> Array:
    """Return gamma numbers of scale 1, by the inverse of their distribution."""
    chances = uniform(size, rng=rng)
    return np.asarray(np.maximum(scipy("special").gammaincinv(shape, chances), _TINY))
