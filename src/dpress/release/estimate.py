"""What a collector does: files of reports become a release.

reports -> tallies of all report types -> the kind's answers -> release, and the design of the next round.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpress import catalog
from dpress.core.design import Design
from dpress.core.errors import NotSupported
from dpress.core.oracle import Payloads
from dpress.data.add_up import Progress, add_up
from dpress.data.spec import Spec
from dpress.mechanisms.protocol.collection import Collection
from dpress.release import next_round
from dpress.release.designs import collection_of, expected, save_design
from dpress.release.folder import check_new
from dpress.release.from_tallies import released
from dpress.release.plan import Plan, design_of
from dpress.release.release import Release
from dpress.release.report_source import ReportSource, source
from dpress.release.tallies import Layout


def estimate(
    asked: Spec | Plan | Design,
    reports: str | Path,
    *,
    out: str | Path | None = None,
    records: int = 0,
    allow_unproven: bool = False,
    csv: bool = False,
    progress: Progress | None = None,
    refitted: Progress | None = None,
) -> Release:
    """Add up reports and return the release: unbiased counts of every cell, with their error.

    A report that cannot be one of this collection is left out and counted by reason; one with the id of an earlier
    report is left out, too.

    Args:
        asked: the design, whose `ask` every report names by its hash; or a specification, planned on the spot.
        reports: a Parquet file, or the URL of a service's store, `sqlite:///FILE` or `postgresql://...`.
        out: a new folder to write the release to.
        records: how many synthetic records to draw from a fitted joint distribution.
        allow_unproven: also where the method's published claim has no proof.
        csv: write every table and the records as CSV, too.
        progress: called with the number of reports added up so far, then with that of those read again for a fit.
        refitted: called with the number of fits done, where a fitted joint is fitted again for its error.

    Raises:
        SchemaMismatch: the file holds no report that counts, or too few; it says why they were left out.
        OSError: the file cannot be read, or the release not written.
    """
    design = design_of(asked)
    collection = collection_of(design, allow_unproven=allow_unproven)
    if out is not None:
        check_new(out)
    if records and not catalog.kinds()[design.kind].draws_records:
        raise NotSupported(f"records are drawn from a joint distribution: set kind = {catalog.where('draws_records')}")
    read = source(reports, design, expected(design, collection))
    reader = read()
    layout = Layout(collection)
    total = add_up(
        layout.grouped(reader.batches()), layout.kernel, rows=lambda batch: len(batch.payloads), progress=progress
    )
    for reason, count in layout.faults(total).items():
        reader.count(reason, count)
    tallies, rejected = layout.tallies(total), dict(reader.rejected)
    payloads = _watched(lambda: _payloads(read(), collection), progress)
    own = {"records": records} if records else {}
    room = catalog.part(design.kind, "answers")
    kept = functools.partial(room.collected, payloads=payloads, **own)
    release = released(design, collection, tallies, rejected, kept, private=reader.private)
    release = replace(release, csv=csv)
    if out is not None:
        release.write(out, refitted=refitted)
        if (following := next_round.next_design(release)) is not None:
            save_design(following, Path(out) / next_round.NEXT)
    return release


def _payloads(reader: ReportSource, collection: Collection) -> Iterator[Payloads]:
    """Yield the sound payloads."""
    for batch in reader.batches():
        faults = collection.types[batch.report_type].faults(batch.payloads)
        sound = ~np.logical_or.reduce([*faults.values()]) if faults else np.ones(len(batch.payloads), dtype=np.bool_)
        yield batch.payloads[sound]


def _watched(payloads: Callable[[], Iterator[Payloads]], progress: Progress | None) -> Callable[[], Iterator[Payloads]]:
    """Return the payloads, and say how many were read so far, over all passes."""
    read = 0

    def watched() -> Iterator[Payloads]:
        nonlocal read
        for batch in payloads():
            read += len(batch)
            if progress is not None:
                progress(read)
            yield batch

    return watched
