"""Rows that are about all groups together: null in the groups' columns of Parquet, and `all` in CSV.

batch -> the same rows, columns of groups with the word in their fields' metadata -> CSV with the word in its cells.
"""

import importlib
from collections.abc import Sequence

import pyarrow as pa

from dpress.attributes.attribute import Tabular

ALL = "all"
OTHERWISE = "all groups"  # where a group is called `all`
NULL_MEANS = b"null_means"


def marked(batch: pa.RecordBatch, axes: Sequence[Tabular]) -> pa.RecordBatch:
    """Return rows whose columns of texts say what a null in them means.

    Args:
        batch: rows of groups, the columns that name them first.
        axes: the attributes of the groups.
    """
    taken = any(axis.code(ALL) is not None or (axis.labelled and ALL in axis.captions) for axis in axes)
    names = {name for axis in axes for name in (axis.name, f"{axis.name}_label")}
    means = {NULL_MEANS: OTHERWISE if taken else ALL}
    fields = [each.with_metadata(means) if each.name in names else each for each in batch.schema]
    return pa.RecordBatch.from_arrays(batch.columns, schema=pa.schema(fields, metadata=batch.schema.metadata))


def with_words(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with what a null means in its place, in columns that say so."""
    means = [(each.metadata or {}).get(NULL_MEANS) for each in batch.schema]
    if not any(means):
        return batch
    compute = importlib.import_module("pyarrow.compute")  # slow to load, and whoever asks a release writes no CSV
    columns = [
        column if word is None else compute.fill_null(column, word.decode())
        for column, word in zip(batch.columns, means, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def with_all(batch: pa.RecordBatch, place: int, rows: pa.Array) -> pa.RecordBatch:
    """Return rows with the word in some rows of a column, which is then one of texts; as they are where there are none.

    Args:
        batch: the rows.
        place: of the column, from 0.
        rows: true where the word stands, bool, shape (rows,).

    >>> batch = pa.record_batch({"age": [3, None, None]})
    >>> with_all(batch, 0, pa.array([False, False, True])).to_pydict()
    {'age': ['3', None, 'all']}
    """
    compute = importlib.import_module("pyarrow.compute")  # slow to load, and whoever asks a release writes no CSV
    if not compute.any(rows).as_py():
        return batch
    texts = batch.column(place).cast(pa.string())
    word = OTHERWISE if compute.any(compute.equal(texts, ALL)).as_py() else ALL
    return batch.set_column(place, batch.schema.names[place], compute.if_else(rows, word, texts))
