"""Files of reports: Parquet with the fields of a report as columns, written and read batch by batch.

Reports are not raw rows: whoever holds them may publish them. What is wrong with one is counted by reason, and the
others go on.
"""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpress.core.errors import SchemaMismatch
from dpress.core.oracle import Payloads
from dpress.core.wire import HASH_BYTES, ID_BYTES, VERSION, Report

BATCH = 1 << 16
SCHEMA = pa.schema(
    [
        ("version", pa.uint8()),
        ("spec", pa.binary(HASH_BYTES)),
        ("method", pa.string()),
        ("id", pa.binary(ID_BYTES)),
        ("round", pa.uint16()),
        ("question", pa.uint16()),
        ("payload", pa.binary()),
    ]
)
Ids = npt.NDArray[np.void]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Reports of one question, sound in everything but their payloads' contents.

    Args:
        question: its number.
        payloads: shape (reports, width).
    """

    question: int
    payloads: Payloads


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads a file of reports for one collection; `rejected` counts by reason what was left out.

    Args:
        path: the file.
        spec: the first 16 bytes of the specification's hash.
        method: the oracle's name.
        widths: the bytes of a payload of every question.
        round: the round of the collection.
    """

    path: Path
    spec: bytes
    method: str
    widths: tuple[int, ...]
    round: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    def batches(self) -> Iterator[Batch]:
        """Yield the reports of one question after the other; of reports with one id only the first is read.

        Raises:
            OSError: there is no such file, or it is truncated or no Parquet file.
            SchemaMismatch: a column is missing or of another type.
        """
        with _readable(self.path) as file:
            self._check_columns(file)
            repeated = _repeated(file)
            start = 0
            for batch in file.iter_batches(BATCH, columns=SCHEMA.names):
                keep = self._sound(batch, repeated[start : start + batch.num_rows])
                start += batch.num_rows
                yield from self._by_question(batch.filter(pa.array(keep)))

    @property
    def rows(self) -> int:
        """The number of reports in the file, sound or not."""
        with _readable(self.path) as file:
            return int(file.metadata.num_rows)

    def _check_columns(self, file: pq.ParquetFile) -> None:
        found = file.schema_arrow
        for wanted in SCHEMA:
            index = found.get_field_index(wanted.name)
            if index < 0 or found.field(index).type != wanted.type:
                missing = f"it needs a column {wanted.name} ({wanted.type})"
                raise SchemaMismatch(f"{self.path} is no file of reports: {missing}")

    def _sound(self, batch: pa.RecordBatch, repeated: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which reports fit the collection, and count the others by their first fault."""
        question = np.asarray(pc.fill_null(batch.column("question"), 0))
        known = question < len(self.widths)
        widths = np.array([*self.widths, -1])[np.where(known, question, -1)]
        faults = {
            "a field is missing": ~_all_valid(batch),
            "another version": _differs(batch, "version", VERSION),
            "another specification": _differs(batch, "spec", self.spec),
            "another method": _differs(batch, "method", self.method),
            "another round": _differs(batch, "round", self.round),
            "unknown question": ~known,
            "length of the payload": np.asarray(pc.fill_null(pc.binary_length(batch.column("payload")), -1)) != widths,
            "repeated": repeated,
        }
        keep = np.ones(batch.num_rows, dtype=np.bool_)
        for reason, wrong in faults.items():
            self.count(reason, int((keep & wrong).sum()))
            keep &= ~wrong
        return keep

    def count(self, reason: str, reports: int) -> None:
        """Count rejected reports."""
        if reports:
            self.rejected[reason] += reports

    def _by_question(self, batch: pa.RecordBatch) -> Iterator[Batch]:
        questions = np.asarray(batch.column("question"))
        for number in np.unique(questions):
            own = batch.column("payload").filter(pa.array(questions == number))
            yield Batch(question=int(number), payloads=_matrix(own, self.widths[int(number)]))


def write(path: Path, batches: Iterator[tuple[Batch, Ids]], *, spec: bytes, method: str) -> int:
    """Write reports to a new file, whole or not at all, and return their number.

    Raises:
        OSError: the file exists, or cannot be written; nothing is left behind.
    """
    if path.exists():
        raise OSError(f"{path} exists already; reports are never overwritten, choose another file")
    partial = path.with_name(f".{path.name}.partial")
    rows = 0
    try:
        with pq.ParquetWriter(partial, SCHEMA, compression="zstd") as writer:
            for batch, ids in batches:
                writer.write_batch(_record_batch(batch, ids, spec, method))
                rows += len(ids)
        partial.rename(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return rows


def table(reports: list[Report]) -> pa.Table:
    """Return single reports as the table that a file of reports holds."""
    columns = {name: [getattr(report, name) for report in reports] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)


def _record_batch(batch: Batch, ids: Ids, spec: bytes, method: str) -> pa.RecordBatch:
    rows, width = batch.payloads.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * width
    payload = pa.Array.from_buffers(
        pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(batch.payloads))]
    )
    id_buffer = pa.py_buffer(np.ascontiguousarray(ids))
    columns = [
        pa.array(np.full(rows, VERSION, dtype=np.uint8)),
        pa.repeat(pa.scalar(spec, pa.binary(HASH_BYTES)), rows),
        pa.repeat(pa.scalar(method), rows),
        pa.Array.from_buffers(pa.binary(ID_BYTES), rows, [None, id_buffer]),
        pa.array(np.zeros(rows, dtype=np.uint16)),
        pa.array(np.full(rows, batch.question, dtype=np.uint16)),
        payload,
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; what is wrong with it becomes one line."""
    if not path.is_file():
        raise OSError(f"there is no file {path}")
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except pa.ArrowException:
        raise OSError(f"{path} is truncated or no Parquet file; ask for the file again") from None


def _repeated(file: pq.ParquetFile) -> npt.NDArray[np.bool_]:
    """Return which reports have an id that an earlier one has; 16 bytes and a sort for every report."""
    parts = [_ids(batch.column("id")) for batch in file.iter_batches(BATCH, columns=["id"])]
    ids = np.concatenate(parts) if parts else np.zeros(0, dtype=np.dtype((np.void, ID_BYTES)))
    words = ids.view(np.uint64).reshape(-1, 2)
    order = np.lexsort((words[:, 1], words[:, 0]))
    same = (words[order[1:]] == words[order[:-1]]).all(axis=1)
    repeated = np.zeros(ids.size, dtype=np.bool_)
    repeated[order[1:]] = same
    return repeated


def _ids(column: pa.Array) -> Ids:
    flat = np.frombuffer(column.buffers()[1] or b"", dtype=np.dtype((np.void, ID_BYTES)))
    return flat[column.offset : column.offset + len(column)]


def _matrix(payloads: pa.Array, width: int) -> Payloads:
    """Return equally long byte strings as an array, shape (rows, width)."""
    offsets = np.frombuffer(payloads.buffers()[1], dtype=np.int32)[payloads.offset :]
    data = np.frombuffer(payloads.buffers()[2] or b"", dtype=np.uint8)
    return data[offsets[0] : offsets[0] + len(payloads) * width].reshape(len(payloads), width)


def _all_valid(batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    valid = [np.asarray(column.is_valid()) for column in batch.columns]
    return np.asarray(np.logical_and.reduce(valid))


def _differs(batch: pa.RecordBatch, name: str, value: object) -> npt.NDArray[np.bool_]:
    wanted = pa.scalar(value, SCHEMA.field(name).type)
    return np.asarray(pc.fill_null(pc.not_equal(batch.column(name), wanted), True))
