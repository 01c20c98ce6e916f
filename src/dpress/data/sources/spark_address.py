"""Where Spark is: an address of a master or of a server of Spark Connect, as `--spark`, MASTER or SPARK_REMOTE say.

address -> the form that it has -> the variable that Spark itself reads -> whether anybody answers there.
"""

import contextlib
import os
import re
import socket
from urllib.parse import urlsplit

from dpress.core.basics.errors import NotSupported

FORM = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?|yarn|k8s://\S+|spark://[^\s/#]+:\d+|sc://[^\s#]+")
LOCAL, CONNECT, STANDALONE = "local", "sc://", "spark://"
PORT = 15002  # of Spark Connect
PATIENCE = 5.0  # seconds for a master or a server to take a connection
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")  # of which a connection of Spark Connect may go through one


def use(address: str) -> None:
    """Let Spark start at an address, in this process and for whoever it starts.

    Args:
        address: `spark://host:port`, `sc://host:port`, `local[2]`, `yarn` or `k8s://...`.

    Raises:
        ValueError: it is none, or holds a password or a token; neither is shown.
    """
    if "@" in address or "token=" in address.lower():
        raise ValueError("it holds a password or a token; put that into SPARK_CONNECT_AUTHENTICATE_TOKEN")
    if not FORM.fullmatch(address):
        raise ValueError(
            f"expected spark://HOST:PORT, sc://HOST:PORT, local[CORES], yarn or k8s://..., got {address!r}"
        )
    for name in ("MASTER", "SPARK_REMOTE"):
        os.environ.pop(name, None)
    os.environ["SPARK_REMOTE" if address.startswith(CONNECT) else "MASTER"] = address


def stated() -> str:
    """Return the address that the environment states, empty without one; of a server before that of a master."""
    return os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER") or ""


def check_there(address: str) -> None:
    """Refuse an address where nobody answers, which Spark itself would try for minutes.

    Raises:
        NotSupported: nobody does.
    """
    places = _places(address)
    for host, port in places:
        with contextlib.suppress(OSError), socket.create_connection((host, port), PATIENCE):
            return
    if places:
        raise NotSupported(
            f"nobody answers at {shown(address)}; is Spark running there, and can this machine reach it?"
        )


def shown(address: str) -> str:
    """Return an address for a message: without parameters, which may hold a token.

    >>> shown("sc://host:15002/;token=abc"), shown("spark://a:7077,b:7077")
    ('sc://host:15002', 'spark://a:7077,b:7077')
    """
    return address.partition("/;")[0]


def _places(address: str) -> list[tuple[str, int]]:
    """Return the hosts and ports that a connection is made to; none where that is for others to know.

    >>> _places("spark://a:7077,b:7078"), _places("local[2]")
    ([('a', 7077), ('b', 7078)], [])
    """
    if address.startswith(STANDALONE):
        masters = (master.rpartition(":") for master in address.removeprefix(STANDALONE).split(","))
        return [(host.strip("[]"), int(port)) for host, _, port in masters if port.isdigit()]
    if address.startswith(CONNECT) and not any(os.environ.get(name) for name in PROXIES):
        url = urlsplit(shown(address))
        return [(url.hostname, url.port or PORT)] if url.hostname else []
    return []
