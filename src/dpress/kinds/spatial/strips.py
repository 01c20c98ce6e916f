"""Strips across a rectangle of a map: their counts with covariances, for means, quantiles and shares.

rectangle, cut along one column -> unbiased counts of the strips, variances of all runs of strips -> covariances.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Rectangles
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import Density, Nodes, unbiased
from dpress.inference.ratio import Pair, pair_of

MOST = 128  # strips of a rectangle; of more cells neighbours are taken together
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Strips:
    """Neighbouring strips of a rectangle.

    Args:
        borders: along the column that is cut, in cells, rising, shape (strips + 1,).
        counts: of the strips, unbiased but for maps that say otherwise, shape (strips,).
        covariance: of the counts, what cut cells hide included, shape (strips, strips).
    """

    borders: Array
    counts: Array
    covariance: Array

    def form(self, weights: Array) -> tuple[float, float]:
        """Return the sum of the weighted counts and its variance."""
        return float(weights @ self.counts), max(0.0, float(weights @ self.covariance @ weights))


def cut(density: Density, axis: int, borders: Array, other: Ends) -> Strips:
    """Return the strips between borders along one axis, within a range of the other one.

    A sum over a run of strips is the sum of their counts, so that its variance D, over all runs, gives every
    covariance: Cov(s_i, s_j) = (D(i, j + 1) + D(i + 1, j) - D(i, j) - D(i + 1, j + 1)) / 2, D(i, j) that of the strips
    i, ..., j - 1. Exact where the map's variances are. Where nodes are not made consistent a strip adds up nodes of its
    own, which are independent of the others'.

    Args:
        density: the map.
        axis: 0 across, 1 up.
        borders: in cells, rising.
        other: ends along the other axis, in cells.
    """
    source, strips = unbiased(density), len(borders) - 1
    first, last = np.triu_indices(strips + 1, k=1)
    along = borders[first], borders[last]
    variances = np.zeros((strips + 1, strips + 1))
    variances[first, last] = variances[last, first] = density.variances(_rectangles(axis, along, other))
    covariance = (variances[:-1, 1:] + variances[1:, :-1] - variances[:-1, :-1] - variances[1:, 1:]) / 2
    if isinstance(source, Nodes):
        covariance = np.diag(np.diag(covariance))
    counts = source.values(_rectangles(axis, (borders[:-1], borders[1:]), other))
    return Strips(borders=borders, counts=counts, covariance=covariance)


def cells_between(low: float, high: float) -> Array:
    """Return the borders of cells between two places, and the places, at most `MOST` + 1."""
    inner = np.arange(np.floor(low) + 1, np.ceil(high))
    borders = np.concatenate([[low], inner, [high]])
    return borders[np.unique(np.linspace(0, len(borders) - 1, min(len(borders), MOST + 1)).astype(np.int64))]


def pair(density: Density, first: tuple[Ends, Ends], second: tuple[Ends, Ends]) -> Pair | None:
    """Return the counts of two rectangles, given by both ranges in cells; None unless one range is the same."""
    for axis in (0, 1):
        if first[1 - axis] == second[1 - axis]:
            ends = np.unique([*first[axis], *second[axis]])
            strips = cut(density, axis, ends, first[1 - axis])
            left, right = (_inside(ends, rectangle[axis]) for rectangle in (first, second))
            return pair_of(_difference(strips, left, right))
    return None


def union(density: Density, rectangles: Sequence[tuple[Ends, Ends]]) -> tuple[float, float, bool]:
    """Return the sum of disjoint rectangles, its variance, and whether that is exact.

    The errors of two rectangles that have no range in common are taken to depend on each other as far as they can.

    Args:
        density: the map.
        rectangles: each by both ranges in cells.
    """
    boxes = Rectangles(*np.array(rectangles).reshape(len(rectangles), 4).T)
    variances = density.variances(boxes)
    pairs = [(*places, pair(density, *(rectangles[place] for place in places)))
             for places in itertools.combinations(range(len(rectangles)), 2)]  # fmt: skip
    covariances = [
        math.sqrt(variances[left] * variances[right]) if counts is None else counts.covariance
        for left, right, counts in pairs
    ]
    variance = math.fsum([*variances, *covariances, *covariances])
    exact = all(counts is not None for *_, counts in pairs)
    return float(unbiased(density).values(boxes).sum()), max(0.0, variance), exact


def _difference(strips: Strips, left: Array, right: Array) -> Callable[[float], tuple[float, float]]:
    return lambda ratio: strips.form(left - ratio * right)


def _inside(borders: Array, ends: Ends) -> Array:
    return ((borders[:-1] >= ends[0]) & (borders[1:] <= ends[1])).astype(np.float64)


def _rectangles(axis: int, along: tuple[Array, Array], other: Ends) -> Rectangles:
    low, high = (np.full(len(along[0]), end) for end in other)
    if axis == 0:
        return Rectangles(along[0], along[1], low, high)
    return Rectangles(low, high, along[0], along[1])
