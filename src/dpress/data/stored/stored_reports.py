"""Reads the reports of a round from a store, as `data.reports` reads them from a file."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dpress.core.errors import ReportRejected
from dpress.core.packed import TYPE, Bytes, Packed, faults, parse
from dpress.core.wire import REPEATED, Expected
from dpress.data.repeated_ids import Flags, Rows, Words, repeated
from dpress.data.reports import Batch
from dpress.data.stored.report_store import Keys, ReportStore

TOGETHER = 1 << 24  # bytes of uploads that are parsed at a time


@dataclass(slots=True, kw_only=True)
class StoredReports:
    """The reports of one round; `rejected` counts by reason what was left out.

    Memory: 8 bytes for every report and every upload, and a few pieces of 16 MiB.

    Args:
        store: where they are.
        place: of the round.
        keys: of its uploads at one moment, sorted: what arrives later is not read, in no pass.
        expected: what the reports must say of themselves.
    """

    store: ReportStore
    place: int
    keys: Keys
    expected: Expected
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def private(self) -> bool:
        """Devices drew the coins themselves."""
        return True

    @property
    def rows(self) -> int:
        """The number of reports, those counted that arrived twice."""
        return self.store.reports(self.place)

    def batches(self) -> Iterator[Batch]:
        """Yield reports of one type after the other; of reports with one id only the first is read.

        Raises:
            OSError: the store cannot be used.
        """
        yield from (batch for batch, _ in self.named())

    def named(self) -> Iterator[tuple[Batch, Bytes]]:
        """Yield the same with the ids, shape (reports, 16)."""
        again_at, start = self._repeated(), 0
        for reports in self._parsed():
            again = np.zeros(len(reports), dtype=np.bool_)
            own = slice(*np.searchsorted(again_at, (start, start + len(reports))))
            again[again_at[own] - start] = True
            start += len(reports)
            keep = np.ones(len(reports), dtype=np.bool_)
            for reason, wrong in {**faults(reports, self.expected), REPEATED: again}.items():
                self.count(reason, int((keep & wrong).sum()))
                keep &= ~wrong
            for number in np.unique(reports.column(TYPE)[keep]).tolist():
                chosen = keep & (reports.column(TYPE) == number)
                payloads = reports.payloads(chosen, self.expected.widths[number])
                yield Batch(report_type=number, payloads=payloads), reports.ids[chosen]

    def count(self, reason: str, reports: int) -> None:
        """Count rejected reports."""
        if reports:
            self.rejected[reason] += reports

    def _repeated(self) -> Rows:
        def pieces() -> Iterator[tuple[Words, Flags]]:
            for reports in self._parsed():
                yield _words(reports), ~np.logical_or.reduce([*faults(reports, self.expected).values()])

        # more than there are where reports arrive meanwhile, never fewer
        return repeated(self.rows, (_words(reports)[:, 0] for reports in self._parsed()), pieces)

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
