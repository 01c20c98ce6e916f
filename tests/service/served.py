"""Designs, reports and uploads for the tests of the service."""

import http.client
import json

import msgspec

from dpress.core.basics import rng
from dpress.core.reports import wire
from dpress.data.specification.spec import from_dict
from dpress.document.design import report_id
from dpress.release.devices.device import device
from dpress.release.plan.plan import design_of

TYPE = "application/vnd.dpress.reports"
TOKEN = "a token of twenty letters"


def design(*, method="krr", ends=None, cells=10):
    """Return the design of a collection of one attribute."""
    attribute = {"name": "age", "kind": "integer", "bounds": [0, cells - 1]}
    release = {"kind": "histogram", "attributes": ["age"], "method": method}
    told = {"attribute": [attribute], "privacy": {"model": "local", "epsilon": 1}, "release": release}
    return design_of(from_dict(told | ({} if ends is None else {"collection": {"ends": ends}})))


def reports(asked, count=10, *, seed=1):
    """Return packed reports of so many devices."""
    sender, generator = device(asked), rng.seeded(seed)
    return [sender.answer((one % 10,), rng=generator, once=True) for one in range(count)]


def numbered(asked, first, count):
    """Return an upload of reports whose ids are numbers: quickly made, and told apart by eye."""
    ask = report_id(asked.ask)
    made = (
        wire.Report(ask=ask, id=one.to_bytes(16, "big"), round=asked.round, payload=b"\1")
        for one in range(first, first + count)
    )
    return b"".join(map(wire.pack, made))


def changed(packed, **fields):
    """Return a report with other fields."""
    return wire.pack(msgspec.structs.replace(msgspec.msgpack.decode(packed, type=wire.Report), **fields))


def post(port, path, body=b"", *, media_type=TYPE, token=None, timeout=None, sender="127.0.0.1"):
    """Return status, headers and the answer of a service on this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=(sender, 0))
    headers = {"Content-Type": media_type} | ({} if token is None else {"Authorization": f"Bearer {token}"})
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), json.loads(answer.read())
    finally:
        connection.close()


def head(asked, length):
    """Return the head of an upload of so many bytes."""
    return (
        f"POST /v1/collections/{asked.id}/reports HTTP/1.1\r\nHost: service\r\n"
        f"Content-Type: {TYPE}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def check_served(port, asked, count=20, *, sender="127.0.0.1"):
    """Upload, and return nothing: others are served."""
    for number in range(count):
        path, body = f"/v1/collections/{asked.id}/reports", numbered(asked, 20 * number, 20)
        answer = post(port, path, body, sender=sender)
        assert (answer[0], answer[2]["accepted"]) == (200, 20)
