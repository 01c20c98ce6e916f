"""Records of a group spread over its cells so that every value of every other attribute gets its part: public tables.

records over groups, shares of a group's cells -> cells, one after the other, each where most is missing.
"""

import numpy as np

from dpress.core.basics.compiled import compiled
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts


def balanced(others: Codes, values: int, shares: Array, *, rng: Generator) -> Counts:
    """Return a cell for every record; each cell gets about its share of the records, and of those with any one value.

    A record goes where, summed over its values, most is missing of the shares so far; so little sampling error is added
    to tables of two attributes. The shares among all records weigh as much as those with all values of a record. Where
    counting starts is random. Time: records x attributes x cells.

    Args:
        others: the records' values of the other attributes, each from 0 and of one attribute only, shape (attributes,
            records).
        values: how many there are.
        shares: of the cells, >= 0; all 0 for even ones.
        rng: the generator.
    """
    target = shares if shares.sum() > 0 else np.ones_like(shares)
    even = (rng.words((values + 1) * target.size) >> np.uint64(11)) * 2.0**-53
    start = np.asarray(even.reshape(values + 1, target.size) - 0.5, dtype=np.float64)
    out = np.empty(others.shape[1], dtype=np.int64)
    compiled(assign)(np.ascontiguousarray(others.T), target / target.sum(), start, out)
    return out


def assign(others: Codes, shares: Array, excess: Array, out: Counts) -> None:
    """Write the cell of every record; `excess` is what values have of cells beyond their shares, the last row all's."""
    records, attributes = others.shape
    for record in range(records):
        best, least = 0, np.inf
        for cell in range(shares.size):
            excess_of_cell = max(attributes, 1) * excess[-1, cell]
            for value in others[record]:
                excess_of_cell += excess[value, cell]
            if excess_of_cell < least:
                best, least = cell, excess_of_cell
        out[record] = best
        for cell in range(shares.size):
            change = (1.0 if cell == best else 0.0) - shares[cell]
            excess[-1, cell] += change
            for value in others[record]:
                excess[value, cell] += change
