"""Records from tables that are already public: post-processing with secure random words.

weights of one attribute's cells -> as many codes as asked for, each cell's number rounded up or down -> shuffled.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts


def shuffled(size: int, *, rng: Generator) -> Counts:
    """Return a uniform permutation of `size` places, by sorting as many random words."""
    return np.asarray(np.argsort(rng.words(size)), dtype=np.int64)


def drawn(weights: Array, size: int, *, rng: Generator) -> Codes:
    """Return codes in random order, each as often as its share of the weights says, rounded up or down.

    Systematic sampling: every code is expected exactly its share, and no sampling error is added that can be avoided.

    Args:
        weights: >= 0, shape (cells,); all 0 for even ones.
        size: the number of codes.
        rng: a secure generator.
    """
    ends = np.cumsum(weights if weights.sum() > 0 else np.ones_like(weights))
    start = float(rng.words(1)[0]) * 2.0**-64
    places = (np.arange(size) + start) * (ends[-1] / max(size, 1))
    codes = np.minimum(np.searchsorted(ends, places, side="right"), np.flatnonzero(np.diff(ends, prepend=0)).max())
    return np.asarray(codes[shuffled(size, rng=rng)], dtype=np.int32)


def mixture(tables: Sequence[Array], sizes: Counts, *, rng: Generator) -> Codes:
    """Return records: in every cluster each attribute on its own, from the cluster's histogram; in random order.

    Args:
        tables: for every attribute the histogram of each cluster, shape (clusters, cells).
        sizes: records of every cluster, shape (clusters,).
        rng: a secure generator.
    """
    out = np.empty((len(tables), int(sizes.sum())), dtype=np.int32)
    ends = np.cumsum(sizes)
    for cluster, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        for codes, table in zip(out, tables, strict=True):
            codes[end - size : end] = drawn(table[cluster], int(size), rng=rng)
    return out[:, shuffled(out.shape[1], rng=rng)]


def representative(prototypes: Codes, sizes: Counts, *, rng: Generator) -> Codes:
    """Return every prototype as often as its cluster is large, in random order.

    Args:
        prototypes: shape (attributes, clusters).
        sizes: shape (clusters,).
        rng: a secure generator.
    """
    out: npt.NDArray[np.int32] = np.repeat(prototypes, sizes, axis=1)
    return out[:, shuffled(out.shape[1], rng=rng)]
