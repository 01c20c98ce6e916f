"""Runs the application: one process, no access log, no word about the server in its answers."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from litestar import Litestar

from dpress.service.bounded_protocol import bounded
from dpress.service.connection_places import most_connections

BACKLOG = 2048
KERNEL = 1 << 17  # bytes of answers that the kernel keeps for who reads slowly; else it takes megabytes for each
IDLE = 30  # seconds that a connection may stay open without a request
FAREWELL = 10  # seconds that running requests have when the service stops


def run(application: Litestar, host: str, port: int, listening: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT, then return; what was accepted is on disk then.

    Args:
        application: what answers.
        host: the address to listen on.
        port: 0 is a free one.
        listening: called with the address, once connections are accepted.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL)  # every connection inherits it
        try:
            bound.bind((host, port))
        except OSError as error:
            raise OSError(f"cannot listen on {host} port {port}: {error.strerror}") from None
        bound.listen(BACKLOG)
        name = f"[{host}]" if ":" in host else host
        listening(f"http://{name}:{bound.getsockname()[1]}")
        config = uvicorn.Config(
            application,
            http=bounded(most_connections()),
            ws="none",
            log_level="critical",
            access_log=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=IDLE,
            timeout_graceful_shutdown=FAREWELL,
            proxy_headers=False,
        )
        server = uvicorn.Server(config)
        application.state.stopping = lambda: server.should_exit
        with at_signals(lambda: setattr(server, "should_exit", True)):
            server.run(sockets=[bound])


@contextmanager
def at_signals(act: Callable[[], object]) -> Iterator[None]:
    """Let SIGTERM and SIGINT do this and no more: uvicorn would raise them again, and end the process by them."""

    def handle(number: int, frame: object) -> None:
        del number, frame
        act()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
