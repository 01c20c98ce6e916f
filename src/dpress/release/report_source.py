"""Where a collection's reports are read from: a Parquet file, or the store of a service."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from dpress.core.design import Design
from dpress.core.errors import SchemaMismatch
from dpress.core.wire import Expected
from dpress.data import reports as files
from dpress.data.stored.report_store import ReportStore, Round
from dpress.data.stored.store_url import SCHEMES, open_store
from dpress.data.stored.stored_reports import StoredReports


class ReportSource(Protocol):
    """Reports of one round of a collection, read once; a second pass takes another one."""

    rejected: Counter[str]

    @property
    def private(self) -> bool:
        """False where a seeded generator drew the coins."""
        ...

    @property
    def rows(self) -> int:
        """The number of reports, sound or not."""
        ...

    def batches(self) -> Iterator[files.Batch]:
        """Yield reports of one type after the other, each id once."""
        ...

    def count(self, reason: str, reports: int) -> None:
        """Count reports that were left out."""
        ...


def source(reports: str | Path, design: Design, expected: Expected) -> Callable[[], ReportSource]:
    """Return what gives the reports, once for every pass; of a store those that it has now.

    Args:
        reports: a Parquet file, or the URL of a store.
        design: of the collection, in the round that is read.
        expected: what its reports say of themselves.

    Raises:
        SchemaMismatch: the store knows nothing of this round.
        ValueError: it is no URL of a store.
        OSError: the store cannot be used.
    """
    if not (isinstance(reports, str) and reports.startswith(SCHEMES)):
        return lambda: files.Reader(path=Path(reports), expected=expected)
    store = open_store(reports)
    place = round_of(store, design).place
    keys = store.keys(place)
    return lambda: StoredReports(store=store, place=place, keys=keys, expected=expected)


def round_of(store: ReportStore, design: Design) -> Round:
    """Return the round of a store that a design describes.

    Raises:
        SchemaMismatch: there is none.
    """
    for one in store.rounds():
        if (one.ask, one.number) == (design.id, design.round):
            return one
    raise SchemaMismatch(f"the store has no round {design.round} of collection {design.id}; is the design its own?")
