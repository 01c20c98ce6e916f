"""Of which periods a person's rows count: the first so many that have any, so that later ones change nothing.

rows so far -> person and period of each -> persons who had as many periods before -> rows of the period that count.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.basics.claim import ROW
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.codec.codec import cells_of
from dpress.data.persons.person_columns import persons_of
from dpress.data.persons.person_index import PersonIndex, fresh_key
from dpress.data.persons.row_sample import CHANGED
from dpress.data.sources.open_source import Rows
from dpress.data.sources.source import Part, Source
from dpress.data.table import Table
from dpress.release.periods.calendar import Calendar
from dpress.release.plan.row_condition import row_condition

Numbers = npt.NDArray[np.int64]


def person_periods(rows: Rows, calendar: Calendar, period: int, *, earlier: bool) -> Rows:
    """Return the rows as they count for a period: of every person those in it, if it is among the first of theirs.

    Where a person has rows in the period, those of other periods are left out, so that the cap of rows is for the
    period alone; a person whose periods are used up loses those in it. Other rows stay: the cell of time drops them.
    Read once before they are counted; 24 bytes a row. Which rows stay holds for one order of them, so those of a source
    without an order of its own are held in memory. By threads, whatever the source.

    Args:
        rows: of all periods so far.
        calendar: of the periods, with a cap for persons.
        period: from 0.
        earlier: whether one is published, whose rows must be there.

    Raises:
        OSError, SchemaMismatch: the rows cannot be read, a row has no person, or there are those of the period alone.
    """
    unit, dated = calendar.spec.privacy.protected, msgspec.structs.replace(calendar.dated, outside="drop")
    name, rule = rows.source.name, row_condition(calendar.spec)
    read = () if rule is None else rule.columns  # whoever counts them looks once more which are of the release
    columns = tuple(dict.fromkeys((*calendar.spec.schema.columns, *unit.columns, *read)))
    rows = rows if rows.source.stable else Table(rows, columns, ROW).held(columns)
    since = rows.source.stamp()
    index, persons, periods = PersonIndex(key=fresh_key()), list[Numbers](), list[Numbers]()
    for part in rows.source.parts((*unit.columns, *dated.columns)):
        for batch in part.batches():
            persons.append(index.numbers(persons_of(unit.columns, batch)))
            periods.append(cells_of(dated, batch).astype(np.int64))
    who, when = (np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64) for blocks in (persons, periods))
    if earlier and not np.any((when >= 0) & (when < period)):
        raise SchemaMismatch(
            f"{name}: expected the rows so far, of earlier periods too: they tell in which ones a person "
            "counts; got none of them"
        )
    return Rows(PeriodRows(rows.source, kept(who, when, period, calendar.touched), since), None)


def kept(who: Numbers, when: Numbers, period: int, cap: int) -> npt.NDArray[np.bool_]:
    """Return which rows stay, shape (rows,).

    Args:
        who: every row's person, from 0.
        when: every row's period, from 0; below 0 where it has none.
        period: that is counted.
        cap: of how many periods a person's rows count.

    >>> kept(np.array([0, 0, 0, 1, 2]), np.array([0, 1, 2, 2, 0]), 2, 2).tolist()
    [True, True, False, True, True]
    """
    size = int(who.max(initial=-1)) + 1
    there = np.bincount(who[when == period], minlength=size) > 0
    pairs = np.unique(np.stack([who, when])[:, (when >= 0) & (when < period)], axis=1)
    earlier = np.bincount(pairs[0], minlength=size)
    counts = there & (earlier < cap)
    mine = when == period
    return np.asarray(np.where(mine, counts[who], ~counts[who]))


@dataclass(frozen=True, slots=True, eq=False)
class PeriodRows(Source):
    """A source without the rows that do not stay.

    Args:
        whole: where the rows are, in an order of their own: stable.
        stay: which rows do, in that order.
        since: the stamp of the rows before it was asked which stay.
    """

    whole: Source
    stay: npt.NDArray[np.bool_]
    since: Hashable

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.whole.name

    @property
    def stable(self) -> bool:
        """Whether the rows come in the same order whenever they are read."""
        return self.whole.stable

    @property
    def portable(self) -> bool:
        """A part is not read elsewhere: it takes what this process knows."""
        return False

    def stamp(self) -> Hashable:
        """Return what changes when the rows do.

        Raises:
            OSError: they did, since it was asked which stay.
        """
        if self.whole.stamp() != self.since:
            raise OSError(CHANGED)
        return self.since

    def columns(self) -> list[str]:
        """Return the names of all columns."""
        return self.whole.columns()

    def parts(self, columns: Sequence[str]) -> Sequence[Part]:
        """Return the rows that stay, as one part."""
        return [_Staying(self.whole.parts(columns), self.stay)]


@dataclass(frozen=True, slots=True, eq=False)
class _Staying:
    parts: Sequence[Part]
    stay: npt.NDArray[np.bool_]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        done = 0
        for part in self.parts:
            for batch in part.batches():
                begin, done = done, done + batch.num_rows
                if done > self.stay.size:
                    raise OSError(CHANGED)
                yield batch.filter(pa.array(self.stay[begin:done]))
        if done != self.stay.size:
            raise OSError(CHANGED)
