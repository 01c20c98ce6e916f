"""What whoever runs the service watches, as Prometheus reads it: numbers of reports, durations, failures.

Nothing about senders; a scraper that keeps what it reads keeps the times of reports as finely as it comes.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from litestar import Response, get

from dpress.service.histogram import BOUNDS, Histogram
from dpress.service.measures import Measures
from dpress.service.outages import LOOKING
from dpress.service.served import Collections, now
from dpress.service.writer import Writer

MEDIA_TYPE = "text/plain; version=0.0.4"
ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Samples = Iterable[tuple[Mapping[str, object], object]]


def metrics(collections: Collections, writer: Writer, measures: Measures) -> Any:
    """Return the route of the numbers; where the store cannot be used it has those of this process alone."""

    @get("/metrics")
    async def numbers() -> Response[bytes]:
        try:
            stored = await asyncio.to_thread(lambda: list(_stored(collections)))
        except OSError as error:
            measures.outages.failed(LOOKING, error)
            stored = []
        lines = [*stored, *_family("store_up", "gauge", "Whether the store can be read.", [({}, int(bool(stored)))])]
        lines += _process(writer, measures)
        return Response("\n".join(lines).encode() + b"\n", media_type=MEDIA_TYPE)

    return numbers


def _stored(collections: Collections) -> Iterator[str]:
    rounds = [(served, {"collection": served.round.ask, "round": served.round.number}) for served in collections.all()]
    store = collections.store
    counted = [(labels, store.reports(served.round.place)) for served, labels in rounds]
    refused = [
        (labels | {"reason": reason}, count)
        for served, labels in rounds
        for reason, count in store.refused(served.round.place).items()
    ]
    yield from _family("reports", "gauge", "Reports in the store, those counted that arrived twice.", counted)
    yield from _family("reports_refused_total", "counter", "Reports that were refused, by reason.", refused)
    opened = [(labels, int(served.open(now()))) for served, labels in rounds]
    yield from _family("open", "gauge", "Whether the round accepts reports.", opened)


def _process(writer: Writer, measures: Measures) -> Iterator[str]:
    failures = [({"during": what}, count) for what, count in sorted(measures.outages.failures.items())]
    yield from _family("failures_total", "counter", "What failed, by what was done.", failures)
    refused = [({"status": status, "reason": name}, n) for (status, name), n in sorted(measures.refused.items())]
    yield from _family("uploads_refused_total", "counter", "Whole uploads that were refused, by reason.", refused)
    yield from _family(
        "bytes_waiting", "gauge", "Bytes of uploads that wait for the disk.", [({}, writer.bytes_waiting)]
    )
    yield from _histogram("upload_seconds", "Seconds from the head of an upload to its answer.", measures.uploads)
    yield from _histogram("commit_seconds", "Seconds of a commit of the store.", writer.commits)


def _histogram(name: str, meaning: str, histogram: Histogram) -> Iterator[str]:
    yield from _family(name, "histogram", meaning, ())
    counts = histogram.cumulative
    for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
        yield _sample(f"{name}_bucket", {"le": bound}, count)
    yield _sample(f"{name}_sum", {}, histogram.seconds)
    yield _sample(f"{name}_count", {}, counts[-1])


def _family(name: str, kind: str, meaning: str, samples: Samples) -> Iterator[str]:
    yield f"# HELP dpress_{name} {meaning}"
    yield f"# TYPE dpress_{name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: Mapping[str, object], value: object) -> str:
    inside = ",".join(f'{label}="{str(text).translate(ESCAPES)}"' for label, text in labels.items())
    return f"dpress_{name}{{{inside}}} {value}" if inside else f"dpress_{name} {value}"
