"""One thread writes: uploads that wait are kept in one commit, and each sender hears when its own is on disk."""

import asyncio
import itertools
import queue
import secrets
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dpress.data.stored.report_store import ReportStore, Upload
from dpress.service.histogram import Histogram
from dpress.service.outages import KEEPING, Outages

TOGETHER = 1 << 23  # bytes in one commit
ROW = 1 << 20  # about so many in one row of it, which whoever reads them holds at a time
SHUFFLE = secrets.SystemRandom()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An upload and who waits for it.

    Args:
        upload: what is to be kept.
        refused: how many of its reports were refused, by reason.
        done: resolved with True when it is on disk, with False where its round is closed.
        loop: of `done`.
    """

    upload: Upload
    refused: Mapping[str, int]
    done: "asyncio.Future[bool]"
    loop: asyncio.AbstractEventLoop


@dataclass(slots=True, kw_only=True)
class Writer:
    """The thread and its queue.

    Args:
        store: that it writes to.
        outages: hears what fails.
        most_bytes: that may wait at a time.
        commits: how long they take.
    """

    store: ReportStore
    outages: Outages
    most_bytes: int = 1 << 27
    bytes_waiting: int = 0
    commits: Histogram = field(default_factory=Histogram)
    _queue: "queue.SimpleQueue[Waiting | None]" = field(default_factory=queue.SimpleQueue)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="dpress-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Keep what still waits, then end the thread and let go of the store."""
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join()
        self.store.disconnect()

    @property
    def full(self) -> bool:
        """Whether senders should come back later."""
        return self.bytes_waiting >= self.most_bytes

    async def keep(self, upload: Upload, refused: Mapping[str, int]) -> bool:
        """Return True when the upload is on disk, False where its round is closed.

        Raises:
            OSError: the store cannot be used; where its end of the connection was lost, it may have kept the upload.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()
        self.bytes_waiting += len(upload.body)
        try:
            self._queue.put(Waiting(upload=upload, refused=refused, done=done, loop=loop))
            return await done
        finally:
            self.bytes_waiting -= len(upload.body)

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            group = [first, *self._more(first)]
            if group[-1] is None:
                group.pop()
                self._queue.put(None)
            waiting = [sender for sender in group if sender is not None]
            try:
                with self.commits.timed():
                    closed = self.store.add(list(_rows(waiting)), _counts(waiting))
                results: dict[int, bool | Exception] = dict.fromkeys(closed, False)
                self.outages.works(KEEPING)
            except Exception as error:  # noqa: BLE001  # the thread lives on, and every sender hears of it
                results = {sender.upload.place: error for sender in waiting}
                self.outages.failed(KEEPING, error)
            for loop in {sender.loop for sender in waiting}:
                loop.call_soon_threadsafe(_resolve, [sender for sender in waiting if sender.loop is loop], results)

    def _more(self, first: Waiting) -> Iterator[Waiting | None]:
        """Yield what else waits, up to a commit's size; None, and nothing after it, at the end."""
        size = len(first.upload.body)
        while size < TOGETHER:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                return
            yield following
            if following is None:
                return
            size += len(following.upload.body)


def _rows(waiting: list[Waiting]) -> Iterator[Upload]:
    """Yield rows of uploads of one round each, in an order that tells nothing of their arrival."""
    by_place: dict[int, list[Upload]] = defaultdict(list)
    for sender in waiting:
        if sender.upload.reports:
            by_place[sender.upload.place].append(sender.upload)
    for place, uploads in by_place.items():
        SHUFFLE.shuffle(uploads)
        ends = itertools.accumulate(len(upload.body) for upload in uploads)
        for _, row in itertools.groupby(zip(ends, uploads, strict=True), key=lambda placed: placed[0] // ROW):
            together = [upload for _, upload in row]
            body = b"".join(upload.body for upload in together)
            yield Upload(place=place, reports=sum(upload.reports for upload in together), body=body)


def _counts(waiting: list[Waiting]) -> Counter[tuple[int, str]]:
    counts: Counter[tuple[int, str]] = Counter()
    for sender in waiting:
        for reason, count in sender.refused.items():
            counts[sender.upload.place, reason] += count
    return counts


def _resolve(waiting: list[Waiting], results: Mapping[int, bool | Exception]) -> None:
    """Tell every sender; one that has gone away meanwhile does not hear it."""
    for sender in waiting:
        result = results.get(sender.upload.place, True)
        if sender.done.done():
            continue
        if isinstance(result, Exception):
            sender.done.set_exception(result)
        else:
            sender.done.set_result(result)
