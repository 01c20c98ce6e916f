"""Records that have the tables of pairs asked for: weighted to them one after the other, and drawn anew by weight.

records, tables -> weights -> records of one weight. Post-processing.
Paper: Deming and Stephan 1940 (raking).
"""

from collections.abc import Sequence

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes
from dpress.inference.records.latent_classes import Pair

PASSES = 10
PRIOR = 1.0
"""Records that both sides of a ratio get on top: less would follow the records' own sampling error."""
FURTHEST = 10.0
"""The largest change of a weight in one visit, as a factor."""


def raked(codes: Codes, sizes: Sequence[int], tables: Array, pairs: Sequence[Pair], *, passes: int = PASSES) -> Array:
    """Return weights of records, adding up to 1, with which their tables of pairs are nearer to those asked for.

    Args:
        codes: of the records, shape (attributes, records).
        sizes: the number of cells of every attribute.
        tables: shares of all pairs of cells, shape (cells, cells); see `LatentClasses.tables`.
        pairs: whose tables are visited.
        passes: how often each.
    """
    records, ends = max(codes.shape[1], 1), np.cumsum(sizes)
    weights = np.full(codes.shape[1], 1 / records)
    for _ in range(passes):
        for first, second in pairs:
            target = tables[ends[first] - sizes[first] : ends[first], ends[second] - sizes[second] : ends[second]]
            places = codes[first].astype(np.int64) * sizes[second] + codes[second]
            have = np.bincount(places, weights=weights, minlength=target.size)
            ratios = (target.ravel() + PRIOR / records) / (have + PRIOR / records)
            weights = weights * np.clip(ratios, 1 / FURTHEST, FURTHEST)[places]
        weights = weights / max(weights.sum(), 1e-300)
    return weights


def redrawn(codes: Codes, weights: Array, *, rng: Generator) -> Codes:
    """Return as many records, each as often as its share of the weights says, rounded up or down, in sorted order.

    Systematic sampling of sorted records: of records that are alike as many come as their weights say together, so that
    little sampling error is added.

    Args:
        codes: of the records, shape (attributes, records).
        weights: > 0, shape (records,).
        rng: the generator.
    """
    size = weights.size
    if not size:
        return codes
    order = np.lexsort(codes[::-1])
    ends = np.cumsum(weights[order])
    points = (np.arange(size) + float(rng.words(1)[0]) * 2.0**-64) * (ends[-1] / size)
    return np.asarray(codes[:, order[np.minimum(np.searchsorted(ends, points, side="right"), size - 1)]])
