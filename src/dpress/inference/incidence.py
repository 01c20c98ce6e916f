"""Sums over hyperplanes of a projective space: for every value, the reports whose point lies on the value's hyperplane.

Flow: counts of points -> those that begin with 0, by the same again; those that begin with 1, an affine space, by its
sums over parallel hyperplanes in every direction, one coordinate after the other -> sums, shape (points,).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics.compiled import compiled
from dpress.core.reports import projective

Numbers = npt.NDArray[Any]  # int64, exact; or float64


def hyperplane_sums(counts: Numbers, order: int) -> Numbers:
    """Return for every point v the sum of the counts of the points x with <x, v> = 0, shape (points,).

    Steps: points times q for every coordinate; memory: about four arrays of that shape.
    Paper: Feldman, Nelson, Nguyen, Talwar 2022, Section 4 (dynamic programming over the coordinates).

    Args:
        counts: of all points, numbered as in `core.reports.projective`.
        order: q.

    >>> hyperplane_sums(np.array([1, 2, 4]), 2).tolist()  # of the points (0, 1), (1, 0), (1, 1)
    [2, 1, 4]
    """
    sums, number = np.zeros(0, dtype=counts.dtype), 0
    while len(sums) < len(counts):  # from few coordinates to many
        before = len(sums)
        size = order**number
        flat, total = counts[before : before + size], counts[:before].sum()
        parallel = parallel_sums(flat, order)
        out = np.empty(before + size, dtype=counts.dtype)
        out[:before] = sums + parallel[:, 0]
        out[before] = total
        for scale in range(1, order):  # (1, scale u) x = 0 where <x', u> = -1 / scale
            offset = int(projective.minus(projective.inverses(order), order)[scale])
            out[before + multiples(order, number, scale)] = sums + parallel[:, offset]
        sums, number = out, number + 1
    return sums


def parallel_sums(counts: Numbers, order: int) -> Numbers:
    """Return the sums over y with <y, u> = z of counts of all vectors y, for every direction and offset.

    Args:
        counts: by the number whose digits to base q are y, shape (q^n,).
        order: q.

    Returns:
        For every point u of n coordinates and every z, shape (points, q).
    """
    batch, number = counts.size, 0
    totals, sums = counts, np.zeros((batch, 0, order), dtype=counts.dtype)
    elements = np.arange(order)
    while batch > 1:
        batch //= order
        totals, directions = totals.reshape(batch, order), sums.shape[1]
        split = sums.reshape(batch, order, directions, order)
        out = np.empty((batch, directions + order**number, order), dtype=counts.dtype)
        out[:, :directions] = split.sum(axis=1)
        out[:, directions] = totals
        differences = projective.plus(elements[:, None], projective.minus(elements, order)[None], order)  # z - y
        for scale in range(1, order):
            inverse = projective.inverses(order)[scale]
            compiled(add_offsets)(
                out,
                split,
                directions + multiples(order, number, scale),
                projective.times(differences, np.full_like(differences, inverse), order),
            )
        totals, sums, number = totals.sum(axis=1), out, number + 1
    flat: Numbers = sums[0]
    return flat


def multiples(order: int, size: int, scale: int) -> npt.NDArray[np.int64]:
    """Return for every point u of so many coordinates the number whose digits to base q are scale u."""
    scaled, parts = np.zeros(1, dtype=np.int64), [np.zeros(0, dtype=np.int64)]
    digits = projective.times(np.arange(order), np.full(order, scale), order)
    for j in range(size):
        parts.append(scale * order**j + scaled)
        scaled = (digits[:, None] * order**j + scaled[None]).ravel()
    return np.concatenate(parts)


def add_offsets(out: Numbers, sums: Numbers, places: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64]) -> None:
    """Set out[b, places[u], z] to the sum over y of sums[b, y, u, offsets[z, y]]; plain Python that numba compiles."""
    batch, order, directions, _ = sums.shape
    for b in range(batch):
        for u in range(directions):
            place = places[u]
            for z in range(order):
                total = sums[b, 0, u, offsets[z, 0]]
                for y in range(1, order):
                    total += sums[b, y, u, offsets[z, y]]
                out[b, place, z] = total
