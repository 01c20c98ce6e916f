"""Files of reports: Parquet with the fields of a report as columns, read in pieces that workers take by themselves.

files -> row groups -> pieces -> ids that repeat an earlier one -> pieces without these -> batches of one type. Reports
are not raw rows: whoever holds them may publish them. What is wrong with one is counted by reason, the others go on.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.core.reports.oracle import Payloads
from dpress.core.reports.pieces import Run, on_threads
from dpress.core.reports.wire import (
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
from dpress.data.reports.repeated_ids import Flags, Named, Rows, Words, among, repeated
from dpress.data.reports.report_batch import LARGEST_BATCH, SCHEMA, Batch, ReadPiece, keep_sound
from dpress.data.reports.report_groups import RowGroup, opened

BATCH = 1 << 16
PIECE = 1 << 18  # reports of a piece, unless it is one larger row group
UNNAMED = [name for name in SCHEMA.names if name != "id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePiece:
    """Row groups that one worker reads: consecutive ones, as many as have PIECE reports together, or a larger one.

    Args:
        groups: the row groups, of one file or of several.
        expected: what the reports must say of themselves.
        repeated: which of its reports have the id of an earlier one, in order.
        named: whether every report has an id, so that ids need not be read again.
    """

    groups: tuple[RowGroup, ...]
    expected: Expected
    repeated: Rows = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    named: bool = False

    @property
    def rows(self) -> int:
        """The number of reports, sound or not."""
        return sum(group.rows for group in self.groups)

    def batches(self, left_out: Counter[str]) -> Iterator[Batch]:
        """Yield the reports of one type after the other, and count by reason those that are left out.

        Raises:
            OSError: a file is damaged, or no longer what it was.
        """
        start = 0
        for batch in self._read(UNNAMED if self.named else SCHEMA.names):
            again = np.zeros(batch.num_rows, dtype=np.bool_)
            first, last = np.searchsorted(self.repeated, (start, start + batch.num_rows))
            again[self.repeated[first:last] - start] = True
            start += batch.num_rows
            keep = keep_sound({**_faults(batch, self.expected), REPEATED: again}, batch.num_rows, left_out)
            yield from self._by_type(batch if keep.all() else batch.filter(pa.array(keep)))

    def first_words(self) -> Words:
        """Return the first word of every id; a missing id is zero."""
        return np.concatenate(
            [np.zeros(0, dtype=np.uint64), *(_words(batch.column(0))[:, 0] for batch in self._read(["id"]))]
        )

    def near(self, shared: Words) -> Named:
        """Return which of the reports that fit have an id that begins as stated, and these ids."""
        start, rows, ids_read = 0, [np.zeros(0, dtype=np.int64)], [np.zeros((0, 2), dtype=np.uint64)]
        for batch in self._read(SCHEMA.names):
            ids = _words(batch.column("id"))
            places = np.flatnonzero(among(ids[:, 0], shared))
            places = places[~np.logical_or.reduce([*_faults(batch.take(pa.array(places)), self.expected).values()])]
            rows.append(places + start)
            ids_read.append(ids[places])
            start += batch.num_rows
        return np.concatenate(rows), np.concatenate(ids_read)

    def _read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = max(1, min(BATCH, LARGEST_BATCH // max(self.expected.widths, default=1)))
        for group in self.groups:
            yield from group.read(columns, rows)

    def _by_type(self, batch: pa.RecordBatch) -> Iterator[Batch]:
        types = np.asarray(batch.column("report_type"))
        for number in np.unique(types).tolist():
            mask = types == number
            payloads = batch.column("payload")
            payloads = payloads if mask.all() else payloads.filter(pa.array(mask))
            payloads = payloads.dictionary_decode() if pa.types.is_dictionary(payloads.type) else payloads
            yield Batch(report_type=number, payloads=_matrix(payloads, self.expected.widths[number]))


Piece = FilePiece | ReadPiece
"""Some of the reports of a collection, which one worker reads: the unit in which sums are added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFiles:
    """The reports of a collection in files, each id once: the one that is first by file, then by row.

    Args:
        parts: the pieces.
        private: False where a file says that a seeded generator drew the coins.
    """

    parts: tuple[FilePiece, ...]
    private: bool
    portable: ClassVar[bool] = True  # other processes, or machines, that reach the files may read a piece

    @property
    def rows(self) -> int:
        """The number of reports, sound or not."""
        return sum(piece.rows for piece in self.parts)

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces; a pass takes them all."""
        return iter(self.parts)


def read(paths: Sequence[Path], expected: Expected, *, run: Run = on_threads) -> ReportFiles:
    """Return the reports of some files as pieces, ready for any number of passes.

    Memory: that of `repeated_ids.repeated`, and a few MiB for every thread.

    Args:
        paths: the files, in the order in which their reports count.
        expected: what the reports must say of themselves.
        run: the engine that looks for repeated ids.

    Raises:
        OSError: there is no such file, or one is truncated or no Parquet file, or changed meanwhile.
        SchemaMismatch: a column is missing or of another type.
    """
    files = list(on_threads(opened, paths))
    groups = _together([group for file in files for group in file.groups])
    pieces = [FilePiece(groups=together, expected=expected) for together in groups]
    return ReportFiles(parts=tuple(_sifted(pieces, run)), private=all(file.private for file in files))


def _together(groups: Sequence[RowGroup]) -> Iterator[tuple[RowGroup, ...]]:
    """Yield consecutive row groups together, as many as have PIECE reports; by their sizes alone."""
    waiting: list[RowGroup] = []
    for group in groups:
        if waiting and sum(earlier.rows for earlier in waiting) + group.rows > PIECE:
            yield tuple(waiting)
            waiting = []
        waiting.append(group)
    if waiting:
        yield tuple(waiting)


def _sifted(pieces: Sequence[FilePiece], run: Run) -> Iterator[FilePiece]:
    """Yield the pieces, and with them which of their reports have the id of an earlier one."""
    starts = np.cumsum([0, *(piece.rows for piece in pieces)])
    named = [True] * len(pieces)

    def halves() -> Iterator[Words]:
        for place, words in enumerate(run(FilePiece.first_words, pieces)):
            named[place] = bool(words.all())  # a random id begins with zeros once in 2^64
            yield words

    def near(shared: Words) -> Iterator[Named]:
        for start, (rows, ids) in zip(starts, run(functools.partial(_near, shared), pieces), strict=False):
            yield rows + start, ids

    again = repeated(int(starts[-1]), halves, near)
    ends = np.searchsorted(again, starts)
    for place, piece in enumerate(pieces):
        yield replace(piece, repeated=again[ends[place] : ends[place + 1]] - starts[place], named=named[place])


def _near(shared: Words, piece: FilePiece) -> Named:
    return piece.near(shared)


def _faults(batch: pa.RecordBatch, expected: Expected) -> dict[str, Flags]:
    """Return by reason which reports do not fit the collection."""
    number = np.asarray(pc.fill_null(batch.column("report_type"), 0))
    valid = number < len(expected.widths)
    widths = np.array([*expected.widths, -1])[np.minimum(number, len(expected.widths))]
    return {
        MISSING: ~_all_valid(batch),
        OTHER_VERSION: _differs(batch, "version", VERSION),
        OTHER_ASK: _differs(batch, "ask", expected.ask),
        OTHER_ROUND: _differs(batch, "round", expected.round),
        UNKNOWN_TYPE: ~valid,
        WRONG_LENGTH: _lengths(batch.column("payload")) != widths,
    }


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
        lengths = np.append(_lengths(payloads.dictionary), np.int32(-1))
        return np.asarray(lengths[np.asarray(pc.fill_null(payloads.indices.cast(pa.int64()), len(lengths) - 1))])
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
