"""The service: routes, and nothing else. Nothing about a sender is read, kept or logged."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.config.cors import CORSConfig
from litestar.exceptions import ClientException, HTTPException
from litestar.params import FromPath

from dpress.data.stored.report_store import ReportStore
from dpress.service import problem, round_changes
from dpress.service.client_routes import client_routes
from dpress.service.live_routes import live_routes, rounds_route
from dpress.service.measures import Measures
from dpress.service.metrics import metrics
from dpress.service.outages import ANSWERING, LOOKING, Outages
from dpress.service.page_routes import page_routes
from dpress.service.problem import Problem
from dpress.service.reports_route import Uploads
from dpress.service.served import Collections, Served, now, tag
from dpress.service.viewers import Viewers
from dpress.service.writer import Writer

LOOK = 1.0  # seconds between looks at the clock, and at what other processes did in the store
FRESH = "public, max-age=60"
CORS = CORSConfig(
    allow_origins=["*"],
    allow_methods=["GET", "POST"],
    allow_headers=["content-type"],
    expose_headers=["etag", "retry-after"],
    max_age=86400,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a service is run.

    Args:
        url: of the store.
        token: of the administrator; without one there are no routes for administrators.
        public: whether everybody may look at the estimate so far; otherwise the administrator alone.
    """

    url: str
    token: str | None = None
    public: bool = False


def app(store: ReportStore, collections: Collections, settings: Settings) -> Litestar:
    """Return the application that serves these collections.

    Args:
        store: where reports are kept.
        collections: of that store.
        settings: of this service.
    """
    measures = Measures(Outages())
    writer = Writer(store=store, outages=measures.outages)
    uploads = Uploads(collections, writer, measures)

    @asynccontextmanager
    async def running(_: Litestar) -> AsyncIterator[None]:
        writer.start()
        clock = asyncio.create_task(_clock(collections, settings, measures.outages))
        try:
            yield
        finally:
            clock.cancel()
            await asyncio.to_thread(writer.stop)

    def stopping() -> bool:
        return bool(application.state.get("stopping", _never)())

    viewers = Viewers(collections, stopping=stopping)
    routes = [_document(collections), _reports(uploads), _healthy(), _ready(collections)]
    routes.append(metrics(collections, writer, measures))
    routes += [
        *live_routes(viewers, lambda request: _check_viewer(request, settings)),
        *page_routes(),
        *client_routes(),
    ]
    if settings.token is not None:
        routes += _administration(collections, settings)
    application = Litestar(
        route_handlers=routes,
        cors_config=CORS,
        lifespan=[running],
        exception_handlers={Problem: _refused, HTTPException: _unknown, Exception: _failing(measures.outages)},
        openapi_config=None,
        logging_config=None,
    )
    return application


def _never() -> bool:
    return False


def _document(collections: Collections) -> Any:
    @get("/v1/collections/{ask:str}")
    async def document(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        content = collections.served(ask).document(now())
        headers = {"ETag": tag(content), "Cache-Control": FRESH}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return Response(b"", status_code=304, headers=headers)
        return Response(content, media_type="application/json", headers=headers)

    return document


def _reports(uploads: Uploads) -> Any:
    @post("/v1/collections/{ask:str}/reports", status_code=200)
    async def reports(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        stated = request.headers.get("content-length", "")
        length = int(stated) if stated.isascii() and stated.isdigit() else None
        try:
            answer = await uploads.take(ask, request.headers.get("content-type", ""), length, request.stream())
        except ClientException:
            raise Problem(400, "the upload was broken off") from None
        return Response(answer, media_type="application/json")

    return reports


def _healthy() -> Any:
    @get("/healthz")
    async def healthy() -> Response[bytes]:
        return Response(b"ok\n", media_type="text/plain")

    return healthy


def _ready(collections: Collections) -> Any:
    @get("/readyz")
    async def ready() -> Response[bytes]:
        await asyncio.to_thread(_refresh, collections)
        return Response(b"ok\n", media_type="text/plain")

    return ready


def _administration(collections: Collections, settings: Settings) -> list[Any]:
    @post("/v1/collections/{ask:str}/close", status_code=200)
    async def closing(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        check_token(request, settings)
        closed = await _stored(round_changes.close, collections, collections.served(ask))
        return Response(closed.document(now()), media_type="application/json")

    @post("/v1/collections/{ask:str}/next", status_code=200)
    async def following(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        check_token(request, settings)
        begun = await _stored(round_changes.begin_next, collections, collections.served(ask), settings.url)
        plain = {"id": begun.round.ask, "round": begun.round.number}
        return Response(msgspec.json.encode(plain), media_type="application/json")

    return [closing, following, rounds_route(collections, lambda request: check_token(request, settings))]


def _check_viewer(request: Request[Any, Any, Any], settings: Settings) -> None:
    if settings.public:
        return
    if settings.token is None:
        raise Problem(404, "nobody may look here: the service was started without --public and --admin-token-file")
    check_token(request, settings)


def check_token(request: Request[Any, Any, Any], settings: Settings) -> None:
    """Refuse a request that does not bear the administrator's token; compared in constant time.

    Raises:
        Problem: it does not.
    """
    given = request.headers.get("authorization", "").encode()
    if settings.token is None or not hmac.compare_digest(given, f"Bearer {settings.token}".encode()):
        raise Problem(401, "expected the administrator's token: Authorization: Bearer TOKEN")


async def _stored(act: Callable[..., Served], *arguments: object) -> Served:
    """Do something with the store in a thread.

    Raises:
        Problem: the store cannot be used.
    """
    try:
        return await asyncio.to_thread(act, *arguments)
    except OSError:
        raise Problem(503, "the store cannot be used now", retry_after=2) from None


def _refresh(collections: Collections) -> None:
    try:
        collections.refresh()
    except OSError:
        raise Problem(503, "the store cannot be used now", retry_after=2) from None


async def _clock(collections: Collections, settings: Settings, outages: Outages) -> None:
    """Close rounds whose end has come, begin those that follow by schedule, and see what other processes did."""
    while True:
        await asyncio.sleep(LOOK)
        try:
            await asyncio.to_thread(round_changes.turn, collections, settings.url)
        except Exception as error:  # noqa: BLE001  # the next look tries again
            outages.failed(LOOKING, error)
        else:
            outages.works(LOOKING)


def _refused(_: Request[Any, Any, Any], refused: Problem) -> Response[bytes]:
    return Response(
        refused.document, media_type=problem.MEDIA_TYPE, status_code=refused.status, headers=refused.headers
    )


def _unknown(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    details = {404: "there is nothing at this address", 405: "this method is not one for this address"}
    return _refused(request, Problem(error.status_code, details.get(error.status_code, "the request cannot be read")))


def _failing(outages: Outages) -> Callable[[Request[Any, Any, Any], Exception], Response[bytes]]:
    def failed(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        outages.failed(ANSWERING, error)
        return _refused(request, Problem(500, "the service failed; send the same again"))

    return failed
