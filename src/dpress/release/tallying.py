"""What reports add up to, in one array of integers.

batches of reports -> tallies of all questions and counts of faults; what a release keeps of them is in `kept`.
"""

from collections.abc import Iterator

import numpy as np

from dpress.data import reports as files
from dpress.data.fold import LARGEST_DENSE, Counts, Sparse
from dpress.mechanisms.protocol.collection import Collection

LARGEST_PART = 1 << 26  # bytes of payloads that are made, or tallied, at a time


class Layout:
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
