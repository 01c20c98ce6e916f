"""HTTP for a server that waits for nobody for ever, and keeps of nobody more than a little.

bytes -> slices -> parser -> a head of LARGEST_HEAD at most; timers for what arrives and for what waits to be read.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dpress.service.connection_places import Places
from dpress.service.problem import MEDIA_TYPE, Problem

LONGEST = 40  # seconds that a request may take to arrive, and a new connection to begin one
UNREAD = 60  # seconds that an answer may wait to be read, whatever the pace at which it is
LARGEST_HEAD = 1 << 16  # bytes of a request's head, and of the trailers after a body
MOST_FIELDS = 100  # in a head: each costs more than its bytes
MOST_PIPELINED = 8  # requests that wait for the answer to one before them
SLICE = 1 << 14  # bytes that the parser is given at a time; what it has not taken apart is counted after each


class BoundedProtocol(HttpToolsProtocol):
    """One connection: aborted where it is too slow, refused where it says too much, closed where there are too many.

    `places` holds all connections of the server; see `bounded`.
    """

    places: Places
    _arriving: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _refusal: Problem | None = None
    _head = 0  # bytes of this message's address, header fields and trailers
    _unparsed = 0  # bytes that the parser holds and has given nothing for
    _fields = 0
    _events = 0  # of the parser

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as it is overridden there
        """Wait for a request; where there are too many connections, one gives way."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of every answer that waits
        self._wait_for_request()
        if (driven_out := self.places.add(self, self.client)) is not None:
            driven_out.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a request apart, slice by slice."""
        for start in range(0, len(data), SLICE):
            if self.transport.is_closing():
                return
            piece, events = data[start : start + SLICE], self._events
            super().data_received(piece)
            self._unparsed = self._unparsed + len(piece) if events == self._events else 0
            if self._unparsed > LARGEST_HEAD:
                self._refused(_too_large())
                self.send_400_response("")

    def on_message_begin(self) -> None:
        """Wait for the rest of the request."""
        super().on_message_begin()
        self._events += 1
        self._head = self._fields = 0
        self._wait_for_request()

    def on_url(self, url: bytes) -> None:
        """Count the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a field, of the head or after the body."""
        self._fields += 1
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin to answer, or wait for the answer before."""
        self._events += 1
        super().on_headers_complete()
        if len(self.pipeline) > MOST_PIPELINED:
            raise self._refused(Problem(400, "send a request once the one before it is answered"))

    def on_chunk_header(self) -> None:
        """Begin a piece of the body."""
        self._events += 1

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body, which whoever reads it bounds."""
        self._events += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait no more: this connection has given a request, and gives way after those that have not."""
        super().on_message_complete()
        self._events += 1
        self.places.heard(self)
        _cancel(self._arriving)

    def pause_writing(self) -> None:
        """Wait until what was answered is read."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Wait no more: all of it is on its way."""
        super().resume_writing()
        _cancel(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self.places.remove(self)
        _cancel(self._arriving)
        _cancel(self._unread)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the words of the parser are for nobody
        """Answer what cannot be read, by our own refusal where there is one, and close."""
        refusal = self._refusal or Problem(400, "the request cannot be read")
        head = (
            f"HTTP/1.1 {refusal.status} {refusal.title}\r\ncontent-type: {MEDIA_TYPE}\r\n"
            f"content-length: {len(refusal.document)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + refusal.document)
        self.transport.close()

    def _count(self, size: int) -> None:
        self._events += 1
        self._head += size
        if self._head > LARGEST_HEAD or self._fields > MOST_FIELDS:
            raise self._refused(_too_large())

    def _refused(self, refusal: Problem) -> Problem:
        """Return a refusal, for the parser to stop at; it is answered once the parser has."""
        self._refusal = refusal
        return refusal

    def _wait_for_request(self) -> None:
        _cancel(self._arriving)
        self._arriving = self.loop.call_later(LONGEST, self.transport.close)


def bounded(most: int) -> type[BoundedProtocol]:
    """Return the protocol of one server.

    Args:
        most: connections at a time.
    """
    return type("Bounded", (BoundedProtocol,), {"places": Places(most)})


def _too_large() -> Problem:
    return Problem(431, f"the head of a request may have {LARGEST_HEAD:,} bytes and {MOST_FIELDS} fields")


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
