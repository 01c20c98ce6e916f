"""What reports add up to, in one array of integers: tallies of all report types, and how many were left out.

batches of reports -> tallies and counts of faults.
"""

from collections.abc import Iterator

import numpy as np

from dpress.data import reports as files
from dpress.data.add_up import LARGEST_DENSE, Counts, SparseArray
from dpress.mechanisms.protocol.collection import Collection

LARGEST_PART = 1 << 26  # bytes of payloads that are made, or tallied, at a time


class Layout:
    """Where the tallies and the counts of faults of every report type lie in the one array that is added up."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self.types = collection.types
        self.sizes = collection.sizes
        self.reasons = sorted({reason for own in self.types for reason in own.faults(own.nothing)})

    def grouped(self, batches: Iterator[files.Batch]) -> Iterator[files.Batch]:
        """Yield batches of one type with about as many reports as its tally has numbers."""
        waiting: dict[int, list[files.Batch]] = {}
        for batch in batches:
            own = waiting.setdefault(batch.report_type, [])
            own.append(batch)
            rows = sum(len(one.payloads) for one in own)
            if 4 * rows >= self.sizes[batch.report_type] or rows * batch.payloads.shape[1] >= LARGEST_PART:
                yield _together(waiting.pop(batch.report_type))
        yield from map(_together, waiting.values())

    def kernel(self, batch: files.Batch) -> Counts | SparseArray:
        """Return the tallies of all types, where only the batch's own is not zero, then the faults by reason."""
        own = self.types[batch.report_type]
        sound = np.ones(len(batch.payloads), dtype=np.bool_)
        faults = dict.fromkeys(self.reasons, 0)
        for reason, mask in own.faults(batch.payloads).items():
            faults[reason] = int((sound & mask).sum())
            sound &= ~mask
        tally = self.collection.tally(batch.report_type, batch.payloads if sound.all() else batch.payloads[sound])
        before, cells = sum(self.sizes[: batch.report_type]), sum(self.sizes)
        found = np.fromiter(faults.values(), dtype=np.int64, count=len(faults))
        if cells > LARGEST_DENSE:
            filled = np.flatnonzero(tally)
            places = np.concatenate([filled + before, np.arange(len(found)) + cells])
            return SparseArray(cells + len(found), places, np.concatenate([tally[filled], found]))
        whole = np.zeros(cells + len(found), dtype=np.int64)
        whole[before : before + tally.size] = tally
        whole[cells:] = found
        return whole

    def tallies(self, total: Counts) -> list[Counts]:
        """Return every type's tally."""
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
    return files.Batch(report_type=batches[0].report_type, payloads=np.concatenate([one.payloads for one in batches]))
