"""Made-up rows of the shape that a specification describes, to look at before anything is spent: about nobody.

Nothing is read from anywhere: numbers and dates gather in the middle of their bounds, earlier values are more frequent.
"""

import numpy as np
import pyarrow as pa

from dpress.attributes.attribute import Attribute, Location
from dpress.attributes.bounded_attribute import Integer, Numeric
from dpress.attributes.calendar_cells import DAY
from dpress.attributes.dated_attribute import Dated
from dpress.attributes.listed_attribute import Categorical
from dpress.core.basics import rng as generators
from dpress.core.basics.claim import Unit
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array

MOST = 50_000  # rows
NAMES = 500  # different ones, of an attribute whose values nobody lists
YEAR = (19_723 * DAY, 20_089 * DAY)  # the hours of 2024, for cells that come round without bounds


def made_up(attributes: tuple[Attribute, ...], unit: Unit, count: int) -> pa.Table:
    """Return made-up rows, at most MOST of them, the same every time.

    Args:
        attributes: of the specification.
        unit: whose column gets the numbers of made-up people, each with as many rows as count.
        count: of rows.
    """
    rng, rows = generators.seeded(7), min(count, MOST)
    columns: dict[str, object] = {}
    for one in attributes:
        if isinstance(one, Location):
            for name, (low, high) in zip(one.pair, one.bounds, strict=True):
                columns[name] = low + (high - low) * _bell(rows, rng)
        else:
            columns[one.name] = _values(one, rows, rng)
    columns |= {name: np.arange(rows) // unit.rows for name in unit.columns if name not in columns}
    return pa.table(columns)


def _values(one: Attribute, rows: int, rng: Generator) -> object:
    if isinstance(one, Dated):
        first, end = YEAR if one.period is None else (one.period.first, one.period.end)
        hours = first + (_bell(rows, rng) * (end - first)).astype(np.int64)
        return pa.array(hours.astype("datetime64[h]").astype("datetime64[s]"))
    if isinstance(one, (Integer, Numeric)):
        low, high = one.ends
        spread = low + (high - low) * _bell(rows, rng)
        return np.floor(spread).astype(np.int64) if isinstance(one, Integer) else spread
    if isinstance(one, Categorical) and one.discovered:
        return pa.array([f"name {place + 1}" for place in _falling(rows, NAMES, rng)])
    listed = pa.array([str(value) for value in one.listed])  # type: ignore[union-attr]  # a location has been left out
    return listed.take(pa.array(_falling(rows, len(listed), rng)))


def _uniform(rows: int, rng: Generator) -> Array:
    return (rng.words(rows) >> np.uint64(11)).astype(np.float64) / 2.0**53


def _bell(rows: int, rng: Generator) -> Array:
    """Return numbers in [0, 1) around the middle."""
    return (_uniform(rows, rng) + _uniform(rows, rng) + _uniform(rows, rng)) / 3


def _falling(rows: int, size: int, rng: Generator) -> np.ndarray:
    """Return places below `size`, the earlier the more often."""
    return (_uniform(rows, rng) ** 2 * size).astype(np.int64)
