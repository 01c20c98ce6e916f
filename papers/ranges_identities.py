"""What the document on ranges derives, against sums of fractions and dense matrices: it must hold to the last digit."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from claims import Claim, identity
from ranges_wavelets import wavelet_coefficient, wavelet_covariance

from dpress.core.maps.ranges import Range, Ranges
from dpress.core.methods.mechanism import RangeStrategy
from dpress.inference.range_error import wavelet_variances
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.privelet import Privelet

AVERAGES = {2: Fraction(2, 3), 4: Fraction(3, 5), 8: Fraction(187, 288)}
AVERAGE_1024 = 1.695420742500119
LARGEST = 256  # cells of the dense matrices
LISTED = 64  # cells of which every range is summed as fractions
FAR = 1 << 60
ROUNDING = 1e-12
INDICES: dict[str, tuple[Callable[[int], RangeStrategy], int]] = {
    "binary_tree": (BinaryTree, 1),
    "boost": (Boost, 6),
    "privelet": (Privelet, 6),
}
HEIGHT = 40  # log2 of the cells at which an average grows by what it does for ever, to 11 digits


def identities() -> list[Claim]:
    """Return what algebra decides."""
    return [
        identity(
            "covariance",
            f"Privelet: the covariance of two cells depends on the height of their lowest common ancestor alone, "
            f"(2/3)(4^-h - 4^-k), and the variance is 4^-h + (1 - 4^-h)/3; every entry for n = 2 to {LARGEST}",
            "Theorem 2",
            covariance,
            ROUNDING,
        ),
        identity(
            "coefficient",
            f"Privelet: the error coefficient of a range from the covered and the border nodes of every level; every "
            f"range of {LISTED} cells",
            "Algorithm 3",
            coefficient,
            ROUNDING,
        ),
        identity(
            "example", "Privelet: [3, 7] of 8 cells has the coefficient 31/32", "Algorithm 3, example", example, 0
        ),
        identity(
            "far",
            "Privelet: the algorithm works for n = 2^60: [1, n], which is the measured total, has the coefficient 1",
            "Algorithm 3",
            far,
            0,
        ),
        identity(
            "average",
            "Privelet: the mean coefficient over all ranges is 2/3, 3/5 and 187/288 for n = 2, 4 and 8, as fractions",
            "average error",
            average,
            0,
        ),
        identity(
            "average_closed",
            f"Privelet: the mean coefficient is h/6 + 1/36 + 1/(2(n + 1)) + 1/(2n) + 2/(9 n^2), n = 2 to {LISTED}",
            "average error; the document's own formula is an image, this one is derived anew",
            average_closed,
            0,
        ),
        identity(
            "average_limit",
            "Privelet: for h > 10 the mean coefficient is within 0.1 % of h/6 + 1/36, which the document calls "
            f"indistinguishable; h = 11 to {HEIGHT}",
            "formula (17)",
            average_limit,
            1e-3,
        ),
        identity(
            "average_1024",
            f"Privelet: the mean coefficient for n = 1024 is {AVERAGE_1024}, in closed form and from the dense inverse",
            "average error",
            average_1024,
            1e-9,
        ),
        *[
            identity(
                f"index_{name}",
                f"the accuracy index of {name}, the limit of log2(n)^3 / (mean error epsilon^2 / 2), is {limit}",
                "accuracy index",
                _index(kind, limit),
                1e-4,
            )
            for name, (kind, limit) in INDICES.items()
        ],
    ]


def covariance(factor: float) -> float:
    """Return the largest difference between the stated covariances, times a factor, and the dense inverses."""
    worst = 0.0
    for cells in [1 << height for height in range(1, LARGEST.bit_length())]:
        height = cells.bit_length() - 1
        stated = [4.0**-height + (1 - 4.0**-height) / 3]
        stated += [2 / 3 * (4.0**-height - 4.0**-level) for level in range(1, height + 1)]
        ours = [wavelet_covariance(cells, 1, 1)]
        ours += [wavelet_covariance(cells, 1, 1 + (1 << level)) for level in range(height)]
        index = np.arange(cells)
        ancestor = np.frexp(np.bitwise_xor.outer(index, index).astype(np.float64))[1]  # the bit length
        off = np.abs(factor * np.array(stated)[ancestor] - _dense_inverse(cells))
        worst = max(worst, float(off.max()), *(abs(a - float(b)) for a, b in zip(stated, ours, strict=True)))
    return worst


def coefficient(factor: float) -> float:
    """Return the largest difference between Algorithm 3, times a factor, and sums over the dense inverse."""
    inverse, worst = _dense_inverse(LISTED), 0.0
    ranges = _every_range(LISTED)
    for asked, at_once in zip(ranges, wavelet_variances(Ranges.of(LISTED, ranges)), strict=True):
        dense = float(np.sum(inverse[asked.left - 1 : asked.right, asked.left - 1 : asked.right]))
        stated = factor * float(wavelet_coefficient(LISTED, asked))
        worst = max(worst, abs(dense - stated), abs(float(at_once) - stated))
    return worst


def example(factor: float) -> float:
    """Return the difference for the document's example."""
    return _difference(factor, Fraction(31, 32), wavelet_coefficient(8, Range(3, 7)))


def far(factor: float) -> float:
    """Return the difference for the range of all of 2^60 cells, whose only answer is the total: coefficient 1."""
    return _difference(factor, Fraction(1), wavelet_coefficient(FAR, Range(1, FAR)))


def average(factor: float) -> float:
    """Return the largest difference between the stated averages, times a factor, and sums over all ranges."""
    return max(_difference(factor, stated, _mean(cells)) for cells, stated in AVERAGES.items())


def average_closed(factor: float) -> float:
    """Return the largest difference between the closed form, times a factor, and sums over all ranges."""
    sizes = [1 << height for height in range(1, LISTED.bit_length())]
    return max(_difference(factor, mean_coefficient(cells), _mean(cells)) for cells in sizes)


def average_limit(factor: float) -> float:
    """Return the largest relative difference of the limit, times a factor, and of the mean coefficient."""
    sizes = [1 << height for height in range(11, HEIGHT + 1)]
    return max(abs(factor * float(limit_coefficient(one) / mean_coefficient(one)) - 1) for one in sizes)


def average_1024(factor: float) -> float:
    """Return the larger difference of the closed form and of the dense inverse."""
    cells = 1024
    ends = np.arange(1, cells + 1)
    gram = np.minimum.outer(ends, ends) * (cells + 1 - np.maximum.outer(ends, ends))
    dense = float(np.sum(gram * _dense_inverse(cells))) / (cells * (cells + 1) / 2)
    stated = factor * AVERAGE_1024
    return max(abs(stated - dense), abs(stated - Privelet(cells).average_variance([1.0])))


def _index(kind: Callable[[int], RangeStrategy], limit: int) -> Callable[[float], float]:
    """Return the difference of an index from the inverse of what a doubling of n adds to the mean coefficient.

    The mean squared error is 2 (h + 1)^2 / epsilon^2 times a mean coefficient c h + O(1): the index tends to 1 / c.
    """

    def error(factor: float) -> float:
        height = HEIGHT if kind is not BinaryTree else 20  # whose average is summed over the levels of a tree
        means = [kind(1 << own).average_variance([1.0]) for own in (height - 1, height)]
        return abs(factor * limit - 1 / (means[1] - means[0]))

    return error


def _difference(factor: float, stated: Fraction, computed: Fraction) -> float:
    return float(abs(Fraction(factor) * stated - computed))


def _mean(cells: int) -> Fraction:
    ranges = _every_range(cells)
    return sum((wavelet_coefficient(cells, asked) for asked in ranges), Fraction(0)) / len(ranges)


def mean_coefficient(cells: int) -> Fraction:
    """Return the mean coefficient of Privelet over all ranges of so many cells, a power of two, in closed form."""
    rest = Fraction(1, 2 * (cells + 1)) + Fraction(1, 2 * cells) + Fraction(2, 9 * cells**2)
    return limit_coefficient(cells) + rest


def limit_coefficient(cells: int) -> Fraction:
    """Return what that comes to for many cells: h/6 + 1/36, the document's formula (17)."""
    return Fraction(cells.bit_length() - 1, 6) + Fraction(1, 36)


def _every_range(cells: int) -> list[Range]:
    return [Range(left, right) for left in range(1, cells + 1) for right in range(left, cells + 1)]


def _dense_inverse(cells: int) -> np.ndarray:
    matrix = np.array([Privelet(cells).map.apply(cell) for cell in np.eye(cells)]).T
    return np.linalg.inv(matrix.T @ matrix)
