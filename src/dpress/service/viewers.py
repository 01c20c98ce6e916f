"""Who looks at the estimates so far: one look at the store serves everybody, and nobody looking costs nothing."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import msgspec

from dpress.service.live import NOTHING, Sums, grown, release_so_far
from dpress.service.live_figures import figures
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
        document: that was made of them.
        due: when the next look may begin, by the monotonic clock.
        turn: held by who looks.
    """

    sums: Sums = NOTHING
    document: bytes = b""
    due: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


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
        self._forget()
        look = self._looks.setdefault(served.round.place, _Look())
        async with look.turn:
            if time.monotonic() >= look.due:
                began = time.monotonic()
                look.sums, look.document = await asyncio.to_thread(self._made, served, look.sums)
                ended = time.monotonic()
                look.due = ended + max(SHORTEST, (SHARE - 1) * (ended - began))
        return look.document

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
                found = await self._found(ask)
                if found != last:
                    last, heard = found, time.monotonic()
                    yield b"event: estimate\ndata: " + found + b"\n\n"
                elif time.monotonic() - heard > BEAT:
                    heard = time.monotonic()
                    yield b": nothing new\n\n"
                await asyncio.sleep(SHORTEST)
        finally:
            self.watching -= 1

    async def _found(self, ask: str) -> bytes:
        """Return the estimate, or in its place why there is none at this moment."""
        try:
            return await self.document(self.collections.served(ask))
        except OSError:
            return msgspec.json.encode({"waiting": "the store cannot be used now"})

    def _made(self, served: Served, sums: Sums) -> tuple[Sums, bytes]:
        """Return the sums with what is new, and the document of them; in a thread."""
        current = grown(sums, self.collections.store, served.round.place, served.intake)
        state = {"round": served.round.number, "open": served.open(now()), "waiting": None}
        try:
            shown = figures(release_so_far(current, served))
        except ValueError as error:
            shown = {
                "waiting": str(error),
                "users": 0,
                "before": 0,
                "left_out": {},
                "axes": {},
                "tables": [],
                "later": [],
            }
        return current, msgspec.json.encode(state | shown)

    def _forget(self) -> None:
        """Let go of the sums of rounds that nobody looked at for a while."""
        old = time.monotonic() - KEPT
        self._looks = {place: look for place, look in self._looks.items() if look.turn.locked() or look.due > old}
