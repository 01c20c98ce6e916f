"""Reads the reports of a round from a store, as `data.reports.report_files` reads them from a file."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports.packed import TYPE, Bytes, Packed, faults, parse
from dpress.core.reports.wire import REPEATED, Expected
from dpress.data.reports.repeated_ids import Flags, Named, Rows, Words, among, repeated
from dpress.data.reports.report_batch import Batch, ReadPiece, keep_sound
from dpress.data.reports.report_files import Piece
from dpress.data.stored.report_store import Keys, ReportStore

TOGETHER = 1 << 24  # bytes of uploads that are parsed at a time


@dataclass(slots=True, kw_only=True)
class StoredReports:
    """The reports of one round, each id once.

    Memory: 8 bytes for every report and every upload, and a few pieces of 16 MiB.

    Args:
        store: where they are.
        place: of the round.
        keys: of its uploads at one moment, sorted: what arrives later is not read, in no pass.
        expected: what the reports must say of themselves.
        rejected: what `named` left out, by reason.
        again: which reports have the id of an earlier one, once that is known.
    """

    store: ReportStore
    place: int
    keys: Keys
    expected: Expected
    rejected: Counter[str] = field(default_factory=Counter)
    again: Rows | None = None
    portable: ClassVar[bool] = False

    @property
    def private(self) -> bool:
        """Devices drew the coins themselves."""
        return True

    @property
    def rows(self) -> int:
        """The number of reports, those counted that arrived twice."""
        return self.store.reports(self.place)

    def pieces(self) -> Iterator[Piece]:
        """Yield the reports as they are read; of reports with one id only the first.

        Raises:
            OSError: the store cannot be used.
        """
        for rows, left_out, by_type in self._chunks():
            yield ReadPiece(rows=rows, read=tuple(batch for batch, _ in by_type), left_out=left_out)

    def named(self) -> Iterator[tuple[Batch, Bytes]]:
        """Yield the reports of one type after the other with their ids, shape (reports, 16), and count the others."""
        for _, left_out, by_type in self._chunks():
            self.rejected.update(left_out)
            yield from by_type

    def _chunks(self) -> Iterator[tuple[int, Counter[str], list[tuple[Batch, Bytes]]]]:
        """Yield how many some reports are, those left out by reason, and the others by type with their ids."""
        if self.again is None:
            self.again = self._repeated()
        start = 0
        for reports in self._parsed():
            again = np.zeros(len(reports), dtype=np.bool_)
            first, last = np.searchsorted(self.again, (start, start + len(reports)))
            again[self.again[first:last] - start] = True
            start += len(reports)
            left_out = Counter[str]()
            keep = keep_sound({**faults(reports, self.expected), REPEATED: again}, len(reports), left_out)
            yield len(reports), left_out, self._by_type(reports, keep)

    def _by_type(self, reports: Packed, keep: Flags) -> list[tuple[Batch, Bytes]]:
        types, batches = reports.column(TYPE), []
        for number in np.unique(types[keep]).tolist():
            chosen = keep & (types == number)
            payloads = reports.payloads(chosen, self.expected.widths[number])
            batches.append((Batch(report_type=number, payloads=payloads), reports.ids[chosen]))
        return batches

    def _repeated(self) -> Rows:
        def halves() -> Iterator[Words]:
            return (_words(reports)[:, 0] for reports in self._parsed())

        def near(shared: Words) -> Iterator[Named]:
            start = 0
            for reports in self._parsed():
                ids = _words(reports)
                sound = ~np.logical_or.reduce([*faults(reports, self.expected).values()])
                places = np.flatnonzero(sound & among(ids[:, 0], shared))
                yield places + start, ids[places]
                start += len(reports)

        return repeated(self.rows, halves, near)  # more than there are where reports arrive meanwhile, never fewer

    def _parsed(self) -> Iterator[Packed]:
        waiting, size = [], 0
        for body in self.store.bodies(self.place, self.keys.tolist()):
            waiting.append(body)
            size += len(body)
            if size >= TOGETHER:
                yield _whole(waiting)
                waiting, size = [], 0
        if waiting:
            yield _whole(waiting)


def _whole(bodies: list[bytes]) -> Packed:
    try:
        return parse(b"".join(bodies))
    except ReportRejected:
        raise OSError("the store is damaged: an upload in it is no reports back to back") from None


def _words(reports: Packed) -> Words:
    """Return ids as two words each, shape (reports, 2)."""
    return np.ascontiguousarray(reports.ids).view(np.uint64)
