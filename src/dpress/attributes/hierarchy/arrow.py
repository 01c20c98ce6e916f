"""Arrow columns of codes: text -> the key of a leaf that it is -> the cell of the node above."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.attributes.arrow import columns
from dpress.attributes.hierarchy.attribute import Hierarchy
from dpress.attributes.policy import MISSING, OUTSIDE
from dpress.attributes.protocol import Codes


def cells(attribute: Hierarchy, column: pa.Array) -> Codes:
    """Return the cell of every code, OUTSIDE where it is none of the tree's, MISSING where it is no text or integer."""
    if pa.types.is_decimal(column.type):
        return columns.each_by_itself(attribute, column)
    texts = columns.texts(attribute.name, column)
    keys, _ = attribute.spine_tree.nodes_of[-1].keys
    places = np.asarray(pc.fill_null(pc.index_in(texts, value_set=keys), len(keys)))
    coded: Codes = np.append(attribute.key_cells, np.int32(OUTSIDE))[places]
    coded[np.asarray(texts.is_null())] = MISSING
    return coded
