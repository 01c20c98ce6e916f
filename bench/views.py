"""Marginal tables under pure epsilon: views against separate tables, signed sums and other bases; exact, as JSON.

python bench/views.py > views.json

No data is read: errors of unbiased linear answers do not depend on them. "tables" has, for all tables of so many
attributes, the mean variance of a cell at epsilon 1 for real-valued Laplace noise: separate tables of equal shares with
least squares, the signed sums (of binary attributes alone) with shares c^(1/3), and views, with the seconds that
choosing them takes. "bound" is the singular value bound (Li and Miklau 2013) times that noise.
"bases" has, for one attribute of k cells, the variance of what its cells say beyond their total, over that of the cells
themselves at the same epsilon: squared L1 sensitivity times the trace of the pseudo-inverse of the Gram matrix, for
k I - J, differences to the last cell and to the next, Helmert's orthonormal contrasts, and cosines and sines.
Progress goes to standard error.
"""

import itertools
import json
import math
import sys
import time

import numpy as np

from cases import say
from dpress.core.basics.claim import Relation
from dpress.core.maps.workload import Marginals as Workload
from dpress.inference.consistency import subsets
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.view_cover import best_cover, weights_of
from machine import facts

ADULT = (85, 9, 16, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
FOURTEEN = (2, 22, 5, 9, 3, 16, 7, 4, 12, 2, 6, 18, 8, 10)
BINARY = 23
CASES = (
    ((2,) * BINARY, 2),
    ((2,) * 16, 3),
    ((2,) * 44, 2),
    (FOURTEEN, 2),
    (FOURTEEN, 3),
    (ADULT, 2),
    (ADULT, 3),
)
CELLS = (2, 3, 4, 5, 8)


def compared(shape: tuple[int, ...], ways: int) -> dict[str, object]:
    """Return the mean variance of a cell by every way to measure."""
    say(f"views: {len(shape)} attributes, {ways} at once")
    workload = Workload(shape, tuple(itertools.combinations(range(len(shape)), ways)))
    weights = weights_of(shape, workload.tables)
    began = time.perf_counter()
    cover = best_cover(shape, workload.tables)
    seconds = time.perf_counter() - began
    row: dict[str, object] = {
        "sizes": shape,
        "ways": ways,
        "separate tables": separate(shape, weights, workload.tables) / workload.queries,
        "views": cover.variance / workload.queries,
        "measured": len(cover.views),
        "bound": 2 * lower_bound(workload, Relation.ADD_REMOVE),
        "seconds": seconds,
    }
    if {*shape} == {2}:
        row["signed sums"] = signed_sums(weights) / workload.queries
    return row


def separate(
    shape: tuple[int, ...], weights: dict[tuple[int, ...], float], tables: tuple[tuple[int, ...], ...]
) -> float:
    """Return the sum of variances of tables of equal shares, each component by all tables that hold it."""
    precisions = dict.fromkeys(weights, 0.0)
    for table in tables:
        for axes in subsets(table):
            precisions[axes] += 1 / math.prod(shape[i] for i in table if i not in axes)
    return 2 * len(tables) ** 2 * math.fsum(weight / precisions[axes] for axes, weight in weights.items())


def signed_sums(weights: dict[tuple[int, ...], float]) -> float:
    """Return the sum of variances of one signed sum a set, with the best shares: 2 (sum of (c_A / 2^|A|)^(1/3))^3."""
    return 2 * math.fsum((weight / 2 ** len(axes)) ** (1 / 3) for axes, weight in weights.items()) ** 3


def bases(cells: int) -> dict[str, float]:
    """Return for every basis the variance over that of the cells themselves."""
    eye, places = np.eye(cells), np.arange(cells)
    orders = range(1, cells // 2 + 1)
    waves = [wave(2 * np.pi * order * places / cells) for order in orders for wave in (np.cos, np.sin)]
    helmert = [np.where(places < place, 1.0, np.where(places == place, -place, 0.0)) for place in range(1, cells)]
    return {
        "cells": float(cells),
        "k I - J": relative(cells * eye - 1),
        "to the last": relative(eye[:-1] - eye[-1]),
        "to the next": relative(eye[:-1] - eye[1:]),
        "Helmert": relative(np.array([row / np.linalg.norm(row) for row in helmert])),
        "waves": relative(np.array([row for row in waves if np.abs(row).max() > 1e-9])),
    }


def relative(matrix: np.ndarray) -> float:
    """Return squared sensitivity times the mean variance of centred cells, over that of noisy cells."""
    cells = matrix.shape[1]
    centred = np.eye(cells) - 1 / cells
    covariance = centred @ np.linalg.pinv(matrix.T @ matrix) @ centred
    return float(np.abs(matrix).sum(axis=0).max() ** 2 * np.trace(covariance) / (cells - 1))


def main() -> None:
    """Print one JSON object."""
    out = {
        "machine": facts(),
        "tables": [compared(*case) for case in CASES],
        "bases": [bases(cells) for cells in CELLS],
    }
    json.dump(out, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
