"""Arrow columns of codes: text -> the key of a leaf that it is -> the cell of the node above."""

import numpy as np
import pyarrow as pa

from dpress.attributes.arrow import columns
from dpress.attributes.hierarchy.attribute import Hierarchy
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.protocol import Codes


def cells(attribute: Hierarchy, column: pa.Array) -> Codes:
    """Return the cell of every code, OUTSIDE where it is none of the tree's, MISSING where it is no text or integer."""
    if pa.types.is_decimal(column.type):
        return columns.each_by_itself(attribute, column)
    index = attribute.spine_tree.nodes_of[-1].index
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        texts = column
        places = index.places_of_numbers(np.asarray(column.cast(pa.int64()).fill_null(0)))
    else:
        texts = columns.texts(attribute.name, column)
        places = index.places(texts)
    coded: Codes = np.append(attribute.key_cells, np.int32(OUTSIDE))[places]
    coded[np.asarray(texts.is_null())] = MISSING
    return coded
