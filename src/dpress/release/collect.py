"""A collection under local privacy: people's values to reports (in simulation), and reports to a release."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core import rng as generators
from dpress.core.claim import ROW
from dpress.core.domain import Schema
from dpress.core.errors import NotSupported, SchemaMismatch
from dpress.core.oracle import Payloads
from dpress.core.rng import Generator
from dpress.core.wire import ID_BYTES, Expected
from dpress.data import reports as files
from dpress.data.codec import encode
from dpress.data.fold import LARGEST_DENSE, Counts, Progress, Sparse, add_up
from dpress.data.spec import Spec
from dpress.data.table import Table, without_quotes
from dpress.estimate.joint.factors import Joint, dense
from dpress.mechanisms.collection import Collection, Drawn
from dpress.release import rounds
from dpress.release.artifact import Release, now
from dpress.release.folder import check_new
from dpress.release.local_plan import round_number, spec_id
from dpress.release.map import kind_of
from dpress.release.plan import Plan, charge, plan, taken

Draw = Callable[[int, Generator], Drawn]

UNIT = 1 << 50  # of a fitted share
CLOSE = 1e-6  # to 1, of the sum of a fit that was kept
LARGEST_PART = 1 << 26  # bytes of payloads that are made, or tallied, at a time


def perturb(
    spec: Spec,
    data: Any = None,
    *,
    out: str | Path,
    allow_unproven: bool = False,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> int:
    """Simulate the devices of a collection: one report for every row; return the number of reports.

    Where a collection has rounds, the rows are devices that draw one round each, and those of this round report.

    Every row is perturbed by itself, with coins of its own, as its owner's device would; only the reports are written.

    Args:
        spec: of a local collection.
        data: a CSV or Parquet file, or a table, a person a row; left out, the spec's source.
        out: a new file of reports.
        allow_unproven: also run a method whose published claim has no proof.
        rng: left out, a secure generator; a seeded one protects nobody.
        progress: called with the number of rows done so far.

    Raises:
        NotSupported: the spec is no local collection, or its method is unproven.
        SchemaMismatch: the data does not fit the spec.
        OSError: the data cannot be read or the reports not written; nothing is left behind.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=allow_unproven)
    source = data if spec.data is None or data is not None else spec.data.source
    if source is None:
        raise ValueError("no data: name a file in [data] source, or pass one")
    generator = generators.secure() if rng is None else rng
    grows = rounds.turns(collection, spec, planned.chosen.method) is not None
    table = Table(source, planned.schema.names, ROW, in_order=grows)  # a row's number decides about its round
    own = expected(spec, planned.chosen.method, collection)
    batches = _reports(collection, _codes(table, planned.schema), _drawing(spec, own, collection), generator, progress)
    return files.write(Path(out), batches, expected=own, private=generator.private)


def _codes(table: Table, schema: Schema) -> Iterator[tuple[int, npt.NDArray[np.int32]]]:
    """Yield the number of rows of every batch, and the codes of the rows that are kept."""
    for batch in table.batches():
        yield batch.num_rows, without_quotes(table.name, partial(encode, schema, batch))


def _drawing(spec: Spec, own: Expected, collection: Collection) -> Draw:
    """Return how devices draw their questions; in rounds each reports in one of them only."""
    turns = rounds.turns(collection, spec, own.method)
    if turns is not None:
        return rounds.drawing(turns, rounds.collection_id(spec, own.method, turns))
    return lambda devices, rng: collection.drawn(devices, rng=rng)


def _reports(
    collection: Collection,
    batches: Iterator[tuple[int, npt.NDArray[np.int32]]],
    draw: Draw,
    rng: Generator,
    progress: Progress | None,
) -> Iterator[tuple[files.Batch, files.Ids]]:
    done = 0
    for rows, codes in batches:
        drawn = draw(codes.shape[1], rng)
        for number, question in enumerate(collection.questions):
            mine = drawn == number
            own = codes if mine.all() else codes[:, mine]
            part = max(1, LARGEST_PART // question.width)
            for start in range(0, own.shape[1], part):
                payloads = question.perturb(own[:, start : start + part], rng=rng)
                ids = rng.words(2 * len(payloads)).view(np.dtype((np.void, ID_BYTES)))
                yield files.Batch(question=number, payloads=payloads), ids
        done += rows
        if progress is not None:
            progress(done)


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
    layout = _Layout(collection)
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


def kept(tallies: list[Counts], collection: Collection, fitted: Joint | None) -> Counts:
    """Return what a release keeps: the tallies, and a fit that they alone do not give, in units of 2^-50."""
    if collection.estimator is None or fitted is None or collection.estimator.from_tallies:
        return np.concatenate(tallies)
    cells = np.rint(fitted.marginal(tuple(range(len(collection.shape)))).ravel() * UNIT).astype(np.int64)
    return np.concatenate([*tallies, cells])


def refitted(values: Counts, collection: Collection) -> tuple[list[Counts], Joint | None]:
    """Return the tallies and the fit that a release kept.

    Raises:
        SchemaMismatch: the fit has a negative share, or does not add up to 1.
    """
    size = sum(collection.sizes)
    tallies = collection.split_tally(values[:size])
    if collection.estimator is None:
        return tallies, None
    if collection.estimator.from_tallies:
        return tallies, collection.estimator.fit(tallies, list)
    shares = values[size:] / UNIT
    if shares.size != math.prod(collection.shape) or shares.min() < 0 or abs(float(shares.sum()) - 1) > CLOSE:
        raise SchemaMismatch("the fitted joint that the release keeps is no distribution")
    return tallies, dense(shares.reshape(collection.shape))


class _Layout:
    """Where the tallies and the counts of faults of every question lie in the one array that is added up."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.questions = collection.questions
        self.sizes = collection.sizes
        self.reasons = sorted({reason for question in self.questions for reason in question.faults(question.nothing)})

    def grouped(self, batches: Iterator[files.Batch]) -> Iterator[files.Batch]:
        """Yield batches of one question with about as many reports as its tally has numbers: each is worth one."""
        waiting: dict[int, list[files.Batch]] = {}
        for batch in batches:
            own = waiting.setdefault(batch.question, [])
            own.append(batch)
            rows = sum(len(one.payloads) for one in own)
            if 4 * rows >= self.sizes[batch.question] or rows * batch.payloads.shape[1] >= LARGEST_PART:
                yield _together(waiting.pop(batch.question))
        yield from map(_together, waiting.values())

    def kernel(self, batch: files.Batch) -> Counts | Sparse:
        """Return the tallies of all questions, where only the batch's own is not zero, then the faults by reason."""
        question = self.questions[batch.question]
        sound = np.ones(len(batch.payloads), dtype=np.bool_)
        faults = dict.fromkeys(self.reasons, 0)
        for reason, mask in question.faults(batch.payloads).items():
            faults[reason] = int((sound & mask).sum())
            sound &= ~mask
        tally = question.tally(batch.payloads if sound.all() else batch.payloads[sound])
        before, cells = sum(self.sizes[: batch.question]), sum(self.sizes)
        found = np.fromiter(faults.values(), dtype=np.int64, count=len(faults))
        if cells > LARGEST_DENSE:
            own = np.flatnonzero(tally)
            places = np.concatenate([own + before, np.arange(len(found)) + cells])
            return Sparse(cells + len(found), places, np.concatenate([tally[own], found]))
        whole = np.zeros(cells + len(found), dtype=np.int64)
        whole[before : before + tally.size] = tally
        whole[cells:] = found
        return whole

    def tallies(self, total: Counts) -> list[Counts]:
        """Return every question's tally."""
        if not total.size:
            return [np.zeros(size, dtype=np.int64) for size in self.sizes]
        return self.collection.split_tally(total[: sum(self.sizes)])

    def faults(self, total: Counts) -> dict[str, int]:
        """Return how many reports were left out, by reason."""
        counts = total[sum(self.sizes) :].tolist()
        return {reason: count for reason, count in zip(self.reasons, counts, strict=False) if count}


def _together(batches: list[files.Batch]) -> files.Batch:
    if len(batches) == 1:
        return batches[0]
    return files.Batch(question=batches[0].question, payloads=np.concatenate([one.payloads for one in batches]))


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
