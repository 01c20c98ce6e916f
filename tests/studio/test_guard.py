"""Nobody but the studio's own page is answered; each check is seen to matter by itself."""

import json
import socket
from urllib.parse import urlsplit

import pytest
from tests.studio.conftest import RARE, TOKEN

from dpress.studio.guard import Guard

ADDRESSES = [
    ("GET", "/"),
    ("GET", "/work"),
    ("PUT", "/work"),
    ("POST", "/columns"),
    ("POST", "/proposal"),
    ("POST", "/codebook"),
    ("POST", "/wishes/check"),
    ("POST", "/wishes/save"),
    ("POST", "/wishes/publish"),
    ("GET", "/made-up?name=marginals-1"),
    ("GET", "/released?name=marginals-1"),
    ("GET", "/bundle?name=marginals-1"),
    ("POST", "/wishes/records"),
    ("POST", "/period"),
    ("POST", "/wishes/answers"),
    ("POST", "/query"),
]
STRANGERS = {
    "no token": {"authorization": ""},
    "another token": {"authorization": f"Bearer {TOKEN}x"},
    "a name that points here": {"host": "attacker.example:8080"},
    "another port": {"host": "127.0.0.1:80"},
    "another origin": {"origin": "http://attacker.example"},
    "a page of a file": {"origin": "null"},
    "another site": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors"},
    "a neighbour": {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_is_answered_nothing_and_nothing_happens(client, session, who):
    before = sorted(session.folder.iterdir())
    for method, path in ADDRESSES:
        answer = client.request(method, path, headers=STRANGERS[who], content=b"{}")
        assert answer.status_code in (401, 403), path
        assert answer.json().keys() == {"title", "status", "detail"}
    assert sorted(session.folder.iterdir()) == before


def test_its_own_page_is_answered(client):
    own = {"origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
    assert client.get("/work", headers=own).status_code == 200
    assert (
        client.get("/", params={"token": TOKEN}, headers={"authorization": "", "sec-fetch-site": "none"}).status_code
        == 200
    )
    assert client.get("/pages/studio.js").status_code == 200
    for name in ("studio.html", "session.py", "../session.py"):
        assert client.get(f"/pages/{name}").status_code == 404


@pytest.mark.slow
def test_a_connection_is_bounded_as_those_of_the_service_are(open_studio, rows):
    place = urlsplit(open_studio(rows))
    with socket.create_connection((place.hostname, place.port)) as own:
        own.sendall(b"GET / HTTP/1.1\r\nx-a: " + b"a" * 70_000 + b"\r\n\r\n")
        assert own.recv(100).startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize("checks", [["check"], ["check_site", "check"]])
def test_without_a_check_a_stranger_would_be_answered(client, monkeypatch, checks):
    for one in checks:
        monkeypatch.setattr(Guard, one, lambda *_: None)
    assert client.get("/work", headers=STRANGERS["no token"]).status_code == 200


def test_pages_allow_no_other_script_and_no_frame(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    policy = client.get("/made-up?name=marginals-1").headers["content-security-policy"]
    assert policy == "frame-ancestors 'none'; sandbox allow-scripts allow-downloads"  # its script is nobody here


def test_only_check_tells_anything_of_the_rows(client):
    answers = {}
    for method, path in [*ADDRESSES[1:2], *ADDRESSES[3:4], *ADDRESSES[5:]]:
        answers[path] = client.request(method, path, content=b"marginals-1").text
    for act in ("forecast", "preview"):
        answers[act] = client.post(f"/wishes/{act}", content=b"marginals-1").text
    told = [path for path, text in answers.items() if RARE in text]
    assert told == ["/wishes/check"]


def test_what_is_no_draft_is_refused_and_changes_nothing(client, session):
    kept = (session.folder / "studio.json").read_bytes()
    for body in (b"", b"[]", b'{"source": 1}', json.dumps({"unheard": "of"}).encode(), b"{" * 5_000_000):
        assert client.put("/work", content=body).status_code in (400, 413)
    assert client.post("/wishes/delete").status_code == 404
    assert client.post("/wishes/forecast", content=b"nobody").json()["detail"] == "there is no wish 'nobody'"
    assert (session.folder / "studio.json").read_bytes() == kept
