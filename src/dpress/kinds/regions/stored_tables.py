"""Tables of regions as a folder has them: of millions of cells only those of regions that are asked for are read."""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array, Numbers
from dpress.query.folder import verify

KEPT = 1 << 7  # row groups of 2^20 cells that stay in memory


@dataclass(frozen=True, kw_only=True)
class StoredTable:
    """The counts of one file, a row for every cell of every region.

    Args:
        path: of the file.
        digest: its SHA-256, which it is held against before anything is read.
        column: that holds the counts.
        shape: the regions, then the cells of the attributes.
    """

    path: Path
    digest: str
    column: str
    shape: tuple[int, ...]

    def __getitem__(self, nodes: Numbers | slice) -> Array:
        """Return the cells of some regions, or of all with `[:]`, shape (nodes, *cells)."""
        if isinstance(nodes, slice):
            return np.concatenate([*self._groups()]).reshape(self.shape)[nodes]
        size = math.prod(self.shape[1:])
        starts, places = self._starts, np.asarray(nodes)[:, None] * size + np.arange(size)
        groups = np.searchsorted(starts, places, side="right") - 1
        values = np.empty(places.shape)
        for group in np.unique(groups).tolist():
            inside = groups == group
            values[inside] = _group(self.path, self.digest, self.column, group)[places[inside] - starts[group]]
        return values.reshape(len(places), *self.shape[1:])

    def _groups(self) -> Iterator[Array]:
        _verified(self.path, self.digest)
        with pq.ParquetFile(self.path) as file:
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, [self.column])[self.column].to_numpy()

    @functools.cached_property
    def _starts(self) -> Numbers:
        """The first cell of every row group.

        Raises:
            SchemaMismatch: the file has not as many rows as there are cells.
        """
        _verified(self.path, self.digest)
        with pq.ParquetFile(self.path) as file:
            rows = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        if sum(rows) != math.prod(self.shape):
            raise SchemaMismatch(f"{self.path.name} has {sum(rows):,} rows, expected {math.prod(self.shape):,}")
        return np.cumsum([0, *rows[:-1]])


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file of a release, as it is.

    Args:
        path: of the file.
        digest: its SHA-256, which it is held against before anything is read.
    """

    path: Path
    digest: str

    @property
    def name(self) -> str:
        """Of the file."""
        return self.path.name

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        _verified(self.path, self.digest)
        with pq.ParquetFile(self.path) as file:
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group).combine_chunks().to_batches()


@functools.cache
def _verified(path: Path, digest: str) -> None:
    verify(path, digest)


@functools.lru_cache(maxsize=KEPT)
def _group(path: Path, digest: str, column: str, group: int) -> Array:
    """Return a row group of the file that a folder has now: another release in its place has another digest."""
    _verified(path, digest)
    with pq.ParquetFile(path) as file:
        return np.asarray(file.read_row_group(group, [column])[column].to_numpy(), dtype=np.float64)
