"""Counters for whoever runs the service, as Prometheus reads them: numbers of reports, nothing about senders."""

import asyncio
from collections.abc import Iterator
from typing import Any

from litestar import Response, get

from dpress.service.problem import Problem
from dpress.service.served import Collections, now
from dpress.service.writer import Writer

MEDIA_TYPE = "text/plain; version=0.0.4"


def metrics(collections: Collections, writer: Writer) -> Any:
    """Return the route of the counters."""

    @get("/metrics")
    async def counters() -> Response[bytes]:
        try:
            lines = await asyncio.to_thread(lambda: list(_lines(collections)))
        except OSError:
            raise Problem(503, "the store cannot be used now", retry_after=2) from None
        lines += ["# TYPE dpress_bytes_waiting gauge", f"dpress_bytes_waiting {writer.bytes_waiting}"]
        return Response("\n".join(lines).encode() + b"\n", media_type=MEDIA_TYPE)

    return counters


def _lines(collections: Collections) -> Iterator[str]:
    rounds = [served.round for served in collections.all()]
    yield "# TYPE dpress_reports gauge"
    for begun in rounds:
        yield f"dpress_reports{_labels(begun.ask, begun.number)} {collections.store.reports(begun.place)}"
    yield "# TYPE dpress_reports_refused counter"
    for begun in rounds:
        for reason, count in collections.store.refused(begun.place).items():
            yield f"dpress_reports_refused{_labels(begun.ask, begun.number, reason)} {count}"
    yield "# TYPE dpress_open gauge"
    for served in collections.all():
        yield f"dpress_open{_labels(served.round.ask, served.round.number)} {int(served.open(now()))}"


def _labels(ask: str, number: int, reason: str | None = None) -> str:
    more = "" if reason is None else f',reason="{reason}"'
    return f'{{collection="{ask}",round="{number}"{more}}}'
