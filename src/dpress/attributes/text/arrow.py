"""Arrow columns of strings that are coded by their bits.

Data flow: column of texts -> bytes of each, side by side, zeros behind them -> the candidate that each begins with.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import columns
from dpress.attributes.policy import MISSING
from dpress.attributes.text.attribute import Bytes, StringCandidates, bytes_of, padded


def cells(attribute: StringCandidates, column: pa.Array) -> npt.NDArray[np.int32]:
    """Return the code of every text; see `Cells.arrow_cells`."""
    column = columns.texts(attribute.name, column)
    codes = attribute.cells(rows(column, attribute.longest))
    codes[np.asarray(column.is_null())] = MISSING
    return codes


def rows(column: pa.Array, longest: int) -> Bytes:
    """Return the bytes of every text with zeros behind them, zeros alone for an unfit one, shape (texts, longest).

    Args:
        column: of large strings.
        longest: the bytes of the longest string.
    """
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:  # no UTF-8 somewhere
        texts = [value.as_buffer().to_pybytes() if value.is_valid else b"" for value in column.cast(pa.large_binary())]
        return padded([bytes_of(value.decode(errors="surrogateescape"), longest) for value in texts], longest)
    sizes = np.asarray(pc.fill_null(pc.binary_length(column), 0)).astype(np.int64)
    sizes[sizes > longest] = 0
    starts = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + len(column)]
    text = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    within = np.arange(longest) < sizes[:, None]
    block = np.zeros(within.shape, dtype=np.uint8)
    block[within] = text[(starts[:, None] + np.arange(longest))[within]]
    block[(within & (block == 0)).any(axis=1)] = 0
    return block
