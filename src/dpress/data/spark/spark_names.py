"""How often every name occurs, counted by Spark's workers: only names and their sums come to the driver.

files, or a DataFrame with all rows of a person in one partition -> names of a partition -> a sum by name.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.add_up import Progress
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_session import active_session, quiet
from dpress.data.spark.partial_sums import KINDS
from dpress.data.spark.spark_fold import MOST_TASKS
from dpress.data.spark.spark_persons import by_person, frame_of
from dpress.data.table import Table, Watched

SCHEMA = pa.schema([("name", pa.string()), ("count", pa.int64()), ("refusal", pa.string()), ("rows", pa.int64())])
COLUMNS = "name string, count bigint, refusal string, rows bigint"
Batches = Iterable[pa.RecordBatch]


def spark_names(
    table: Table, persons: Sequence[str], kernel: Callable[[Batches], pa.Table], *, progress: Progress | None = None
) -> pa.Table | None:
    """Return names, null for none, and the sum of each, in any order; None where the driver is to read the rows.

    Args:
        table: the rows, drawn.
        persons: the columns that name a row's person; none where rows are counted.
        kernel: from batches, all rows of some persons, to names, null for none, and a sum of each; pure, and can be
            pickled.
        progress: called once, with the number of all rows.

    Raises:
        OSError: Spark failed, or the rows changed.
        SchemaMismatch: a row was refused.
        NoRows: there are none.
    """
    if table.draw is not None or not (table.source.database or table.source.portable):
        return None
    watched = table.watched()
    with quiet():
        partial = _partial(watched, persons, functools.partial(_counted, kernel))
        answers = collected(table.name, lambda: partial.groupBy("name", "refusal").sum("count", "rows"))
    names, refusals, counts, rows = answers.columns
    if refused := sorted(refusals.drop_null().to_pylist()):
        kind, _, text = refused[0].partition(" ")
        raise KINDS[kind](text)
    watched.count(pc.sum(rows).as_py() or 0)
    watched.check()
    if progress is not None:
        progress(watched.rows)
    return pa.table({"name": names, "count": counts}).filter(pc.greater(counts, 0))


def _partial(watched: Watched, persons: Sequence[str], counted: Callable[[Batches], Iterator[pa.RecordBatch]]) -> Any:
    """Return the DataFrame of what every worker counts."""
    parts = tuple(watched.parts)
    if watched.table.source.database:
        chosen = by_person(watched.table, persons) if persons else frame_of(watched.table)
        return chosen.mapInArrow(counted, COLUMNS)

    def read(numbers: Batches) -> Iterator[pa.RecordBatch]:
        chosen = (parts[number] for batch in numbers for number in batch.column(0).to_pylist())
        return counted(itertools.chain.from_iterable(part.batches() for part in chosen))

    return active_session().range(0, len(parts), 1, min(len(parts), MOST_TASKS)).mapInArrow(read, COLUMNS)


def _counted(kernel: Callable[[Batches], pa.Table], batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield the names of a partition, and in a row of its own how many rows it has, or why one was refused."""
    sizes = list[int]()

    def noted() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sizes.append(batch.num_rows)
            yield batch

    refusal = None
    try:
        names, counts = kernel(noted()).columns
    except (SchemaMismatch, NotSupported) as error:
        names, counts, refusal = pa.chunked_array([], pa.string()), pa.chunked_array([], pa.int64()), error
    for name, count in zip(names.chunks, counts.chunks, strict=True):
        nothing = [pa.nulls(len(name), pa.string()), pa.array(np.zeros(len(name), dtype=np.int64))]
        yield pa.record_batch([name.cast(pa.string()), count.cast(pa.int64()), *nothing], schema=SCHEMA)
    why = None if refusal is None else f"{type(refusal).__name__} {refusal}"
    yield pa.record_batch(
        [pa.array([value], field.type) for value, field in zip((None, 0, why, sum(sizes)), SCHEMA, strict=True)],
        schema=SCHEMA,
    )
