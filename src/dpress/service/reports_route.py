"""Uploads: `POST /v1/collections/{id}/reports`, bytes in, and nothing is answered before they are on disk."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports.packed import parse
from dpress.core.reports.wire import MEDIA_TYPE, OTHER_ROUND
from dpress.data.stored.report_store import Upload
from dpress.release.devices.upload import Checked, check
from dpress.service.measures import Measures
from dpress.service.problem import Problem
from dpress.service.served import Collections, Served, now
from dpress.service.writer import Writer

SLOWEST = 30.0  # seconds for one upload to arrive
LATER = 2  # seconds after which a sender may try again
MOST_ARRIVING = 1 << 27  # bytes of uploads that are arriving at a time


class Uploads:
    """Takes uploads for all collections.

    Args:
        collections: that are served.
        writer: keeps what is accepted.
        measures: count what is refused, and how long it takes.
    """

    def __init__(self, collections: Collections, writer: Writer, measures: Measures) -> None:
        self.collections = collections
        self.writer = writer
        self.measures = measures
        self._arriving = 0
        parse(b"")  # compiled now: the first sender does not wait for it, nor others behind it

    async def take(self, ask: str, media_type: str, length: int | None, body: AsyncIterator[bytes]) -> bytes:
        """Keep an upload and return the answer, once it is on disk.

        Args:
            ask: the id in the path.
            media_type: that the request states.
            length: of the body, as the request states it.
            body: its pieces.

        Raises:
            Problem: nothing of it was kept.
        """
        try:
            with self.measures.uploads.timed():
                return await self._taken(ask, media_type, length, body)
        except Problem as problem:
            self.measures.refused[problem.status, problem.title] += 1
            raise

    async def _taken(self, ask: str, media_type: str, length: int | None, body: AsyncIterator[bytes]) -> bytes:
        served = self.collections.served(ask)
        if media_type.partition(";")[0].strip().lower() != MEDIA_TYPE:
            raise Problem(415, f"expected the media type {MEDIA_TYPE}")
        self._check_open(served)
        limit = served.largest_body
        if length is not None and length > limit:
            raise _too_large(served)
        checked = self._checked(served, await self._received(served, body, limit))
        upload = Upload(place=served.round.place, reports=checked.reports, body=checked.accepted)
        try:
            kept = await self.writer.keep(upload, Counter(reason for _, reason in checked.refused))
        except OSError:
            raise Problem(503, "the reports cannot be kept now; send them again", retry_after=LATER) from None
        if not kept:
            raise self._closed(served)
        refused = [{"id": identifier.hex(), "reason": reason} for identifier, reason in checked.refused]
        counts = {"accepted": checked.reports, "duplicates": checked.duplicates}
        return msgspec.json.encode({**counts, "refused": refused})

    async def _received(self, served: Served, body: AsyncIterator[bytes], limit: int) -> bytes:
        """Return the whole body.

        Raises:
            Problem: it is too long, or too slow, or too much arrives at this moment.
        """
        pieces: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(SLOWEST):
                async for piece in body:
                    size += len(piece)
                    self._arriving += len(piece)
                    pieces.append(piece)
                    if size > limit:
                        raise _too_large(served)
                    if self._arriving > MOST_ARRIVING or self.writer.full:
                        raise Problem(429, "more reports arrive than can be kept; try later", retry_after=LATER)
        except TimeoutError:
            raise Problem(408, f"the upload took longer than {SLOWEST:.0f} seconds") from None
        finally:
            self._arriving -= size
        return b"".join(pieces)

    def _checked(self, served: Served, body: bytes) -> Checked:
        if not body:
            raise Problem(400, "the body is empty; expected one or more reports")
        try:
            checked = check(served.intake, body)
        except ReportRejected as error:
            raise Problem(400, str(error)) from None
        if checked.reports + checked.duplicates + len(checked.refused) > served.largest_batch:
            raise _too_large(served)
        if not checked.reports and {reason for _, reason in checked.refused} == {OTHER_ROUND}:
            raise Problem(409, "these reports are of another round", **self._current(served))
        return checked

    def _check_open(self, served: Served) -> None:
        if not served.open(now()):
            raise self._closed(served)

    def _closed(self, served: Served) -> Problem:
        return Problem(409, "this round is closed; nothing more is accepted in it", **self._current(served))

    def _current(self, served: Served) -> dict[str, Any]:
        newest = self.collections.newest(served)
        return {"current": newest.round.ask, "round": newest.round.number}


def _too_large(served: Served) -> Problem:
    most = f"{served.largest_batch:,} reports and {served.largest_body:,} bytes"
    return Problem(413, f"an upload may hold at most {most}", largest_batch=served.largest_batch)
