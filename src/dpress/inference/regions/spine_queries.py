"""Queries about regions: sums over the widest nodes whose leaves weigh the same, with their exact variance.

A query weighs leaves and, along every other axis, cells: one weight vector for every axis, all ones where it does not
matter.
"""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.regions.cover import Cover, cover
from dpress.inference.regions.estimates import estimates
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.variances import RegionQuery, covariances

Estimates = Sequence[Mapping[Table, Any]]
"""For every level its tables of every node: arrays of shape (nodes, *kept sizes), or what gives some nodes' rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SpineQueries:
    """How queries are answered from estimates over what was measured.

    Args:
        measured: the tables of every level, and their noise.
    """

    measured: Measured

    def at(self, level: int) -> tuple[Table, ...]:
        """Return the widest tables that are known of every node of a level."""
        return self._determined[level]

    @cached_property
    def _determined(self) -> tuple[tuple[Table, ...], ...]:
        tables = list(dict.fromkeys(table for level in self.measured.variances for table in level))
        deepest = {table: self.measured.deepest(table) for table in tables}
        levels = range(self.measured.spine.depth + 1)
        return tuple(widest(table for table in tables if level <= deepest[table]) for level in levels)

    def estimates(self, noisy: Sequence[Mapping[Table, Numbers]]) -> list[dict[Table, Array]]:
        """Return the estimates of the widest tables of every level, and of what they tell of the levels above.

        Args:
            noisy: by level and table, shape (nodes, *sizes); see `estimates.estimates`, whose errors these are.
        """
        return estimates(self.measured, noisy, [*dict.fromkeys(itertools.chain(*self._determined))])

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The axes of the tables of the leaves, which are axis 0."""
        return tuple((0, *(1 + axis for axis in table)) for table in self.at(self.measured.spine.depth))

    def answer(self, estimates: Estimates, weights: Sequence[Array]) -> float:
        """Return the answer to a query from the tables of all levels.

        Raises:
            NotSupported: no table of these regions holds its attributes together.
        """
        region = cover(self.measured.spine, weights[0])
        table, total = self._table(region, weights), 0.0
        for level, (nodes, values) in region.items():
            wide = next(each for each in estimates[level] if set(table) <= set(each))
            cells = np.tensordot(values, estimates[level][wide][nodes], axes=(0, 0))
            for axis in wide:
                cells = np.tensordot(weights[1 + axis], cells, axes=(0, 0))
            total += float(cells)
        return total

    def variance(self, weights: Sequence[Array]) -> float:
        """Return the exact variance of the answer to a query, in counts squared.

        Formula: of unions of one weight each, the sum of their covariances (`variances.covariances`).

        Raises:
            NotSupported: see `answer`.
        """
        region = cover(self.measured.spine, weights[0])
        table = self._table(region, weights)
        if not region:
            return 0.0  # of no place at all: nobody is counted
        cells = functools.reduce(np.multiply.outer, (weights[1 + axis] for axis in table), np.ones(()))
        unions = [
            RegionQuery(union=_with_weight(region, weight), weights={table: weight * cells})
            for weight in np.unique([weight for _, values in region.values() for weight in values])
        ]
        return float(covariances(self.measured, unions).sum())

    def together(self, weights: Sequence[Array]) -> bool:
        """Return whether a table of the regions that a query weighs holds the attributes that it is about."""
        return self._holding(cover(self.measured.spine, weights[0]), weights) is not None

    def _table(self, region: Cover, weights: Sequence[Array]) -> Table:
        if (table := self._holding(region, weights)) is None:
            raise NotSupported("no published table of these regions holds these attributes together")
        return table

    def _holding(self, region: Cover, weights: Sequence[Array]) -> Table | None:
        used = tuple(axis for axis, cells in enumerate(weights[1:]) if not np.all(cells == 1))
        determined = all(any(set(used) <= set(table) for table in self.at(level)) for level in region or [0])
        return used if determined else None


def table_of(level: Mapping[Table, Any], table: Table) -> Array:
    """Return a table of every node of a level, shape (nodes, *kept sizes), from the first that holds it."""
    wide = next(each for each in level if set(table) <= set(each))
    beside = tuple(1 + place for place, axis in enumerate(wide) if axis not in table)
    return np.asarray(level[wide][:].sum(axis=beside))


def widest(tables: Iterable[Table]) -> tuple[Table, ...]:
    """Return the tables that lie in no other one, each once.

    >>> widest([(), (0,), (0, 1), (2,)])
    ((0, 1), (2,))
    """
    every = tuple(dict.fromkeys(tables))
    return tuple(table for table in every if not any(set(table) < set(other) for other in every))


def _with_weight(region: Cover, weight: float) -> dict[int, Numbers]:
    """Return the nodes of a weight."""
    return {level: nodes[values == weight] for level, (nodes, values) in region.items()}
