"""Who may ask the studio: a page of its own, on this computer, whose address has the token.

Another site's script can send requests to this computer, under a name of its own that it points here (DNS rebinding):
so the host, the origin and the token are each checked, and one of them that is wrong is enough.
"""

import hmac
from dataclasses import dataclass, field
from typing import Any

from litestar import Request

from dpress.service.problem import Problem

OWN_SITE = ("same-origin", "none")  # of Sec-Fetch-Site: asked by our page, or by whoever typed the address


@dataclass(slots=True)
class Guard:
    """Checks requests.

    Args:
        token: that the page's address has.
        hosts: by which this studio may be called, `127.0.0.1:PORT`; known once it listens.
    """

    token: str
    hosts: tuple[str, ...] = field(default=())

    def check_site(self, request: Request[Any, Any, Any]) -> None:
        """Refuse what another site's page asks.

        Raises:
            Problem: another host or origin.
        """
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host not in self.hosts:
            raise Problem(403, "the studio answers under its own address alone")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            raise Problem(403, "the studio answers its own page alone")
        if (
            request.headers.get("sec-fetch-site", "none") not in OWN_SITE
            and request.headers.get("sec-fetch-mode") != "navigate"
        ):
            raise Problem(403, "the studio answers its own page alone")

    def check(self, request: Request[Any, Any, Any]) -> None:
        """Refuse what does not bear the token; compared in constant time.

        Raises:
            Problem: no token, another host or origin.
        """
        self.check_site(request)
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        token = bearer or request.query_params.get("token", "")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise Problem(401, "expected the token: open the address that `dpress studio` printed")
