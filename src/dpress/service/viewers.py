"""Who looks at the estimates so far: one look at the store serves everybody, and nobody looking costs nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dpress.service.live import NOTHING, Sums, counted, grown, release_so_far
from dpress.service.live_figures import NO_FIGURES, figures
from dpress.service.problem import Problem
from dpress.service.served import Collections, Served, now

SHORTEST = 1.0  # seconds between two looks
SHARE = 10  # looking may take one part in so many of the time
MOST = 100  # viewers at a time
KEPT = 300.0  # seconds that sums are kept after the last look
BEAT = 15.0  # seconds after which a viewer who hears nothing new is sent a line that says nothing


@dataclass(slots=True)
class _Look:
    """The last look at one round.

    Args:
        sums: what was read.
        shown: the figures of these sums.
        expired: how many reports had been deleted then.
        document: that was made of both; empty where the store could not be used.
        due: when the next look may begin, by the monotonic clock.
        reading: the look that is going on.
    """

    sums: Sums = NOTHING
    shown: Mapping[str, Any] = field(default_factory=dict)
    expired: int | None = None
    document: bytes = b""
    due: float = 0.0
    reading: "asyncio.Task[None] | None" = None


class Viewers:
    """Makes the estimates of rounds while somebody looks.

    Args:
        collections: whose rounds are looked at.
        stopping: whether the service is about to end, and streams with it.
    """

    def __init__(self, collections: Collections, stopping: Callable[[], bool]) -> None:
        self.collections = collections
        self.stopping = stopping
        self.watching = 0
        self._looks: dict[int, _Look] = {}

    async def document(self, served: Served) -> bytes:
        """Return a round's estimate, at most a second old, or ten times as old as it takes to make.

        Raises:
            OSError: the store cannot be used.
        """
        if not self._looks:
            asyncio.get_running_loop().call_later(KEPT, self._forget)
        look = self._looks.setdefault(served.round.place, _Look())
        if look.reading is None and time.monotonic() >= look.due:
            look.reading = asyncio.create_task(self._renew(served, look))
            look.reading.add_done_callback(_heard)
        if look.reading is not None:
            await asyncio.shield(look.reading)  # who asked first may go away: others wait for the same
        if not look.document:
            raise OSError("the store could not be used a moment ago")
        return look.document

    async def _renew(self, served: Served, look: _Look) -> None:
        """Look once, and say when the next look may begin."""
        began = time.monotonic()
        try:
            await asyncio.to_thread(self._read, served, look)
        except OSError:
            look.document = b""
            raise
        finally:
            ended = time.monotonic()
            look.due = ended + max(SHORTEST, (SHARE - 1) * (ended - began))
            look.reading = None

    @property
    def full(self) -> bool:
        """Whether there are as many viewers as there may be."""
        return self.watching >= MOST

    async def events(self, ask: str) -> AsyncIterator[bytes]:
        """Yield a round's estimates as server-sent events, each once it differs, until the viewer goes away."""
        if self.full:  # others came first since this one was let in
            return
        self.watching += 1
        last, heard = b"", time.monotonic()
        try:
            while not self.stopping():
                estimate = await self._estimate(ask)
                if estimate != last:
                    last, heard = estimate, time.monotonic()
                    yield b"event: estimate\ndata: " + estimate + b"\n\n"
                elif time.monotonic() - heard > BEAT:
                    heard = time.monotonic()
                    yield b": nothing new\n\n"
                await asyncio.sleep(SHORTEST)
        finally:
            self.watching -= 1

    async def _estimate(self, ask: str) -> bytes:
        """Return the estimate, or in its place why there is none at this moment."""
        try:
            return await self.document(self.collections.served(ask))
        except OSError:
            return msgspec.json.encode({"waiting": "the store cannot be used now"})
        except Problem as gone:  # it was deleted meanwhile
            return msgspec.json.encode({"waiting": gone.detail})

    def _read(self, served: Served, look: _Look) -> None:
        """Read what is new and make the document again; in a thread."""
        sums = grown(look.sums, self.collections.store, served.round.place, served.intake)
        if sums is not look.sums or not look.shown or served.round.expired != look.expired:
            look.shown = _shown(sums, served)
            look.sums, look.expired = sums, served.round.expired
        state = {"round": served.round.number, "open": served.open(now()), "deleted": served.deleted}
        look.document = msgspec.json.encode(state | dict(look.shown))

    def _forget(self) -> None:
        """Let go of the sums of rounds that nobody looked at for a while."""
        old = time.monotonic() - KEPT
        self._looks = {place: look for place, look in self._looks.items() if look.reading or look.due > old}
        if self._looks:
            asyncio.get_running_loop().call_later(KEPT, self._forget)


def _heard(reading: "asyncio.Task[None]") -> None:
    """Hear why a look failed, for nobody else may be left to hear it."""
    if not reading.cancelled():
        reading.exception()


def _shown(sums: Sums, served: Served) -> dict[str, Any]:
    """Return the figures, or in their place why there are none yet."""
    try:
        return {"waiting": None, **figures(release_so_far(sums, served.design, served.intake))}
    except ValueError as error:
        why = str(error) if served.round.expired is None else "the reports of this round were deleted"
        return {"waiting": why, **NO_FIGURES, "users": counted(sums, served.intake)}
