"""Which rows the counts of a table are of, carried by the table: totals under a person cap cannot be misread.

part, words -> the same rows with the words in the schema's metadata, which Parquet keeps; CSV gets a column of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from dpress.query.released_file import Part

COUNTS_OF = "counts_of"  # in the metadata of a table, and in CSV the column


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRows:
    """A file of counts where a person keeps a bounded number of rows.

    Args:
        part: the file.
        counted: what its counts are of, in words.
    """

    part: Part
    counted: str

    @property
    def name(self) -> str:
        """Of the file."""
        return self.part.name

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with the words in their schema."""
        for batch in self.part.batches():
            yield batch.replace_schema_metadata({COUNTS_OF: self.counted})


def counted_of(schema: pa.Schema) -> str:
    """Return what counts are of, as a schema says; empty where every row is counted."""
    words: bytes = (schema.metadata or {}).get(COUNTS_OF.encode(), b"")
    return words.decode()


def with_column(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch with what its counts are of as a last column, for files without metadata; else as it is."""
    if not (words := counted_of(batch.schema)):
        return batch
    return batch.append_column(COUNTS_OF, pa.array([words] * batch.num_rows, type=pa.string()))
