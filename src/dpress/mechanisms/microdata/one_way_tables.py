"""Noisy one-way tables made consistent, all public: one total, groups of cells for tables of pairs, records over cells.

noisy one-way tables -> counts with one total -> groups -> ... -> records over groups -> records over cells.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from dpress.attributes.mixed import Column
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import Codes
from dpress.core.methods.possible import EVERYTHING, Combinations, Possible
from dpress.inference.maps.top_down import on_simplex
from dpress.inference.records.latent_classes import Pair
from dpress.inference.row_count import by_precision
from dpress.mechanisms.microdata.balanced import balanced
from dpress.mechanisms.microdata.grouped_tables import FEWEST_GROUPS, MOST_GROUPS, GroupedTable, most_groups
from dpress.mechanisms.microdata.grouping import Places, by_count, in_bins
from dpress.mechanisms.microdata.record_sampling import draw_again, drawn, shuffled
from dpress.mechanisms.microdata.star_sampling import Within, repaired

CLEAR = 3
"""A category counts for itself in a pair where its noisy count is this many standard deviations of the noise."""
LEAST = 1e-6
"""The smallest share of a group that a model knows."""
BINS = 16
"""Of a number, in which errors are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OneWayTables:
    """The noisy one-way tables made consistent, with groups of cells; all of it public.

    Args:
        counts: of every attribute, >= 0, with the same total, each of shape (cells,).
        groups: of every attribute's cells.
        variances: of the noise in a cell of every attribute.
        size: the number of records.
        noisy: the tables as they were measured.
        ways: of every attribute, in how many parts errors are compared: its cells, or BINS of a number.
    """

    counts: tuple[Array, ...]
    groups: tuple[Places, ...]
    variances: tuple[float, ...]
    size: int
    noisy: tuple[Array, ...]
    ways: tuple[int, ...]

    def again(self, more: Measurement) -> "OneWayTables":
        """Return the tables with a second measurement of them: means by inverse variance; groups and size stay.

        Shares are those of the means, by their own total. `size` is the first measurement's, which is unbiased: whether
        there is a second one depends on its noise, so that a mean of both would not be.

        Args:
            more: the same tables with fresh noise.
        """
        second = [float(np.mean(part.variance)) for part in more.parts]
        weights = [new / (old + new) for old, new in zip(self.variances, second, strict=True)]
        noisy = tuple(
            weight * first + (1 - weight) * part.answers
            for weight, first, part in zip(weights, self.noisy, more.parts, strict=True)
        )
        variances = [weight * old for weight, old in zip(weights, self.variances, strict=True)]
        total = max(_total(noisy, variances), 1)
        scale = max(self.size, 1) / total
        return replace(
            self,
            counts=tuple(scale * counts for counts in _with_total(noisy, total)),
            variances=tuple(scale**2 * variance for variance in variances),
            noisy=noisy,
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of cells of every attribute."""
        return tuple(counts.size for counts in self.counts)

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
        return GroupedTable(shape=self.shape, axes=pair, groups=(self.groups[first], self.groups[second]))

    def spread(self, codes: Codes, *, rng: Generator, possible: Possible = EVERYTHING) -> Codes:
        """Return records over cells from those over groups, spread as the one-way table says; see `balanced`.

        Of every attribute in another order of records: two that are spread in one order would follow each other. What
        is impossible in the end is drawn again within its groups.
        """
        out, kept = np.empty_like(codes), np.array([int(groups.max()) + 1 for groups in self.groups])
        values = codes + (np.cumsum(kept) - kept).astype(codes.dtype)[:, None]
        for axis, (groups, counts) in enumerate(zip(self.groups, self.counts, strict=True)):
            others = np.delete(values, axis, axis=0)
            for group in range(kept[axis]):
                records, cells = np.flatnonzero(codes[axis] == group), np.flatnonzero(groups == group)
                records = records[shuffled(records.size, rng=rng)] if cells.size > 1 else records
                places = np.zeros(records.size, np.int64)
                if cells.size > 1:
                    places = balanced(others[:, records], int(kept.sum()), counts[cells], rng=rng)
                out[axis, records] = cells[places]
        for part in possible.parts:
            self._possible_again(part, out, rng)
        return out

    def _possible_again(self, part: Combinations, codes: Codes, rng: Generator) -> None:
        """Draw impossible cells again, in place, within the groups that they are in."""
        if part.leaves:
            within = Within(groups=self.groups, counts=[counts + LEAST for counts in self.counts])
            repaired(part, codes, within, partial(drawn, rng=rng))
            return
        groups = [self.groups[axis] for axis in part.axes]
        sizes = [int(each.max()) + 1 for each in groups]
        along = [each[codes[axis]] for each, axis in zip(groups, part.axes, strict=True)]
        counts = {axis: self.counts[axis] + LEAST for axis in part.axes}

        def weights(cluster: int, axis: int) -> Array:
            place = part.axes.index(axis)
            inside = groups[place] == np.unravel_index(cluster, sizes)[place]
            return np.where(inside, counts[axis], 0.0)

        draw_again(part, codes, np.ravel_multi_index(along, sizes), weights, rng=rng)


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
    noisy = tuple(part.answers.astype(np.float64) for part in one_way.parts)
    variances = [float(np.mean(part.variance)) for part in one_way.parts]
    size = _total(noisy, variances) if rows is None else rows
    counts = _with_total(noisy, size)
    most = most_groups(len(columns))
    of_numbers = min(groups_of_numbers(size, deviation), most)
    groups = [
        _of_number(histogram, of_numbers) if column.numeric else by_count(histogram, CLEAR * math.sqrt(spread), most)
        for histogram, column, spread in zip(counts, columns, variances, strict=True)
    ]
    return OneWayTables(
        counts=counts,
        groups=tuple(groups),
        variances=tuple(variances),
        size=size,
        noisy=noisy,
        ways=tuple(min(column.size, BINS) if column.numeric else column.size for column in columns),
    )


def _total(noisy: Sequence[Array], variances: Sequence[float]) -> int:
    """Return the number of rows by all tables, rounded and at least 0."""
    spreads = [variance * table.size for variance, table in zip(variances, noisy, strict=True)]
    return by_precision([float(table.sum()) for table in noisy], spreads).records


def _with_total(noisy: Sequence[Array], total: int) -> tuple[Array, ...]:
    """Return the nearest tables >= 0 with one total."""
    return tuple(on_simplex(table[None], np.array([float(total)]))[0] for table in noisy)


def _of_number(counts: Array, most: int) -> Places:
    """Return the group of every cell of a number: each its own where noise allows twice as many groups, else bins."""
    if 2 * counts.size <= most:
        return np.arange(counts.size)
    return in_bins(counts, most, min(BINS, counts.size))


def groups_of_numbers(records: float, deviation: float) -> int:
    """Return into about how many groups of equal counts a number's cells are put in tables of pairs.

    2/3 sqrt(records / deviation): g groups lose about 1 / g of what two attributes have to do with each other, and
    noise in g groups adds about g deviation / records. Between FEWEST_GROUPS and MOST_GROUPS.

    >>> groups_of_numbers(40_000, 40), groups_of_numbers(100, 40)
    (21, 4)
    """
    return min(max(round(math.sqrt(max(records, 0) / deviation) * 2 / 3), FEWEST_GROUPS), MOST_GROUPS)
