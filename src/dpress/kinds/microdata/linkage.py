"""Which row a released record stands for, and whether the nearest rows give it away. Reads raw rows: not private.

Paper: microdata, Metrics (record linkage RL); Kuhn 1955 for the assignment.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.attributes.mixed import Column
from dpress.core.basics.compiled import compiled
from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes

ASSIGNED = 5_000  # rows, and records, that are matched by an assignment, seconds; more take the nearest
SAME = 1e-9  # two distances that differ by less are equal
THREADS = 2
SLICE = 256  # records whose distances are added up at a time

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linkage:
    """What every record was matched with.

    Args:
        original: the row of every record, shape (records,).
        linkage: the mean over records of 1 / |G| if their row is among the nearest rows G, else 0.
        certain: False where a record's row is the nearest one, for want of anything better: `linkage` is then an
            upper bound.
    """

    original: Places
    linkage: float
    certain: bool


def linked(columns: tuple[Column, ...], rows: Codes, made: Codes, *, aligned: bool) -> Linkage:
    """Return the rows that records are matched with: by place, by the least total distance, or the nearest one.

    The distance is the sum of squares: of numbers on the scale of their bounds, and of hierarchy distances.

    Args:
        columns: of both.
        rows: shape (attributes, rows), one or more.
        made: shape (attributes, records), one or more.
        aligned: whether record i stands for row i.
    """
    distance, ties, place = nearest(columns, rows, made)
    if aligned and rows.shape[1] == made.shape[1]:
        original = np.arange(rows.shape[1])
    elif max(rows.shape[1], made.shape[1]) <= ASSIGNED:
        original = _assigned(columns, rows, made)
    else:
        return Linkage(original=place, linkage=float((1 / ties).mean()), certain=False)
    original = np.where(original < 0, place, original)  # records beyond the number of rows go to their nearest
    paired = _pairs(columns, rows[:, original], made)
    linkage = float(np.where(paired <= distance + SAME, 1 / ties, 0).mean())
    return Linkage(original=original, linkage=linkage, certain=True)


def nearest(columns: tuple[Column, ...], rows: Codes, made: Codes) -> tuple[Array, Array, Places]:
    """Return for every record its distance to the nearest row, how many rows are as near, and one of them."""
    unique, first, counts = np.unique(rows, axis=1, return_index=True, return_counts=True)
    distinct, place = np.unique(made, axis=1, return_inverse=True)
    size = distinct.shape[1]
    distance, ties, closest = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    edges = np.linspace(0, size, THREADS + 1).astype(int)
    tables, starts, kernel = *_tables(columns), compiled(search)

    def part(low: int, high: int) -> None:
        out = distance[low:high], ties[low:high], closest[low:high]
        kernel(np.ascontiguousarray(distinct.T[low:high]), np.ascontiguousarray(unique.T), counts, tables, starts, *out)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(part, edges[:-1], edges[1:]))
    place = place.ravel()
    return distance[place], ties[place], first[closest][place]


def search(  # noqa: PLR0917  # numba takes no keywords
    made: Codes, rows: Codes, counts: Places, tables: Array, starts: Places, least: Array, ties: Array, place: Places
) -> None:
    """Write the distance of every record to its nearest row, how many are as near, and one. Numba compiles it."""
    for i in range(made.shape[0]):
        best, near, where = np.inf, 0, 0
        for j in range(rows.shape[0]):
            total = 0.0
            for a in range(made.shape[1]):
                size = starts[a, 1]
                total += tables[starts[a, 0] + made[i, a] * size + rows[j, a]]
                if total > best + SAME:
                    break
            if total < best - SAME:
                best, near, where = total, counts[j], j
            elif total <= best + SAME:
                near += counts[j]
        least[i], ties[i], place[i] = best, near, where


def _squares(column: Column) -> Array:
    """Return the squared distance of every two cells, shape (size, size)."""
    if column.numeric:
        return np.asarray((column.scaled[:, None] - column.scaled) ** 2)
    return np.asarray(column.distance**2)


def _tables(columns: tuple[Column, ...]) -> tuple[Array, Places]:
    """Return all squared distances in one array, and where each attribute's begin with its size, (attributes, 2)."""
    flat = [_squares(column).ravel() for column in columns]
    begins = np.cumsum([0, *(squares.size for squares in flat)])[:-1]
    return np.concatenate(flat), np.stack([begins, [column.size for column in columns]], axis=1).astype(np.int64)


def _pairs(columns: tuple[Column, ...], rows: Codes, made: Codes) -> Array:
    """Return the distance of every record from the row at its place."""
    parts = [_squares(column)[codes, new] for column, codes, new in zip(columns, rows, made, strict=True)]
    return np.asarray(np.sum(parts, axis=0))


def _assigned(columns: tuple[Column, ...], rows: Codes, made: Codes) -> Places:
    """Return the row of every record that makes the sum of distances least; -1 where there are fewer rows."""
    cost = np.zeros((made.shape[1], rows.shape[1]))
    for start in range(0, made.shape[1], SLICE):
        for column, codes, new in zip(columns, rows, made, strict=True):
            cost[start : start + SLICE] += _squares(column)[new[start : start + SLICE]][:, codes]
    records, places = scipy("optimize").linear_sum_assignment(cost)
    original = np.full(made.shape[1], -1, dtype=np.int64)
    original[records] = places
    return original
