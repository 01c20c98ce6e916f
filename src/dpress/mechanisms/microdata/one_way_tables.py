"""What noisy tables of one and of two attributes say together, all of it public: groups of cells, shares, records.

noisy one-way tables -> groups -> noisy tables of pairs -> shares that agree -> records over cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpress.core.linear import Array
from dpress.core.measurement import Measurement
from dpress.core.mixed import Column
from dpress.core.people import Codes
from dpress.core.rng import Generator
from dpress.inference.joint.fit import fit_margins
from dpress.inference.maps.top_down import on_simplex
from dpress.inference.records.particles import Pair, Particles
from dpress.mechanisms.microdata.grouped_tables import GroupedTable
from dpress.mechanisms.microdata.grouping import Places, by_count, in_order
from dpress.mechanisms.microdata.pair_shrinkage import shrink
from dpress.mechanisms.microdata.record_sampling import drawn

GROUPS = 16
"""Of a number, about, in a table of a pair."""
CLEAR = 3
"""A category counts for itself in a pair where its noisy count is this many standard deviations of the noise."""
MOST_GROUPS = 64
"""Of a category, so that no table of a pair grows beyond reason."""
LEAST = 1e-6
"""The smallest share of a group that a model knows."""


class PairTable(NamedTuple):
    """The noisy table of a measured pair, and the estimate of its shares."""

    pair: Pair
    measurement: Measurement
    shares: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneWayTables:
    """The noisy one-way tables made consistent, with groups of cells; all of it public.

    Args:
        counts: of every attribute, >= 0, with the same total, each of shape (cells,).
        variances: of a cell's noise in each of these tables.
        groups: of every attribute's cells.
        size: the number of records.
    """

    counts: tuple[Array, ...]
    variances: tuple[float, ...]
    groups: tuple[Places, ...]
    size: int

    @property
    def shares(self) -> tuple[Array, ...]:
        """The shares of every attribute's groups, none of them 0."""
        sums = [np.bincount(own, weights=counts) for own, counts in zip(self.groups, self.counts, strict=True)]
        return tuple(_raised(own / max(own.sum(), 1.0)) for own in sums)

    def table(self, pair: Pair) -> GroupedTable:
        """Return the table of a pair's groups."""
        first, second = pair
        shape = tuple(own.size for own in self.counts)
        return GroupedTable(shape=shape, axes=pair, groups=(self.groups[first], self.groups[second]))

    def estimate(self, pair: Pair, found: Measurement, model: Particles) -> PairTable:
        """Return the estimate of a pair's shares from its noisy table and what the model expected."""
        first, second = (self.shares[axis] for axis in pair)
        start = np.maximum(model.table(pair), LEAST / (first.size * second.size))
        expected = fit_margins(start, {(0,): first, (1,): second}, rounds=20).table
        scale = max(self.size, 1)
        variance = float(np.mean(found.variance)) / scale**2
        return PairTable(pair, found, shrink(expected, found.answers.reshape(expected.shape) / scale, variance))

    def consistent_shares(self, measured: Sequence[PairTable]) -> dict[Pair, Array]:
        """Return the pairs' shares, with margins that average all noisy tables, by their variances."""
        margins = [self._margin(axis, measured) for axis in range(len(self.counts))]
        return {
            one.pair: fit_margins(one.shares, {(place,): margins[axis] for place, axis in enumerate(one.pair)}).table
            for one in measured
        }

    def _margin(self, axis: int, measured: Sequence[PairTable]) -> Array:
        precisions = [1 / (self.variances[axis] * np.bincount(self.groups[axis]))]
        sums = [precisions[0] * self.shares[axis] * self.size]
        for one in measured:
            if axis in one.pair:
                others = 1 - one.pair.index(axis)
                table = one.measurement.answers.reshape(one.shares.shape)
                own = 1 / (float(np.mean(one.measurement.variance)) * table.shape[others])
                precisions.append(np.full(table.shape[1 - others], own))
                sums.append(own * table.sum(axis=others))
        mean = np.sum(sums, axis=0) / np.sum(precisions, axis=0)
        return _raised(on_simplex(mean[None] / max(self.size, 1), np.ones(1))[0])

    def spread(self, codes: Codes, *, rng: Generator) -> Codes:
        """Return records over cells from those over groups: a group's records are spread as the one-way table says."""
        out = np.empty_like(codes)
        for axis, (groups, counts) in enumerate(zip(self.groups, self.counts, strict=True)):
            for group in range(int(groups.max()) + 1):
                records, cells = np.flatnonzero(codes[axis] == group), np.flatnonzero(groups == group)
                out[axis, records] = cells[drawn(counts[cells], records.size, rng=rng)]
        return out


def _raised(shares: Array) -> Array:
    """Return shares that add up to 1, none of them 0."""
    raised = np.maximum(shares, LEAST)
    return np.asarray(raised / raised.sum())


def one_way_tables(columns: Sequence[Column], one_way: Measurement) -> OneWayTables:
    """Return the one-way tables with one total, the mean of theirs by inverse variance, and groups of their cells."""
    parts = one_way.parts
    variances = [float(np.mean(part.variance)) for part in parts]
    precisions = [1 / (spread * part.map.rows) for spread, part in zip(variances, parts, strict=True)]
    totals = [float(part.answers.sum()) * own for part, own in zip(parts, precisions, strict=True)]
    total = max(math.fsum(totals) / math.fsum(precisions), 0.0)
    counts = [on_simplex(part.answers[None].astype(np.float64), np.array([total]))[0] for part in parts]
    groups = [
        in_order(own, GROUPS) if column.numeric else by_count(own, CLEAR * math.sqrt(spread), MOST_GROUPS)
        for own, column, spread in zip(counts, columns, variances, strict=True)
    ]
    return OneWayTables(counts=tuple(counts), variances=tuple(variances), groups=tuple(groups), size=round(total))
