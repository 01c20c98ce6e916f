"""Row groups of files of reports: found in a footer, read column by column in bounded memory, and never misread.

file -> row groups, each with what its file was like -> batches of columns. A file that is no sound one, or that changes
or goes away meanwhile, is one line that names it.
"""

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics.errors import SchemaMismatch
from dpress.data.reports.report_batch import SCHEMA, SEEDED

FEW, DENSEST = 1 << 20, 4  # reports that any file may hold, and a byte of a larger one: what they take in memory
BUFFER = 1 << 20  # bytes of a column that are read at a time, however long its row group is
Stamp = tuple[int, int]  # size and time of the last change
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """A row group of a file of reports.

    Args:
        path: the file.
        stamp: of the file when its footer was read.
        number: of the row group, from 0.
        rows: the number of its reports.
        shared: whether a payload may be held once for many reports; then it is so in memory, too.
    """

    path: Path
    stamp: Stamp
    number: int
    rows: int
    shared: bool

    def read(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Yield some columns, so many rows at a time.

        Raises:
            OSError: the file is damaged, or no longer what it was.
        """
        seen = 0
        batches = self._answer(lambda: self._open().iter_batches(rows, row_groups=[self.number], columns=columns))
        while (batch := self._answer(lambda: _next(batches))) is not None:
            seen += batch.num_rows
            yield batch
        self._check_unchanged()
        if seen != self.rows:
            raise _damaged(self.path)

    def _open(self) -> pq.ParquetFile:
        self._check_unchanged()
        return pq.ParquetFile(
            self.path,
            metadata=_footer(self.path, self.stamp),
            read_dictionary=["payload"] if self.shared else None,
            buffer_size=BUFFER,
        )

    def _check_unchanged(self) -> None:
        if (stamp := _stamp(self.path)) != self.stamp:
            fault = FileNotFoundError if stamp is None else OSError
            raise fault(f"{self.path} changed or went away while it was read; nothing was released")

    def _answer(self, call: Callable[[], T]) -> T:
        """Return what the file answers; where it fails, the cause is that it changed, or that it is damaged."""
        try:
            return call()
        except (SchemaMismatch, MemoryError):
            raise
        except Exception:  # noqa: BLE001, S110  # whatever an engine raises may quote rows
            pass
        self._check_unchanged()
        raise _damaged(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """What the footer of a file of reports says.

    Args:
        groups: its row groups, in order.
        private: False where it says that a seeded generator drew the coins.
    """

    groups: tuple[RowGroup, ...]
    private: bool


def opened(path: Path) -> ReportFile:
    """Return what the footer of a file says.

    Raises:
        OSError: there is no such file, or it is truncated or no Parquet file.
        SchemaMismatch: a column is missing or of another type, or the file cannot hold what it promises.
    """
    if not path.is_file():
        raise OSError(f"there is no file {path}")
    if set("*?[") & set(str(path)):
        raise SchemaMismatch(f"{path}: the characters * ? [ in a file's path would name several files; rename it")
    with path.open("rb") as file:  # the system's own refusal, such as a missing permission
        now = os.fstat(file.fileno())
    stamp = now.st_size, now.st_mtime_ns
    try:
        return _opened(path, stamp)
    except (SchemaMismatch, MemoryError):
        raise
    except Exception:  # noqa: BLE001, S110  # whatever an engine raises may quote rows
        pass
    raise _damaged(path)


def _opened(path: Path, stamp: Stamp) -> ReportFile:
    """Return what a footer says.

    A payload that its file holds once for many reports is held once in memory, too, until it is kept: otherwise a few
    kilobytes with one long payload, named by many reports, would become gigabytes. DuckDB reads the encodings, for a
    damaged footer makes Arrow end the process.
    """
    query = "SELECT encodings FROM parquet_metadata(?) WHERE path_in_schema = 'payload'"
    rows = _engine().cursor().execute(query, [str(path)]).fetchall()
    shared = any("DICTIONARY" in str(encodings) for (encodings,) in rows)
    footer = _footer(path, stamp)
    if footer.num_rows > max(FEW, DENSEST * stamp[0]):
        what = f"{footer.num_rows:,} of them do not fit into {stamp[0]:,} bytes"
        raise SchemaMismatch(f"{path} is no file of reports: {what}")
    schema = footer.schema.to_arrow_schema()
    _check_columns(path, schema)
    groups = tuple(
        RowGroup(path=path, stamp=stamp, number=number, rows=footer.row_group(number).num_rows, shared=shared)
        for number in range(footer.num_row_groups)
    )
    if any(group.rows < 0 for group in groups) or sum(group.rows for group in groups) != footer.num_rows:
        raise _damaged(path)
    return ReportFile(groups=groups, private=SEEDED not in (schema.metadata or {}))


def _next(batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Return the next batch, if there is one, and it is what it says: a damaged dictionary is not."""
    batch = next(batches, None)
    if batch is not None:
        batch.validate(full=True)
    return batch


def _check_columns(path: Path, schema: pa.Schema) -> None:
    for wanted in SCHEMA:
        index = schema.get_field_index(wanted.name)
        kind = schema.field(index).type if index >= 0 else None
        if kind is not None and pa.types.is_dictionary(kind):
            kind = kind.value_type
        if kind != wanted.type:
            missing = f"it needs a column {wanted.name} ({wanted.type})"
            raise SchemaMismatch(f"{path} is no file of reports: {missing}")


def _stamp(path: Path) -> Stamp | None:
    """Return what changes when the file changes, None where there is none."""
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_size, now.st_mtime_ns


def _damaged(path: Path) -> OSError:
    if path.suffix in {".db", ".sqlite", ".sqlite3"}:
        return OSError(f"{path} is no Parquet file; the reports in a service's store are sqlite:///{path}")
    return OSError(f"{path} is truncated or no Parquet file; ask for the file again")


@functools.lru_cache(maxsize=8)
def _footer(path: Path, stamp: Stamp) -> pq.FileMetaData:
    """Return the footer of a file as it was at that time."""
    del stamp
    return pq.read_metadata(path)


@functools.cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Return a connection that holds no data; making one takes longer than reading a footer."""
    return duckdb.connect()
