"""Sums over rows and over persons, from one reading of the rows that stay: the same on every engine.

batch -> codes and persons -> sums over rows, batch by batch; codes and persons together -> sums over persons.
"""

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
    much. All engines hand their rows over, and one thread adds them up.

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
    index, rows = PersonIndex(key=fresh_key()), 0
    sums: list[Counts] = []
    held: list[tuple[Codes, Numbers]] = []

    def coded(batch: pa.RecordBatch) -> tuple[Codes, Numbers]:
        codes, keep = encode_all(schema, batch)
        persons = index.numbers(persons_of(unit.columns, batch))
        return codes[:, keep], persons[keep]

    for batch in table.batches():
        coded_batch = without_quotes(table.name, lambda batch=batch: coded(batch))  # type: ignore[misc]
        held.append(coded_batch)
        sums = [np.sum([*sums, added.of_rows(coded_batch[0])], axis=0)]
        rows += batch.num_rows
        if progress is not None:
            progress(rows)
    codes, persons = (np.concatenate(parts, axis=-1) for parts in zip(*held, strict=True))
    return np.concatenate([*sums, added.of_persons(codes, persons)])
