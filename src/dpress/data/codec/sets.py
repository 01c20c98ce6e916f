"""Arrow columns of sets of values: lists, or texts with a separator between the values.

Data flow: column -> lists -> the place of every value -> a bit of a word of its row.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.coding import DROPPED, MISSING, OUTSIDE, settle
from dpress.attributes.set_members import WORD, SetMembers
from dpress.attributes.value import BLANKS

Codes = npt.NDArray[np.int32]


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


def words_of(attribute: SetMembers, lists: pa.Array, places: Callable[[pa.Array], Codes]) -> Codes:
    """Return the words of every set, shape (words, rows); DROPPED in all of a row that the specification leaves out.

    Args:
        attribute: of the sets.
        lists: of values; a null value is none.
        places: gives the cell of single values, OUTSIDE or MISSING.

    Raises:
        SchemaMismatch: a value, or a missing set, is one that the specification rejects (it is not shown).
    """
    rows = np.asarray(pc.list_parent_indices(lists)).astype(np.int64)
    values = lists.flatten()
    there = np.asarray(values.is_valid())
    cells = places(values)[there] if len(values) else np.zeros(0, dtype=np.int32)
    rows, missing = rows[there], np.asarray(lists.is_null())
    if (cells < 0).any():
        cells[cells < 0] = settle(attribute.one, OUTSIDE)
    if missing.any() and attribute.null is not None:
        alone = np.flatnonzero(missing)
        own = np.full(alone.size, settle(attribute.one, MISSING), dtype=np.int32)
        cells, rows = np.concatenate([cells, own]), np.concatenate([rows, alone])
    found = np.zeros((len(attribute.sizes), len(lists)), dtype=np.int32)
    kept = cells >= 0
    np.bitwise_or.at(found, (cells[kept] // WORD, rows[kept]), np.int32(1) << (cells[kept] % WORD))
    found[:, rows[~kept]] = DROPPED
    return found
