"""The pages for people: the same files for every collection, which ask the service for what they show."""

import hashlib
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from dpress import reporting
from dpress.service.problem import Problem

FOLDER = Path(__file__).with_name("pages")
REPORT_STYLE = Path(reporting.__file__).with_name("page.css")  # a release's report looks the same
MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Any]:
    """Return the routes of the pages and of what they are made of."""
    paths = (REPORT_STYLE, *(path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES))
    files = {path.name: path.read_bytes() for path in paths}

    @get("/")
    async def index(request: Request[Any, Any, Any]) -> Response[bytes]:
        return _file(request, files, "index.html")

    @get("/collections/{ask:str}")
    async def live(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        del ask  # the page reads it from its own address
        return _file(request, files, "live.html")

    @get("/try/{ask:str}")
    async def survey(request: Request[Any, Any, Any], ask: FromPath[str]) -> Response[bytes]:
        del ask
        return _file(request, files, "survey.html")

    @get("/pages/{name:str}")
    async def part(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
        if name not in files:
            raise Problem(404, "there is nothing at this address")
        return _file(request, files, name)

    return [index, live, survey, part]


def _file(request: Request[Any, Any, Any], files: dict[str, bytes], name: FromPath[str]) -> Response[bytes]:
    body = files[name]
    headers = {**HEADERS, "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(b"", status_code=304, headers=headers)
    return Response(body, media_type=MEDIA_TYPES[Path(name).suffix], headers=headers)
