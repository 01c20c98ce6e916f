"""The estimate so far over HTTP: once, or as a stream of server-sent events; and what administrators see beside it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath
from litestar.response import Stream

from dpress.service.problem import Problem
from dpress.service.served import Collections, Served, now, rounds

if TYPE_CHECKING:
    from dpress.service.viewers import Viewers

Check = Callable[[Request[Any, Any, Any]], None]
FRESH = {"Cache-Control": "no-store"}


def live_routes(viewers: "Viewers", allowed: Check) -> list[Any]:
    """Return the routes of the estimate, and of the list of what may be looked at.

    Args:
        viewers: who look.
        allowed: refuses a request whose sender may not look.
    """

    @get("/v1/collections/{ask:str}/estimate")
    async def estimate(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        allowed(request)
        try:
            figures = await viewers.document(viewers.collections.served(ask))
        except OSError:
            raise Problem(503, "the store cannot be used now", retry_after=2) from None
        return Response(figures, media_type="application/json", headers=FRESH)

    @get("/v1/collections/{ask:str}/events")
    async def events(request: Request[Any, Any, Any], ask: FromPath[str]) -> Stream:
        allowed(request)
        viewers.collections.served(ask)
        if viewers.full:
            raise Problem(503, "as many viewers as may be are here already; try later", retry_after=15)
        return Stream(viewers.events(ask), media_type="text/event-stream", headers=FRESH)

    @get("/v1/collections")
    async def listed(request: Request[Any, Any, Any]) -> Response[bytes]:
        allowed(request)
        newest = {served.design.collection: served for served in viewers.collections.all()}
        plain = {"collections": [_entry(served) for served in newest.values()]}
        return Response(msgspec.json.encode(plain), media_type="application/json", headers=FRESH)

    return [estimate, events, listed]


def _entry(served: Served) -> dict[str, Any]:
    """Return what a list says of a collection, by its newest round."""
    return {
        "id": served.round.ask,
        "title": served.design.title,
        "round": served.round.number,
        "rounds": rounds(served.design),
        "open": served.open(now()),
        "until": served.design.end,
    }


def rounds_route(collections: Collections, allowed: Check) -> Any:
    """Return the route of what administrators see: every round of a collection with its counters.

    Args:
        collections: that are served.
        allowed: refuses a request without the administrator's token.
    """

    @get("/v1/collections/{ask:str}/rounds")
    async def listed(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        allowed(request)
        every = collections.rounds_of(collections.served(ask))
        try:
            counters = await asyncio.to_thread(lambda: [_counters(collections, served) for served in every])
        except OSError:
            raise Problem(503, "the store cannot be used now", retry_after=2) from None
        return Response(msgspec.json.encode({"rounds": counters}), media_type="application/json", headers=FRESH)

    return listed


def _counters(collections: Collections, served: Served) -> dict[str, Any]:
    place = served.round.place
    return {
        "id": served.round.ask,
        "round": served.round.number,
        "open": served.open(now()),
        "until": served.design.end,
        "reports": collections.store.reports(place),
        "deleted": served.round.expired or 0,
        "refused": collections.store.refused(place),
    }
