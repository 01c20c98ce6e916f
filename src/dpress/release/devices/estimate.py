"""What a collector does: files of reports become a release.

reports -> tallies of all report types -> the kind's answers -> release, and the design of the next round.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from dpress import catalog
from dpress.core.basics.errors import NotSupported
from dpress.core.reports.oracle import Payloads
from dpress.core.reports.pieces import PayloadPieces, Run, on_threads
from dpress.data.add_up import Progress, add_up
from dpress.data.reports.report_files import Piece
from dpress.data.reports.report_paths import Reports
from dpress.data.specification.spec import Spec
from dpress.document.design import Design
from dpress.mechanisms.protocol.collection import Collection
from dpress.query.designs import collection_of, expected, save_design
from dpress.query.folder import check_new
from dpress.query.release import Release
from dpress.release.devices import next_round
from dpress.release.devices.from_tallies import released
from dpress.release.devices.report_source import ReportSource, source
from dpress.release.devices.tallies import Layout, sound_payloads
from dpress.release.plan.plan import Plan, design_of

R = TypeVar("R")


def estimate(
    asked: Spec | Plan | Design,
    reports: Reports,
    *,
    out: str | Path | None = None,
    records: int = 0,
    allow_unproven: bool = False,
    csv: bool = False,
    titles: bool = False,
    progress: Progress | None = None,
    refitted: Progress | None = None,
    run: Run = on_threads,
) -> Release:
    """Add up reports and return the release: unbiased counts of every cell, with their error.

    A report that cannot be one of this collection is left out and counted by reason; one with the id of an earlier
    report, by file and by row, is left out, too.

    Args:
        asked: the design, whose `ask` every report names by its hash; or a specification, planned on the spot.
        reports: a Parquet file; a folder of them, with its subfolders; a pattern such as `"reports/2026-*/*.parquet"`;
            several of these; or the URL of a service's store, `sqlite:///FILE` or `postgresql://...`.
        out: a new folder to write the release to.
        records: how many synthetic records to draw from a fitted joint distribution.
        allow_unproven: also where the method's published claim has no proof.
        csv: write every table and the records as CSV, too.
        titles: in these titles, with units, in the place of names, and labels in that of values.
        progress: called with the number of reports added up so far, then with that of those read again for a fit.
        refitted: called with the number of fits done, where a fitted joint is fitted again for its error.
        run: the engine that takes the reports piece by piece; the release is the same with every one.

    Raises:
        NotSupported: the reports are a store's, and `run` is not `on_threads`.
        SchemaMismatch: there is no report that counts, or too few; it says why they were left out. Or a file has other
            columns.
        OSError: a file cannot be read, or changed meanwhile, or the release cannot be written.

    >>> import dpress, pyarrow as pa, tempfile
    >>> place = {"name": "place", "kind": "categorical", "values": ["town", "country"]}
    >>> privacy, release = {"model": "local", "epsilon": 2}, {"kind": "histogram"}
    >>> spec = dpress.load_spec({"attribute": [place], "privacy": privacy, "release": release})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = dpress.perturb(spec, pa.table({"place": ["town"] * 50}), out=f"{folder}/reports.parquet")
    ...     dpress.estimate(spec, f"{folder}/reports.parquet").users
    50
    """
    design = design_of(asked)
    collection = collection_of(design, allow_unproven=allow_unproven)
    if out is not None:
        check_new(out)
    if records and not catalog.kinds()[design.kind].draws_records:
        raise NotSupported(f"records are drawn from a joint distribution: set kind = {catalog.where('draws_records')}")
    given = source(reports, design, expected(design, collection), run)
    if run is not on_threads and not given.portable:
        raise NotSupported("reports of a store are added up by threads; `dpress export` writes them to files")
    layout = Layout(collection)
    total = add_up(given.pieces(), layout.of_piece, rows=lambda piece: piece.rows, progress=progress, run=run)
    tallies, rejected = layout.tallies(total), layout.faults(total)
    payloads = payload_pieces(given, collection, run, progress)
    collected = catalog.room(design.kind).answering.collected
    kept = functools.partial(collected, payloads=payloads, records=records or 0)
    release = released(design, collection, tallies, rejected, kept, private=given.private)
    release = replace(release, csv=csv, titles=titles)
    if out is not None:
        release.write(out, refitted=refitted)
        if (following := next_round.next_design(release)) is not None:
            save_design(following, Path(out) / next_round.NEXT)
    return release


def payload_pieces(
    given: ReportSource, collection: Collection, run: Run, progress: Progress | None = None
) -> PayloadPieces:
    """Return the sound payloads, piece by piece; progress counts the reports that were read, over all passes."""
    done = 0

    def passes(kernel: Callable[[Iterable[Payloads]], R]) -> Iterator[R]:
        nonlocal done

        def of_piece(piece: Piece) -> tuple[int, R]:
            return piece.rows, kernel(_sound(piece, collection))

        for rows, result in run(of_piece, given.pieces()):
            done += rows
            if progress is not None:
                progress(done)
            yield result

    return passes


def _sound(piece: Piece, collection: Collection) -> Iterator[Payloads]:
    left_out = Counter[str]()  # known since the tallies
    return (sound_payloads(batch, collection, left_out) for batch in piece.batches(left_out))
