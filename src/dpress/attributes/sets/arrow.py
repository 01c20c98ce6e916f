"""Arrow columns of sets of values: lists, or texts with a separator between the values.

Data flow: column -> lists -> the place of every value -> a bit of a word of its row.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import columns, objects
from dpress.attributes.arrow.numbers import is_text
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.attributes.protocol import Codes
from dpress.attributes.sets.attribute import WORD, SetMembers
from dpress.attributes.value import BLANKS


def split(texts: pa.Array, separator: str) -> pa.Array:
    """Return the values that stand in every text, as lists; an empty one is null."""
    lists = pc.split_pattern(texts.cast(pa.large_string()), separator)
    values = pc.utf8_trim(lists.values, characters=BLANKS)
    kept = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
    kind: type[pa.Array] = pa.LargeListArray if pa.types.is_large_list(lists.type) else pa.ListArray
    missing = texts.is_null() if texts.null_count else None
    return kind.from_arrays(lists.offsets, kept, mask=missing)


def alone(values: pa.Array) -> pa.Array:
    """Return every value as a list of it; one that is missing is null."""
    missing = values.is_null(nan_is_null=True)
    there = pc.invert(missing)
    ends = np.concatenate([[0], np.cumsum(np.asarray(there))])
    return pa.LargeListArray.from_arrays(pa.array(ends, type=pa.int64()), values.filter(there), mask=missing)


def lists_of(attribute: SetMembers, column: pa.Array) -> pa.Array:
    """Return sets as lists of values: lists as they are, texts split, any other value alone."""
    column = columns.plain(column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return column
    if pa.types.is_fixed_size_list(column.type):
        return column.cast(pa.large_list(column.type.value_type))
    if objects.is_ours(column.type):
        return objects.sets(column, attribute.parts)
    return split(column, attribute.separator) if is_text(column.type) else alone(column)


def words_of(attribute: SetMembers, column: pa.Array) -> Codes:
    """Return the words of every set, shape (words, rows); DROPPED in all of a row that the specification leaves out.

    Args:
        attribute: of the sets.
        column: of sets; a null value in one is none.

    Raises:
        SchemaMismatch: a value, or a missing set, is one that the specification rejects (it is not shown).
    """
    lists = lists_of(attribute, column)
    rows = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
    values = lists.flatten()
    there = np.asarray(values.is_valid())
    cells = columns.cells(attribute.single, values)[there] if len(values) else np.zeros(0, dtype=np.int32)
    rows, missing = rows[there], np.asarray(lists.is_null())
    if (cells < 0).any():
        cells[cells < 0] = attribute.single.settled(OUTSIDE)
    if missing.any() and attribute.null is not None:
        alone = np.flatnonzero(missing)
        filled = np.full(alone.size, attribute.single.settled(MISSING), dtype=np.int32)
        cells, rows = np.concatenate([cells, filled]), np.concatenate([rows, alone])
    words = np.zeros((len(attribute.sizes), len(lists)), dtype=np.int32)
    kept = cells >= 0
    np.bitwise_or.at(words, (cells[kept] // WORD, rows[kept]), np.int32(1) << (cells[kept] % WORD))
    words[:, rows[~kept]] = DROPPED
    return words
