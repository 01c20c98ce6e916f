"""Rows for people: titles, with units, in the place of names of attributes, and labels in that of values.

batch -> the same rows, a label in the place of the value that it stands for -> CSV.
"""

from collections.abc import Iterable

import pyarrow as pa

from dpress.attributes.attribute import Tabular
from dpress.query.table_family import ATTRIBUTE, VALUE

BESIDE = ("_from", "_below")  # the edges of cells, beside the name of their attribute
LABEL = "_label"


def titled(batch: pa.RecordBatch, attributes: Iterable[Tabular]) -> pa.RecordBatch:
    """Return rows whose columns are called by titles, with labels for values; a title of two columns is none of both.

    Args:
        batch: rows; other columns than these attributes' stay as they are.
        attributes: whose values stand in a column of their name, labels in one with `_label` behind it.

    >>> batch = pa.record_batch({"sex": ["f"], "sex_label": ["Women"], "count": [3]})
    >>> titled(batch, ()).schema.names
    ['sex', 'sex_label', 'count']
    """
    by_name = {attribute.name: attribute for attribute in attributes}
    if f"{ATTRIBUTE}1" in batch.schema.names and f"{ATTRIBUTE}1" not in by_name:
        return _values_titled(batch, by_name)
    labelled = {name for name in batch.schema.names if f"{name}{LABEL}" in batch.schema.names and name in by_name}
    kept = [name for name in batch.schema.names if name.removesuffix(LABEL) not in labelled or name in labelled]
    heads = {name: _head(name, by_name) for name in kept}
    again = [*heads.values()]
    fields, columns = [], []
    for name, head in heads.items():
        source = f"{name}{LABEL}" if name in labelled else name
        column = batch.column(source)
        if name in by_name and name not in labelled and by_name[name].labelled:
            column = _labels(by_name[name], column)
        called = head if again.count(head) == 1 else name
        fields.append(pa.field(called, column.type, metadata=batch.schema.field(source).metadata))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=batch.schema.metadata))


def _values_titled(batch: pa.RecordBatch, by_name: dict[str, Tabular]) -> pa.RecordBatch:
    """Return rows that say themselves whose cell they are, with titles and labels as values."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    labels = {name: dict(zip(axis.labels, axis.captions, strict=True)) for name, axis in by_name.items()}
    for head in (name for name in batch.schema.names if name.startswith(ATTRIBUTE)):
        value = head.replace(ATTRIBUTE, VALUE)
        pairs = [*zip(columns[head].to_pylist(), columns[value].to_pylist(), strict=True)]
        columns[head] = pa.array([by_name[name].caption for name, _ in pairs], type=pa.string())
        columns[value] = pa.array([labels[name].get(text, text) for name, text in pairs], type=pa.string())
    return pa.RecordBatch.from_pydict(columns, metadata=batch.schema.metadata)


def _head(name: str, by_name: dict[str, Tabular]) -> str:
    """Return what a column is called."""
    if name in by_name:
        return by_name[name].caption
    for end in BESIDE:
        if (attribute := by_name.get(name.removesuffix(end))) is not None:
            return f"{attribute.caption} {end.removeprefix('_')}"
    return name


def _labels(attribute: Tabular, values: pa.Array) -> pa.Array:
    """Return the values of a column by their labels, as texts."""
    labels = dict(zip(attribute.labels, attribute.captions, strict=True))
    return pa.array(
        [None if value is None else labels.get(str(value), str(value)) for value in values.to_pylist()],
        type=pa.string(),
    )
