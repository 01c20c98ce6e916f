"""Whole numbers of a release of regions: made of its estimates, they add up; and a made-up row for every person.

estimates, variances -> whole numbers of the leaves -> tables of every level, records.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array, Numbers
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.spine_queries import Estimates, table_of
from dpress.inference.regions.variances import cell_variances
from dpress.mechanisms.linear.region_tables import RegionTables
from dpress.query.published_tables import labels_of

RECORDS = "records.parquet"
BATCH = 1 << 20  # records at a time


def whole_leaves(
    mechanism: RegionTables, estimates: Estimates, progress: Callable[[int], object] | None = None
) -> Numbers:
    """Return whole numbers of the leaves' cells, shape (leaves, *cells); see `whole_numbers`.

    Args:
        mechanism: what measured, and which cells are impossible.
        estimates: by level, of the widest tables.
        progress: called with the number of regions that are done.
    """
    from dpress.inference.regions.whole_numbers import whole_numbers  # noqa: PLC0415  # Numba takes a while to import

    measured, cells = mechanism.queries.measured, np.zeros(mechanism.strategy.shape, dtype=bool)
    cells.flat[[*(mechanism.whole.impossible if mechanism.whole else ())]] = True
    tables = list(dict.fromkeys([(), *(table for level in measured.variances for table in level)]))
    public = {
        level: np.rint(table_of(estimates[level], ())).astype(np.int64)
        for level in range(measured.spine.depth + 1)
        if measured.has_exact_total(level)
    }
    done = 0

    def add(regions: int) -> None:
        nonlocal done
        done += regions
        if progress is not None:
            progress(done)

    return whole_numbers(
        measured.spine,
        mechanism.strategy.shape,
        [_determined(measured, estimates, level, tables) for level in range(measured.spine.depth + 1)],
        {table: cell_variances(measured, table) for table in tables},
        totals=public,
        impossible=cells,
        progress=add,
    )


def _determined(measured: Measured, estimates: Estimates, level: int, tables: Sequence[Table]) -> dict[Table, Array]:
    return {table: table_of(estimates[level], table) for table in tables if level <= measured.deepest(table)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionRecords:
    """The file of records: a row for every person of the whole numbers, region by region; about nobody.

    Args:
        axes: the regions, then the attributes.
        counts: of the leaves' cells.
    """

    axes: tuple[Tabular, ...]
    counts: Numbers
    name: ClassVar[str] = RECORDS

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the records, a column for every attribute: codes and names of cells."""
        flat, shape = self.counts.ravel(), self.counts.shape
        ends = np.cumsum(flat)
        total = int(ends[-1])
        for start in range(0, max(total, 1), BATCH):
            people = np.arange(start, min(start + BATCH, total))
            cells = np.unravel_index(np.searchsorted(ends, people, side="right"), shape)
            columns = zip(self.axes, cells, strict=True)
            yield pa.record_batch({axis.name: labels_of(axis, codes) for axis, codes in columns})
