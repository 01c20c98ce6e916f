"""How groups of tables share a budget: the parts, from a small grid, whose error of least squares is least.

Groups of tables -> shares within each -> the precision that each gives every component -> the best parts.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpress.core.basics.losses.any_loss import power_of
from dpress.core.basics.losses.loss import Loss
from dpress.core.maps.workload import Marginals as Workload
from dpress.inference.consistency import Axes, subsets

FIRST = (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10), Fraction(1, 5))  # for one-way tables
LARGER = tuple(Fraction(part, 100) for part in (50, 70, 85, 95, 99))  # of the rest, for the largest
_GRAIN = 1000
Group = Sequence[Axes]
Shared = list[tuple[Axes, Fraction]]


def shares(workload: Workload, groups: Sequence[Group], loss: Loss) -> Shared:
    """Return every table with its share of the loss; the shares add up to 1.

    Formula: the mean variance of a cell of the workload is sum_T w_T / sum_S p_S, T over sets of attributes and p_S the
    precision that a table S gives T (`consistency.component_variance`); it is proportional to the share of S under
    Gaussian noise, to its square under Laplace noise. Noise is taken as continuous here.

    Args:
        workload: whose error is least.
        groups: of tables, one to three; of three the first are the one-way tables, the last the largest.
        loss: that they share.
    """
    within = [_divided(workload.shape, group, loss) for group in groups]
    exponent = power_of(loss)
    options = _options(groups)
    parts, error = np.array(options, dtype=float) ** exponent, np.zeros(len(options))
    for axes, weight in _weights(workload).items():
        error += weight / (parts @ [_precision(workload.shape, group, axes, exponent) for group in within])
    best = options[int(np.argmin(error))]
    return [(axes, part * share) for group, part in zip(within, best, strict=True) for axes, share in group]


def _options(groups: Sequence[Group]) -> list[tuple[Fraction, ...]]:
    """Return the parts that are tried, one for each group."""
    if len(groups) == 1:
        return [(Fraction(1),)]
    if len(groups) == 2:
        single = all(len(axes) == 1 for axes in groups[0])
        return [(part, 1 - part) if single else (1 - part, part) for part in (FIRST if single else LARGER)]
    return [(first, (1 - first) * (1 - most), (1 - first) * most) for first, most in itertools.product(FIRST, LARGER)]


def _divided(shape: Axes, sets: Group, loss: Loss) -> Shared:
    """Return tables with shares proportional to cells^power: the least mean variance of tables that stand alone.

    The variance is proportional to 1 / share (Gaussian, power 1/2) or 1 / share^2 (Laplace, power 1/3).
    """
    power = 1 / (power_of(loss) + 1)
    weights = [round(_GRAIN * math.prod(shape[axis] for axis in axes) ** power) for axes in sets]
    return [(axes, Fraction(weight, sum(weights))) for axes, weight in zip(sets, weights, strict=True)]


def _weights(workload: Workload) -> Counter[Axes]:
    """Return for every component how much its variance adds to that of all cells of the workload."""
    weights: Counter[Axes] = Counter()
    for table in workload.tables:
        sizes = {axis: workload.shape[axis] for axis in table}
        for some in subsets(table):
            inside = math.prod(1 - 1 / sizes[axis] for axis in some)
            outside = math.prod(sizes[axis] ** -2.0 for axis in table if axis not in some)
            weights[some] += math.prod(sizes.values()) * inside * outside
    return weights


def _precision(shape: Axes, tables: Shared, axes: Axes, exponent: int) -> float:
    """Return the precision that a group's tables give a component, were the whole loss theirs."""
    return math.fsum(
        float(share) ** exponent / math.prod(shape[axis] for axis in table if axis not in axes)
        for table, share in tables
        if set(axes) <= set(table)
    )
