"""Tables without negative cells, shrunk toward independence as far as noise alone would explain what they say.

Flow: consistent tables -> one-way shares -> what each pair adds to their product, shrunk -> shares >= 0 with the same
margins. A table of three or more attributes is shrunk toward the largest entropy that its smaller tables allow, alike.
Post-processing; biased toward the product, by design. Standard errors are conditional on the factors.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.fit import fit_margins
from dpress.inference.joint.pair_tables import Tables
from dpress.inference.postprocess import norm_sub

FEW = 3
"""Degrees of freedom below which a table's own strength is not estimated: as in James and Stein's theorem."""
_ROUNDS = 3
_GRID = np.concatenate([[0.0], np.geomspace(1e-6, 100, 80)])


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkTable:
    """One table after shrinkage.

    Args:
        shares: >= 0, adding up to 1, with the margins of the smaller tables.
        factors: by how much every cell's residual was multiplied, from 0 (the product) to 1 (as measured).
        deviations: the standard error of every share for fixed factors, without the shrinkage's bias.
    """

    shares: Array
    factors: Array
    deviations: Array


def one_way(tables: Tables, axis: int) -> Array:
    """Return the nearest shares >= 0 of one attribute that add up to 1."""
    return norm_sub(tables.table((axis,)), users=1)


def shrunk(tables: Tables, order: int = 2) -> dict[Axes, ShrunkTable]:
    """Return every table of `order` attributes or fewer that some report type holds, shrunk; smaller ones first.

    Formula: the residual D of a table over its smaller tables' maximum-entropy table pi has prior variance tau pi and
    noise variance v; it is multiplied by tau pi / (tau pi + v) in every cell, tau by maximum likelihood for every
    table (one tau for all tables of one order with fewer than three degrees of freedom: too few for their own).
    """
    shrunken: dict[Axes, ShrunkTable] = {}
    for axis in range(len(tables.shape)):
        deviation = np.full(tables.shape[axis], math.sqrt(tables.variance((axis,))))
        shares = one_way(tables, axis)
        shrunken[axis,] = ShrunkTable(shares=shares, factors=np.ones_like(shares), deviations=deviation)
    for size in range(2, order + 1):
        sets = [axes for axes in itertools.combinations(range(len(tables.shape)), size) if tables.holds(axes)]
        shrunken |= _of_order(tables, sets, shrunken)
    return shrunken


def noise(tables: Mapping[Axes, ShrunkTable]) -> float:
    """Return the squared standard errors of the largest tables' shares, summed over all their cells."""
    most = max(map(len, tables))
    return math.fsum(float((table.deviations**2).sum()) for axes, table in tables.items() if len(axes) == most)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Residual:
    """What a table says beyond its smaller tables."""

    base: Array
    residual: Array
    margins: dict[Axes, Array]


def _of_order(tables: Tables, sets: list[Axes], smaller: dict[Axes, ShrunkTable]) -> dict[Axes, ShrunkTable]:
    residuals = {axes: _residual(tables, axes, smaller) for axes in sets}
    guesses = {axes: residual.base for axes, residual in residuals.items()}
    out: dict[Axes, ShrunkTable] = {}
    for _ in range(_ROUNDS):  # the noise depends on the shares themselves
        spreads = {axes: tables.variances(axes, guesses[axes]) for axes in sets}
        scores = {axes: _scores(residual, spreads[axes]) for axes, residual in residuals.items()}
        few = [axes for axes, residual in residuals.items() if degrees_of_freedom(residual.base.shape) < FEW]
        pooled = sum((scores[axes] for axes in few), np.zeros(_GRID.size))
        for axes, residual in residuals.items():
            tau = _GRID[np.argmax(pooled if axes in few else scores[axes])]
            out[axes] = _shrink(residual, spreads[axes], tau)
            guesses[axes] = out[axes].shares
    for axes in sets:
        margin = tables.variance(axes) - tables.component(axes) * _centring(guesses[axes].shape)
        errors = np.sqrt(out[axes].deviations ** 2 + max(margin, 0.0))
        out[axes] = ShrunkTable(shares=out[axes].shares, factors=out[axes].factors, deviations=errors)
    return out


def _residual(tables: Tables, axes: Axes, shrunken: dict[Axes, ShrunkTable]) -> _Residual:
    """Return the part of a table that no smaller table holds, beside that of the largest entropy."""
    smaller = list(itertools.combinations(range(len(axes)), len(axes) - 1))
    margins = {some: shrunken[tuple(axes[place] for place in some)].shares for some in smaller}
    shape = tuple(tables.shape[axis] for axis in axes)
    base = fit_margins(np.full(shape, 1 / math.prod(shape)), margins).table
    return _Residual(base=base, residual=centred(tables.table(axes) - base), margins=margins)


def _scores(part: _Residual, spread: Array) -> Array:
    """Return the log likelihood of every tau of the grid."""
    if not degrees_of_freedom(part.base.shape):
        return np.zeros(_GRID.size)
    total = spread + _GRID.reshape([-1] + [1] * spread.ndim) * part.base
    total = np.maximum(total * _centring(spread.shape), 1e-300)  # of a centred cell
    return np.asarray(-(np.log(total) + part.residual**2 / total).reshape(_GRID.size, -1).sum(axis=1) / 2)


def _shrink(part: _Residual, spread: Array, tau: float) -> ShrunkTable:
    factors = np.asarray(tau * part.base / np.maximum(tau * part.base + spread, 1e-300))
    start = np.maximum(part.base + factors * part.residual, 0.0)
    shares = fit_margins(np.where(part.base > 0, np.maximum(start, 1e-9 * part.base), 0.0), part.margins).table
    deviations = factors * np.sqrt(spread * _centring(spread.shape))
    return ShrunkTable(shares=shares, factors=factors, deviations=np.asarray(deviations))


def centred(table: Array) -> Array:
    """Return the table with the mean along every axis taken away: what its margins do not say."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def degrees_of_freedom(shape: Axes) -> int:
    """Return the degrees of freedom of a centred table."""
    return math.prod(size - 1 for size in shape)


def _centring(shape: Axes) -> float:
    return math.prod(1 - 1 / size for size in shape)
