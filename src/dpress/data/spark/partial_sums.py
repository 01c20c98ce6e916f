"""What Spark's workers do: the sum of a partition in slices, and the sum of all slices of one number.

batches of rows -> kernel -> one array -> rows (slice, sums) -> all rows of a slice at one worker -> their sum.
So no worker sends, and the driver never holds, more than one array of each partition or of the whole.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.add_up import Counts, SparseArray, added
from dpress.data.sources.source import BATCH_ROWS

SLICE = 1 << 14  # entries of the array that travel together: 128 KiB
ROWS = -1  # in place of a slice: how many rows were read
REFUSED = -2  # in place of a slice: why a row was refused
COLUMNS = "slice int, places binary, sums binary, refusal string"
SCHEMA = pa.schema([("slice", pa.int32()), ("places", pa.binary()), ("sums", pa.binary()), ("refusal", pa.string())])
KINDS: dict[str, type[ValueError]] = {"SchemaMismatch": SchemaMismatch, "NotSupported": NotSupported}
SLICES_AT_ONCE = 64  # in a batch: 8 MiB
Row = tuple[int, bytes | None, bytes | None, str | None]


def partition_sums(
    batches: Iterable[pa.RecordBatch], kernel: Callable[[pa.RecordBatch], Counts | SparseArray]
) -> Iterator[pa.RecordBatch]:
    """Yield the sum of `kernel(batch)` over the batches in slices, and how many rows there were.

    A row that the specification refuses is an answer, too, and no failure: else Spark would try it again.

    Args:
        batches: of a partition.
        kernel: pure; raises SchemaMismatch where it refuses a row.
    """
    total, rows = None, 0
    try:
        for batch in batches:
            total, rows = added(total, kernel(batch)), rows + batch.num_rows
    except (SchemaMismatch, NotSupported) as refusal:
        yield _batch([(REFUSED, None, None, f"{type(refusal).__name__} {refusal}")])
        return
    if total is not None:
        yield from _batches({ROWS: np.array([rows]), **_slices(total.reshape(-1))})


def joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of small batches in batches of about BATCH_ROWS: a kernel's array costs as much for a few rows."""
    waiting, rows = list[pa.RecordBatch](), 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def merged(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sums of all that came of each slice; of refusals the first in the alphabet, whatever the order."""
    sums: dict[int, Counts] = {}
    refusals = set[str]()
    for batch in batches:
        for row in zip(*(batch.column(name).to_pylist() for name in SCHEMA.names), strict=True):
            number, places, values, refusal = row
            if refusal is not None:
                refusals.add(refusal)
            else:
                counts = sums.setdefault(number, np.zeros(1 if number == ROWS else SLICE, dtype=np.int64))
                _add(counts, places, values)
    if refusals:
        yield _batch([(REFUSED, None, None, min(refusals))])
    yield from _batches(sums)


def whole(table: pa.Table, size: int) -> tuple[Counts, int]:
    """Return the sum of all partitions, and of how many rows it is.

    Args:
        table: what `merged` yielded, on all workers.
        size: the entries of the kernel's array.

    Raises:
        SchemaMismatch, NotSupported: a row was refused.
    """
    total, rows = np.zeros(-(-size // SLICE) * SLICE, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for batch in merged(table.to_batches()):
        for number, places, values, refusal in zip(*(batch[name].to_pylist() for name in SCHEMA.names), strict=True):
            if refusal is not None:
                kind, _, text = refusal.partition(" ")
                raise KINDS[kind](text)
            _add(rows if number == ROWS else total[number * SLICE : (number + 1) * SLICE], places, values)
    return total[:size], int(rows[0])


def _slices(total: Counts) -> dict[int, Counts]:
    """Return the slices that are not zero, by their numbers."""
    slices = ((start // SLICE, total[start : start + SLICE]) for start in range(0, total.size, SLICE))
    return {number: counts for number, counts in slices if counts.any()}


def _batches(sums: dict[int, Counts]) -> Iterator[pa.RecordBatch]:
    rows: list[Row] = [(number, *_bytes(counts), None) for number, counts in sums.items()]
    for start in range(0, len(rows), SLICES_AT_ONCE):
        yield _batch(rows[start : start + SLICES_AT_ONCE])


def _bytes(counts: Counts) -> tuple[bytes | None, bytes]:
    """Return the places of the entries that are not zero and these; no places where most of them are not."""
    places: npt.NDArray[np.int64] = np.flatnonzero(counts)
    if 2 * places.size > counts.size:
        return None, counts.astype("<i8").tobytes()
    return places.astype("<i4").tobytes(), counts[places].astype("<i8").tobytes()


def _add(total: Counts, places: bytes | None, values: bytes) -> None:
    numbers = np.frombuffer(values, dtype="<i8")
    if places is None:
        total[: numbers.size] += numbers
    else:
        total[np.frombuffer(places, dtype="<i4")] += numbers


def _batch(rows: list[Row]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, type=field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
