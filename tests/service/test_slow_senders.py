"""Senders that are slow, silent or gone hold up nobody else, and not for ever."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.service.served import TYPE, design, numbered, post

from dpress.data.stored.sqlite_store import SqliteStore
from dpress.data.stored.store_url import open_store
from dpress.release.designs import save_design
from dpress.service import reports_route
from dpress.service.problem import Problem
from dpress.service.reports_route import Uploads
from dpress.service.served import Collections
from dpress.service.writer import Writer

SCRIPT = Path(__file__).with_name("forked_service.py")
OPEN = 1000


@pytest.fixture
def asked():
    return design()


@pytest.fixture
def service(tmp_path, asked):
    """What starts a service in a process of its own and returns its port; it writes to reports.db."""
    with contextlib.ExitStack() as stack:

        def start(*mode):
            save_design(asked, tmp_path / "design.json")
            command = [sys.executable, SCRIPT, tmp_path / "design.json", f"sqlite:///{tmp_path / 'reports.db'}", *mode]
            program = stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(program.stdin.close)
            print(file=program.stdin, flush=True)
            process, port = map(int, program.stdout.readline().split())
            stack.callback(os.kill, process, signal.SIGKILL)
            return port

        yield start


@pytest.fixture
def connected():
    """What opens a connection and sends some bytes; all are closed at the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * OPEN)), hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

        def connect(port, sent=b""):
            own = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            own.sendall(sent)
            return own

        yield connect


def head(asked, length):
    return (
        f"POST /v1/collections/{asked.id}/reports HTTP/1.1\r\nHost: service\r\n"
        f"Content-Type: {TYPE}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def check_served(port, asked, count=20):
    """Upload, and return nothing: others are served."""
    for number in range(count):
        answer = post(port, f"/v1/collections/{asked.id}/reports", numbered(asked, 20 * number, 20))
        assert (answer[0], answer[2]["accepted"]) == (200, 20)


@pytest.mark.slow
def test_others_are_served_while_a_thousand_connections_are_open(service, connected, asked, tmp_path):
    port, body = service(), numbered(asked, 10**6, 1000)
    whole = head(asked, len(body)) + body
    silent = [connected(port) for _ in range(OPEN // 4)]
    half_heads = [connected(port, whole[:40]) for _ in range(OPEN // 4)]
    half_bodies = [connected(port, whole[: len(whole) // 2]) for _ in range(OPEN // 4)]
    gone = [connected(port, whole[: len(whole) // 2]) for _ in range(OPEN // 4)]
    check_served(port, asked)
    for one in gone:
        one.close()
    check_served(port, asked)
    assert open_store(f"sqlite:///{tmp_path / 'reports.db'}").reports(0) == 800  # nothing of a half one
    for one in half_bodies[:3]:
        one.sendall(whole[len(whole) // 2 :])
        assert one.recv(100).startswith(b"HTTP/1.1 200 OK")
    assert len(silent) + len(half_heads) == OPEN // 2


@pytest.mark.slow
@pytest.mark.parametrize("sent", [0, 40, 300])
def test_a_request_that_trickles_is_given_up(service, connected, asked, sent):
    port, body = service("impatient"), numbered(asked, 0, 20)
    whole = head(asked, len(body)) + body
    own = connected(port, whole[:sent])
    own.settimeout(0.2)
    closed, at = False, sent
    while not closed:
        assert at < sent + 200, "it is still read after forty seconds"
        with contextlib.suppress(TimeoutError):
            try:
                closed = not own.recv(1000)
            except ConnectionResetError:
                closed = True
        if sent and not closed:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                own.send(whole[at : at + 1])
        at += 1
    check_served(port, asked, 3)


@pytest.mark.slow
def test_a_connection_is_kept_for_one_upload_after_the_other(service, connected, asked):
    port, body = service("impatient"), numbered(asked, 0, 20)
    own = connected(port)
    for _ in range(8):  # longer than a request may take
        own.sendall(head(asked, len(body)) + body)
        answer = b""
        while not answer.endswith(b"}"):
            piece = own.recv(1000)
            assert piece, "the service closed the connection"
            answer += piece
        assert answer.startswith(b"HTTP/1.1 200 OK")
        time.sleep(0.4)


def test_an_upload_that_takes_too_long(tmp_path, asked, monkeypatch):
    monkeypatch.setattr(reports_route, "SLOWEST", 0.01)
    store = SqliteStore(tmp_path / "reports.db", create=True)
    collections = Collections(store)
    collections.add(asked)
    uploads = Uploads(collections, Writer(store=store))

    async def trickle():
        while True:
            yield b"\x96"
            await asyncio.sleep(0.001)

    with pytest.raises(Problem, match="the upload took longer than") as caught:
        asyncio.run(uploads.take(asked.id, TYPE, None, trickle()))
    assert caught.value.status == 408
    assert uploads._arriving == 0
    store.disconnect()
