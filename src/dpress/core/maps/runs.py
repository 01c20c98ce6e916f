"""Sets of the cells of one axis as runs: first and last cell, both included, rising, with a gap between two of them."""

from collections.abc import Iterable

Runs = tuple[tuple[int, int], ...]


def of_codes(codes: Iterable[int]) -> Runs:
    """Return the runs of some codes, in any order.

    >>> of_codes([4, 1, 2, 1])
    ((1, 2), (4, 4))
    """
    runs: list[tuple[int, int]] = []
    for code in sorted(codes):
        if runs and code <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], code
        else:
            runs.append((code, code))
    return tuple(runs)


def complement(runs: Runs, size: int) -> Runs:
    """Return all other cells of an axis.

    >>> complement(((1, 2), (4, 4)), 5)
    ((0, 0), (3, 3))
    """
    edges = [0, *(edge for first, last in runs for edge in (first, last + 1)), size]
    return tuple((low, high - 1) for low, high in zip(edges[::2], edges[1::2], strict=True) if low < high)


def common(here: Runs, there: Runs) -> Runs:
    """Return the cells that are in both.

    >>> common(((0, 3), (6, 9)), ((2, 7),))
    ((2, 3), (6, 7))
    """
    shared, left, right = [], 0, 0
    while left < len(here) and right < len(there):
        first, last = max(here[left][0], there[right][0]), min(here[left][1], there[right][1])
        if first <= last:
            shared.append((first, last))
        if here[left][1] < there[right][1]:
            left += 1
        else:
            right += 1
    return tuple(shared)
