"""Which share of the budget every table of every level gets, so that a workload's mean variance is least.

Under rho the variance is proportional to 1 / share, and the mean variance is a convex function of the shares. Under
epsilon it is proportional to 1 / share^2, and it is not: of two tables that say the same, one should have all. There
tables are taken away for as long as that helps, which need not end at the best of all sets of tables.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array
from dpress.core.maps.spine import Spine
from dpress.inference.regions.mean_variance import weighted_variances
from dpress.inference.regions.measured import Table, subsets
from dpress.inference.regions.subtrees import Subtrees, regular, subtrees_of
from dpress.inference.regions.variances import cell_weights

SMALLEST = 1e-4
"""Of the shares that are not 0."""
CUTS = (1e-2, 1e-3, 2 * SMALLEST)
"""Shares below these are tried without, the largest first."""
WORSE = 1e-7
"""The part of the mean variance that leaving them out may cost."""
CLOSEST = 1e-15
"""The part of the logarithm of the mean variance that the last steps must win."""
BETTER = 1e-4
"""The part of the mean variance that a step of the search must win."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Allocation:
    """What a plan is free to choose, and what it is for.

    Args:
        spine: the regions.
        shape: the cells of the other attributes along every axis.
        tables: for every level, 0 to the spine's depth, the tables that may be measured there.
        workload: for every level the weight, >= 0, of the variance of a cell of each table, averaged over the level's
            nodes.
        power: of the shares: the variance of a table's noise is proportional to share^-power, 2 under epsilon and 1
            under rho.
        exact: the levels whose total is public.

    Raises:
        ValueError: a table with a weight lies in none that may be measured at its level or below, a weight is negative,
            or there is nothing to choose, or nothing but public totals to plan for.
    """

    spine: Spine
    shape: tuple[int, ...]
    tables: tuple[Collection[Table], ...]
    workload: tuple[Mapping[Table, float], ...]
    power: int
    exact: Collection[int] = ()

    def __post_init__(self) -> None:
        if not self.places:
            raise ValueError("expected a table that may be measured, got none")
        for level, weights in enumerate(self.workload):
            for table, weight in weights.items():
                self._check(level, table, weight)
        if not self._weights.any():
            raise ValueError("expected a weight > 0 of a table that is not public, got none")

    def _check(self, level: int, table: Table, weight: float) -> None:
        place = f"level {level}, table {table}"
        if not 0 <= weight < math.inf:
            raise ValueError(f"{place}: the weight must be finite and >= 0, got {weight}")
        below = [other for tables in self.tables[level:] for other in tables]
        if weight and not self._public(level, table) and not any(set(table) <= set(other) for other in below):
            raise ValueError(f"{place}: lies in no table that may be measured there or below")

    def _public(self, level: int, table: Table) -> bool:
        """Say whether a table is a total that public ones, at its level or below, add up to."""
        return not table and max(self.exact, default=-1) >= level

    @cached_property
    def places(self) -> tuple[tuple[int, Table], ...]:
        """Every level and table that gets a share, in the order of the shares; an exact total gets none."""
        return tuple(
            (level, table)
            for level, tables in enumerate(self.tables)
            for table in sorted(tables)
            if table or level not in self.exact
        )

    @cached_property
    def trees(self) -> Subtrees:
        """The different subtrees of the regions."""
        return subtrees_of(self.spine)

    @cached_property
    def _spaces(self) -> tuple[Table, ...]:
        return tuple(sorted({space for _, table in self.places for space in subsets(table)} | {()}))

    @cached_property
    def _weights(self) -> Array:
        """The weight of a node's variance by space and level."""
        weights = np.zeros((len(self._spaces), self.spine.depth + 1))
        for level, tables in enumerate(self.workload):
            for table, weight in tables.items():
                for space, square in cell_weights(self.shape, table):
                    if not self._public(level, space):
                        weights[self._spaces.index(space), level] += weight * square / self.spine.sizes[level]
        return weights

    @cached_property
    def _precisions(self) -> Array:
        """What each place adds to the precision of every space at its level, shape (spaces, levels, places)."""
        precisions = np.zeros((*self._weights.shape, len(self.places)))
        for row, space in enumerate(self._spaces):
            for place, (level, table) in enumerate(self.places):
                if set(space) <= set(table):
                    precisions[row, level, place] = 1 / math.prod(self.shape[axis] for axis in set(table) - set(space))
        return precisions

    def variance(self, shares: Array, trees: Subtrees | None = None) -> tuple[float, Array]:
        """Return the workload's weighted variance where a share of 1 has variance 1, and its slope by the shares.

        Infinite, without a slope, where a table that has a weight is not determined.

        Args:
            shares: of `places`, >= 0.
            trees: the regions, where others stand for them.
        """
        precisions = self._precisions @ shares**self.power
        precisions[0, list(self.exact)] = math.inf
        used = self._weights.any(axis=1)
        if not precisions[used].any(axis=1).all():
            return math.inf, np.zeros(len(shares))
        variances, slopes = weighted_variances(trees or self.trees, precisions[used], self._weights[used])
        by_power = np.einsum("sl,slp->p", slopes, self._precisions[used])
        return float(variances.sum()), by_power * self.power * shares ** (self.power - 1)


def shares(allocation: Allocation, progress: Callable[[int], object] | None = None) -> tuple[dict[Table, float], ...]:
    """Return for every level the shares of the tables to measure, > 0; they add up to 1 over all levels.

    A table that is best left out has none. Under rho the mean variance is at most a thousandth above the least that any
    shares have; under epsilon that holds for the same tables, and no change of one or two levels of a table, on a tree
    of equal branching, was seen to help.

    Args:
        allocation: what is free, and what it is for.
        progress: called with 1 after every round of the search.

    >>> from dpress.core.maps.spine import Spine
    >>> spine, totals = Spine(starts=(np.array([0, 4]),)), ([()], [()])
    >>> even = Allocation(spine=spine, shape=(), tables=totals, workload=({(): 1.0}, {(): 1.0}), power=1)
    >>> [{table: round(share, 3) for table, share in level.items()} for level in shares(even)]
    [{(): 0.438}, {(): 0.562}]
    """
    step = progress or (lambda _: None)
    start = np.ones(len(allocation.places))
    if allocation.power > 1:
        start = _search(allocation, start, step)
    best = _cut(allocation, _best(allocation, start))
    step(1)
    levels: tuple[dict[Table, float], ...] = tuple({} for _ in allocation.tables)
    for (level, table), share in zip(allocation.places, best.tolist(), strict=True):
        if share:
            levels[level][table] = share
    return levels


def _search(allocation: Allocation, start: Array, step: Callable[[int], object]) -> Array:
    """Return shares that no change of one or two levels of a table makes better.

    The regions are replaced by a tree of as many nodes a level with equally many children, which takes a small part of
    the time.
    """
    trees = regular(allocation.spine.sizes)
    best, moved = _near(allocation, start, trees), True
    least = allocation.variance(best, trees)[0]
    while moved:
        moved = False
        for change in _changes(allocation):
            trial = best.copy()
            trial[change] = np.where(best[change] > 0, 0, best[best > 0].mean())
            if trial.any() and allocation.variance(trial, trees)[0] < math.inf:
                trial = _near(allocation, trial, trees)
                variance = allocation.variance(trial, trees)[0]
                if variance < least * (1 - BETTER):
                    best, least, moved = trial, variance, True
        step(1)
    return best


def _changes(allocation: Allocation) -> list[list[int]]:
    """Return the places of one or two levels of the same table."""
    tables = dict[Table, list[int]]()
    for place, (_, table) in enumerate(allocation.places):
        tables.setdefault(table, []).append(place)
    return [list(change) for places in tables.values() for size in (1, 2) for change in combinations(places, size)]


def _near(allocation: Allocation, start: Array, trees: Subtrees) -> Array:
    """Return good shares near some, of fewer tables where the smallest shares are as well left out."""
    near = _best(allocation, start, trees, closeness=1e-7)
    kept = np.where(near < CUTS[1], 0, near)
    return kept if allocation.variance(kept, trees)[0] < math.inf else near


def _best(allocation: Allocation, start: Array, trees: Subtrees | None = None, closeness: float = CLOSEST) -> Array:
    """Return the best shares near some, of the tables whose share is positive at the start.

    By quasi-Newton steps of logarithms, which do not leap over to others. The mean variance is homogeneous of degree
    -power, so shares are normalised and its logarithm is minimised.

    Args:
        allocation: what is free, and what it is for.
        start: of `places`, >= 0.
        trees: the regions, where others stand for them.
        closeness: the part of the logarithm that a step must win.
    """
    chosen = np.flatnonzero(start)

    def full(logarithms: Array) -> Array:
        every = np.zeros(len(start))
        weights = np.exp(logarithms)
        every[chosen] = weights / weights.sum()
        return every

    def objective(logarithms: Array) -> tuple[float, Array]:
        every = full(logarithms)
        variance, slope = allocation.variance(every, trees)
        return math.log(variance), (every * (slope / variance + allocation.power))[chosen]

    lowest = math.log(SMALLEST)
    first = np.maximum(np.log(start[chosen] / start.max()), lowest)
    options = {"maxiter": 2000, "ftol": closeness, "gtol": 1e-9}
    optimum = scipy("optimize").minimize(
        objective, first, jac=True, method="L-BFGS-B", bounds=[(lowest, 0.0)] * len(chosen), options=options
    )
    return full(optimum.x)


def _cut(allocation: Allocation, best: Array) -> Array:
    """Return the best shares of fewer tables, where small shares are as well left out."""
    for limit in CUTS:
        kept = np.where(best < limit, 0, best)
        if not kept.all() and allocation.variance(kept)[0] < math.inf:
            trial = _best(allocation, kept)
            if allocation.variance(trial)[0] <= allocation.variance(best)[0] * (1 + WORSE):
                return trial
    return best
