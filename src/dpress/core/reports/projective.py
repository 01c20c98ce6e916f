"""Projective spaces over finite fields: points as numbers, their coordinates, and products of these.

Field elements are 0, ..., q - 1: modulo q where q is a prime; for q = 4 and 8 polynomials over bits, modulo x^2 + x + 1
and x^3 + x + 1. A point has t coordinates, the first that is not 0 being 1. Points are numbered so that those whose
first t - j coordinates are 0 come first: number s(j) + w has then a 1 and j digits w to base q, most significant first,
with s(j) = (q^j - 1) / (q - 1).
"""

import functools

import numpy as np
import numpy.typing as npt

Elements = npt.NDArray[np.int64]

MODULI = {4: 0b111, 8: 0b1011}
MOST_ORDER = 1021


def points(order: int, dimension: int) -> int:
    """Return s(t) = (q^t - 1) / (q - 1), the number of points with t coordinates; 0 of none.

    >>> [points(4, dimension) for dimension in range(4)]
    [0, 1, 5, 21]
    """
    power: int = order**dimension
    return (power - 1) // (order - 1)


def dimension(order: int, least: int) -> int:
    """Return the smallest t, 1 or more, with at least so many points.

    >>> dimension(4, 22)
    4
    """
    size = 1
    while points(order, size) < least:
        size += 1
    return size


@functools.cache
def orders() -> tuple[int, ...]:
    """Return the orders of the fields that are known: the primes up to 1021, 4 and 8."""
    return tuple(q for q in range(2, MOST_ORDER + 1) if q in MODULI or all(q % x for x in range(2, int(q**0.5) + 1)))


def times(first: Elements, second: Elements, order: int) -> Elements:
    """Return the products of field elements.

    >>> times(np.array([2, 3]), np.array([2, 2]), 4).tolist()
    [3, 1]
    """
    if order not in MODULI:
        return np.asarray(first * second % order)
    products: Elements = _products(order)[first, second]
    return products


def plus(first: Elements, second: Elements, order: int) -> Elements:
    """Return the sums of field elements."""
    return np.asarray(first ^ second if order in MODULI else (first + second) % order)


def minus(elements: Elements, order: int) -> Elements:
    """Return the field elements that add up to 0 with these."""
    return elements if order in MODULI else -elements % order


@functools.lru_cache(maxsize=64)
def inverses(order: int) -> Elements:
    """Return 1 / x of every field element, 0 for 0; shape (q,)."""
    inverse = np.zeros(order, dtype=np.int64)
    for x in range(1, order):
        inverse[x] = int(np.flatnonzero(times(np.full(order, x), np.arange(order), order) == 1)[0])
    return inverse


@functools.lru_cache(maxsize=2)
def _products(order: int) -> Elements:
    """Return the products of all pairs of polynomials over bits, modulo that of the field."""
    products, modulus = np.zeros((order, order), dtype=np.int64), MODULI[order]
    for first in range(order):
        for second in range(order):
            product = 0
            for digit in reversed(range(order.bit_length() - 1)):
                product = product << 1 ^ (first if second >> digit & 1 else 0)
                product ^= modulus if product & order else 0
            products[first, second] = product
    return products


def coordinates(numbers: Elements, order: int, size: int) -> tuple[Elements, Elements]:
    """Return the coordinates of points, shape (t, points), and which of them is the leading 1.

    Args:
        numbers: of the points.
        order: q.
        size: t.
    """
    starts = np.array([points(order, j) for j in range(size)], dtype=np.int64)
    tail = np.searchsorted(starts, numbers, side="right") - 1  # j
    vectors = digits(numbers - starts[tail], order, size)
    vectors[size - 1 - tail, np.arange(numbers.size)] = 1
    return vectors, size - 1 - tail


def digits(numbers: Elements, order: int, size: int) -> Elements:
    """Return the digits of numbers to base q, most significant first, shape (size, numbers)."""
    out, rest = np.empty((size, numbers.size), dtype=np.int64), numbers
    for place in reversed(range(size)):
        rest, out[place] = np.divmod(rest, order)
    return out


def numbers(vectors: Elements, order: int) -> Elements:
    """Return the numbers of the points that vectors other than 0 span; vectors have shape (t, points)."""
    size = len(vectors)
    lead = (vectors != 0).argmax(axis=0)
    scale = inverses(order)[vectors[lead, np.arange(vectors.shape[1])]]
    out = np.zeros(vectors.shape[1], dtype=np.int64)
    for place, row in enumerate(vectors):
        after = place > lead
        out = np.where(after, out * order + times(row, scale, order), out)
    starts = np.array([points(order, j) for j in range(size)], dtype=np.int64)
    return np.asarray(out + starts[size - 1 - lead])
