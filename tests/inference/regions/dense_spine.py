"""Least squares over a tree of regions as one dense system, and small trees of every shape with what they measure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from hypothesis import strategies as st

from dpress.core.basics import rng
from dpress.core.maps.spine import Spine
from dpress.inference.regions.measured import Measured, Table

MOST_LEAVES, MOST_DEPTH, MOST_CELLS = 9, 6, 12
SMALL = 1e-9


@dataclass(frozen=True)
class Dense:
    """Everything as one matrix: unknown are the cells of the leaves, in the order (leaf, cell)."""

    measured: Measured
    noisy: tuple[Mapping[Table, np.ndarray], ...]

    def rows(self, level: int, table: Table) -> np.ndarray:
        """The queries of a level's table, shape (nodes * sizes, leaves * cells)."""
        spine, places = self.measured.spine, np.arange(self.measured.spine.sizes[-1])
        for below in range(spine.depth, level, -1):
            places = spine.parents(below)[places]
        nodes = (places == np.arange(spine.sizes[level])[:, None]).astype(float)
        return np.kron(nodes, self.cells(table))

    def cells(self, table: Table) -> np.ndarray:
        matrix = np.ones((1, 1))
        for axis, size in enumerate(self.measured.shape):
            matrix = np.kron(matrix, np.eye(size) if axis in table else np.ones((1, size)))
        return matrix

    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """The estimate of the unknown and its covariance; of minimum norm where they stay open."""
        parts = [
            (self.rows(level, table), self.noisy[level][table].ravel(), variance)
            for level, tables in enumerate(self.measured.variances)
            for table, variance in tables.items()
        ]
        unknown = parts[0][0].shape[1]
        exact, known = _stacked([(rows, values) for rows, values, variance in parts if not variance], unknown)
        scaled = [(rows / variance**0.5, values / variance**0.5) for rows, values, variance in parts if variance]
        noisy, right = _stacked(scaled, unknown)
        fixed, free = _inverse(exact) @ known, _free(exact)
        back = free @ _inverse(noisy @ free)
        return fixed + back @ (right - noisy @ fixed), back @ back.T


def _stacked(parts: list[tuple[np.ndarray, np.ndarray]], unknown: int) -> tuple[np.ndarray, np.ndarray]:
    rows, values = [np.zeros((0, unknown))], [np.zeros(0)]
    return np.concatenate(rows + [part[0] for part in parts]), np.concatenate(values + [part[1] for part in parts])


def _free(exact: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what the exact rows leave open."""
    _, sizes, right = np.linalg.svd(exact, full_matrices=True)
    return right[int((sizes > SMALL).sum()) :].T


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """The pseudo-inverse; sizes below SMALL are rounding, as rows have at least a third."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > SMALL
    return (right[kept].T / sizes[kept]) @ left[:, kept].T


def tables_of(axes: int) -> list[Table]:
    return list(chain.from_iterable(combinations(range(axes), size) for size in range(axes + 1)))


@st.composite
def spines(draw: st.DrawFn) -> Spine:
    """Trees of every shape: chains, stars, uneven ones."""
    starts, nodes = [], 1
    for _ in range(draw(st.integers(0, MOST_DEPTH))):
        room = MOST_LEAVES - nodes
        counts = []
        for _ in range(nodes):
            counts.append(1 + draw(st.integers(0, min(room, 4))))
            room -= counts[-1] - 1
        starts.append(np.cumsum([0, *counts]))
        nodes = sum(counts)
    return Spine(starts=tuple(starts))


@st.composite
def cases(draw: st.DrawFn) -> Dense:
    """A spine, tables at some of its levels, some totals exact, and noisy values that agree with the exact ones."""
    spine = draw(spines())
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3).filter(lambda sizes: math.prod(sizes) <= MOST_CELLS)))
    chosen = [draw(st.sets(st.sampled_from(tables_of(len(shape))), max_size=3)) for _ in range(spine.depth + 1)]
    if not any(chosen):
        chosen[draw(st.integers(0, spine.depth))] = {()}
    variances = [{table: draw(st.floats(0.2, 9)) for table in sorted(tables)} for tables in chosen]
    for level in draw(st.sets(st.integers(0, spine.depth), max_size=3)):
        if draw(st.booleans()):
            variances[level][()] = 0.0
    return filled(Measured(spine=spine, shape=shape, variances=tuple(variances)), draw(st.integers(0, 2**32)))


def filled(measured: Measured, seed: int) -> Dense:
    """Noisy values, exact totals those of one truth."""
    source = rng.seeded(seed)
    truth = measured.spine.up((source.words(measured.spine.sizes[-1]) % np.uint64(50)).astype(np.int64))
    noisy = []
    for level, tables in enumerate(measured.variances):
        noisy.append({})
        for table, variance in tables.items():
            sizes = (measured.spine.sizes[level], *(measured.shape[axis] for axis in table))
            values = (source.words(math.prod(sizes)) % np.uint64(100)).astype(np.int64).reshape(sizes) - 20
            noisy[-1][table] = values if variance else truth[level]
    return Dense(measured=measured, noisy=tuple(noisy))


def union_of(spine: Spine, seed: int) -> dict[int, np.ndarray]:
    """A random union of nodes of all levels, none inside another."""
    source, union = rng.seeded(seed), {}
    taken = np.zeros(1, dtype=bool)
    for level, nodes in enumerate(spine.sizes):
        taken = taken[spine.parents(level)] if level else taken
        coins = (source.words(nodes) % np.uint64(3) == 0) & ~taken
        union[level] = np.flatnonzero(coins)
        taken = taken | coins
    return union
