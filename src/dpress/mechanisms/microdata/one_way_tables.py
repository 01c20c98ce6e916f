"""Noisy one-way tables made consistent, all public: one total, groups of cells for tables of pairs, records over cells.

noisy one-way tables -> counts with one total -> groups -> ... -> records over groups -> records over cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.attributes.mixed import Column
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import Codes
from dpress.inference.maps.top_down import on_simplex
from dpress.inference.records.latent_classes import Pair
from dpress.inference.row_count import by_precision
from dpress.mechanisms.microdata.balanced import balanced
from dpress.mechanisms.microdata.grouped_tables import GroupedTable
from dpress.mechanisms.microdata.grouping import Places, by_count, in_order

FEWEST_GROUPS = 4
"""Of a number in a table of a pair."""
CLEAR = 3
"""A category counts for itself in a pair where its noisy count is this many standard deviations of the noise."""
MOST_GROUPS = 64
"""Of a category, so that no table of a pair grows beyond reason."""
LEAST = 1e-6
"""The smallest share of a group that a model knows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneWayTables:
    """The noisy one-way tables made consistent, with groups of cells; all of it public.

    Args:
        counts: of every attribute, >= 0, with the same total, each of shape (cells,).
        groups: of every attribute's cells.
        variances: of the noise in a cell of every attribute.
        size: the number of records.
    """

    counts: tuple[Array, ...]
    groups: tuple[Places, ...]
    variances: tuple[float, ...]
    size: int

    @property
    def shares(self) -> tuple[Array, ...]:
        """The shares of every attribute's groups, none of them 0."""
        sums = [np.bincount(groups, weights=counts) for groups, counts in zip(self.groups, self.counts, strict=True)]
        return tuple(_raised(counts / max(counts.sum(), 1.0)) for counts in sums)

    @property
    def spreads(self) -> list[Array]:
        """The variances of the noise in these shares."""
        sizes = [np.bincount(groups).astype(np.float64) for groups in self.groups]
        pairs = zip(sizes, self.variances, strict=True)
        return [size * spread / max(self.size, 1) ** 2 for size, spread in pairs]

    def table(self, pair: Pair) -> GroupedTable:
        """Return the table of a pair's groups."""
        first, second = pair
        shape = tuple(counts.size for counts in self.counts)
        return GroupedTable(shape=shape, axes=pair, groups=(self.groups[first], self.groups[second]))

    def spread(self, codes: Codes, *, rng: Generator) -> Codes:
        """Return records over cells from those over groups, spread as the one-way table says; see `balanced`."""
        out, kept = np.empty_like(codes), np.array([int(groups.max()) + 1 for groups in self.groups])
        values = codes + (np.cumsum(kept) - kept).astype(codes.dtype)[:, None]
        for axis, (groups, counts) in enumerate(zip(self.groups, self.counts, strict=True)):
            others = np.delete(values, axis, axis=0)
            for group in range(kept[axis]):
                records, cells = np.flatnonzero(codes[axis] == group), np.flatnonzero(groups == group)
                places = np.zeros(records.size, np.int64)
                if cells.size > 1:
                    places = balanced(others[:, records], int(kept.sum()), counts[cells], rng=rng)
                out[axis, records] = cells[places]
        return out


def _raised(shares: Array) -> Array:
    """Return shares that add up to 1, none of them 0."""
    raised = np.maximum(shares, LEAST)
    return np.asarray(raised / raised.sum())


def one_way_tables(
    columns: Sequence[Column], one_way: Measurement, deviation: float, *, rows: int | None = None
) -> OneWayTables:
    """Return the one-way tables with one total, and groups of their cells.

    The total is the public number of rows, or the mean of theirs by inverse variance, rounded and at least 0.

    Args:
        columns: of the records.
        one_way: the noisy tables.
        deviation: the standard deviation of the noise in a table of a pair, about.
        rows: how many there are, where that is public.
    """
    parts = one_way.parts
    variances = [float(np.mean(part.variance)) for part in parts]
    spreads = [spread * part.map.rows for spread, part in zip(variances, parts, strict=True)]
    size = by_precision([float(part.answers.sum()) for part in parts], spreads).records if rows is None else rows
    counts = [on_simplex(part.answers[None].astype(np.float64), np.array([float(size)]))[0] for part in parts]
    most = groups_of_numbers(size, deviation)
    groups = [
        _of_number(histogram, most) if column.numeric else by_count(histogram, CLEAR * math.sqrt(spread), MOST_GROUPS)
        for histogram, column, spread in zip(counts, columns, variances, strict=True)
    ]
    return OneWayTables(counts=tuple(counts), groups=tuple(groups), variances=tuple(variances), size=size)


def _of_number(counts: Array, most: int) -> Places:
    """Return the group of every cell of a number: each its own where noise allows twice as many groups."""
    return np.arange(counts.size) if 2 * counts.size <= most else in_order(counts, most)


def groups_of_numbers(records: float, deviation: float) -> int:
    """Return into about how many groups of equal counts a number's cells are put in tables of pairs.

    2/3 sqrt(records / deviation): g groups lose about 1 / g of what two attributes have to do with each other, and
    noise in g groups adds about g deviation / records. Between FEWEST_GROUPS and MOST_GROUPS.

    >>> groups_of_numbers(40_000, 40), groups_of_numbers(100, 40)
    (21, 4)
    """
    return min(max(round(math.sqrt(max(records, 0) / deviation) * 2 / 3), FEWEST_GROUPS), MOST_GROUPS)
