"""Made-up rows of the shape that a specification describes, to look at before anything is spent: about nobody.

Nothing is read from anywhere: numbers and dates gather in the middle of their bounds, earlier values are more frequent.
"""

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Attribute
from dpress.core.basics import rng as generators
from dpress.core.basics.claim import Unit

MOST = 50_000  # rows


def made_up(attributes: tuple[Attribute, ...], unit: Unit, count: int) -> pa.Table:
    """Return made-up rows, at most MOST of them, the same every time.

    Args:
        attributes: of the specification.
        unit: whose column gets the numbers of made-up people, each with as many rows as count.
        count: of rows.
    """
    rng, rows = generators.seeded(7), min(count, MOST)
    columns: dict[str, object] = {}
    for attribute in attributes:
        columns |= attribute.made_up(rows, rng)
    columns |= {name: np.arange(rows) // unit.rows for name in unit.columns if name not in columns}
    return pa.table(columns)
