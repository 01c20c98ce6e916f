"""Many reports in uploads that a service takes: split, sent again where it puts off, refused in one line."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.service.pages.collections_of import designed, packed, people

import dpress
from dpress.core.reports.packed import parse
from dpress.release.devices import send_reports as module

URL = "/v1/collections/" + "a" * 64


class Door(HTTPServer):
    """A service that takes three reports an upload, after the answers that stand in `before`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.before: list[tuple[int, str]] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{URL}"


class Answering(BaseHTTPRequestHandler):
    server: Door

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(200, {"largest_batch": 3})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.before:
            status, why = self.server.before.pop(0)
            return self._answer(status, {"detail": why})
        self.server.bodies.append(body)
        refused = [{"id": "00", "reason": "another round"}] if len(self.server.bodies) == 1 else []
        return self._answer(200, {"accepted": len(parse(body)) - len(refused), "duplicates": 0, "refused": refused})

    def _answer(self, status: int, plain: dict[str, Any]) -> None:
        content = json.dumps(plain).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "7")
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def door() -> Iterator[Door]:
    with Door() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found = list[float]()
    monkeypatch.setattr(module.time, "sleep", found.append)
    return found


@pytest.fixture
def reports(tmp_path: Any) -> list[bytes]:
    made: list[bytes] = packed(designed("tables"), people("tables", 8), tmp_path)
    return made


def test_a_long_list_is_split_as_the_service_asks(door: Door, reports: list[bytes]) -> None:
    sent = dpress.send_reports(door.url + "/", iter(reports))
    assert [len(parse(body)) for body in door.bodies] == [3, 3, 2]
    assert b"".join(door.bodies) == b"".join(reports)
    assert (sent.accepted, sent.duplicates, sent.refused) == (7, 0, (("00", "another round"),))


def test_an_upload_that_is_put_off_is_sent_again_as_it_is(
    door: Door, reports: list[bytes], pauses: list[float]
) -> None:
    door.before = [(503, "the store cannot be used now"), (429, "later")]
    assert dpress.send_reports(door.url, reports).accepted == 7
    assert b"".join(door.bodies) == b"".join(reports)
    assert pauses == [7, 7]
    door.before = [(503, "the store cannot be used now")] * module.TIMES
    with pytest.raises(OSError, match="after 8 times; it answered 503: the store cannot be used now"):
        dpress.send_reports(door.url, reports)


def test_what_is_refused_whole_is_not_sent_again(door: Door, reports: list[bytes], pauses: list[float]) -> None:
    door.before = [(409, "this round is closed; nothing more is accepted in it")]
    with pytest.raises(dpress.ReportRejected, match="refused with 409: this round is closed"):
        dpress.send_reports(door.url, reports)
    assert (door.bodies, pauses) == ([], [])


def test_a_service_that_is_not_there_is_named(pauses: list[float]) -> None:
    with pytest.raises(OSError, match="the service cannot be used after 8 times; "):
        dpress.send_reports(f"http://127.0.0.1:9{URL}", [])
    assert len(pauses) == module.TIMES - 1
    for wrong in (
        "file:///etc/passwd/v1/collections/1",
        "http://127.0.0.1:9/",
        f"http://127.0.0.1:9{URL.replace('/v1', '')}",
    ):
        with pytest.raises(ValueError, match="expected the address of a collection"):
            dpress.send_reports(wrong, [])
