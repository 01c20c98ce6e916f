"""Many tables over the same number of attributes in one file: a row for every cell of every table.

tables -> batches of cells, each named by its attributes and its values.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.query.published_tables import BATCH_CELLS, PublishedTable

ATTRIBUTE, VALUE = "attribute_", "value_"  # of columns that say whose cell a row is, with a number behind


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFamily:
    """A file of tables that have equally many attributes.

    Args:
        name: of the file.
        tables: makes them anew, in their order, each small enough for memory.
    """

    name: str
    tables: Callable[[], Iterable[PublishedTable]]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows table by table, about 2^20 at a time and whole tables.

        Columns: `attribute_1`, `value_1`, `attribute_2`, ... in the order of a table's axes, the last running fastest;
        then the numbers that a file of one table has, see `PublishedTable.batches`.
        """
        waiting, cells = list[PublishedTable](), 0
        for table in self.tables():
            waiting.append(table)
            cells += table.count.size
            if cells >= BATCH_CELLS:
                yield _batch(waiting)
                waiting, cells = [], 0
        if waiting:
            yield _batch(waiting)


def _batch(tables: list[PublishedTable]) -> pa.RecordBatch:
    """Return the cells of some tables."""
    axes = {axis.name: axis for table in tables for axis in table.axes}
    names, starts, labels = {}, {}, list[str]()
    for place, (name, axis) in enumerate(axes.items()):
        names[name], starts[name] = place, len(labels)
        labels += axis.labels_between(0, axis.size)
    sizes = [table.count.size for table in tables]
    columns: dict[str, Any] = {}
    for place in range(len(tables[0].axes)):
        along = [table.axes[place].name for table in tables]
        values = [starts[name] + _codes(table.shape, place) for name, table in zip(along, tables, strict=True)]
        columns[f"{ATTRIBUTE}{place + 1}"] = _texts([*axes], np.repeat([names[name] for name in along], sizes))
        columns[f"{VALUE}{place + 1}"] = _texts(labels, np.concatenate(values))
    numbers = [table.numbers(0, table.count.size) for table in tables]
    return pa.record_batch(columns | {name: np.concatenate([each[name] for each in numbers]) for name in numbers[0]})


def _codes(shape: tuple[int, ...], place: int) -> np.ndarray:
    """Return the code along an axis of every cell of a table, the last axis running fastest."""
    before, after = math.prod(shape[:place]), math.prod(shape[place + 1 :])
    return np.tile(np.repeat(np.arange(shape[place]), after), before)


def _texts(texts: list[str], places: np.ndarray) -> pa.Array:
    return pa.array(texts, type=pa.string()).take(pa.array(places))
