"""Wider cells of integers, whose borders are some of those between the cells there are."""

import math
from collections.abc import Iterator

Bounds = tuple[int, int]


def integer_cells(bounds: Bounds, cuts: frozenset[int], *, clamped: bool) -> Iterator[tuple[Bounds, int]]:
    """Yield bounds and a number of cells of one width between which all cuts lie, the widest cells first.

    One cut makes two cells, which reach beyond a bound: what lies there is clamped into the same cell as before.

    >>> list(integer_cells((0, 99), frozenset({18}), clamped=True))
    [((-64, 99), 2), ((0, 99), 50)]

    Args:
        bounds: of the integers, both included.
        cuts: numbers of integers below each cut.
        clamped: whether what lies beyond a bound is clamped.
    """
    (low, high), size = bounds, bounds[1] - bounds[0] + 1
    inner = [cut for cut in cuts if 0 < cut < size]
    if clamped and len(inner) == 1:
        middle = low + inner[0]
        yield (min(low, 2 * middle - high - 1), max(high, 2 * middle - low - 1)), 2
    width = math.gcd(size, *inner)
    if width > 1:
        yield bounds, size // width
