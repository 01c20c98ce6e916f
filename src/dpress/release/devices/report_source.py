"""Where a collection's reports are read from: Parquet files, or the store of a service."""

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.reports.pieces import Run
from dpress.core.reports.wire import Expected
from dpress.data.reports.report_files import ReportFiles, read
from dpress.data.reports.report_paths import Reports, files_of
from dpress.data.stored.report_store import ReportStore, Round
from dpress.data.stored.store_url import SCHEMES, open_store
from dpress.data.stored.stored_reports import StoredReports
from dpress.document.design import Design

ReportSource = ReportFiles | StoredReports
"""Reports of one round of a collection, each id once; the same in every pass."""


def source(reports: Reports, design: Design, expected: Expected, run: Run) -> ReportSource:
    """Return what gives the reports, for any number of passes; of a store those that it has now.

    Args:
        reports: Parquet files (`data.reports.report_paths.files_of`), or the URL of a store.
        design: of the collection, in the round that is read.
        expected: what its reports say of themselves.
        run: the engine.

    Raises:
        SchemaMismatch: the store knows nothing of this round, or a file has other columns.
        ValueError: it is no URL of a store, or the round's reports were deleted from it.
        OSError: the store cannot be used, or a file not be read.
    """
    if not (isinstance(reports, str) and reports.startswith(SCHEMES)):
        return read(files_of(reports), expected, run=run)
    store = open_store(reports)
    place = round_of(store, design).place
    return StoredReports(store=store, place=place, keys=store.keys(place), expected=expected)


def round_of(store: ReportStore, design: Design) -> Round:
    """Return the round of a store that a design describes.

    Raises:
        SchemaMismatch: there is none.
        ValueError: its reports were deleted.
    """
    for stored in store.rounds():
        if (stored.ask, stored.number) == (design.id, design.round):
            if stored.expired is not None:
                raise ValueError(f"the {stored.expired:,} reports of round {design.round} were deleted from the store")
            return stored
    raise SchemaMismatch(f"the store has no round {design.round} of collection {design.id}; is the design its own?")
