"""Exact errors of the sine strategy: one range in O(n log n), the mean over all of them in O(n log^2 n)."""

import numpy as np

from dpress.core.linear import Array
from dpress.core.sine import Sine
from dpress.estimate.error import average_over_ranges

SMALLEST_BLOCK = 32


def sine_average(matrix: Sine) -> float:
    """Return the mean coefficient of all ranges, in counts squared per squared step of noise variance.

    With p_a the coefficients of the a-th prefix sum, f the column norms and K_ij = k_{i-j} - k_{i+j} the Gram matrix of
    the inverse, the sum over all ranges is (n + 1) sum_a |p_a|^2 - |sum_a p_a|^2, and
    sum_a |p_a|^2 = sum_ij K_ij f_i f_j (n + 1 - max(i, j)): correlations, the second one restricted to j <= i.
    """
    cells = matrix.cells
    norms, kernel = matrix.norms, _kernel(matrix)
    later = norms * (cells - np.arange(cells))  # f_i (n + 1 - i) at i = 1..n
    squares = _differences(kernel, later, norms) - _sums(kernel, later, norms)
    ones = np.cumsum(np.ones(cells))[::-1]  # how many prefixes hold a cell
    whole = float(ones @ matrix.covariance(ones, 1.0)) / matrix.step**2
    return average_over_ranges((cells + 1) * squares - whole, cells) * matrix.step**2


def _kernel(matrix: Sine) -> Array:
    """Return k_m for m = 0..2n: the mean over the basis of cos(pi k m / (n + 1)) / roots_k^2."""
    size = matrix.cells + 1
    padded = np.zeros(2 * size)
    padded[1:size] = matrix.roots**-2.0
    return np.fft.fft(padded).real[: 2 * matrix.cells + 1] / size


def _differences(kernel: Array, later: Array, norms: Array) -> float:
    """Return sum_ij k_{|i-j|} f_i f_j (n + 1 - max(i, j)) by one correlation."""
    size = 1 << (2 * norms.size - 1).bit_length()
    spectrum = np.fft.rfft(later, size) * np.conj(np.fft.rfft(norms, size))
    by_lag = np.fft.irfft(spectrum, size)[: norms.size]
    return float(2 * (kernel[: norms.size] @ by_lag) - kernel[0] * by_lag[0])


def _sums(kernel: Array, later: Array, norms: Array) -> float:
    """Return sum_ij k_{i+j} f_i f_j (n + 1 - max(i, j)), blocks of doubling size: left half j, right half i."""
    cells = norms.size
    size = max(SMALLEST_BLOCK, 1 << (cells - 1).bit_length())
    left, right = np.zeros(size), np.zeros(size)
    left[:cells], right[:cells] = norms, later
    reach = np.zeros(2 * size)
    reach[: kernel.size - 2] = kernel[2:]  # k_{i+j} by the sum of positions from 0
    total, block = _within(reach, left, right), SMALLEST_BLOCK
    while block < size:
        pairs = np.arange(0, size, 2 * block)
        spectrum = np.fft.rfft(left.reshape(-1, 2, block)[:, 0], 2 * block) * np.fft.rfft(
            right.reshape(-1, 2, block)[:, 1], 2 * block
        )
        products = np.fft.irfft(spectrum, 2 * block)
        at = (2 * pairs + block)[:, None] + np.arange(2 * block)[None, :]
        total += 2 * float(np.sum(products * reach[np.minimum(at, reach.size - 1)]))
        block *= 2
    return total


def _within(reach: Array, left: Array, right: Array) -> float:
    """Return the part of the sum where i and j lie in one smallest block."""
    places = np.arange(SMALLEST_BLOCK)
    largest = np.maximum.outer(places, places)
    total = 0.0
    starts = np.arange(0, left.size, SMALLEST_BLOCK)
    for i, j in np.ndindex(SMALLEST_BLOCK, SMALLEST_BLOCK):
        larger, smaller = starts + largest[i, j], starts + min(i, j)
        total += float(np.sum(reach[larger + smaller] * right[larger] * left[smaller]))
    return total
