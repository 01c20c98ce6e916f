"""The unbiased joint table of reports whose attributes were perturbed by themselves: the channel, inverted.

scores of every attribute -> Khatri-Rao products of two groups of attributes -> one product of two matrices a block.
"""

from collections.abc import Sequence

import numpy as np

from dpress.core.linear import Array, Identity
from dpress.core.measurement import Measurement
from dpress.estimate.likelihood import Floats, Fold, Halves, Split, khatri_rao


def scored(split: Split, scores: Sequence[Floats], counts: Array | None = None) -> Halves:
    """Return the halves of a batch for `unbiased`, from a matrix of scores (reports, n_j) for every attribute.

    Args:
        split: of the attributes.
        scores: S_ij(v) with E S_ij(v) = [the record's value is v], such as (T - p*) / (q* - p*) of one-hot bits.
        counts: how often every report occurs; left out, once each.
    """
    rows = len(scores[0])
    own = np.ones(rows) if counts is None else np.asarray(counts, dtype=np.float64)
    first, second = (khatri_rao([scores[axis] for axis in axes], rows) for axes in (split.left, split.right))
    return Halves(left=first, right=second, counts=own)


def summing_to_one(scores: Floats) -> Floats:
    """Return the scores of an attribute moved by the same number in every row, so that they add up to 1.

    A record has one value, so that this keeps them unbiased, and takes out the noise of their sum: with equal noise on
    n independent bits the variance falls by the factor 1 - 1 / n, for every attribute.

    >>> summing_to_one(np.array([[3.0, 1.0]])).tolist()
    [[1.5, -0.5]]
    """
    return np.asarray(scores - (scores.sum(axis=1, keepdims=True) - 1) / scores.shape[1])


def unbiased(fold: Fold, split: Split) -> Measurement:
    """Return the unbiased count of every cell, sum_i prod_j S_ij(w_j), and its variance estimated from the reports.

    The coins of different reports are independent and so are those of the attributes of one report, so that the product
    of scores is on average 1 in the record's cell and 0 elsewhere.
    Error: with Z_i(w) the product, Var = sum_i Var Z_i(w), the records being fixed; sum_i Z_i^2 - E Z_i is an unbiased
    estimate of it, because (E Z_i)^2 = E Z_i. The figure is that, and at least 0. Cells of one table are correlated.
    Memory: that of the fold, and two tables of 8 bytes a cell. One pass.

    Args:
        fold: over batches of `scored`; use double precision, the scores of many attributes are large and cancel.
        split: of the attributes.
    """
    total = fold(_moments).reshape(2, *split.shape)
    counts, squares = (split.table(part) for part in total)
    return Measurement(map=Identity(split.cells), answers=counts, variance=np.maximum(squares - counts, 0))


def _moments(halves: Halves) -> Array:
    """Return the sums of the products, and of their squares, which are products of squares."""
    weighted = halves.counts[:, None]
    first = halves.left.T @ (halves.right * weighted)
    second = (halves.left**2).T @ (halves.right**2 * weighted)
    return np.stack([first, second]).astype(np.float64)
