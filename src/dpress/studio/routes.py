"""The studio's routes, and nothing else: each calls one function of the session. Only on this computer.

request -> guard (host, origin, token) -> session, in a thread -> JSON.
"""

import asyncio
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from litestar import Litestar, Request, Response, get, post, put
from litestar.exceptions import HTTPException
from litestar.params import FromPath

from dpress import catalog, reporting, service
from dpress.core.basics.refusal import one_line
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.service import problem
from dpress.service.page_routes import HEADERS, MEDIA_TYPES
from dpress.service.problem import Problem
from dpress.studio import acts, in_sql, written
from dpress.studio.by_period import Turn
from dpress.studio.draft import Draft
from dpress.studio.faults import of_refusal
from dpress.studio.guard import Guard
from dpress.studio.page_words import in_words
from dpress.studio.session import Session

FOLDER = Path(__file__).with_name("pages")
SHARED = (
    Path(reporting.__file__).with_name("page.css"),
    Path(service.__file__).with_name("pages") / "elements.js",
)
ACTS: dict[str, Callable[[Session, str], Any]] = {
    "forecast": acts.forecast,
    "preview": acts.preview,
    "check": acts.check,
    "save": acts.save,
    "publish": acts.publish,
    "records": acts.records,
}
IN_SQL = {
    "forecast": in_sql.forecast,
    "check": in_sql.check,
    "save": acts.save,
    "publish": in_sql.publish,
    "answers": in_sql.answers,
}
Sent = TypeVar("Sent")
LARGEST = 1 << 22  # bytes of a draft
PAGE = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
OWN_POLICY = {  # a release's page has a policy of its own; its script is no script of the studio's
    "Content-Security-Policy": "frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
}


def app(session: Session, guard: Guard) -> Litestar:
    """Return the application.

    Args:
        session: the work that it shows.
        guard: who may ask.
    """
    return Litestar(
        route_handlers=[*_pages(session, guard), *_work(session, guard), *_results(session, guard)],
        exception_handlers={Problem: _refused, HTTPException: _unknown, Exception: _failed},
        request_max_body_size=LARGEST,
        openapi_config=None,
        logging_config=None,
    )


def _pages(session: Session, guard: Guard) -> list[Any]:
    """Return the routes of the page, its parts, and the pages of releases."""
    paths = (*SHARED, *(path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES))
    files = {path.name: path.read_bytes() for path in paths}

    @get("/")
    async def studio(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        return Response(files["studio.html"], media_type="text/html", headers=HEADERS)

    @get("/pages/{name:str}")
    async def part(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
        guard.check_site(request)
        if name not in files or name.endswith(".html"):
            raise Problem(404, "there is nothing at this address")
        return Response(files[name], media_type=MEDIA_TYPES[Path(name).suffix], headers=HEADERS)

    @get("/made-up")
    async def made_up(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        return _html(await _done(acts.made_up_page, session, request.query_params.get("name", "")))

    @get("/released")
    async def released(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        return _html(await _done(acts.page, session, request.query_params.get("name", "")))

    @get("/bundle")
    async def bundle(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        content = await _done(acts.bundle, session, request.query_params.get("name", ""))
        return Response(content, media_type="application/zip", headers=PAGE)

    return [studio, part, made_up, released, bundle]


def _work(session: Session, guard: Guard) -> list[Any]:
    """Return the routes by which what was typed comes and goes."""

    @get("/work")
    async def work(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        return await _state(session)

    @put("/work", status_code=200)
    async def keep(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        await _done(session.keep, await _sent(request, Draft))
        return await _state(session)

    @post("/columns", status_code=200)
    async def columns(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        await _done(session.look, at=lambda line: of_refusal(line, session.draft).at)
        return await _state(session)

    @post("/proposal", status_code=200)
    async def proposal(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        await _done(session.propose, at=lambda _: "source")
        return await _state(session)

    @post("/codebook", status_code=200)
    async def codebook(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        await _done(session.codebook, await _text(request), at=lambda _: "path")
        return await _state(session)

    return [work, keep, columns, proposal, codebook]


def _results(session: Session, guard: Guard) -> list[Any]:
    """Return the routes that plan, check, publish and ask a wish, whose name is in the body: never in the address."""
    lock = threading.Lock()  # what is computed for a page that has changed since is not computed beside it

    def acted(act: str, name: str) -> Any:
        with lock:
            of_wish = ACTS if session.wish(name).kind else IN_SQL
            if act not in of_wish:
                raise ValueError(f"{name!r} has no {act}")
            return of_wish[act](session, name)

    @post("/wishes/{act:str}", status_code=200)
    async def wish(request: Request[Any, Any, Any], act: FromPath[str]) -> Response[bytes]:
        guard.check(request)
        if act not in ACTS | IN_SQL:
            raise Problem(404, "there is nothing at this address")
        name = await _text(request)
        return _json(await _done(acted, act, name, at=functools.partial(_place, session, name)))

    @post("/period", status_code=200)
    async def period(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        turn = await _sent(request, Turn)
        at = functools.partial(_place, session, turn.name)
        return _json(await _done(acts.publish_period, session, turn, at=at))

    @post("/query", status_code=200)
    async def query(request: Request[Any, Any, Any]) -> Response[bytes]:
        guard.check(request)
        return _json(await _done(in_sql.ask, session, await _sent(request, in_sql.Query)))

    return [wish, period, query]


async def _sent(request: Request[Any, Any, Any], kind: type[Sent]) -> Sent:
    """Return the body as what the page sends.

    Raises:
        Problem: it is none.
    """
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.MsgspecError:
        raise Problem(400, "expected what the studio's own page sends; load it again") from None


async def _text(request: Request[Any, Any, Any]) -> str:
    """Return the body as text.

    Raises:
        Problem: it is none.
    """
    try:
        return (await request.body()).decode()
    except UnicodeDecodeError:
        raise Problem(400, "expected text in UTF-8") from None


def _place(session: Session, name: str, line: str) -> str:
    """Return the field that a refusal of a wish is about."""
    return of_refusal(line, session.draft, name).at


async def _state(session: Session) -> Response[bytes]:
    state = {
        "draft": session.draft,
        "wishes": await _done(lambda: session.wishes),
        "ledger": await _done(lambda: session.ledger),
    }
    kinds = {
        "kinds": [*catalog.wished(), in_sql.WISHED],
        "series": [wished.kind for wished in catalog.wished() if catalog.kind(wished.kind).by_period],
    }
    return _json({**state, **kinds, "folder": str(session.folder)})


async def _done(act: Callable[..., Any], *arguments: object, at: Callable[[str], str] = lambda _: "") -> Any:
    """Do something in a thread; our own refusals speak for themselves, anything else may quote the rows.

    Of a statement that is refused the page shows the place as well.

    Args:
        act: what is done.
        arguments: of it.
        at: the field that a refusal's line is about (`faults.Fault`).

    Raises:
        Problem: it was refused, or failed.
    """
    try:
        return await asyncio.to_thread(act, *arguments)
    except SqlRefusal as refusal:
        raise Problem(400, in_words(one_line(refusal)), caret=refusal.caret) from None
    except Exception as error:  # noqa: BLE001  # the last place that can keep a data value from the page
        line = one_line(error).removeprefix(written.SPECIFICATION)
        raise Problem(400, in_words(line), at=at(line)) from None


def _json(value: object) -> Response[bytes]:
    return Response(msgspec.json.encode(value), media_type="application/json", headers=PAGE)


def _html(page: bytes) -> Response[bytes]:
    return Response(page, media_type="text/html", headers={**PAGE, **OWN_POLICY})


def _refused(_: Request[Any, Any, Any], refused: Problem) -> Response[bytes]:
    return Response(refused.document, media_type=problem.MEDIA_TYPE, status_code=refused.status, headers=PAGE)


def _unknown(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    return _refused(request, Problem(error.status_code, "there is nothing at this address"))


def _failed(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:  # noqa: ARG001  # it is shown to nobody
    return _refused(request, Problem(500, "the studio failed; what was typed is kept"))
