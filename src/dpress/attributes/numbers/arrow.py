"""Arrow columns of integers and numbers as cells; a text whose floor is rare is read by the definition."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.attributes.arrow import columns, numbers, objects
from dpress.attributes.numbers.attribute import Integer, Numeric, number_of
from dpress.attributes.policy import MISSING
from dpress.attributes.protocol import Codes
from dpress.attributes.value import Value


def integers(attribute: Integer, column: pa.Array) -> Codes:
    """Return the cell of the floor of every number; see `Cells.arrow_cells`."""
    numbers.check_type(attribute.name, column.type)
    whole = numbers.whole(column)
    codes = attribute.cells(whole.floors)
    if whole.rare.any():
        codes[whole.rare] = columns.each_by_itself(attribute, column.filter(pa.array(whole.rare)))
    codes[whole.missing] = MISSING
    return codes


def bins(attribute: Numeric, column: pa.Array) -> Codes:
    """Return the bin of every number; see `Cells.arrow_cells`."""
    numbers.check_type(attribute.name, column.type)
    floats, missing = numbers.floats(column)
    codes = attribute.cells(floats)
    codes[missing] = MISSING
    return codes


def nearest(name: str, column: pa.Array) -> npt.NDArray[np.float64]:
    """Return a column as 64-bit floats, NaN where a value is missing or none.

    Raises:
        SchemaMismatch: its type has no numbers.
    """
    if objects.is_ours(column.type):
        return objects.each(column, _float_of, np.nan)
    numbers.check_type(name, column.type)
    floats, missing = numbers.floats(column)
    return np.where(missing, np.nan, floats)


def _float_of(value: Value) -> float:
    exact = number_of(value)
    return np.nan if exact is None else float(exact)
