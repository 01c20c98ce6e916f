"""The document's theorems by experiment: the direct method's error, GT-R's on its tree, and where the two cross.

A fixed number of people, real reports -> squared errors of rectangles over the variance by formula; and, without any
randomness, the exact variance of GT-R on every grid beside the nodes that a rectangle uses.
"""

import numpy as np
from direct import crossover, direct, direct_laplace, largest, nodes_used
from spatial_methods import asked, made, places, reported

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import TreeNoise

Row = dict[str, object]
USERS, LAPLACE_USERS = 10_000, 500
SIDE, EPSILON = 16, "0.5"
SIZES = ((0.0001, 0.01), (0.05, 0.45), (0.20, 0.60))
SIDES = (8, 16, 32, 64, 128, 256)
KEPT = 20  # rectangles of each size that a table keeps


def measured(runs: int, source: rng.Generator) -> list[Row]:
    """Return the mean squared error of whole rectangles over its formula, of every run.

    Args:
        runs: collections by each method.
        source: of randomness.
    """
    chosen = np.linspace(0, places("landmark").shape[1] - 1, USERS).astype(np.int64)
    people = places("landmark")[:, chosen]
    given, epsilon = _aligned(SIDE), float(EPSILON)
    area = (given.right - given.left) * (given.top - given.bottom)
    cells = np.asarray(people * SIDE // 1024, dtype=np.int32)
    flat, tree = made("n_gtr", SIDE, EPSILON), made("gtr", SIDE, EPSILON)
    own = {
        "direct": (
            lambda: reported(flat, cells, source=source).counts,
            cells,
            [direct(a, USERS, epsilon) for a in area],
        ),
        "gtr": (
            lambda: reported(tree, cells, source=source).counts,
            cells,
            _exact(SIDE).variances(given) * direct(1, USERS, epsilon),
        ),
        "direct_laplace": (
            lambda: _laplace(cells[:, :LAPLACE_USERS], source),
            cells[:, :LAPLACE_USERS],
            [direct_laplace(a, LAPLACE_USERS, epsilon) for a in area],
        ),
    }
    rows: list[Row] = []
    for method, (collect, present, formula) in own.items():
        true = sums(_counts(present), given)
        for run in range(runs):
            ratio = float(np.mean((sums(collect(), given) - true) ** 2 / np.asarray(formula)))
            rows.append({"method": method, "run": run, "over_formula": ratio, "side": SIDE, "epsilon": EPSILON})
    return rows


def crossovers(sides: tuple[int, ...] = SIDES) -> list[Row]:
    """Return for rectangles on every grid their cells, nodes and GT-R's exact variance over the direct method's cell.

    GT-R with ever so many users a level: its variance is a multiple of 4 n e^epsilon / (e^epsilon - 1)^2, the direct
    method's for a cell, that depends on neither n nor epsilon.
    """
    rows: list[Row] = []
    for side in sides:
        for given, size in _rectangles(side):
            nodes, noise = nodes_used(Grid(side), given), _exact(side).variances(given)
            area = (given.right - given.left) * (given.top - given.bottom)
            for one in range(len(nodes)):
                bound = largest(nodes[one], 1, 1.0) / direct(1, 1, 1.0)
                row: Row = {"side": side, "size": size, "cells": float(area[one]), "nodes": float(nodes[one])}
                row |= {"variance": float(noise[one]), "over_bound": float(noise[one]) / bound}
                better = bool(noise[one] < area[one])
                rows.append(row | {"gtr_better": better, "large": bool(area[one] > crossover(nodes[one]))})
    return rows


def _exact(side: int) -> TreeNoise:
    """Return GT-R's noise in units of the direct method's for a cell: each of l levels has one l-th of the users."""
    grid = Grid(side)
    levels = (grid.height or 0) + 1
    return TreeNoise(grid=grid, levels=(float(levels),) * levels)


def _rectangles(side: int) -> list[tuple[Rectangles, str]]:
    """Return rectangles of whole cells, of three sizes."""
    found = []
    for low, high in SIZES:
        scaled = asked(low, high).scaled(side / 1024)
        left, bottom = np.floor(scaled.left[:KEPT]), np.floor(scaled.bottom[:KEPT])
        ends = (left, np.ceil(scaled.right[:KEPT]), bottom, np.ceil(scaled.top[:KEPT]))
        found.append((Rectangles(*ends), f"{100 * low:g} to {100 * high:g} %"))
    return found


def _aligned(side: int) -> Rectangles:
    parts = [own for own, _ in _rectangles(side)]
    return Rectangles(
        *(np.concatenate([getattr(own, end) for own in parts]) for end in ("left", "right", "bottom", "top"))
    )


def _counts(cells: np.ndarray) -> Array:
    image = np.zeros((SIDE, SIDE))
    np.add.at(image, tuple(cells), 1)
    return image


def _laplace(cells: np.ndarray, source: rng.Generator) -> Array:
    """Return the counts of people who add Laplace noise of scale 2 / epsilon to each of their cells."""
    uniform = (source.words(cells.shape[1] * SIDE**2) >> np.uint64(11)) * 2.0**-53 - 0.5 + 2.0**-54
    noise = -2 / float(EPSILON) * np.sign(uniform) * np.log1p(-2 * np.abs(uniform))
    return np.asarray(_counts(cells) + noise.reshape(-1, SIDE, SIDE).sum(axis=0))
