"""Parents whose cells are whole numbers, with all their children: the children's tables from coarse to fine."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.inference.regions.controlled_rounding import Rounding, round_tables
from dpress.inference.regions.count_posterior import expect, posteriors
from dpress.inference.regions.dispersion import dispersions
from dpress.inference.regions.measured import Table
from dpress.inference.regions.nearest_tables import nearest
from dpress.inference.regions.table_layout import TableLayout

FREE = 1e-6  # the least weight of a cell that the parent has


@dataclass(frozen=True, kw_only=True, eq=False)
class Families:
    """Some parents and their children.

    Args:
        layout: of the tables.
        above: the parents' cells, shape (parents, cells).
        held: whether children add up to their parent; else it only leads to expect how they are spread.
        starts: the children of every parent, as in `Spine`, shape (parents + 1,).
        totals: of the children, shape (children,).
        estimates: of the children's tables, shape (children, size) each.
        variances: of the estimates' cells, shape (children,) each; infinite where nothing is estimated.
    """

    layout: TableLayout
    above: Numbers
    held: bool
    starts: Numbers
    totals: Numbers
    estimates: Mapping[Table, Array]
    variances: Mapping[Table, Array]

    def dispersions(self) -> dict[Table, Array]:
        """Return phi of every table's cells, seen in the estimates; see `dispersion`."""
        margins, out = self._margins(), {}
        for table in self.layout.tables[1:]:
            expected = self._expected(table, margins)
            out[table] = dispersions(self.estimates[table], self.variances[table], expected)
            if table != self.layout.tables[-1]:
                self._fit(table, out[table], margins)
        return out

    def fitted(self, phi: Mapping[Table, Array]) -> tuple[Array, Array]:
        """Return the children's cells >= 0, shape (children, cells), and their coarser tables, in the layout's columns.

        Args:
            phi: the dispersions of every table.
        """
        margins = self._margins()
        for table in self.layout.tables[1:]:
            cells = self._fit(table, phi[table], margins)
        return cells, margins

    def whole(self, phi: Mapping[Table, Array]) -> Numbers:
        """Return the children's cells as whole numbers that add up to the parents' and the totals."""
        cells, margins = self.fitted(phi)
        out = np.zeros(cells.shape, dtype=np.int64)
        for parent, children in self._slices():
            round_tables(
                Rounding(
                    whole=out[children],
                    off=cells[children],
                    excess=-margins[children],
                    strength=np.ones(children.stop - children.start),
                    column=self.above[parent],
                    places=self.layout.coarse,
                    neighbours=self.layout.neighbours,
                )
            )
        return out

    def _slices(self) -> Iterator[tuple[int, slice]]:
        """Yield every parent, and where its children are."""
        for parent, (start, stop) in enumerate(itertools.pairwise(self.starts)):
            yield parent, slice(start, stop)

    def _margins(self) -> Array:
        """Return the children's coarser tables of which only the totals are there."""
        out = np.zeros((len(self.totals), self.layout.columns))
        out[:, 0] = self.totals
        return out

    def _expected(self, table: Table, margins: Array) -> Array:
        """Return what the parents' tables lead to expect of the children's, shape (children, size)."""
        profiles, places = self._profiles(table), self.layout.within[table]
        out = np.empty((len(margins), profiles.shape[1]))
        for parent, children in self._slices():
            expect(profiles[parent], margins[children], places, out[children])
        return out

    def _profiles(self, table: Table) -> Array:
        """Return a table of the parents, shape (parents, size)."""
        return self.layout.marginal(self.above, table).astype(np.float64)

    def _fit(self, table: Table, phi: Array, margins: Array) -> Array:
        """Return the children's table, and put it among their coarser tables if it is one of them."""
        profiles, places, fitted = self._profiles(table), self.layout.within[table], self._expected(table, margins)
        weights = np.empty_like(fitted)
        posteriors(self.estimates[table], self.variances[table], phi, fitted, weights)
        for parent, children in self._slices():
            weights[children] += FREE * (profiles[parent] > 0)
            column = profiles[parent] if self.held else np.zeros(0)
            nearest(fitted[children], weights[children], column, margins[children], places)
        if table != self.layout.tables[-1]:
            start = self.layout.start(table)
            margins[:, start : start + fitted.shape[1]] = fitted
        return fitted


def whole_root(root: Families) -> Numbers:
    """Return the cells of the one child of a parent that only says which cells may have counts, shape (1, cells).

    Its total holds. It is rounded beside a second child that has whatever is left of enough, and costs nothing.
    """
    cells, margins = root.fitted(root.dispersions())
    missing = np.ceil(abs(root.totals[0] - cells.sum())) + 1
    enough = np.where(root.above[0] > 0, np.ceil(cells[0]) + missing, 0).astype(np.int64)
    left = np.zeros_like(margins)
    left[0, 0] = enough.sum() - root.totals[0]
    out = np.zeros((2, cells.shape[1]), dtype=np.int64)
    round_tables(
        Rounding(
            whole=out,
            off=np.vstack([cells, enough - cells]),
            excess=-np.vstack([margins, left]),
            strength=np.array([1.0, 0.0]),
            column=enough,
            places=root.layout.coarse,
            neighbours=root.layout.neighbours,
        )
    )
    return out[:1]
