"""Error of ranges under `privelet` as the document on ranges has it, in fractions: Theorem 2 and Algorithm 3.

Cells are counted from 1 and both ends of a range are included; coefficients are in units of the noise variance.
"""

from fractions import Fraction

from dpress.core.maps.ranges import Range


def wavelet_covariance(cells: int, i: int, j: int) -> Fraction:
    """Return entry (i, j) of the covariance of `privelet`'s cells, exactly.

    Formula: 4^-h + (1 - 4^-h) / 3 on the diagonal, (2/3) (4^-h - 4^-k) off it, k the height of the lowest common
    ancestor, the bit length of (i - 1) XOR (j - 1).
    Paper: ranges, Theorem 2.

    >>> wavelet_covariance(8, 1, 1), wavelet_covariance(8, 3, 4)
    (Fraction(11, 32), Fraction(-5, 32))
    """
    if not 1 <= min(i, j) <= max(i, j) <= cells:
        raise ValueError(f"cells are counted from 1 to {cells}, got {i} and {j}")
    least = Fraction(1, 4 ** (cells - 1).bit_length())
    height = ((i - 1) ^ (j - 1)).bit_length()
    return least + (1 - least) / 3 if height == 0 else Fraction(2, 3) * (least - Fraction(1, 4**height))


def wavelet_coefficient(cells: int, query: Range) -> Fraction:
    """Return the error coefficient of a range under `privelet`, in O(log n) steps, exactly.

    The range's cells on the diagonal, plus for every height the pairs that meet there for the first time.
    Paper: ranges, Algorithm 3.

    >>> wavelet_coefficient(8, Range(3, 7))
    Fraction(31, 32)
    """
    height = (cells - 1).bit_length()
    total = (query.right - query.left + 1) * wavelet_covariance(cells, 1, 1)
    least, below = Fraction(1, 4**height), 0
    for level in range(1, height + 1):
        pairs = _pairs_within(query.left - 1, query.right, 1 << level)
        total += 2 * (pairs - below) * Fraction(2, 3) * (least - Fraction(1, 4**level))
        below = pairs
    return total


def _pairs_within(start: int, stop: int, width: int) -> int:
    """Return how many pairs of the cells start..stop-1 (from 0) share a block of this width."""
    first, last = start // width, (stop - 1) // width
    if first == last:
        return _pairs(stop - start)
    whole = (last - first - 1) * _pairs(width)
    return _pairs((first + 1) * width - start) + whole + _pairs(stop - last * width)


def _pairs(size: int) -> int:
    return size * (size - 1) // 2
