"""Tables of pairs as a few factors explain them that all attributes share, given noisy ones.

noisy tables less the products of their margins -> draws of factors from their posterior -> mean tables -> averaged with
those of latent classes. Post-processing: it sees no record.
Paper: Salakhutdinov and Mnih 2008 (matrix factorisation by Gibbs sampling); MacKay 1994 (a factor that says nothing of
an attribute is shrunk away); Benzecri 1973 (what two categories have to do with each other has few dimensions).
"""

import numpy as np
import numpy.typing as npt

from dpress.core.basics.extras import scipy
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.inference.maps.population import normal
from dpress.inference.records.latent_classes import Evidence, LatentClasses

FACTORS = 40
"""At most; those that the noise hides are shrunk to nothing."""
DRAWS, FEWEST_DRAWS, BURN_IN = 150, 30, 40
FEW_CELLS = 200
"""Of all attributes together; beyond them draws are fewer: one takes time in proportion to cells times FACTORS^3."""
SHAPE, SCALE = 0.5, 1e-5
"""Of the inverse gamma prior of a factor's variance in an attribute, over a cell's share: it says next to nothing."""
_TINY = 1e-12
_QUIET = 1e-12
"""The least variance of a share that counts: below it a system of equations has no digits left in floats."""

Places = npt.NDArray[np.int64]


def averaged(model: LatentClasses, evidence: Evidence, *, rng: Generator) -> Array:
    """Return shares of all pairs of cells, shape (cells, cells): the mean of the classes' and the factors' tables.

    Classes hold impossible combinations, factors what many tables say together; they err in different ways, so that
    their mean is nearer than either. It is cut off at 0, and every table is scaled to 1. A pair that was not measured
    has the classes' table.

    Args:
        model: classes fitted to what is known.
        evidence: the noisy tables.
        rng: of the draws; nothing private is drawn.
    """
    measured = np.isfinite(evidence.variances)
    mean = np.where(measured, (model.tables + low_rank(model, evidence, rng=rng)) / 2, model.tables)
    cut = np.maximum(mean, 0.0)
    return np.asarray(cut / np.maximum(_spread(_sums(cut, model), model), _TINY))


def low_rank(model: LatentClasses, evidence: Evidence, *, rng: Generator) -> Array:
    """Return the posterior mean of all pairs of cells, shape (cells, cells); shares may be below 0.

    Formula: the table of attributes a and b is p_a p_b^T + U_a U_b^T and noise of its variance. Cell i of a has a row
    of U with the prior N(0, p_i t_af) for factor f, and t_af an inverse gamma one. Given the other attributes the rows
    of one are normal, so that each draw is exact; the mean is over DRAWS rounds after BURN_IN.
    Error: no formula; for Gaussian noise and factors that are many or few it is near the best mean squared error.

    Args:
        model: where the draws begin.
        evidence: the noisy tables, and the shares p of every attribute.
        rng: of the draws.
    """
    product = np.outer(evidence.one_way, evidence.one_way)
    precisions = np.where(np.isfinite(evidence.variances), 1 / np.maximum(evidence.variances, _QUIET), 0.0)
    residuals = _centred(np.where(precisions > 0, evidence.pairs - product, 0.0), model)
    scale = np.sqrt(evidence.one_way)
    factors = _first(model, scale)
    parts = [slice(start, start + size) for start, size in zip(model.starts, model.sizes, strict=True)]
    spreads = [np.full(factors.shape[1], np.mean((factors / scale[:, None]) ** 2)) for _ in parts]
    draws = max(FEWEST_DRAWS, round(DRAWS * min(1.0, FEW_CELLS / scale.size)))
    total = np.zeros_like(product)
    for number in range(BURN_IN + draws):
        for axis, part in enumerate(parts):
            weighted = precisions[part.start][:, None] * factors
            spread = scale[part, None] * np.sqrt(spreads[axis])
            drawn = _normal_rows(spread, factors.T @ weighted, residuals[part] @ weighted, rng)
            factors[part] = spread * drawn
            squares = ((factors[part] / scale[part, None]) ** 2).sum(axis=0)
            spreads[axis] = (SCALE + squares / 2) / _gamma(SHAPE + (part.stop - part.start) / 2, squares.size, rng)
        if number >= BURN_IN:
            total += factors @ factors.T
    return np.asarray(product + total / draws)


def _first(model: LatentClasses, scale: Array) -> Array:
    """Return the factors of the classes' tables, shape (cells, factors)."""
    margins = model.weights @ model.cells
    values, vectors = np.linalg.eigh((model.tables - np.outer(margins, margins)) / np.outer(scale, scale))
    largest = np.argsort(-values)[:FACTORS]
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
    even = (rng.words(size) >> np.uint64(12)) * 2.0**-52 + 2.0**-53
    return np.asarray(np.maximum(scipy("special").gammaincinv(shape, even), _TINY))


def _centred(tables: Array, model: LatentClasses) -> Array:
    """Return all tables less their row and column means: what margins say is known better."""
    rows = np.repeat(np.add.reduceat(tables, model.starts, axis=0) / _column(model), model.sizes, axis=0)
    left = tables - rows
    columns = np.repeat(np.add.reduceat(left, model.starts, axis=1) / _column(model).T, model.sizes, axis=1)
    return np.asarray(left - columns)


def _column(model: LatentClasses) -> Places:
    return np.array(model.sizes)[:, None]


def _sums(tables: Array, model: LatentClasses) -> Array:
    return np.asarray(np.add.reduceat(np.add.reduceat(tables, model.starts, axis=0), model.starts, axis=1))


def _spread(blocks: Array, model: LatentClasses) -> Array:
    return np.repeat(np.repeat(blocks, model.sizes, axis=0), model.sizes, axis=1)
