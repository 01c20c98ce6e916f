"""Noisy tables of clusters -> non-negative tables that agree with each other. Post-processing: it sees no record.

noisy sizes, histograms in every cluster, histograms of everybody -> one-way totals -> tables with these margins.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.inference.maps.top_down import on_simplex

ROUNDS = 5  # of fitting both margins; the last one fits the sizes


def one_way_totals(whole: Array, clusters: Array, variances: tuple[float, float], total: float) -> Array:
    """Return the totals of a histogram that was measured twice, >= 0 and with this sum, shape (bins,).

    The two are averaged by their inverse variances; the nearest point of the simplex follows.

    Args:
        whole: the histogram of everybody, shape (bins,).
        clusters: the histogram in every cluster, shape (clusters, bins).
        variances: of a bin of `whole`, and of a cell of `clusters`.
        total: the number of records.
    """
    first, second = 1 / variances[0], 1 / (variances[1] * len(clusters))
    mean = (whole * first + clusters.sum(axis=0) * second) / (first + second)
    return np.asarray(on_simplex(mean[None], np.array([total]))[0])


def agreed(noisy: Array, sizes: Array, totals: Array) -> Array:
    """Return a histogram of every cluster, none below 0, with the clusters' sizes and nearly the one-way totals.

    Every row goes to its nearest point of the simplex; then rows and columns are scaled in turn.

    Args:
        noisy: shape (clusters, bins).
        sizes: of the clusters, >= 0, shape (clusters,).
        totals: with the same sum, shape (bins,).
    """
    table = on_simplex(noisy, sizes)
    for _ in range(ROUNDS):
        table = table * _ratio(totals, table.sum(axis=0))
        table = table * _ratio(sizes, table.sum(axis=1))[:, None]
    return np.asarray(table)


def refined(table: Array, bins: npt.NDArray[np.int64], within: Array) -> Array:
    """Return the table over cells from the one over bins: a bin is spread over its cells as everybody is.

    Args:
        table: shape (clusters, bins).
        bins: the bin of every cell, shape (cells,).
        within: the histogram of everybody, >= 0, shape (cells,); a bin without anybody is spread evenly.
    """
    held, width = np.bincount(bins, weights=within), np.bincount(bins)
    shares = np.where(held[bins] > 0, within / np.maximum(held[bins], 1e-300), 1 / width[bins])
    return np.asarray(table[:, bins] * shares)


def _ratio(wanted: Array, have: Array) -> Array:
    return np.asarray(wanted / np.where(have > 0, have, 1.0))
