"""A DataFrame in which every person keeps at most so many rows: one draw, whatever is read or tried again.

A key is drawn once; which rows stay follows from it and from what the rows hold (`data.sql.person_rows`), so that
every pass, and every partition that is computed anew, keeps the same.
"""

import secrets
from collections.abc import Sequence

from dpress.core.claim import Unit
from dpress.core.errors import SchemaMismatch
from dpress.data.sources.spark_frame import SparkFrame
from dpress.data.spark.spark_failure import without_message
from dpress.data.spark.spark_relation import relation_of, result
from dpress.data.sql.person_rows import bounded_rows, nameless_rows


def bounded_frame(source: SparkFrame, columns: Sequence[str], unit: Unit) -> SparkFrame:
    """Return the rows that stay, with these columns; a job looks whether every row has a person.

    Args:
        source: of all rows.
        columns: that are read.
        unit: the column of the persons, and how many rows of one stay.

    Raises:
        OSError: Spark failed.
        SchemaMismatch: a row has no person.
    """
    person = str(unit.column)
    relation = relation_of(source, tuple(dict.fromkeys((*columns, person))))
    nameless = result(source, nameless_rows(relation, person))
    if without_message(source.name, nameless.first)[0]:
        raise SchemaMismatch(f"{source.name}: a row has no {person!r}; every row needs its person")
    key = f"'{secrets.token_hex(16)}'"
    return SparkFrame(frame=result(source, bounded_rows(relation, person, columns, rows=unit.rows, key=key)))
