"""How two tables fit each other, for whoever holds them, before the budget is spent. Exact, so never private."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from dpress.data.linked.linked_rows import LinkedRows
from dpress.data.sources.source import Source
from dpress.data.specification.linked_table import LinkedTables
from dpress.data.specification.slots import Slot
from dpress.release.truth.finding import Finding, share


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedCheck:
    """Which rows of two tables that belong together count.

    Args:
        households: above, each key once.
        persons: below, that belong to one and count.
        without_household: rows below that belong to none.
        repeated: rows above whose key another has before them.
        without_persons: households that have none.
        above_most: households with more persons than count; 0 where single persons are protected, who all count.
        left_out: persons of these that do not count.
        largest: the most persons of a household.
        dropped: rows below that are nobody, for a value that is left out.
    """

    households: int
    persons: int
    without_household: int
    repeated: int
    without_persons: int
    above_most: int
    left_out: int
    largest: int
    dropped: int


def linked_findings(tables: LinkedTables | None, source: Source) -> dict[str, Finding]:
    """Return how two tables fit each other; {} where the rows are of one.

    Args:
        tables: as the specification has them.
        source: their rows, all of them.

    Raises:
        OSError, SchemaMismatch: the rows cannot be read.
    """
    if tables is None:
        return {}
    rows = cast("LinkedRows", source)
    *_, joined = rows.read(())
    sizes = joined.sizes
    figures = LinkedCheck(
        households=sizes.size,
        persons=joined.persons.size,
        without_household=joined.strays,
        repeated=joined.repeated,
        without_persons=int((sizes == 0).sum()),
        above_most=int((sizes > rows.most).sum()),
        left_out=int(np.maximum(sizes - rows.most, 0).sum()),
        largest=int(sizes.max(initial=0)),
        dropped=joined.dropped,
    )
    lines = _lines(figures, tables, capped=rows.most == tables.most)
    return {"tables": Finding(figures=figures, lines=(lines,), faults=tuple(_faults(figures, tables)))}


def counted_persons(slots: Sequence[Slot], source: Source) -> Iterator[pa.RecordBatch]:
    """Yield the persons who are in some slot, with the columns of their attributes.

    Args:
        slots: of households; of none nobody is yielded.
        source: the rows of both tables, all of them.

    Raises:
        OSError, SchemaMismatch: the rows cannot be read.
    """
    if slots:
        _, below, joined = cast("LinkedRows", source).read([slot.name for slot in slots])
        yield from below.take(pa.array(joined.persons)).to_batches()


def _lines(figures: LinkedCheck, tables: LinkedTables, *, capped: bool) -> list[str]:
    above, below = tables.above.name, tables.below.name
    alone = f"{above} without {below} ({share(figures.without_persons, figures.households)})"
    rows = [
        (figures.without_persons, alone),
        (figures.above_most, f"{above} with more than {tables.most}, of whom the first {tables.most} count"),
        (figures.left_out, f"{below} left out by that ({share(figures.left_out, figures.persons + figures.left_out)})"),
    ]
    counted = f"{figures.households:,} {above}, {figures.persons:,} {below}, at most {figures.largest:,} of each"
    shown = rows if capped else rows[:1]
    shown += [(figures.dropped, f'{below} left out for a value, as "drop" says')] if figures.dropped else []
    return ["tables", f"  {counted}", *(f"  {number:>12,}  {words}" for number, words in shown)]


def _faults(figures: LinkedCheck, tables: LinkedTables) -> list[str]:
    above, below = tables.above, tables.below
    stray = f"{below.name} that belong to no row of {above.name}: {figures.without_household:,}; they are left out"
    twice = f"{above.name} whose {', '.join(above.keys)} stands before: {figures.repeated:,}; the first row counts"
    return [line for number, line in ((figures.without_household, stray), (figures.repeated, twice)) if number]
