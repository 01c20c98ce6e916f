"""What reports add up to, in one array of integers: tallies of all report types, and how many were left out.

pieces of reports -> tallies and counts of faults, which add up in any order.
"""

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np

from dpress.core.reports.oracle import Payloads
from dpress.core.reports.wire import REASONS
from dpress.data.add_up import LARGEST_DENSE, Counts, SparseArray
from dpress.data.reports.report_batch import Batch, keep_sound
from dpress.data.reports.report_files import Piece
from dpress.mechanisms.protocol.collection import Collection

LARGEST_PART = 1 << 26  # bytes of payloads that are made, or tallied, at a time


class Layout:
    """Where the tallies and the counts of faults of every report type lie in the one array that is added up."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.types = collection.types
        self.sizes = collection.sizes
        faults = (report_type.faults(report_type.nothing) for report_type in self.types)
        self.reasons = [*REASONS, *sorted(set(itertools.chain.from_iterable(faults)))]

    def of_piece(self, piece: Piece) -> Counts | SparseArray:
        """Return what the reports of a piece add up to: the tallies of all types, then those left out by reason."""
        left_out = Counter[str]()
        parts = self._parts(piece, left_out)
        cells = sum(self.sizes)
        whole = self._sparse(parts, cells) if cells > LARGEST_DENSE else self._dense(parts, cells)
        faults = np.array([left_out[reason] for reason in self.reasons], dtype=np.int64)
        if not isinstance(whole, SparseArray):
            return np.concatenate([whole, faults])
        places = np.concatenate([whole.places, cells + np.arange(len(faults))])
        return SparseArray(cells + len(faults), places, np.concatenate([whole.values, faults]))

    def _parts(self, piece: Piece, left_out: Counter[str]) -> Iterator[tuple[int, Counts]]:
        """Yield tallies, and where each begins; count by reason what is left out."""
        starts = [0, *itertools.accumulate(self.sizes)]
        for batch in self._grouped(piece.batches(left_out)):
            payloads = sound_payloads(batch, self.collection, left_out)
            yield starts[batch.report_type], self.collection.tally(batch.report_type, payloads)

    def _dense(self, parts: Iterator[tuple[int, Counts]], cells: int) -> Counts:
        whole = np.zeros(cells, dtype=np.int64)
        for start, tally in parts:
            whole[start : start + tally.size] += tally
        return whole

    def _sparse(self, parts: Iterator[tuple[int, Counts]], cells: int) -> SparseArray:
        places, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for start, tally in parts:
            filled = np.flatnonzero(tally)
            places.append(filled + start)
            values.append(tally[filled])
        once, inverse = np.unique(np.concatenate(places), return_inverse=True)
        total = np.zeros(once.size, dtype=np.int64)
        np.add.at(total, inverse, np.concatenate(values))
        return SparseArray(cells, once, total)

    def _grouped(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield batches of one type with about as many reports as its tally has numbers."""
        waiting: dict[int, list[Batch]] = {}
        for batch in batches:
            batches_of_type = waiting.setdefault(batch.report_type, [])
            batches_of_type.append(batch)
            rows = sum(len(held.payloads) for held in batches_of_type)
            if 4 * rows >= self.sizes[batch.report_type] or rows * batch.payloads.shape[1] >= LARGEST_PART:
                yield _together(waiting.pop(batch.report_type))
        yield from map(_together, waiting.values())

    def tallies(self, total: Counts) -> list[Counts]:
        """Return every type's tally."""
        if not total.size:
            return [np.zeros(size, dtype=np.int64) for size in self.sizes]
        return self.collection.split_tally(total[: sum(self.sizes)])

    def faults(self, total: Counts) -> dict[str, int]:
        """Return how many reports were left out, by reason."""
        counts = total[sum(self.sizes) :].tolist()
        return {reason: count for reason, count in zip(self.reasons, counts, strict=False) if count}


def sound_payloads(batch: Batch, collection: Collection, left_out: Counter[str]) -> Payloads:
    """Return the payloads that the method can have made, and count the others by reason."""
    sound = keep_sound(collection.types[batch.report_type].faults(batch.payloads), len(batch.payloads), left_out)
    return batch.payloads if sound.all() else batch.payloads[sound]


def _together(batches: list[Batch]) -> Batch:
    if len(batches) == 1:
        return batches[0]
    return Batch(report_type=batches[0].report_type, payloads=np.concatenate([batch.payloads for batch in batches]))
