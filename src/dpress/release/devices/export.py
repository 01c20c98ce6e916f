"""From a store of reports to a file of them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpress.core.reports.wire import ID_BYTES
from dpress.data.add_up import Progress
from dpress.data.reports import report_writer
from dpress.data.reports.report_batch import Batch, Ids
from dpress.data.stored.store_url import open_store
from dpress.data.stored.stored_reports import StoredReports
from dpress.document.design import Design
from dpress.query.designs import collection_of, expected
from dpress.release.devices.report_source import round_of


def export(
    design: Design, reports: str, *, out: str | Path, progress: Progress | None = None
) -> tuple[int, dict[str, int]]:
    """Write the reports of one round, each once, and return how many they are and how many were left out, by reason.

    Args:
        design: of the collection, in the round that is read.
        reports: the URL of the store.
        out: the new Parquet file.
        progress: called with the number of reports written so far.

    Raises:
        SchemaMismatch: the store knows nothing of this round.
        OSError: the store cannot be read, or the file not written; nothing is left behind.
    """
    stated = expected(design, collection_of(design, allow_unproven=True))
    store = open_store(reports)
    place = round_of(store, design).place
    source = StoredReports(store=store, place=place, keys=store.keys(place), expected=stated)

    def batches() -> Iterator[tuple[Batch, Ids]]:
        written = 0
        for batch, ids in source.named():
            written += len(ids)
            if progress is not None:
                progress(written)
            yield batch, np.ascontiguousarray(ids).view(np.dtype((np.void, ID_BYTES)))[:, 0]

    count = report_writer.write(Path(out), batches(), expected=stated, private=source.private)
    return count, dict(source.rejected)
