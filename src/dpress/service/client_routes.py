"""The client for browsers, as the package has it: `/client.js` for a script tag, `/client.mjs` to import."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from litestar import Request, Response, get

from dpress.service.problem import Problem

FOLDER = Path(__file__).with_name("client")
NAMES = ("client.js", "client.mjs")
FOREVER = "public, max-age=31536000, immutable"  # for the address that holds the file's own hash
SHORTLY = "public, max-age=300"


def client_routes(folder: Path = FOLDER) -> list[Any]:
    """Return the routes of the client's two files and of their integrity hashes.

    Args:
        folder: of the files; what is not there is not served.
    """
    files = {name: (folder / name).read_bytes() for name in NAMES if (folder / name).is_file()}

    @get(["/client.js", "/client.mjs"])
    async def client(request: Request[Any, Any, Any]) -> Response[bytes]:
        body = files.get(request.url.path.rpartition("/")[2])
        if body is None:
            raise Problem(404, "this package was built without the client for browsers")
        lasting = request.query_params.get("v") == version(body)
        headers = {"Cache-Control": FOREVER if lasting else SHORTLY, "X-Content-Type-Options": "nosniff"}
        return Response(body, media_type="text/javascript", headers=headers)

    @get("/v1/client")
    async def hashes() -> dict[str, dict[str, str]]:
        return {name: {"version": version(content), "integrity": integrity(content)} for name, content in files.items()}

    return [client, hashes]


def integrity(body: bytes) -> str:
    """Return what a page states of a script, so that a browser runs no other one."""
    return "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()


def version(body: bytes) -> str:
    """Return what an address states of a file, so that it may be kept for good."""
    return hashlib.sha256(body).hexdigest()[:16]
