"""Writes files of reports: Parquet with the fields of a report as columns, batch by batch, whole or not at all."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpress.core.basics.new_path import new_file, written_whole
from dpress.core.reports.wire import HASH_BYTES, ID_BYTES, VERSION, Expected
from dpress.data.reports.report_batch import LARGEST_BATCH, SCHEMA, SEEDED, Batch, Ids

GROUP = 1 << 18  # reports in a row group
CONSTANT = ["version", "ask", "round", "report_type"]  # columns with few values: a dictionary and run lengths
LAYOUT = {
    "use_dictionary": CONSTANT,
    "column_encoding": {"payload": "DELTA_LENGTH_BYTE_ARRAY"},  # lengths apart, and all alike
    "compression": {name: "none" if name == "id" else "zstd" for name in SCHEMA.names},
}


def write(path: Path, batches: Iterator[tuple[Batch, Ids]], *, expected: Expected, private: bool) -> int:
    """Write reports to a new file, whole or not at all, and return their number.

    Columns that hold one value cost nothing; ids are random and are not compressed.

    Args:
        path: the new file.
        batches: the payloads with their ids.
        expected: what the reports say of themselves.
        private: False where a seeded generator drew the coins; the file says so.

    Raises:
        OSError: the file exists, or cannot be written; nothing is left behind.
    """
    new_file(path, "reports are")
    rows, schema = 0, SCHEMA if private else SCHEMA.with_metadata({SEEDED: b"not private"})
    with written_whole(path) as partial, pq.ParquetWriter(partial, schema, **LAYOUT) as writer:
        for group in _groups(_record_batch(batch, ids, expected) for batch, ids in batches):
            writer.write_table(group, row_group_size=group.num_rows)
            rows += group.num_rows
    return rows


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches together, as row groups of GROUP reports or LARGEST_BATCH bytes."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        rows, size = (sum(getattr(part, what) for part in waiting) for what in ("num_rows", "nbytes"))
        if rows >= GROUP or size >= LARGEST_BATCH:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _record_batch(batch: Batch, ids: Ids, expected: Expected) -> pa.RecordBatch:
    rows, width = batch.payloads.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * width
    payload = pa.Array.from_buffers(
        pa.binary(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(batch.payloads))]
    )
    id_buffer = pa.py_buffer(np.ascontiguousarray(ids))
    columns = [
        pa.array(np.full(rows, VERSION, dtype=np.uint8)),
        pa.repeat(pa.scalar(expected.ask, pa.binary(HASH_BYTES)), rows),
        pa.Array.from_buffers(pa.binary(ID_BYTES), rows, [None, id_buffer]),
        pa.array(np.full(rows, expected.round, dtype=np.uint16)),
        pa.array(np.full(rows, batch.report_type, dtype=np.uint16)),
        payload,
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
