"""Whole numbers >= 0 over a tree of regions that add up over all levels and tables, near unbiased estimates.

least squares of every level and table, with variances -> from the root down, a parent and its children at a time:
totals, then every table from coarse to fine, then whole cells -> counts of the leaves. Post-processing, no randomness.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine
from dpress.core.reports.pieces import on_threads
from dpress.inference.regions.families import Families, whole_root
from dpress.inference.regions.measured import Table
from dpress.inference.regions.table_layout import TableLayout
from dpress.inference.regions.whole_totals import public_totals, whole_totals

BLOCK = 512  # children of a piece of work, unless one parent has more
SAMPLE = 20_000  # children of a level, at most about, in which it is seen how much children differ


def whole_numbers(
    spine: Spine,
    shape: Sequence[int],
    estimates: Sequence[Mapping[Table, Array]],
    variances: Mapping[Table, Sequence[Array]],
    *,
    totals: Mapping[int, Numbers] | None = None,
    impossible: Numbers | None = None,
    progress: Callable[[int], object] | None = None,
) -> Numbers:
    """Return counts of the leaves' cells, int64, shape (leaves, *shape); every level and every table is their sums.

    From the top down, for all children of a parent together. A table of theirs starts from what is expected: the
    parent's, raked to the coarser tables that the child has already. The estimate moves it to the posterior mean
    (`count_posterior`; how much children differ is seen in the estimates, `dispersion`): counts of sparse regions are
    drawn to the few that are expected, where cutting off what is negative would pile up what is not. All then move to
    the nearest tables >= 0 that add up to the parent and to the coarser tables (`nearest_tables`), cells in the end to
    whole numbers near those (`controlled_rounding`). The parent's cells, the totals and the zeros hold exactly, tables
    between them to about a person. Where regions or cells tie, the first has the person.

    Error: not stated by a formula; the interval of a number is that of its estimate. On sparse tables it is less than
    the estimate's, but biased: to the parent's shares, by the posterior at most 4 standard errors of the estimate.
    Sources: the passes from the top down, coarse tables first, are those of TopDown (Abowd et al. 2022), there from
    the level's own measurement; least squares first is Ghazi et al. 2026 (arXiv 2603.10099), the bound on a move Efron
    and Morris 1971. Time and memory: linear in nodes times cells; of the latter the results of two levels.

    Args:
        spine: the regions.
        shape: the cells of the other attributes along every axis.
        estimates: for every level tables over axes (() is the total), shape (nodes, *sizes), in counts. A table that
            is missing at a level follows from the level above.
        variances: for every such table and every level, shape (nodes,), the variance of a cell, in counts squared.
        totals: public totals, by level, of all its nodes; they hold exactly, and so do their sums.
        impossible: the cells that nobody can be in, shape `shape`, true there.
        progress: called with the number of nodes of every piece that is done.

    Raises:
        ValueError: estimates not of every level, public totals that contradict each other, or people where every cell
            is impossible.
    """
    if len(estimates) != spine.depth + 1:
        raise ValueError(f"expected estimates of {spine.depth + 1} levels, got {len(estimates)}")
    layout = TableLayout.of(tuple(shape) or (1,), [table for level in estimates for table in level])
    public = public_totals(spine, totals or {})
    above = (np.ones(layout.cells) if impossible is None else ~np.asarray(impossible, dtype=bool).ravel())[None]
    for level in range(spine.depth + 1):
        tables = _tables(layout, estimates[level], variances, level, spine.sizes[level])
        starts = spine.starts[level - 1] if level else np.array([0, 1])
        if level in public:
            numbers = public[level]
        elif level:
            numbers = whole_totals(tables[()][0][:, 0], above.sum(axis=1), starts)
        else:
            numbers = np.maximum(np.rint(tables[()][0][:, 0]), 0).astype(np.int64)
        here = _Level(layout=layout, above=above, starts=starts, totals=numbers, tables=tables)
        if not level and numbers[0] > 0 and not above.any():
            raise ValueError(f"{numbers[0]} people, but every cell is impossible")
        above = here.whole(progress) if level else whole_root(here.families(np.array([0]), held=False))
    return above.reshape(-1, *shape)


def _tables(
    layout: TableLayout,
    estimates: Mapping[Table, Array],
    variances: Mapping[Table, Sequence[Array]],
    level: int,
    nodes: int,
) -> dict[Table, tuple[Array, Array]]:
    """Return every table of a level, shape (nodes, size), and its variances, infinite where it is not estimated."""
    out = {}
    for table in layout.tables:
        if table in estimates:
            out[table] = np.asarray(estimates[table]).reshape(nodes, -1), np.asarray(variances[table][level])
        else:
            nothing = np.broadcast_to(0.0, (nodes, layout.size(table)))
            out[table] = nothing, np.broadcast_to(np.inf, (nodes,))
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class _Level:
    """The children of parents whose cells are whole numbers: the parents' cells, the children's totals and tables."""

    layout: TableLayout
    above: Numbers
    starts: Numbers
    totals: Numbers
    tables: Mapping[Table, tuple[Array, Array]]

    def families(self, parents: Numbers, *, held: bool = True) -> Families:
        """Return some parents with their children; see `Families`."""
        rows = np.concatenate([np.arange(self.starts[parent], self.starts[parent + 1]) for parent in parents])
        return Families(
            layout=self.layout,
            above=self.above[parents],
            held=held,
            starts=np.append(0, np.cumsum(self.starts[parents + 1] - self.starts[parents])),
            totals=self.totals[rows],
            estimates={table: values[rows].astype(np.float64) for table, (values, _) in self.tables.items()},
            variances={table: variance[rows].astype(np.float64) for table, (_, variance) in self.tables.items()},
        )

    def whole(self, progress: Callable[[int], object] | None) -> Numbers:
        """Return the children's cells, shape (children, cells), block by block."""
        step = math.ceil(len(self.totals) / SAMPLE)
        phi = self.families(np.arange(0, len(self.starts) - 1, step)).dispersions()
        out = np.empty((len(self.totals), self.layout.cells), dtype=np.int64)
        first = 0
        for cells in on_threads(lambda parents: self.families(parents).whole(phi), self._blocks()):
            out[first : first + len(cells)] = cells
            first += len(cells)
            if progress is not None:
                progress(len(cells))
        return out

    def _blocks(self) -> Iterator[Numbers]:
        """Yield parents that follow each other, with about BLOCK children."""
        ends = np.searchsorted(self.starts, np.arange(BLOCK, self.starts[-1], BLOCK))
        cuts = np.unique(np.concatenate([[0], ends, [len(self.starts) - 1]]))
        for start, stop in itertools.pairwise(cuts):
            yield np.arange(start, stop)
