"""A collection under local privacy: reports to a release."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.core.oracle import Payloads
from dpress.core.wire import Expected
from dpress.data import reports as files
from dpress.data.fold import Counts, Progress, add_up
from dpress.data.spec import Spec
from dpress.mechanisms.protocol.collection import Collection
from dpress.release import rounds
from dpress.release.artifact import Release, now
from dpress.release.candidate import charge
from dpress.release.folder import check_new
from dpress.release.kept import kept
from dpress.release.local_plan import round_number, spec_id
from dpress.release.map import kind_of
from dpress.release.plan import Plan, plan, taken
from dpress.release.tallying import Layout


def estimate(
    spec: Spec,
    reports: str | Path,
    *,
    out: str | Path | None = None,
    records: int = 0,
    allow_unproven: bool = False,
    progress: Progress | None = None,
    refitted: Progress | None = None,
) -> Release:
    """Add up reports and return the release: unbiased counts of every cell, with their error.

    A report that cannot be one of this collection is left out and counted by reason; one with the id of an earlier
    report is left out, too.

    Args:
        spec: the collection's, which every report names by its hash.
        reports: a Parquet file.
        out: a new folder to write the release to.
        records: how many synthetic records to draw from a fitted joint distribution.
        allow_unproven: also where the method's published claim has no proof.
        progress: called with the number of reports added up so far, then with that of those read again for a fit.
        refitted: called with the number of fits done, where a fitted joint is fitted again for its error.

    Raises:
        SchemaMismatch: the file holds no report that counts, or too few; it says why they were left out.
        OSError: the file cannot be read, or the release not written.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=allow_unproven)
    if out is not None:
        check_new(out)
    if records and collection.estimator is None:
        raise NotSupported('records are drawn from a joint distribution: set kind = "joint"')
    reader = files.Reader(path=Path(reports), expected=expected(spec, planned.chosen.method, collection))
    layout = Layout(collection)
    total = add_up(
        layout.grouped(reader.batches()), layout.kernel, rows=lambda batch: len(batch.payloads), progress=progress
    )
    for reason, count in layout.faults(total).items():
        reader.count(reason, count)
    release = _release(
        spec,
        planned,
        layout.tallies(total),
        dict(reader.rejected),
        _watched(lambda: _payloads(reader, collection), progress),
        private=reader.private,
    )
    release = replace(release, records=records)
    if out is not None:
        release.write(out, refitted=refitted)
        rounds.write_next(release, out)
    return release


def _payloads(reader: files.Reader, collection: Collection) -> Iterator[Payloads]:
    """Yield the sound payloads once more."""
    again = files.Reader(path=reader.path, expected=reader.expected)
    for batch in again.batches():
        faults = collection.questions[batch.question].faults(batch.payloads)
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


def _release(
    spec: Spec,
    planned: Plan,
    tallies: list[Counts],
    rejected: dict[str, int],
    payloads: Callable[[], Iterator[Payloads]],
    *,
    private: bool,
) -> Release:
    collection = collection_of(planned, allow_unproven=True).counted(tallies)
    _check_answered(spec, collection, tallies, rejected)
    measurement = collection.measurement(tallies)
    loss = charge(planned.chosen, allow_unproven=True)
    fitted = None if collection.estimator is None else collection.estimator.fit(tallies, payloads)
    return kind_of(spec)(
        spec=spec,
        planned=taken(planned, collection),
        measurement=measurement,
        kept=kept(tallies, collection, fitted),
        fitted=fitted,
        rejected=rejected,
        charged=loss,
        private=private,
        created=now(),
    )


def _check_answered(spec: Spec, collection: Collection, tallies: list[Counts], rejected: dict[str, int]) -> None:
    """Refuse reports that leave a published table unanswered, with the cause first.

    Raises:
        SchemaMismatch: there are no reports, none that counts, or none about some attribute or pair of attributes.
    """
    why = "; ".join(f"{count:,} left out: {reason}" for reason, count in sorted(rejected.items()))
    if not any(tally[-1] for tally in tallies):
        if not rejected:
            raise SchemaMismatch("there are no reports in the file")
        raise SchemaMismatch(f"none of the {sum(rejected.values()):,} reports belongs to this specification ({why})")
    answered = [set(one.axes) for one, tally in zip(collection.questions, tallies, strict=True) if tally[-1]]
    for axes in collection.decoder.tables:
        if not any(set(axes) <= own for own in answered):
            names = " and ".join(repr(spec.schema.names[axis]) for axis in axes)
            raise SchemaMismatch(f"no report answers a question about {names}" + (f" ({why})" if why else ""))


def expected(spec: Spec, method: str, collection: Collection) -> Expected:
    """Return what every report of the collection says of itself.

    Raises:
        ValueError: its round is not the one that follows those it holds.
    """
    rounds.turns(collection, spec, method)
    widths = tuple(question.width for question in collection.questions)
    return Expected(spec=spec_id(spec), method=method, widths=widths, round=round_number(spec))


def collection_of(planned: Plan, *, allow_unproven: bool = False) -> Collection:
    """Return the collection that was planned.

    Raises:
        NotSupported: the spec is no local collection, or its method is unproven.
    """
    mechanism = planned.chosen.mechanism
    if not isinstance(mechanism, Collection):
        raise NotSupported('$.privacy.model: reports need model = "local"; `dpress publish` releases a table')
    charge(planned.chosen, allow_unproven=allow_unproven)
    return mechanism
