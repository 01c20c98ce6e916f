"""Noisy tables of regions beside totals that are public: what a release of regions measures.

rows -> exact tables of all levels -> noise on all but the public totals -> Measurement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from dpress.core.basics.claim import Claim
from dpress.core.maps.linear import Numbers
from dpress.core.maps.region_table import NoisyRegions, RegionTable
from dpress.core.methods.mechanism import Draw, Drawn
from dpress.core.methods.table_sums import Rows
from dpress.inference.interval import Tail
from dpress.inference.regions.measured import Measured
from dpress.inference.regions.spine_queries import SpineQueries
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.spine_marginals import SpineMarginals, Table, of_leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTotals:
    """The number of rows of every region of a level, which is public.

    Args:
        level: its name.
        depth: of the level in the spine.
        counts: of its regions, in their order; empty where they are read from the rows.
    """

    level: str
    depth: int
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeCounts:
    """Counts >= 0 that are whole and add up over all levels and tables, made of the estimates: post-processing.

    Args:
        impossible: the cells of the other attributes, the last fastest, in which nobody can be.
    """

    impossible: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RegionTables:
    """Tables of regions with noise, given totals of some levels.

    Promise: that of the noisy tables, `MatrixMechanism`. Given totals that are public it holds between tables that have
    these totals: under add-remove two of them differ by at least two rows that come and go in one region, and by group
    privacy their loss is at most that of two rows.
    Error: exact, see `SpineMarginals`; a public total has none.
    Paper: see `SpineMarginals`; invariants as Abowd et al. 2022 have them.

    Args:
        noisy: the tables with noise, a `SpineMarginals`.
        public: the totals without, coarse to fine.
        whole: what is made of the estimates beside; None where nothing is.
    """

    noisy: MatrixMechanism
    public: tuple[PublicTotals, ...] = ()
    whole: WholeCounts | None = None

    def __post_init__(self) -> None:
        spine, depths = self.strategy.spine, [totals.depth for totals in self.public]
        if depths != sorted(set(depths)) or not all(1 <= depth <= spine.depth for depth in depths):
            raise ValueError(f"public totals must be of different levels, coarse to fine, got {depths}")
        for totals in self.public:
            if totals.counts and len(totals.counts) != spine.sizes[totals.depth]:
                raise ValueError(f"public totals of {totals.level}: expected {spine.sizes[totals.depth]:,} numbers")
            if () in self.strategy.tables[totals.depth]:
                raise ValueError(f"public totals of {totals.level}: they are also measured")

    @property
    def strategy(self) -> SpineMarginals:
        """The tables with noise."""
        return cast("SpineMarginals", self.noisy.strategy)

    @property
    def claim(self) -> Claim:
        """The promise of the noisy tables; where totals are public, given these."""
        names = " and ".join(totals.level for totals in self.public)
        return replace(self.noisy.claim, given=f"the public totals of every {names}" if names else "")

    @property
    def tail(self) -> Tail:
        """How heavy the noise's tail is."""
        return self.noisy.tail

    @cached_property
    def queries(self) -> SpineQueries:
        """How queries are answered, and what their error is: of public totals the noise has variance 0."""
        noises, public = iter(self.noisy.noises), {totals.depth for totals in self.public}
        variances = tuple(
            {table: next(noises).variance for table in tables} | ({(): 0.0} if level in public else {})
            for level, tables in enumerate(self.strategy.tables)
        )
        return SpineQueries(
            measured=Measured(spine=self.strategy.spine, shape=self.strategy.shape, variances=variances)
        )

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the noise; see `CuratorMechanism`."""
        leaves = self.strategy.leaves(rows)
        exact = self.strategy.of_leaves(leaves)
        exact_totals = [self._exact(totals, leaves) for totals in self.public]
        del leaves
        return lambda rng: Drawn(output=self.measured(self.noisy.noisy(exact, rng=rng).answers, exact_totals))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory: those of the noisy tables; records are made of two levels."""
        return self.noisy.numbers_held(rows)

    def _exact(self, totals: PublicTotals, leaves: Mapping[Table, Numbers]) -> Numbers:
        """Return public totals: those that are stated, or those of the rows."""
        if totals.counts:
            return np.array(totals.counts, dtype=np.int64)
        return of_leaves(RegionTable(self.strategy.spine, self.strategy.shape, totals.depth, ()), leaves)

    def measured(self, noisy: Numbers, exact_totals: Sequence[Numbers]) -> NoisyRegions:
        """Return the answers by level and table: noisy ones, and totals that are public."""
        levels = self.strategy.decoder.split(noisy)
        for totals, counts in zip(self.public, exact_totals, strict=True):
            levels[totals.depth][()] = counts
        return NoisyRegions(levels=tuple(levels))
