"""The p-Identity strategy of least mean variance for a workload, by projected quasi-Newton steps: Gram -> Theta."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.core.maps.tree import Tree

Progress = Callable[[int, float], None]
Pair = tuple[Array, Array]  # a step and the change of the gradient along it

MEMORY = 20  # pairs of step and change of gradient that approximate the second derivative
DECREASE = 1e-4  # of the slope that a step must keep (Armijo)
FLAT = 1e-10  # least curvature of a pair that is kept
LARGEST = 16.0  # of an entry: without a bound columns run away to 10^4 and the objective loses its digits
SHORTEST = 2.0**-30  # a line search that gets here has met the rounding of the objective


class Gram(Protocol):
    """The Gram matrix W^T W of a workload W, by what it does."""

    @property
    def diagonal(self) -> Array:
        """The diagonal of the Gram matrix, shape (cells,)."""
        ...

    @property
    def queries(self) -> int:
        """The number of rows of W."""
        ...

    def times(self, rows: Array) -> Array:
        """Return X W^T W for X of shape (k, cells)."""
        ...


@dataclass(frozen=True, slots=True)
class RangesGram:
    """(W^T W)_ij = min(i, j) (n + 1) - i j, all ranges of n cells, applied in O(n) a row by two running sums.

    Args:
        cells: n.
    """

    cells: int

    @property
    def queries(self) -> int:
        """The number of ranges."""
        return self.cells * (self.cells + 1) // 2

    @property
    def diagonal(self) -> Array:
        """I (n + 1 - i): the number of ranges that hold cell i."""
        positions = self._positions
        return positions * positions[::-1]

    def times(self, rows: Array) -> Array:
        """Return X W^T W: min(i, j) counts the k up to both, so a suffix sum and a prefix sum apply it."""
        suffixes = np.cumsum(rows[:, ::-1], axis=1)[:, ::-1]
        moments = rows @ self._positions
        return np.asarray((self.cells + 1) * np.cumsum(suffixes, axis=1) - np.outer(moments, self._positions))

    @property
    def _positions(self) -> Array:
        return np.arange(1.0, self.cells + 1)


@dataclass(frozen=True, slots=True, eq=False)
class DenseGram:
    """Any workload's Gram matrix, formed.

    Args:
        matrix: W^T W, symmetric, shape (cells, cells).
        queries: the number of rows of W.
    """

    matrix: Array
    queries: int

    @property
    def diagonal(self) -> Array:
        """The diagonal of the Gram matrix."""
        return np.diagonal(self.matrix)

    def times(self, rows: Array) -> Array:
        """Return X W^T W."""
        return np.asarray(rows @ self.matrix)


def mean_coefficient(theta: Array, gram: Gram) -> tuple[float, Array]:
    """Return the mean error coefficient of the workload and its gradient in Theta, O(n p^2 + p^3).

    With A = [I; Theta] D, s_j = 1 + sum_q Theta_qj, D = diag(1 / s): f = tr((A^T A)^-1 W^T W) / m = tr(K C) / m,
    C = diag(s) W^T W diag(s), K = (I + Theta^T Theta)^-1 = I - Theta^T B, B = (I + Theta Theta^T)^-1 Theta (Woodbury).
    m f = sum_j C_jj - sum_qj B_qj (Theta C)_qj.
    m df / ds_j = 2 / s_j (C_jj - sum_q B_qj (Theta C)_qj), added to every entry of column j; at fixed s
    m df / dTheta = -2 Theta K C K = -2 (B C - B C Theta^T B).

    Args:
        theta: non-negative, shape (p, cells).
        gram: of the workload, of m queries.
    """
    scale = 1 + theta.sum(axis=0)
    half = gram.times(theta * scale)
    whole = half * scale
    inner = theta @ theta.T
    inner[np.diag_indices_from(inner)] += 1
    inverse = np.linalg.inv(inner)  # eigenvalues at least 1 and theta is bounded: well conditioned
    solved, energy = inverse @ theta, inverse @ whole
    value = scale**2 @ gram.diagonal - np.vdot(solved, whole)
    by_scale = scale * gram.diagonal - np.einsum("qj,qj->j", solved, half)
    gradient = by_scale - energy + (energy @ theta.T) @ solved
    return float(value) / gram.queries, gradient * (2 / gram.queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """Where the search ended.

    Args:
        theta: non-negative, shape (p, cells).
        coefficient: the mean error coefficient of the workload; the L1 sensitivity is 1.
        iterations: the steps taken, over all starts.
        by_clock: whether the clock cut a search short; if not, the same machine finds the same Theta again.
    """

    theta: Array
    coefficient: float
    iterations: int
    by_clock: bool


def optimise(
    gram: Gram,
    starts: Sequence[Array],
    *,
    seconds: float = 20.0,
    iterations: int = 1000,
    tolerance: float = 1e-6,
    progress: Progress | None = None,
) -> Optimum:
    """Return the best Theta found from several starts, sharing the time equally; nothing here is random.

    The data are not looked at: the result is public and costs no privacy.
    Paper: McKenna, Miklau, Hay and Machanavajjhala 2018 (p-Identity strategies); search: projected L-BFGS, Bertsekas
    1982 (two-metric projection), Nocedal 1980.

    Args:
        gram: of the workload.
        starts: at least one non-negative Theta of shape (p, cells); see `hierarchy_start`, `default_starts`.
        seconds: when to stop; each start's share is what is left over the number of starts left.
        iterations: the most steps from one start.
        tolerance: a start is done when ten steps together gain less than this part of the objective.
        progress: called after every step with its number, over all starts, and its mean coefficient.
    """
    end = time.monotonic() + seconds
    best: Optimum | None = None
    done, by_clock = 0, False
    for index, start in enumerate(starts):
        now = time.monotonic()
        search = _Search(gram, start, tolerance, progress, done)
        search.run(now + (end - now) / (len(starts) - index), iterations)
        done, by_clock = search.step, by_clock or search.by_clock
        if best is None or search.value < best.coefficient:
            best = search.result
    if best is None:
        raise ValueError("starts must hold at least one Theta")
    return Optimum(theta=best.theta, coefficient=best.coefficient, iterations=done, by_clock=by_clock)


def hierarchy_start(cells: int, branching: int) -> Array:
    """Return the inner nodes of a tree without its root, 0/1, shape (nodes, cells); the root if there is no other."""
    tree = Tree(cells, branching, root=False)
    rows = []
    width = 1
    for size in reversed(tree.levels[:-1]):
        width *= branching
        rows.append((np.arange(cells) // width == np.arange(size)[:, None]).astype(np.float64))
    return np.concatenate(rows[::-1]) if rows else np.ones((1, cells))


def default_starts(cells: int) -> tuple[Array, ...]:
    """Return the starts that serve ranges well: no sum at all, and trees: four up to 512 cells, else one.

    Without a sum the strategy is the identity, best for a handful of cells, and the search ends at once.
    """
    branchings = (4, 8, 16, 20) if cells <= 512 else (16,) if cells <= 2048 else (20,)
    trees = (hierarchy_start(cells, branching) for branching in branchings if branching < cells)
    return (np.zeros((0, cells)), *trees)


@dataclass(slots=True)
class _Search:
    """One projected L-BFGS descent; entries that rest at a bound and would pass it are left out of each step."""

    gram: Gram
    theta: Array
    tolerance: float
    progress: Progress | None
    step: int
    value: float = 0.0
    gradient: Array = field(default_factory=lambda: np.empty(0))
    pairs: deque[Pair] = field(default_factory=lambda: deque(maxlen=MEMORY))
    by_clock: bool = False

    @property
    def result(self) -> Optimum:
        """Where the search is now."""
        return Optimum(theta=self.theta, coefficient=self.value, iterations=self.step, by_clock=self.by_clock)

    def run(self, end: float, iterations: int) -> None:
        """Descend until the clock, the limit or the tolerance ends it."""
        self.value, self.gradient = mean_coefficient(self.theta, self.gram)
        recent: deque[float] = deque([self.value], maxlen=11)
        for _ in range(iterations):
            if time.monotonic() >= end:
                self.by_clock = True
                return
            if not self._advance():
                return
            recent.append(self.value)
            if len(recent) == 11 and recent[0] - self.value < self.tolerance * self.value:
                return

    def _advance(self) -> bool:
        """Take one step; without success forget the pairs and try the gradient once."""
        free = np.where(self.gradient < 0, self.theta < LARGEST, self.theta > 0)
        moves = [_two_loops(self.gradient, free, self.pairs)] if self.pairs else []
        for direction in (*moves, -np.where(free, self.gradient, 0.0)):
            if np.vdot(direction, self.gradient) < 0 and self._line_search(direction):
                return True
            self.pairs.clear()
        return False

    def _line_search(self, direction: Array) -> bool:
        """Go along the projected direction, halving the step until the objective falls enough."""
        length = 1.0 if self.pairs else min(1.0, 1 / float(np.abs(direction).sum()))
        while length >= SHORTEST:
            theta = np.clip(self.theta + length * direction, 0.0, LARGEST)
            moved = theta - self.theta
            value, gradient = mean_coefficient(theta, self.gram)
            slope = float(np.vdot(self.gradient, moved))
            if slope < 0 and value <= self.value + DECREASE * slope:
                self._accept(theta, moved, value, gradient)
                return True
            length /= 2
        return False

    def _accept(self, theta: Array, moved: Array, value: float, gradient: Array) -> None:
        change = gradient - self.gradient
        if float(np.vdot(moved, change)) > FLAT * float(np.vdot(change, change)):
            self.pairs.append((moved, change))
        self.theta, self.value, self.gradient = theta, value, gradient
        self.step += 1
        if self.progress is not None:
            self.progress(self.step, self.value)


def _two_loops(gradient: Array, free: npt.NDArray[np.bool_], pairs: Sequence[Pair]) -> Array:
    """Return -H gradient on the free entries, H the inverse second derivative implied by the pairs (Nocedal 1980)."""
    places = np.flatnonzero(free)  # a small part: most entries rest at zero
    taken = [(np.take(moved, places), np.take(change, places)) for moved, change in pairs]
    kept = [(s, y, curved) for s, y in taken if (curved := float(s @ y)) > FLAT * float(y @ y)]
    out = -np.take(gradient, places)
    shares = []
    for moved, change, curved in reversed(kept):
        shares.append(float(moved @ out) / curved)
        out -= shares[-1] * change
    if kept:
        _, change, curved = kept[-1]
        out *= curved / float(change @ change)
    for (moved, change, curved), share in zip(kept, reversed(shares), strict=True):
        out += (share - float(change @ out) / curved) * moved
    direction = np.zeros(gradient.shape)
    np.put(direction, places, out)
    return direction
