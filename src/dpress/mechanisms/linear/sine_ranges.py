"""Exact variance of ranges under the sine strategy, and its mean, sharing transforms where ranges share an end.

With f the column norms and K_ij = k_{i-j} - k_{i+j} the Gram matrix of the inverse before scaling, the estimates of two
sums of first cells have covariance F(a, b) = sum over i <= a, j <= b of f_i f_j K_ij, and the range that starts after
cell a and ends with cell b has variance F(a, a) + F(b, b) - 2 F(a, b).
"""

import math

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places, Ranges
from dpress.core.maps.sine import Sine, dst
from dpress.inference.lower_bound import average_over_ranges

FEW = 32  # ranges that are cheaper one by one than all F(b, b) together
BLOCK = 1 << 20  # numbers transformed at a time
LEAST = 32  # cells of the blocks that are summed pair by pair


def sine_variances(matrix: Sine, ranges: Ranges, variance: float) -> Array:
    """Return the variance of every range under the sine strategy, in counts squared.

    Ranges that start with the first cell or end with the last one take O(n log^2 n) all together. Of the others, with d
    the number of their distinct first or of their distinct last cells, whichever is smaller, each of min(m, 2 d)
    transforms takes O(n log n); no more than that is shared. Up to 32 ranges, and m <= 2 d, are summed without
    cancellation; the rest is exact to about 1e-12 at n = 2^20.

    Args:
        matrix: what was measured.
        ranges: of the matrix's cells.
        variance: of the noise on every answer, in steps squared.

    Raises:
        ValueError: the matrix has several axes; there the variance is the product of the axes' coefficients.
    """
    if matrix.shape != (ranges.cells,):
        raise ValueError(f"expected a strategy over one axis of {ranges.cells} cells, got shape {matrix.shape}")
    start, stop = ranges.left.astype(np.int64) - 1, ranges.right.astype(np.int64)
    out = np.empty(ranges.size)
    if ranges.size <= FEW:
        return _each(matrix, start, stop) * (variance * matrix.step**2)
    squares = _prefix_squares(matrix)
    inner = np.flatnonzero((start > 0) & (stop < matrix.cells))
    out[:] = squares[np.where(start == 0, stop, matrix.cells - start)]  # the strategy is its own mirror image
    out[inner] = _inner(matrix, start[inner], stop[inner], squares)
    return out * (variance * matrix.step**2)


def sine_average(matrix: Sine) -> float:
    """Return the mean coefficient of all ranges, in counts squared per squared step of noise variance.

    The sum over all ranges is (n + 1) sum_b F(b, b) - F(s, s), s the sum of all sums of first cells: O(n log^2 n).
    """
    squares = float(np.sum(_prefix_squares(matrix)))
    holding = np.arange(matrix.cells, 0, -1.0)  # how many sums of first cells hold a cell
    whole = float(np.sum((dst(holding * matrix.norms) / matrix.roots) ** 2))
    return average_over_ranges((matrix.cells + 1) * squares - whole, matrix.cells) * matrix.step**2


def _inner(matrix: Sine, start: Places, stop: Places, squares: Array) -> Array:
    """Return the coefficients of ranges, grouped by the end that has fewer different places."""
    firsts, lasts = np.unique(start), np.unique(stop)
    if start.size <= 2 * min(firsts.size, lasts.size):
        return _each(matrix, start, stop)
    few, other, places = (start, stop, firsts) if firsts.size <= lasts.size else (stop, start, lasts)
    return squares[start] + squares[stop] - 2 * _products(matrix, few, other, places)


def _each(matrix: Sine, start: Places, stop: Places) -> Array:
    """Return |D^-1 S (f w)|^2 of every range by its own transform, D the roots."""
    norms, roots, cells = matrix.norms, matrix.roots, np.arange(matrix.cells)
    out, rows = np.empty(start.size), max(1, BLOCK // matrix.cells)
    for first in range(0, start.size, rows):
        part = slice(first, first + rows)
        inside = (cells >= start[part, None]) & (cells < stop[part, None])
        out[part] = np.sum((dst(inside * norms) / roots) ** 2, axis=1)
    return out


def _products(matrix: Sine, few: Places, other: Places, places: Places) -> Array:
    """Return F(few, other): for each of the places one transform forth and back gives F(place, b) for every b."""
    norms, shrink, cells = matrix.norms, matrix.roots**-2.0, np.arange(matrix.cells)
    order = np.argsort(few, kind="stable")
    bounds = np.searchsorted(few[order], places, side="right")
    out, rows, done = np.empty(few.size), max(1, BLOCK // matrix.cells), 0
    for first in range(0, places.size, rows):
        block = places[first : first + rows]
        products = np.cumsum(dst(dst((cells < block[:, None]) * norms) * shrink) * norms, axis=1)
        taken = order[done : bounds[first + block.size - 1]]
        out[taken] = products[np.searchsorted(block, few[taken]), other[taken] - 1]
        done += taken.size
    return out


def _prefix_squares(matrix: Sine) -> Array:
    """Return F(b, b) for b = 0..n by the running sum of f_b (f_b K_bb + 2 sum over j < b of f_j K_bj).

    With k_m = c_m - c_{m-1} and c_{-1} = -c_0 the part of k_{b-j} is 2 sum over j <= b of (f_j - f_{j-1}) c_{b-j}: its
    large terms, which nearly cancel, are gone.
    """
    norms = matrix.norms
    cotangents, kernel = _kernel(matrix.cells)
    near = norms[0] * cotangents + _convolved(np.diff(norms, prepend=norms[0]), cotangents)
    steps = norms * (2 * near - norms * kernel[2::2] - 2 * _sums(kernel, norms))
    return np.concatenate([np.zeros(1), np.cumsum(steps)])


def _kernel(cells: int) -> tuple[Array, Array]:
    """Return c_m for m = 0..n-1 and k_m for m = 0..2n, in closed form.

    k_m is the mean of cos(pi k m / N) / roots_k^2 over the basis; with N = n + 1 and x = pi / (2 N) it is
    c_m - c_{m-1} - (-1)^m / N^(3/2), c_m = cot((m + 1/2) x) / (2 N^(3/2)); the last part is the same at i - j and i + j
    and left out.
    """
    size = cells + 1
    places = np.arange(2 * cells + 1)
    angle, scale = math.pi / (2 * size), 1 / (2 * size**1.5)
    folded = np.minimum(places, 2 * size - places)
    sines = np.sin((folded + 0.5) * angle) * np.sin((folded - 0.5) * angle)
    return scale / np.tan((places[:cells] + 0.5) * angle), -scale * math.sin(angle) / sines


def _convolved(values: Array, lags: Array) -> Array:
    """Return the sum over j <= i of values_j lags_{i-j} for every i."""
    size = 1 << (2 * values.size - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(lags, size) * np.fft.rfft(values, size), size)[: values.size])


def _sums(kernel: Array, norms: Array) -> Array:
    """Return the sum over j < i of f_j k_{i+j} for every i: blocks of doubling size, left half j, right half i."""
    size = max(LEAST, 1 << (norms.size - 1).bit_length())
    left, reach = np.zeros(size), np.zeros(2 * size)
    left[: norms.size] = norms
    reach[: kernel.size - 2] = kernel[2:]  # k_{i+j} by the sum of places from 0
    out, half = _within(left, reach), LEAST
    while half < size:
        window = np.fft.rfft(reach.reshape(-1, 4 * half)[:, half : 3 * half])
        spectrum = window * np.conj(np.fft.rfft(left.reshape(-1, 2, half)[:, 0], 2 * half))
        out.reshape(-1, 2, half)[:, 1] += np.fft.irfft(spectrum, 2 * half)[:, :half]
        half *= 2
    return out[: norms.size]


def _within(left: Array, reach: Array) -> Array:
    """Return the part of the sums where j and i lie in one smallest block."""
    blocks, sums = left.reshape(-1, LEAST), reach.reshape(-1, 2 * LEAST)
    out = np.empty(blocks.shape)
    for i in range(LEAST):
        out[:, i] = np.einsum("bj,bj->b", blocks[:, :i], sums[:, i : 2 * i])
    return out.ravel()
