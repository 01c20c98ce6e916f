"""Texts of CSV that a spreadsheet would take for formulas: led by an apostrophe, as OWASP advises against injection.

batch of a table -> the same rows, every text and every name of a column shown as a text by any program.
"""

import importlib

import pyarrow as pa

FORMULA = r"^([=+@\t\r]|-($|[^\d.]))"
"""How a formula begins; a negative number is none."""


def plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with an apostrophe before every text, and every name, that begins as a formula does.

    Other texts, numbers and dates stay as they are; Parquet, which runs nothing, keeps every text as it is.

    >>> plain(pa.record_batch({"@name": ["=1+1", "-1.5", "-x", "a=b"]})).to_pydict()
    {"'@name": ["'=1+1", '-1.5', "'-x", 'a=b']}
    """
    columns = [_texts(column) if _is_text(column.type) else column for column in batch.columns]
    names = _led(pa.array(batch.schema.names, pa.string())).to_pylist()
    return pa.RecordBatch.from_arrays(columns, names=names).replace_schema_metadata(batch.schema.metadata)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _texts(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _texts(column.dictionary))
    return _led(column)


def _led(texts: pa.Array) -> pa.Array:
    compute = importlib.import_module("pyarrow.compute")  # slow to load, and whoever asks a release writes no CSV
    return compute.replace_substring_regex(texts, FORMULA, r"'\0")
