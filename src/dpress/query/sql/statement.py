"""What a statement asks for, whichever release answers it: keys with their rows, numbers as queries, and what follows.

`reader` makes it of a text; `answer` asks a release for it.
"""

import datetime as dt
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dpress.query.query_tree import Condition, Query, both

Value = str | int | float | bool | dt.date | dt.datetime | None
"""Of a key: None where the rows have none, or where a grouping set leaves the key out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What rows are grouped by.

    Args:
        name: of its column.
        values: all that it may have, in order.
        conditions: the rows that have each of them.
        attributes: that tell them.
        written: as the statement has it, by which `group by` and `order by` find it.
    """

    name: str
    values: tuple[Value, ...]
    conditions: tuple[Condition, ...]
    attributes: tuple[str, ...]
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of every group.

    Args:
        name: of its column; its error and interval follow it, with `_error`, `_low` and `_high` behind the name.
        query: whose answer it is; its own condition is joined to those of the group.
        factor: that the answer is multiplied by.
        places: that it is rounded to; None where it is not.
        written: as the statement has it.
    """

    name: str
    query: Query
    factor: float = 1.0
    places: int | None = None
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of rows.

    Args:
        values: of all keys, None of those that its set leaves out.
        where: its rows; None for all.
        places: of the keys that tell it; without one it is there whatever its rows.
    """

    values: tuple[Value, ...]
    where: Condition | None
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One `select`.

    Args:
        text: as it was written.
        keys: that rows are grouped by.
        sets: of `keys` by place, one table below the other; without `rollup` and the like one set of all.
        numbers: those that are shown, and those that only `having` and `order by` name.
        shown: the names of the columns, in order.
        where: the rows that it is about; None for all.
        behind: `having`, `order by`, `limit` and `offset`, as SQL over the columns; empty without them.
    """

    text: str
    keys: tuple[Key, ...]
    sets: tuple[tuple[int, ...], ...]
    numbers: tuple[Number, ...]
    shown: tuple[str, ...]
    where: Condition | None
    behind: str

    def groups(self) -> Iterator[Group]:
        """Yield every group of every set of keys."""
        for places in self.sets:
            chosen = [zip(self.keys[place].values, self.keys[place].conditions, strict=True) for place in places]
            for pairs in itertools.product(*chosen):
                values: list[Value] = [None] * len(self.keys)
                where = self.where
                for place, (value, rows) in zip(places, pairs, strict=True):
                    values[place], where = value, both(rows, where)
                yield Group(values=tuple(values), where=where, places=places)
