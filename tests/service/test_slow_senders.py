"""Senders that are slow, silent or gone hold up nobody else, and not for ever."""

import asyncio
import contextlib
import time

import pytest
from tests.service.conftest import OPEN
from tests.service.served import TYPE, check_served, head, numbered

from dpress.data.stored.sqlite_store import SqliteStore
from dpress.data.stored.store_url import open_store
from dpress.service import reports_route
from dpress.service.measures import Measures
from dpress.service.outages import Outages
from dpress.service.problem import Problem
from dpress.service.reports_route import Uploads
from dpress.service.served import Collections
from dpress.service.writer import Writer


@pytest.mark.slow
def test_others_are_served_while_a_thousand_connections_are_open(service, connected, asked, tmp_path):
    port, body = service().port, numbered(asked, 10**6, 1000)
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
    port, body = service("impatient").port, numbered(asked, 0, 20)
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
    port, body = service("impatient").port, numbered(asked, 0, 20)
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
    uploads = Uploads(collections, Writer(store=store, outages=Outages()), Measures(Outages()))

    async def trickle():
        while True:
            yield b"\x96"
            await asyncio.sleep(0.001)

    with pytest.raises(Problem, match="the upload took longer than") as caught:
        asyncio.run(uploads.take(asked.id, TYPE, None, trickle()))
    assert caught.value.status == 408
    assert uploads._arriving == 0
    store.disconnect()
