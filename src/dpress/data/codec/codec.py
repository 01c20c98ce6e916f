"""From values to cell codes: nulls first, then bounds, then bins; nothing is learned from the rows.

It reads Arrow columns of any type, so that every engine that hands over Arrow batches gets the same codes: those of
`attributes.coding`, value for value, whatever else is in the column.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.arrow import columns, objects
from dpress.attributes.arrow.columns import plain
from dpress.attributes.attribute import Tabular
from dpress.attributes.by_edges import ByEdges
from dpress.attributes.domain import Schema
from dpress.attributes.numbers.arrow import nearest
from dpress.attributes.policy import DROPPED, MISSING
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec import inferred

Codes = npt.NDArray[np.int32]


def encode(schema: Schema, batch: pa.RecordBatch) -> Codes:
    """Return the cell of every kept row along every axis, shape (axes, kept rows); a set has an axis for each word.

    A row is dropped where an attribute says "drop". Each row is coded by itself, so one row changes one column.

    Raises:
        SchemaMismatch: a column is missing or of a type that is not coded, or a value is one that the specification
            rejects (the value is not shown).
    """
    codes, keep = encode_all(schema, batch)
    return codes if keep.all() else codes[:, keep]


def encode_all(schema: Schema, batch: pa.RecordBatch) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return the cells of all rows, and which rows are kept: shape (axes, rows) and (rows,); see `encode`."""
    codes = np.vstack([attribute.arrow_codes(_column_of(attribute, batch)) for attribute in schema.tabular])
    return codes, (codes != DROPPED).all(axis=0)


def cells_of(attribute: Tabular, batch: pa.RecordBatch) -> Codes:
    """Return the cell of every value of an attribute, OUTSIDE or MISSING: before the specification settles those.

    Where values are discovered, all have the one cell that is known beforehand.

    Raises:
        SchemaMismatch: there is no such column, or its type is not coded.
    """
    if attribute.discovered and attribute.size == 1:
        missing = np.asarray(texts_of(attribute.read_from, batch).is_null())
        return np.where(missing, np.int32(MISSING), np.int32(0))
    return columns.cells(attribute, _column_of(attribute, batch))


def numbers_of(name: str, batch: pa.RecordBatch) -> npt.NDArray[np.float64]:
    """Return a column as numbers, NaN where a value is missing or none.

    Raises:
        SchemaMismatch: there is no such column, or its type has no numbers.
    """
    return nearest(name, plain(_column(batch, name)))


def below(attribute: ByEdges, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Return which values lie below the bounds; anything where a value is missing or no number or date."""
    return attribute.below(plain(_column_of(attribute, batch)))


def texts_of(name: str, batch: pa.RecordBatch) -> pa.Array:
    """Return a column as texts in UTF-8: texts and bytes as they are, integers and truths as they are written.

    Null where a value is missing, or no such text. A float that is an integer is written as one, since libraries make
    floats of integers where one is missing; from 2^53 on it is none.

    Raises:
        SchemaMismatch: there is no such column, or its type holds no texts.
    """
    column = plain(_column(batch, name))
    return objects.texts(column) if objects.is_ours(column.type) else columns.texts(name, column)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise SchemaMismatch(f"attribute {name}: the data has no column {name!r}")
    return batch.column(name)


def _column_of(attribute: Tabular, batch: pa.RecordBatch) -> pa.Array:
    """Return an attribute's column; of dates without numbers where the column's type rests on its rows."""
    column = _column(batch, attribute.read_from)
    rests = attribute.reads == "time" and inferred.is_inferred(batch.schema.field(attribute.read_from))
    return inferred.without_numbers(column) if rests else column
