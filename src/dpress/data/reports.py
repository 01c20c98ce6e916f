"""Files of reports: Parquet with the fields of a report as columns, read batch by batch.

Reports are not raw rows: whoever holds them may publish them. What is wrong with one is counted by reason, and the
others go on.
"""

import contextlib
import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpress.core.errors import SchemaMismatch
from dpress.core.oracle import Payloads
from dpress.core.wire import (
    HASH_BYTES,
    ID_BYTES,
    MISSING,
    OTHER_ASK,
    OTHER_ROUND,
    OTHER_VERSION,
    REPEATED,
    UNKNOWN_TYPE,
    VERSION,
    WRONG_LENGTH,
    Expected,
)
from dpress.data.repeated_ids import repeated

BATCH = 1 << 16
LARGEST_BATCH = 1 << 26  # bytes of payloads at a time
FEW, DENSEST = 1 << 20, 4  # reports that any file may hold, and a byte of a larger one: each takes 8 in memory
SCHEMA = pa.schema(
    [
        ("version", pa.uint8()),
        ("ask", pa.binary(HASH_BYTES)),
        ("id", pa.binary(ID_BYTES)),
        ("round", pa.uint16()),
        ("report_type", pa.uint16()),
        ("payload", pa.binary()),
    ]
)
Ids = npt.NDArray[np.void]
SEEDED = b"dpress.seeded"
Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Reports of one type, sound in everything but their payloads' contents.

    Args:
        report_type: its number.
        payloads: shape (reports, width).
    """

    report_type: int
    payloads: Payloads


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads a file of reports for one collection; `rejected` counts by reason what was left out.

    Args:
        path: the file.
        expected: what the reports must say of themselves.
    """

    path: Path
    expected: Expected
    rejected: Counter[str] = field(default_factory=Counter)

    def batches(self) -> Iterator[Batch]:
        """Yield the reports of one type after the other; of reports with one id only the first is read.

        Raises:
            OSError: there is no such file, or it is truncated or no Parquet file.
            SchemaMismatch: a column is missing or of another type.
        """
        rows = max(1, min(BATCH, LARGEST_BATCH // max(self.expected.widths, default=1)))
        with _readable(self.path) as file:
            self._check_columns(file)
            again_at, start = self._repeated(file, rows), 0
            for batch in file.iter_batches(rows, columns=SCHEMA.names):
                again = np.zeros(batch.num_rows, dtype=np.bool_)
                own = slice(*np.searchsorted(again_at, (start, start + batch.num_rows)))
                again[again_at[own] - start] = True
                keep = self._sound(batch, again)
                start += batch.num_rows
                yield from self._by_type(batch if keep.all() else batch.filter(pa.array(keep)))

    @property
    def private(self) -> bool:
        """False where the file says that a seeded generator drew the coins."""
        with _readable(self.path) as file:
            return SEEDED not in (file.schema_arrow.metadata or {})

    @property
    def rows(self) -> int:
        """The number of reports in the file, sound or not."""
        with _readable(self.path) as file:
            return int(file.metadata.num_rows)

    def _check_columns(self, file: pq.ParquetFile) -> None:
        found = file.schema_arrow
        for wanted in SCHEMA:
            index = found.get_field_index(wanted.name)
            kind = found.field(index).type if index >= 0 else None
            if kind is not None and pa.types.is_dictionary(kind):
                kind = kind.value_type
            if kind != wanted.type:
                missing = f"it needs a column {wanted.name} ({wanted.type})"
                raise SchemaMismatch(f"{self.path} is no file of reports: {missing}")

    def _repeated(self, file: pq.ParquetFile, rows: int) -> Rows:
        """Return in order which reports have the id of an earlier one; only of those that fit the collection."""
        halves = (_words(batch.column(0))[:, 0] for batch in file.iter_batches(BATCH, columns=["id"]))

        def pieces() -> Iterator[tuple[npt.NDArray[np.uint64], Flags]]:
            for batch in file.iter_batches(rows, columns=SCHEMA.names):
                yield _words(batch.column("id")), ~np.logical_or.reduce([*self._faults(batch).values()])

        return repeated(file.metadata.num_rows, halves, pieces)

    def _sound(self, batch: pa.RecordBatch, repeated: Flags) -> Flags:
        """Return which reports fit the collection, and count the others by their first fault."""
        keep = np.ones(batch.num_rows, dtype=np.bool_)
        for reason, wrong in {**self._faults(batch), REPEATED: repeated}.items():
            if wrong.any():
                self.count(reason, int((keep & wrong).sum()))
                keep &= ~wrong
        return keep

    def _faults(self, batch: pa.RecordBatch) -> dict[str, Flags]:
        """Return by reason which reports do not fit the collection."""
        number = np.asarray(pc.fill_null(batch.column("report_type"), 0))
        known = number < len(self.expected.widths)
        widths = np.array([*self.expected.widths, -1])[np.minimum(number, len(self.expected.widths))]
        return {
            MISSING: ~_all_valid(batch),
            OTHER_VERSION: _differs(batch, "version", VERSION),
            OTHER_ASK: _differs(batch, "ask", self.expected.ask),
            OTHER_ROUND: _differs(batch, "round", self.expected.round),
            UNKNOWN_TYPE: ~known,
            WRONG_LENGTH: _lengths(batch.column("payload")) != widths,
        }

    def count(self, reason: str, reports: int) -> None:
        """Count rejected reports."""
        if reports:
            self.rejected[reason] += reports

    def _by_type(self, batch: pa.RecordBatch) -> Iterator[Batch]:
        types = np.asarray(batch.column("report_type"))
        for number in np.unique(types).tolist():
            mask = types == number
            own = batch.column("payload")
            own = own if mask.all() else own.filter(pa.array(mask))
            own = own.dictionary_decode() if pa.types.is_dictionary(own.type) else own
            yield Batch(report_type=number, payloads=_matrix(own, self.expected.widths[number]))


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; what is wrong with it becomes one line."""
    if not path.is_file():
        raise OSError(f"there is no file {path}")
    try:
        with _opened(path) as file:
            _check_size(file, path)
            yield file
    except (SchemaMismatch, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's own, such as a missing permission
            raise
        raise OSError(f"{path} is truncated or no Parquet file; ask for the file again") from None


def _check_size(file: pq.ParquetFile, path: Path) -> None:
    """Refuse a file whose footer promises far more reports than its bytes can hold: their ids differ.

    Raises:
        SchemaMismatch: it does; nothing was read of it.
    """
    size, rows = path.stat().st_size, file.metadata.num_rows
    if rows > max(FEW, DENSEST * size):
        raise SchemaMismatch(f"{path} is no file of reports: {rows:,} of them do not fit into {size:,} bytes")


def _opened(path: Path) -> pq.ParquetFile:
    """Open a file; a payload that its file holds once for many reports is held once in memory, too, until it is kept.

    Otherwise a few kilobytes with one long payload, named by many reports, would become gigabytes. DuckDB reads the
    encodings, for a damaged footer makes Arrow end the process.
    """
    query = "SELECT encodings FROM parquet_metadata(?) WHERE path_in_schema = 'payload'"
    found = _engine().cursor().execute(query, [str(path)]).fetchall()
    shared = any("DICTIONARY" in str(own) for (own,) in found)
    return pq.ParquetFile(path, read_dictionary=["payload"] if shared else None)


@functools.cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Return a connection that holds no data; making one takes longer than reading a footer."""
    return duckdb.connect()


def _words(ids: pa.Array) -> npt.NDArray[np.uint64]:
    """Return ids as two words each; a missing id reads as zeros."""
    column = pc.fill_null(ids, pa.scalar(bytes(ID_BYTES), pa.binary(ID_BYTES)))
    flat = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint64).reshape(-1, 2)
    return flat[column.offset : column.offset + len(column)]


def _matrix(payloads: pa.Array, width: int) -> Payloads:
    """Return equally long byte strings as an array, shape (rows, width)."""
    offsets = np.frombuffer(payloads.buffers()[1], dtype=np.int32)[payloads.offset :]
    data = np.frombuffer(payloads.buffers()[2] or b"", dtype=np.uint8)
    return data[offsets[0] : offsets[0] + len(payloads) * width].reshape(len(payloads), width)


def _lengths(payloads: pa.Array) -> npt.NDArray[np.int32]:
    """Return the bytes of every payload, -1 where it is missing."""
    if pa.types.is_dictionary(payloads.type):
        own = np.append(_lengths(payloads.dictionary), np.int32(-1))
        return np.asarray(own[np.asarray(pc.fill_null(payloads.indices.cast(pa.int64()), len(own) - 1))])
    return np.asarray(pc.fill_null(pc.binary_length(payloads), -1))


def _all_valid(batch: pa.RecordBatch) -> Flags:
    valid = np.ones(batch.num_rows, dtype=np.bool_)
    for column in batch.columns:
        if column.null_count:
            valid &= np.asarray(column.is_valid())
    return valid


def _differs(batch: pa.RecordBatch, name: str, value: object) -> Flags:
    wanted = pa.scalar(value, SCHEMA.field(name).type)
    return np.asarray(pc.fill_null(pc.not_equal(batch.column(name), wanted), True))
