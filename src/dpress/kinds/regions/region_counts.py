"""What a release of regions keeps beside its description: the noisy counts, and the tables that add up."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dpress.core.maps.linear import Numbers
from dpress.inference.regions.measured import Measured, Table
from dpress.inference.regions.spine_queries import Estimates
from dpress.kinds.regions.levels import table_title
from dpress.query.published_tables import BATCH_CELLS
from dpress.query.released_file import Part

NOISY = "noisy_counts.parquet"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionCounts:
    """The counts of a release.

    Args:
        estimates: by level and table, of every node.
        noisy: the counts with their noise as they were drawn; none where they stay in the folder.
        whole: by level and table, whole numbers as a folder has them; None where it has none.
        files: that a folder has beside the tables.
    """

    estimates: Estimates
    noisy: Sequence[Mapping[Table, Numbers]] = ()
    whole: Estimates | None = None
    files: Sequence[Part] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyCounts:
    """The file of the noisy counts: level by level, table by table, region by region, the last attribute fastest.

    Args:
        levels: the names of the levels.
        names: of the attributes beside the regions.
        counts: by level and table.
    """

    levels: Sequence[str]
    names: Sequence[str]
    counts: Sequence[Mapping[Table, Numbers]]
    name: ClassVar[str] = NOISY

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the counts with the level and the table that they are of."""
        for level, tables in zip(self.levels, self.counts, strict=True):
            for table, counts in tables.items():
                title = table_title(self.names, table)
                for start in range(0, counts.size, BATCH_CELLS):
                    values = counts.ravel()[start : start + BATCH_CELLS]
                    same = {"level": level, "table": title}
                    columns = {name: pa.array([text]).take(pa.array(np.zeros(len(values), np.int8)))
                               for name, text in same.items()}  # fmt: skip
                    yield pa.record_batch(columns | {"answer": values})


def noisy_counts(measured: Measured, file: Part) -> list[dict[Table, Numbers]]:
    """Return the counts of such a file by level and table, shape (nodes, *sizes).

    Args:
        measured: which tables of which levels they are.
        file: as `NoisyCounts` writes it.
    """
    answers = np.concatenate([batch["answer"].to_numpy() for batch in file.batches()])
    shapes = [
        {table: (nodes, *(measured.shape[axis] for axis in table)) for table in tables}
        for nodes, tables in zip(measured.spine.sizes, measured.variances, strict=True)
    ]
    sizes = [math.prod(shape) for tables in shapes for shape in tables.values()]
    parts = iter(np.split(answers, np.cumsum(sizes)[:-1]))
    return [{table: next(parts).reshape(shape) for table, shape in tables.items()} for tables in shapes]
