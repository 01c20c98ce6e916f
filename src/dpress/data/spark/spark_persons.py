"""Sums over persons on Spark: all rows of a person go to one worker, which adds up its persons; only sums travel.

bounded rows of a DataFrame -> a shuffle by person -> a kernel on all rows of a partition -> `merged` -> the driver.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from dpress.data.add_up import Counts, Progress
from dpress.data.sources.spark_failure import collected
from dpress.data.sources.spark_session import quiet
from dpress.data.spark.partial_sums import COLUMNS, merged, partition_sums, whole
from dpress.data.sql.coded_rows import relation_of
from dpress.data.sql.person_rows import person_text
from dpress.data.table import Table

PERSON = "dpress_person"


def spark_person_sums(
    table: Table,
    persons: Sequence[str],
    kernel: Callable[[Iterable[pa.RecordBatch]], Counts],
    *,
    progress: Progress | None = None,
) -> Counts:
    """Return the sum of a kernel over the partitions, each with all rows of its persons.

    Args:
        table: the rows of a DataFrame, drawn.
        persons: the columns that name a row's person.
        kernel: from batches, all rows of some persons, to their sums; pure, and can be pickled.
        progress: called once, with the number of all rows.

    Raises:
        OSError: Spark failed.
        SchemaMismatch: the kernel refused a row.
        NoRows: there are none.
    """
    watched = table.watched()

    def summed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kept = list(batches)
        return partition_sums([pa.concat_batches(kept)] if kept else [], lambda batch: kernel([batch]))

    with quiet():
        partial = by_person(table, persons).mapInArrow(summed, COLUMNS)
        sums = collected(table.name, lambda: partial.repartition("slice").mapInArrow(merged, COLUMNS))
    total, rows = whole(sums, kernel([]).size)
    watched.count(rows)
    watched.check()
    if progress is not None:
        progress(rows)
    return total


def by_person(table: Table, persons: Sequence[str]) -> Any:
    """Return the DataFrame of a table's columns in which one partition has all rows of a person."""
    source = table.source
    relation = relation_of(source)
    columns = [exp.column(name, quoted=True) for name in table.columns]
    query = exp.select(*columns, exp.alias_(person_text(relation, persons), PERSON)).from_(relation.source)
    keyed: Any = source.queried(query.sql(dialect=relation.dialect), {})
    return keyed.frame.repartition(PERSON).drop(PERSON)


def frame_of(table: Table) -> Any:
    """Return the DataFrame of a table's columns."""
    rows: Any = table.source.parts(table.columns)[0]
    return rows.chosen
