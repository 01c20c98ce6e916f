"""What all noisy tables of pairs say together beyond their noise, and of how many factors it is made.

noisy tables less the products of their margins, over their noise -> eigenvalues beyond those of noise alone, shrunk ->
single tables whose rest is beyond noise, shrunk. Post-processing: it sees no record.
Paper: Gavish and Donoho 2017 (optimal shrinkage of singular values, Theorem 1, for squared error); Wigner 1958 (the
eigenvalues of noise); James and Stein 1961 (the mean of many normal numbers); Benzecri 1973 (what categories have to do
with each other has few dimensions).
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.records.blocks import Blocks
from dpress.inference.records.latent_classes import Evidence

PASSES, FEWEST_PASSES = 15, 3
"""In which what was not measured, and an attribute beside itself, is filled in by the factors so far."""
FEW_CELLS = 400
"""Of all attributes together; beyond them passes are fewer: each takes the cube of the cells."""
BEYOND = 4.0
"""Standard deviations by which the norm of a table's rest is more than noise; false alarms < 4e-5 of Gaussian noise."""
_FITS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Significant:
    """The part of tables that is more than noise.

    Args:
        deviations: of all pairs of cells from the products of their shares, shape (cells, cells).
        factors: how many it is made of; 0 where noise hides all.
    """

    deviations: Array
    factors: int


def significant(evidence: Evidence, blocks: Blocks) -> Significant:
    """Return what tables say beyond noise, shrunk for the least squared error.

    Formula: with s the noise's standard deviation in a cell as a product of a number for each of its attributes, the
    centred tables over s have noise of variance 1, whose eigenvalues reach 2 sqrt(n), n the degrees of freedom that a
    row was measured with. An eigenvalue y beyond them counts as sqrt(y^2 - 4 n), any other as 0. What was not measured
    is filled in by the result, pass by pass. Then each table whose rest has a norm beyond sqrt(k) + BEYOND, k its
    degrees of freedom, keeps 1 - k / norm^2 of it.
    Error: for one pass over whole tables of Gaussian noise the least mean squared error of any such rule as n grows.

    Args:
        evidence: the noisy tables, and the shares of every attribute.
        blocks: which cells are of which attribute.
    """
    seen = np.isfinite(evidence.variances)
    degrees = seen[:, blocks.starts] @ (np.array(blocks.sizes) - 1)
    if not degrees.any():
        return Significant(deviations=np.zeros_like(evidence.pairs), factors=0)
    product = np.outer(evidence.one_way, evidence.one_way)
    deviation = blocks.per_cell(_noise_of_attributes(evidence, blocks))
    scale = np.outer(deviation, deviation)
    measured = blocks.centred(np.where(seen, evidence.pairs - product, 0.0)) / scale
    edge = 4 * float(np.average(degrees, weights=degrees))
    low, factors = np.zeros_like(measured), 0
    for _ in range(PASSES if seen.shape[0] <= FEW_CELLS else FEWEST_PASSES):
        values, vectors = np.linalg.eigh(np.where(seen, measured, low))
        shrunk = np.sqrt(np.maximum(values**2 - edge, 0.0)) * (values > 0)
        low, factors = (vectors * shrunk) @ vectors.T, int(np.count_nonzero(shrunk))
    kept = _kept(blocks, np.where(seen, measured - low, 0.0))
    low += np.where(seen, blocks.spread(kept) * (measured - low), 0.0)
    return Significant(deviations=low * scale, factors=factors + int(np.count_nonzero(kept)) // 2)


def _kept(blocks: Blocks, rest: Array) -> Array:
    """Return the share of its rest that every table keeps, shape (attributes, attributes)."""
    of_attributes = np.array(blocks.sizes) - 1.0
    squares, degrees = blocks.sums(rest**2), np.outer(of_attributes, of_attributes)
    beyond = np.sqrt(squares) > np.sqrt(degrees) + BEYOND
    return np.where(beyond, 1 - degrees / np.maximum(squares, 1e-300), 0.0)


def _noise_of_attributes(evidence: Evidence, blocks: Blocks) -> Array:
    """Return a number for every attribute whose products are near the noise's standard deviation in tables of pairs."""
    variances = evidence.variances[np.ix_(blocks.starts, blocks.starts)]
    seen = np.isfinite(variances)
    logs = np.log(np.where(seen, np.maximum(variances, 1e-300), 1.0)) / 2
    number = np.maximum(seen.sum(axis=1), 1)
    of_attributes = np.zeros(len(blocks.sizes))
    for _ in range(_FITS):
        step = ((logs - of_attributes[None, :]) * seen).sum(axis=1) / number
        of_attributes = (of_attributes + step) / 2
    return np.asarray(np.exp(of_attributes))
