"""What the reports of a round add up to while more arrive: every upload is read once, by its key.

store -> uploads not read yet -> reports, each id once -> tallies so far -> release. Post-processing only: the reports
are private before they arrive, so that looking at them costs nothing, however often.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress import catalog
from dpress.core.reports.packed import TYPE, Packed, faults, parse
from dpress.core.reports.wire import REPEATED
from dpress.data.add_up import Counts, add_up
from dpress.data.reports.report_batch import Batch, ReadPiece
from dpress.data.stored.report_store import Keys, ReportStore
from dpress.data.stored.stored_reports import TOGETHER
from dpress.document.design import Design
from dpress.query.release import Release
from dpress.release.devices.device import Intake
from dpress.release.devices.from_tallies import released
from dpress.release.devices.tallies import Layout

Halves = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What was read so far: 8 bytes for every report and for every upload, and the tallies.

    Two reports whose ids begin with the same 8 bytes count once, the one that is read first; `dpress estimate` compares
    all 16. Ids are random, so that this loses one of n reports with probability n^2 / 2^65, below 3e-8 for a million.

    Args:
        keys: of the uploads, sorted.
        ids: the first 8 bytes of the ids that were counted, sorted.
        total: the tallies and the counts of faults (`release.devices.tallies.Layout`).
        left_out: reports that did not count for what they say of themselves, by reason.
    """

    keys: Keys
    ids: Halves
    total: Counts
    left_out: Mapping[str, int]


NOTHING = Sums(
    keys=np.zeros(0, dtype=np.int64), ids=np.zeros(0, dtype=np.uint64), total=np.zeros(0, dtype=np.int64), left_out={}
)


def grown(sums: Sums, store: ReportStore, place: int, intake: Intake) -> Sums:
    """Return the sums of all that is in the store now; the same ones where nothing is new.

    Args:
        sums: of the same round.
        store: where its reports are.
        place: of the round.
        intake: its check of reports.

    Raises:
        OSError: the store cannot be used; nothing is lost, and the next time all is read that was not.
    """
    keys = store.keys(place)
    if not _among(keys, sums.keys).all():
        sums = NOTHING  # some were deleted: what is left is read anew
    fresh = keys[~_among(sums.keys, keys)]
    if not fresh.size:
        return sums
    reading = _Reading(ids=sums.ids, left_out=Counter(sums.left_out))
    layout = Layout(intake.collection)
    pieces = (
        ReadPiece(rows=len(reports), read=tuple(reading.batches(reports, intake)), left_out=Counter())
        for reports in _parsed(store, place, fresh)
    )
    added = add_up(pieces, layout.of_piece, rows=lambda piece: piece.rows)
    total = added if not sums.total.size else sums.total + added if added.size else sums.total
    return Sums(keys=keys, ids=reading.ids, total=total, left_out=dict(reading.left_out))


def release_so_far(sums: Sums, design: Design, intake: Intake) -> Release:
    """Return the release that these sums give, without what takes long: a joint is not fitted.

    Args:
        sums: of a round.
        design: of the round.
        intake: its check of reports.

    Raises:
        ValueError: there are no reports that count, or none about some attribute yet.
    """
    layout = Layout(intake.collection)
    rejected = Counter(sums.left_out) + Counter(layout.faults(sums.total))
    kept = catalog.room(design.kind).answering.tallied
    return released(design, intake.collection, layout.tallies(sums.total), rejected, kept, private=True)


def counted(sums: Sums, intake: Intake) -> int:
    """Return how many reports of this round count, also where they are too few for any estimate."""
    return sum(int(tally[-1]) for tally in Layout(intake.collection).tallies(sums.total))


@dataclass(slots=True, kw_only=True)
class _Reading:
    """What is known while new uploads are read.

    Args:
        ids: the first halves of those that were counted, sorted.
        left_out: by reason.
    """

    ids: Halves
    left_out: Counter[str]

    def batches(self, reports: Packed, intake: Intake) -> Iterator[Batch]:
        """Yield the sound reports of one type after the other, each id once."""
        sound = np.ones(len(reports), dtype=np.bool_)
        for reason, wrong in faults(reports, intake.expected).items():
            self._count(reason, int((sound & wrong).sum()))
            sound &= ~wrong
        halves = np.ascontiguousarray(reports.ids).view(np.uint64)[:, 0]
        again = np.zeros(len(reports), dtype=np.bool_)
        again[sound] = self._repeated(halves[sound])
        self._count(REPEATED, int(again.sum()))
        sound &= ~again
        for number in np.unique(reports.column(TYPE)[sound]).tolist():
            chosen = sound & (reports.column(TYPE) == number)
            yield Batch(report_type=number, payloads=reports.payloads(chosen, intake.expected.widths[number]))

    def _repeated(self, halves: Halves) -> npt.NDArray[np.bool_]:
        """Return which ids were there before, or stand before among these; the others are remembered."""
        order = np.argsort(halves, kind="stable")
        inside = halves[order]
        again = np.zeros(len(halves), dtype=np.bool_)
        again[order[1:]] = inside[1:] == inside[:-1]
        again |= _among(self.ids, halves)
        self.ids = np.sort(np.concatenate([self.ids, halves[~again]]), kind="stable")  # two runs are merged
        return again

    def _count(self, reason: str, reports: int) -> None:
        if reports:
            self.left_out[reason] += reports


def _among(listed: npt.NDArray[np.generic], values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Return which values are among the known ones, which are sorted."""
    if not listed.size:
        return np.zeros(len(values), dtype=np.bool_)
    near = np.minimum(np.searchsorted(listed, values), listed.size - 1)
    return np.asarray(listed[near] == values)


def _parsed(store: ReportStore, place: int, keys: Keys) -> Iterator[Packed]:
    """Yield the reports of these uploads, some megabytes at a time."""
    waiting, size = list[bytes](), 0
    for body in store.bodies(place, keys.tolist()):
        waiting.append(body)
        size += len(body)
        if size >= TOGETHER:
            yield parse(b"".join(waiting))
            waiting, size = [], 0
    if waiting:
        yield parse(b"".join(waiting))
