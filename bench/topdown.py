"""TopDown's order of post-processing (Abowd et al. 2022), the passes of the 2020 US Census, for comparison.

From the root down, for all children of a parent together: the tables >= 0 nearest to what was measured *at their own
level*, in passes: totals, then each coarse table, then all cells, each held while finer ones are fitted and all adding
up to the parent, which is fixed; then whole numbers near these. What is not as there: a child's measurements are first
combined by least squares in the child alone, which weights all of its tables by variance in every pass (theirs uses a
pass' tables in that pass), and rounding is ours, `controlled_rounding`, in place of theirs by a commercial solver.
Both can only help it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine
from dpress.inference.regions.families import Families, whole_root
from dpress.inference.regions.measured import Table
from dpress.inference.regions.nearest_tables import nearest
from dpress.inference.regions.table_layout import TableLayout
from dpress.inference.regions.whole_totals import whole_totals


@dataclass(frozen=True, kw_only=True, eq=False)
class Passes(Families):
    """Parents and their children whose tables are the nearest to the estimates, all cells weighted alike."""

    def dispersions(self) -> dict[Table, Array]:
        """Return none: no prior moves an estimate."""
        return {}

    def fitted(self, phi: Mapping[Table, Array]) -> tuple[Array, Array]:  # noqa: ARG002  # there is no prior
        """Return the children's cells >= 0 and their coarser tables."""
        margins = self._margins()
        for table in self.layout.tables[1:]:
            cells = self._nearest(table, margins)
            if table != self.layout.tables[-1]:
                start = self.layout.start(table)
                margins[:, start : start + cells.shape[1]] = cells
        return cells, margins

    def _nearest(self, table: Table, margins: Array) -> Array:
        profiles, fitted = self._profiles(table), self.estimates[table].copy()
        for parent, children in self._slices():
            column = profiles[parent] if self.held else np.zeros(0)
            nearest(
                fitted[children], np.ones_like(fitted[children]), column, margins[children], self.layout.within[table]
            )
        return fitted


def top_down(spine: Spine, shape: Sequence[int], measured: Sequence[Mapping[Table, Array]]) -> Numbers:
    """Return the counts of the leaves' cells, shape (leaves, *shape).

    Args:
        spine: the regions.
        shape: the cells of the other attributes along every axis.
        measured: for every level all its tables, shape (nodes, *sizes), from that level's measurements alone.
    """
    layout = TableLayout.of(shape, list(measured[0]))
    above = np.ones((1, layout.cells), dtype=np.int64)
    for level, nodes in enumerate(spine.sizes):
        tables = {
            table: np.asarray(values, dtype=np.float64).reshape(nodes, -1) for table, values in measured[level].items()
        }
        starts = spine.starts[level - 1] if level else np.array([0, 1])
        known = above.sum(axis=1) if level else np.maximum(np.rint(tables[()][0]), 0)
        families = Passes(
            layout=layout,
            above=above,
            held=level > 0,
            starts=starts,
            totals=whole_totals(tables[()][:, 0], known, starts),
            estimates=tables,
            variances={},
        )
        above = families.whole({}) if level else whole_root(families)
    return above.reshape(-1, *layout.shape)
