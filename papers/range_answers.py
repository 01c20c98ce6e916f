"""Answers to many ranges at once from one measurement, by sums along the cells; no loop over ranges."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpress.core.errors import NotSupported
from dpress.core.measurement import Measurement
from dpress.core.mechanism import BoxDecoder
from dpress.core.ranges import Range, Ranges
from dpress.core.tree import Tree
from dpress.mechanisms.linear.binary_tree import Cover
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism

Array = npt.NDArray[np.float64]


def range_errors(mechanism: MatrixMechanism, noisy: Sequence[Measurement], ranges: Sequence[Range]) -> Array:
    """Return the answers to the ranges, shape (runs, ranges); over an empty table they are the errors."""
    decoder = mechanism.strategy.decoder
    if not isinstance(decoder, BoxDecoder):
        raise NotSupported(f"{type(decoder).__name__} does not answer many ranges at once")
    asked = Ranges.of(mechanism.strategy.map.cells, ranges)
    return np.array([decoder.box_answers(one, [asked]) for one in noisy])


def all_ranges_mse(mechanism: MatrixMechanism, noisy: Measurement) -> float:
    """Return the mean over all ranges of the squared answer: over an empty table, of the squared error."""
    decoder = mechanism.strategy.decoder
    if isinstance(decoder, Cover) and isinstance(decoder.map, Tree):
        total = _cover_squares([np.asarray(level, dtype=np.float64) for level in decoder.map.split(noisy.answers)])
    else:
        sums = _prefix_sums(decoder.estimate(noisy)[0])
        total = float(len(sums) * np.sum(sums**2) - np.sum(sums) ** 2)
    cells = mechanism.strategy.map.cells
    return total / (cells * (cells + 1) / 2)


def _prefix_sums(cells: Array) -> Array:
    return np.concatenate([np.zeros(1), np.cumsum(cells)])


def _cover_squares(levels: Sequence[Array]) -> float:
    """Return the sum over all ranges of the squared sum of their cover, for a complete binary tree.

    A range that crosses the middle of a node is a suffix of its left child plus a prefix of its right child:
    sum_ij (a_i + b_j)^2 = s sum a^2 + s sum b^2 + 2 (sum a) (sum b); both whole make the node itself.
    """
    leaves = levels[-1]
    total = float(np.sum(leaves**2))
    prefix = suffix = leaves[:, None]  # by length; the last is the whole node
    for parents in reversed(levels[:-1]):
        width = prefix.shape[1]
        left, right = suffix[0::2], prefix[1::2]
        whole = left[:, -1] + right[:, -1]
        total += float(width * (np.sum(left**2) + np.sum(right**2)) + 2 * np.sum(left.sum(axis=1) * right.sum(axis=1)))
        total += float(np.sum(parents**2 - whole**2))
        prefix = np.hstack([prefix[0::2], left[:, -1:] + right])
        suffix = np.hstack([suffix[1::2], right[:, -1:] + left])
        prefix[:, -1] = suffix[:, -1] = parents
    return total
