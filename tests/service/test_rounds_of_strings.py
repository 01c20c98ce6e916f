"""Strings by the service: the rounds that it begins are those of files, and what devices hold comes out."""

import pytest
from tests.service.served import TOKEN, TYPE

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import from_dict
from dpress.document.design import encode
from dpress.release.devices.device import device
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import next_design
from dpress.release.plan.plan import design_of

ADMIN = {"Authorization": f"Bearer {TOKEN}"}
USERS = 240


def send(client, asked):
    """Send what devices with secrets answer in this round; return how many do."""
    sender, generator, found = device(asked), rng.seeded(asked.round), []
    for user in range(USERS):
        codes = sender.codes({"word": ("hi", "hi", "too long")[user % 3]})
        try:
            found.append(sender.answer(codes, rng=generator, secret=(user + 10_000).to_bytes(16, "big")))
        except NotSupported:
            continue
    body, headers = b"".join(found), {"Content-Type": TYPE}
    answer = client.post(f"/v1/collections/{asked.id}/reports", content=body, headers=headers)
    assert answer.json() == {"accepted": len(found), "duplicates": 0, "refused": []}
    return len(found)


@pytest.mark.slow
def test_strings_come_out_of_the_service(serving, store_url):
    word = {"name": "word", "kind": "categorical", "values": "discover"}
    release = {"kind": "strings", "parameters": {"users": USERS, "longest": 2, "kept": 4}}
    first = design_of(from_dict({"attribute": [word], "privacy": {"model": "local", "epsilon": 3}, "release": release}))
    client, collections = serving(first)
    sent = send(client, first)
    live = client.get(f"/v1/collections/{first.id}/estimate", headers=ADMIN).json()
    assert "0 of 0 strings of word tested in round 1 of 2" in live["remarks"][0]
    client.post(f"/v1/collections/{first.id}/close", headers=ADMIN)
    begun = client.post(f"/v1/collections/{first.id}/next", headers=ADMIN).json()
    asked = collections.served(begun["id"]).design
    assert encode(asked) == encode(next_design(estimate(first, store_url)))
    assert sent + send(client, asked) == USERS
    live = client.get(f"/v1/collections/{asked.id}/estimate", headers=ADMIN).json()
    assert live["axes"]["word"]["labels"] == ["hi", "other"]
    client.post(f"/v1/collections/{asked.id}/close", headers=ADMIN)
    ended = client.post(f"/v1/collections/{asked.id}/next", headers=ADMIN)
    assert (ended.status_code, ended.json()["detail"]) == (409, "this was the last round")
    found = estimate(asked, store_url).query("word = hi", confidence=0.999999)
    assert found.interval[0] <= 2 * USERS / 3 <= found.interval[1]
