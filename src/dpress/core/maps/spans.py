"""Which spans of periods are measured when a table is published period by period, and what they add up to.

A span is measured once, when its last period has closed, so that nothing depends on later rows. Periods are counted
from 0; a span names its first and its last.
"""

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array

Span = tuple[int, int]
MOST_PERIODS = 1 << 12
SOLVED = 1e-9  # how far a sum of spans may be from the periods that are asked for


@functools.lru_cache(maxsize=64)
def spans(counter: str, periods: int) -> tuple[Span, ...]:
    """Return all spans of a counter over so many periods, in the order in which they close.

    "separate": every period; a row is in one span, t periods add up t of them.
    "tree": the nodes of a binary tree (Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011): a row is in at most
    floor(log2 T) + 1 spans, and the first t periods are the sum of at most as many.
    "smooth": those left children of a binary tree over the leaves with as many ones as zeros that some first t periods
    add up (Andersson and Pagh 2023, "A Smooth Binary Mechanism for Efficient Private Continual Observation"): with
    C(h, h / 2) > T a row is in at most h / 2 spans, and any first t periods are the sum of at most h / 2.

    Raises:
        NotSupported: there are more than 2^12 periods.

    >>> spans("tree", 3), spans("smooth", 3)
    (((0, 0), (1, 1), (0, 1), (2, 2)), ((0, 0), (1, 1), (0, 2)))
    """
    if periods > MOST_PERIODS:
        raise NotSupported(f"{periods:,} periods are more than 2^12; use longer ones, or closer `bounds`")
    made = {"separate": _separate, "tree": _tree, "smooth": _smooth}[counter](periods)
    return tuple(sorted(set(made), key=lambda span: (span[1], -span[0])))


def closing(every: Sequence[Span], period: int) -> tuple[Span, ...]:
    """Return the spans that end with a period."""
    return tuple(span for span in every if span[1] == period)


def depth(every: Sequence[Span]) -> int:
    """Return how many spans a row is in at most: by how much a loss is divided among them."""
    return max(Counter(period for first, last in every for period in range(first, last + 1)).values())


@functools.lru_cache(maxsize=64)
def layers(every: tuple[Span, ...]) -> Mapping[Span, int]:
    """Return a layer for every span, from 0: spans of one layer are disjoint, and there are `depth` layers.

    Taken by their first periods, each span finds a layer that is free unless as many spans as there are hold that
    period: a row is in at most one span of a layer.

    >>> layers(spans("tree", 3))
    {(0, 0): 0, (0, 1): 1, (1, 1): 0, (2, 2): 0}
    """
    last, layer_of = list[int](), dict[Span, int]()
    for span in sorted(every):
        layer_of[span] = next((layer for layer, end in enumerate(last) if end < span[0]), len(last))
        last[layer_of[span] : layer_of[span] + 1] = [span[1]]
    return layer_of


def coefficients(measured: Sequence[Span], wanted: Array) -> Array | None:
    """Return how much of every measured span adds up to the wanted periods with the least variance, shape (spans,).

    The spans have independent noise of one variance v: the sum of squares of the coefficients is the smallest there is,
    and the answer's variance v times that.

    Args:
        measured: so far.
        wanted: the weight of every period, shape (periods,); or of several sums at once, shape (sums, periods), for
            coefficients of shape (sums, spans).

    Returns:
        None where the spans do not say.
    """
    if not measured:
        return None
    matrix = np.zeros((len(measured), wanted.shape[-1]))
    for row, (first, last) in enumerate(measured):
        matrix[row, first : last + 1] = 1
    weights = np.asarray(np.linalg.lstsq(matrix.T, wanted.T, rcond=None)[0].T, dtype=np.float64)
    return weights if np.abs(weights @ matrix - wanted).max() < SOLVED * matrix.shape[0] else None


class Variances(NamedTuple):
    """Mean variances of counts, each in that of one span, once all spans are measured.

    Args:
        one: of one period.
        so_far: of the first t periods, t from 1 on.
        in_a_row: of all runs of periods that follow each other.
    """

    one: float
    so_far: float
    in_a_row: float


def variances(every: Sequence[Span], periods: int) -> Variances:
    """Return the exact mean variances of counts by least squares, for spans that determine every period.

    Formula: w^T (S^T S)^-1 w for weights w of the periods, S the spans by periods; memory for 3 periods^2 numbers.

    >>> variances(spans("separate", 3), 3)
    Variances(one=1.0, so_far=2.0, in_a_row=1.6666666666666667)
    """
    matrix = np.zeros((len(every), periods))
    for row, (first, last) in enumerate(every):
        matrix[row, first : last + 1] = 1
    inverse = np.linalg.inv(matrix.T @ matrix)
    sums = np.zeros((periods + 1, periods + 1))
    sums[1:, 1:] = inverse.cumsum(axis=0).cumsum(axis=1)
    prefixes = np.diagonal(sums)
    runs = (prefixes[:, None] + prefixes - 2 * sums)[np.triu_indices(periods + 1, 1)]
    return Variances(float(np.diagonal(inverse).mean()), float(prefixes[1:].mean()), float(runs.mean()))


def _separate(periods: int) -> list[Span]:
    return [(period, period) for period in range(periods)]


def _tree(periods: int) -> list[Span]:
    sizes = [1 << height for height in range(periods.bit_length())]
    return [(first, first + size - 1) for size in sizes for first in range(0, periods - size + 1, size)]


def _smooth(periods: int) -> list[Span]:
    half = next(number for number in range(1, periods + 2) if math.comb(2 * number, number) > periods)
    height = 2 * half
    ones = (sum(1 << bit for bit in chosen) for chosen in combinations(range(height), half))
    leaves = sorted(ones)[: periods + 1]  # leaf t stands for period t; the sum before it is that of t periods
    nodes = []
    for leaf in leaves[1:]:
        for bit in range(height):
            if leaf >> bit & 1:
                node = (leaf >> bit) ^ 1
                inside = [place for place, leaf_above in enumerate(leaves[:periods]) if leaf_above >> bit == node]
                nodes += [(inside[0], inside[-1])] if inside else []
    return nodes
