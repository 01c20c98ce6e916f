"""What the service answers to an upload, in the application's own process."""

import json

import pytest
from tests.service.served import TOKEN, TYPE, changed, design, numbered, reports

from dpress.core.reports import wire
from dpress.service import app as application
from dpress.service import reports_route

ADMIN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def asked():
    return design()


def path(asked, what="/reports"):
    return f"/v1/collections/{asked.id}{what}"


def send(client, asked, body, media_type=TYPE):
    return client.post(path(asked), content=body, headers={"Content-Type": media_type})


def problem(answer, status):
    """Return the problem document; it is what RFC 9457 says, in one line and short."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert found["title"]
    assert "\n" not in found["detail"]
    return found


def test_what_is_accepted_is_in_the_store(serving, asked, opened):
    client, _ = serving(asked)
    packed = reports(asked)
    answer = send(client, asked, b"".join(packed))
    assert (answer.status_code, answer.json()) == (200, {"accepted": 10, "duplicates": 0, "refused": []})
    assert b"".join(opened().bodies(0)) == b"".join(packed)


def test_what_is_refused_is_named_and_stops_no_other(serving, asked, opened):
    client, _ = serving(asked)
    packed = reports(asked)
    bad = {
        wire.OTHER_VERSION: {"version": 1}, wire.OTHER_ASK: {"ask": bytes(16)}, wire.OTHER_ROUND: {"round": 1},
        wire.UNKNOWN_TYPE: {"report_type": 1}, wire.WRONG_LENGTH: {"payload": b"12"},
        "out of range": {"payload": b"\xff"},
    }  # fmt: skip
    for place, changes in enumerate(bad.values()):
        packed[place] = changed(packed[place], **changes, id=bytes([place]) * 16)
    answer = send(client, asked, b"".join(packed)).json()
    assert answer["accepted"] == 4
    assert answer["refused"] == [
        {"id": bytes([place]).hex() * 16, "reason": reason} for place, reason in enumerate(bad)
    ]
    assert b"".join(opened().bodies(0)) == b"".join(packed[6:])
    assert opened().refused(0) == dict.fromkeys(bad, 1)


def test_duplicates_in_an_upload_are_counted_apart_and_kept_once(serving, asked, opened):
    client, _ = serving(asked)
    packed = reports(asked)
    alike = wire.unpack(packed[1]).id
    other = changed(packed[2], id=alike[:8] + bytes(8))  # the same half alone
    bad = changed(packed[3], version=1)
    body = [packed[0], packed[1], packed[0], other, bad, packed[0], packed[1], packed[3]]
    answer = send(client, asked, b"".join(body)).json()
    assert (answer["accepted"], answer["duplicates"]) == (4, 3)
    assert [one["reason"] for one in answer["refused"]] == [wire.OTHER_VERSION]
    assert b"".join(opened().bodies(0)) == b"".join([packed[0], packed[1], other, packed[3]])
    assert opened().reports(0) == 4


def test_a_repeated_id_is_accepted_again(serving, asked, opened):
    client, _ = serving(asked)
    body = b"".join(reports(asked))
    assert [send(client, asked, body).json()["accepted"] for _ in range(2)] == [10, 10]
    assert opened().reports(0) == 20


def test_outdated_clients_and_reports_of_another_collection(serving, asked, opened):
    client, _ = serving(asked)
    old = [changed(one, version=1) for one in reports(asked, 3)]
    assert {one["reason"] for one in send(client, asked, b"".join(old)).json()["refused"]} == {wire.OTHER_VERSION}
    other = send(client, asked, b"".join(reports(design(cells=12), 3))).json()
    assert (other["accepted"], {one["reason"] for one in other["refused"]}) == (0, {wire.OTHER_ASK})
    assert opened().reports(0) == 0
    assert opened().refused(0) == {wire.OTHER_VERSION: 3, wire.OTHER_ASK: 3}


@pytest.mark.parametrize(
    ("spoil", "detail"),
    [
        (lambda body: body[:0], "the body is empty; expected one or more reports"),
        (lambda body: body[:-1], "report 10 of the body is truncated or not in the layout of a report"),
        (lambda body: body + b"\x96", "report 11 of the body is truncated or not in the layout of a report"),
        (lambda body: b"{}" + body, "report 1 of the body is truncated or not in the layout of a report"),
    ],
)
def test_nothing_of_a_malformed_body_is_kept(serving, asked, opened, spoil, detail):
    client, _ = serving(asked)
    assert problem(send(client, asked, spoil(b"".join(reports(asked)))), 400)["detail"] == detail
    assert (opened().reports(0), opened().refused(0)) == (0, {})


def test_addresses_and_media_types(serving, asked):
    client, _ = serving(asked)
    body = b"".join(reports(asked))
    problem(send(client, design(cells=12), body), 404)
    problem(client.post("/v1/collections/short/reports", content=body, headers={"Content-Type": TYPE}), 404)
    problem(client.get("/elsewhere"), 404)
    assert problem(client.get(path(asked)), 405)["detail"] == "this method is not one for this address"
    for other in ("", "application/json", TYPE + "s"):
        problem(send(client, asked, body, other), 415)
    assert send(client, asked, body, TYPE.upper() + "; charset=binary").status_code == 200


def test_limits_are_of_reports_and_bytes(serving, asked, opened, monkeypatch):
    client, collections = serving(asked)
    most = collections.served(asked.id).largest_batch
    assert send(client, asked, numbered(asked, 0, most)).json()["accepted"] == most
    assert problem(send(client, asked, numbered(asked, 0, most + 1)), 413)["largest_batch"] == most
    assert opened().reports(0) == most
    longest = collections.served(asked.id).largest_body
    problem(send(client, asked, bytes(longest + 1)), 413)
    problem(send(client, asked, iter([bytes(longest), b"1"])), 413)  # of a length that is not stated
    monkeypatch.setattr(reports_route, "MOST_ARRIVING", 5)
    late = send(client, asked, numbered(asked, 0, 1))
    assert problem(late, 429)["title"] == "too much at once"
    assert int(late.headers["retry-after"]) >= 1
    monkeypatch.undo()
    assert send(client, asked, numbered(asked, 0, 1)).status_code == 200  # what arrived is not counted for ever


def test_a_closed_round_says_what_comes_after_it(serving, asked, opened):
    client, _ = serving(asked)
    body = b"".join(reports(asked))
    assert send(client, asked, body).status_code == 200
    assert client.post(path(asked, "/close"), headers=ADMIN).json()["open"] is False
    found = problem(send(client, asked, body), 409)
    assert (found["current"], found["round"]) == (asked.id, 0)
    assert client.post(path(asked, "/next"), headers=ADMIN).json() == {"id": asked.id, "round": 1}
    found = problem(send(client, asked, body), 409)
    assert (found["current"], found["round"], found["detail"]) == (asked.id, 1, "these reports are of another round")
    mixed = body + b"".join(changed(one, round=1) for one in reports(asked, 3, seed=2))
    answer = send(client, asked, mixed).json()
    assert (answer["accepted"], {one["reason"] for one in answer["refused"]}) == (3, {wire.OTHER_ROUND})
    assert (opened().reports(0), opened().reports(1)) == (10, 3)


def test_the_public_document(serving, asked):
    client, _ = serving(asked)
    answer = client.get(path(asked, ""))
    told = answer.json()
    assert (told["open"], told["round"], told["next"], told["largest_batch"]) == (True, 0, None, 10_000)
    assert told["ask"] == json.loads(json.dumps(told["ask"]))
    same = client.get(path(asked, ""), headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    client.post(path(asked, "/close"), headers=ADMIN)
    assert client.get(path(asked, ""), headers={"If-None-Match": answer.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("what", ["/close", "/next"])
def test_the_administrators_routes_want_the_token(serving, asked, what, monkeypatch):
    compared = []
    monkeypatch.setattr(application.hmac, "compare_digest", lambda one, two: compared.append((one, two)) or one == two)
    client, collections = serving(asked)
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Authorization": b"Bearer \xff"}):
        shown = problem(client.post(path(asked, what), headers=given), 401)
        assert TOKEN not in json.dumps(shown)
    assert len(compared) == 4  # in constant time, all of them
    assert not collections.served(asked.id).round.closed


@pytest.mark.parametrize("what", ["/close", "/next"])
def test_without_a_token_there_are_no_such_routes(serving, asked, what):
    client, collections = serving(asked, token=None)
    for given in ({}, ADMIN, {"Authorization": "Bearer "}, {"Authorization": "Bearer None"}):
        problem(client.post(path(asked, what), headers=given), 404)
    assert not collections.served(asked.id).round.closed
