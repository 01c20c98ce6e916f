"""Names of batches counted by DuckDB in this process: a table of names, and of how many each occurs.

batches of names and persons -> one stream -> each once for a person -> GROUP BY the name and how many the person has.
"""

from collections.abc import Iterable, Iterator

import duckdb
import pyarrow as pa

from dpress.data.sources.source import without_quotes

NAME, PERSON, SIZE, COUNT = "name", "person", "size", "count"
SCHEMA = pa.schema([(NAME, pa.large_string()), (PERSON, pa.int64())])
ROWS = f"SELECT {NAME}, count(*)::BIGINT AS {COUNT} FROM names GROUP BY {NAME}"  # noqa: S608  # no text but ours
PERSONS = f"SELECT {NAME}, count(*)::BIGINT AS {COUNT} FROM (SELECT DISTINCT * FROM names) GROUP BY {NAME}"  # noqa: S608
SIZES = f"""SELECT {NAME}, {SIZE}, count(*)::BIGINT AS {COUNT}
FROM (SELECT {NAME}, count({NAME}) OVER (PARTITION BY {PERSON}) AS {SIZE} FROM (SELECT DISTINCT * FROM names))
GROUP BY {NAME}, {SIZE}"""  # noqa: S608  # no text but ours
LINE = "{}: the names cannot be counted in the memory that there is (DuckDB's message is withheld: it may quote rows)"


def counted_names(name: str, batches: Iterable[pa.RecordBatch], *, persons: bool, sizes: bool) -> pa.Table:
    """Return the counts of names, null for none, all different; of persons once for a name.

    Args:
        name: of the rows.
        batches: of SCHEMA.
        persons: whether rows name persons.
        sizes: whether persons' counts are asked for by how many names they have, in a column SIZE.

    Raises:
        Exception: what the batches raise.
        OSError: there is too little memory.
    """
    failed: list[BaseException] = []

    def read() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:  # noqa: BLE001  # DuckDB would put it into words of its own
            failed.append(error)

    statement = SIZES if persons and sizes else PERSONS if persons else ROWS
    with duckdb.connect() as engine:
        engine.execute("SET enable_progress_bar = false")
        engine.register("names", pa.RecordBatchReader.from_batches(SCHEMA, read()))
        counts = without_quotes(name, lambda: engine.sql(statement).to_arrow_table(), LINE)
    if failed:
        raise failed[0]
    return counts
