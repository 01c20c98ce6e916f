"""Shares of every attribute from its own noisy table and from all noisy tables of pairs that hold it, by precision.

one-way shares, tables of pairs -> shares with less noise. Post-processing.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.methods.possible import Truths
from dpress.inference.records.latent_classes import Pair

QUIET = 1e-3
"""Of a cell, where none may occur."""
LEAST = 1e-6
"""The smallest share of a cell."""


def pooled(
    one_way: Sequence[Array],
    variances: Sequence[Array],
    measured: Mapping[Pair, tuple[Array, float]],
    allowed: Mapping[Pair, Truths] | None = None,
) -> list[Array]:
    """Return for every attribute the mean of all that was measured of it, weighted by inverse variance.

    Error: a cell's variance is 1 / (1 / v + sum of 1 / (k v_pair)), k the number of the other attribute's cells that
    may occur beside it; less what is known from shares adding up to 1. It is weighted least squares for one attribute
    at a time: that tables of two attributes also share a total is not used.

    Args:
        one_way: shares of every attribute's cells.
        variances: of their noise.
        measured: by rising pairs, unbiased noisy shares and the variance of each.
        allowed: by pair which of its cells may occur, the others 0 in `measured`; left out, all.
    """
    sums = [shares / spread for shares, spread in zip(one_way, variances, strict=True)]
    precisions = [1 / spread for spread in variances]
    for pair, (table, variance) in measured.items():
        for place, axis in enumerate(pair):
            of_margin = variance * _cells(table, (allowed or {}).get(pair), 1 - place)
            sums[axis] = sums[axis] + table.sum(axis=1 - place) / of_margin
            precisions[axis] = precisions[axis] + 1 / of_margin
    return [_adding_up(total / weight, 1 / weight) for total, weight in zip(sums, precisions, strict=True)]


def _cells(table: Array, allowed: Truths | None, axis: int) -> Array | int:
    """Return how many cells may occur along an axis; where none may, a part of a cell, so that 0 is all but sure."""
    return int(table.shape[axis]) if allowed is None else np.asarray(np.maximum(allowed.sum(axis=axis), QUIET))


def _adding_up(shares: Array, variances: Array) -> Array:
    """Return shares that add up to 1, each moved in proportion to its variance, and none of them 0."""
    raised = np.maximum(shares + (1 - shares.sum()) * variances / variances.sum(), LEAST)
    return np.asarray(raised / raised.sum())
