"""Sums over rows and over persons, from one reading of the rows that stay: the same on every engine.

batch -> codes and persons -> sums over rows, batch by batch; codes and persons together -> sums over persons.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.attributes.domain import Schema
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.methods.people import Codes
from dpress.core.methods.table_sums import Sums
from dpress.data.add_up import Counts, Progress
from dpress.data.codec.codec import encode_all
from dpress.data.persons.person_columns import persons_of
from dpress.data.persons.person_index import Numbers, PersonIndex, fresh_key
from dpress.data.sources.source import without_quotes
from dpress.data.table import Table


def person_totals(schema: Schema, added: Sums, source: Any, unit: Unit, *, progress: Progress | None = None) -> Counts:
    """Return the sums over the rows, then those over the persons: private, never written anywhere.

    A person's rows may stand anywhere, so the codes of all rows that stay are held: 8 bytes a row, 4 more for every
    attribute, and what `PersonIndex.nbytes` says for every person; joined and sorted once, which takes a few times as
    much. On Spark, workers do that, each with some persons of a DataFrame; all other engines hand their rows over,
    and one thread adds them up.

    Args:
        schema: how rows are coded.
        added: what is added up, over persons too.
        source: the rows, as `open_source` takes or returns them.
        unit: whose contribution is bounded; it names a person.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `Table.batches`; or a row has no person.
    """
    if unit.column is None or added.of_persons is None:
        raise SchemaMismatch("sums over persons need a unit that names them")
    table = Table(source, tuple(dict.fromkeys((*schema.columns, *unit.columns))), unit)
    totals = partial(_totals, schema, added, unit.columns, table.name)
    if table.engine == "spark" and table.source.database:
        from dpress.data.spark.spark_persons import spark_person_sums  # noqa: PLC0415  # only where Spark counts

        return spark_person_sums(table.drawn(), unit.columns, totals, progress=progress)
    return totals(_noted(table.batches(), progress or (lambda _: None)))


def _totals(
    schema: Schema, added: Sums, persons: Sequence[str], name: str, batches: Iterable[pa.RecordBatch]
) -> Counts:
    """Return the sums over the rows of some batches, then those over the persons that they are all rows of."""
    index = PersonIndex(key=fresh_key())
    held: list[tuple[Codes, Numbers]] = [(np.zeros((len(schema.attributes), 0), np.int32), np.zeros(0, np.int64))]
    sums = added.of_rows(held[0][0])

    def coded(batch: pa.RecordBatch) -> tuple[Codes, Numbers]:
        codes, keep = encode_all(schema, batch)
        return codes[:, keep], index.numbers(persons_of(persons, batch))[keep]

    for batch in batches:
        held.append(without_quotes(name, lambda batch=batch: coded(batch)))  # type: ignore[misc]
        sums = sums + added.of_rows(held[-1][0])
    codes, numbers = (np.concatenate(parts, axis=-1) for parts in zip(*held, strict=True))
    of_persons = np.zeros(0, dtype=np.int64) if added.of_persons is None else added.of_persons(codes, numbers)
    return np.concatenate([sums, of_persons])


def _noted(batches: Iterable[pa.RecordBatch], progress: Progress) -> Iterator[pa.RecordBatch]:
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        progress(rows)
