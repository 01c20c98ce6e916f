"""HTTP for a server that waits for nobody for ever: a request that trickles in takes its connection down with it."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST = 40  # seconds that a request may take to arrive, and a new connection to begin one


class TimedProtocol(HttpToolsProtocol):
    """One connection, which is closed where a request does not arrive in time, at whatever pace it trickles."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is overridden there
        """Wait for a request."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Wait for the rest of it."""
        super().on_message_begin()
        self._begin()

    def on_message_complete(self) -> None:
        """Wait no more."""
        super().on_message_complete()
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._end()

    def _begin(self) -> None:
        self._end()
        self._limit = self.loop.call_later(LONGEST, self.transport.close)

    def _end(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
