"""Which cells of a table belong to which cell of the coarser tables, for tables that stand one after the other."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Numbers
from dpress.inference.regions.measured import Table

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TableLayout:
    """Marginal tables of one histogram, coarse to fine; all but the last stand in the columns of one array.

    Args:
        shape: the number of cells along every axis.
        tables: the total first, all cells last, a table after those that it holds.

    >>> layout = TableLayout.of((2, 3), [(0,)])
    >>> layout.tables, layout.columns, layout.places((0, 1), [(0,)]).tolist()
    (((), (0,), (0, 1)), 3, [[1, 1, 1, 2, 2, 2]])
    """

    shape: tuple[int, ...]
    tables: tuple[Table, ...]

    @classmethod
    def of(cls, shape: Sequence[int], tables: Sequence[Table]) -> "TableLayout":
        """Return the layout of tables in any order, with the total and all cells added."""
        every = {(), tuple(range(len(shape))), *tables}
        return cls(shape=tuple(shape), tables=tuple(sorted(every, key=lambda table: (len(table), table))))

    @property
    def cells(self) -> int:
        """The number of cells of the histogram."""
        return math.prod(self.shape)

    @property
    def columns(self) -> int:
        """The number of cells of all tables but the last."""
        return sum(map(self.size, self.tables[:-1]))

    def size(self, table: Table) -> int:
        """Return the number of cells of a table."""
        return math.prod(self.shape[axis] for axis in table)

    def start(self, table: Table) -> int:
        """Return the first column of a table."""
        return sum(map(self.size, self.tables[: self.tables.index(table)]))

    def marginal(self, cells: Numbers, table: Table) -> Numbers:
        """Return a table of every node, shape (nodes, size), from all its cells, shape (nodes, cells)."""
        dropped = tuple(1 + axis for axis in range(len(self.shape)) if axis not in table)
        whole = cells.reshape(-1, *self.shape)
        return np.asarray(whole.sum(axis=dropped) if dropped else whole).reshape(len(cells), -1)

    def places(self, table: Table, coarser: Sequence[Table]) -> Places:
        """Return the column of every cell of a table in each of the coarser ones, shape (coarser, size)."""
        codes = np.indices([self.shape[axis] for axis in table]).reshape(len(table), self.size(table))
        out = np.zeros((len(coarser), self.size(table)), dtype=np.int64)
        for row, other in enumerate(coarser):
            for axis in other:
                out[row] = out[row] * self.shape[axis] + codes[table.index(axis)]
            out[row] += self.start(other)
        return out

    @functools.cached_property
    def within(self) -> dict[Table, Places]:
        """The places of every table but the total in the largest of the coarser tables, which say all of them."""
        return {table: self.places(table, self._largest(table)) for table in self.tables[1:]}

    @functools.cached_property
    def coarse(self) -> Places:
        """The column of every cell of the histogram in every coarser table, shape (tables, cells)."""
        return self.places(self.tables[-1], self.tables[:-1])

    @functools.cached_property
    def neighbours(self) -> Places:
        """For every cell the later ones that differ from it along axes of one coarser table or along one axis, then -1.

        Shape (cells, most of them).
        """
        axes = range(len(self.shape))
        strides = np.array([math.prod(self.shape[axis + 1 :]) for axis in axes])
        codes = np.indices(self.shape).reshape(len(self.shape), -1)
        parts = []
        for group in {*self._largest(self.tables[-1]), *((axis,) for axis in axes)}:
            inside = np.einsum("ac,a->c", codes[list(group)], strides[list(group)])
            parts.append((np.arange(self.cells) - inside)[:, None] + np.unique(inside))
        every = np.sort(np.concatenate(parts, axis=1), axis=1)
        later = every > np.arange(self.cells)[:, None]
        later[:, 1:] &= every[:, 1:] != every[:, :-1]
        packed = np.sort(np.where(later, every, self.cells), axis=1)[:, : later.sum(axis=1).max(initial=0)]
        return np.where(packed < self.cells, packed, -1)

    def _largest(self, table: Table) -> list[Table]:
        held = [other for other in self.tables if set(other) < set(table)]
        return [other for other in held if not any(set(other) < set(more) for more in held)]
