"""`dpress serve` and what reads its store, as programs."""

import re
import signal
import socket

import pytest
from tests.service.served import design, post, reports

from dpress.data.stored.store_url import open_store
from dpress.document.design import encode

PLACE = "sqlite:///reports.db"


@pytest.fixture
def asked(tmp_path):
    own = design()
    (tmp_path / "design.json").write_text(encode(own))
    return own


def told(process):
    """Return the port, from what a service with --json prints first."""
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, "the service has ended"
        text += line
    return int(re.search(r"//[^/\"]*:(\d+)", text)[1])


@pytest.mark.slow
def test_from_uploads_to_a_release(asked, serving, here, tmp_path):
    process = serving("design.json", "--store", PLACE, "--json", "--quiet")
    packed, port = reports(asked, 300), told(process)
    for own in (packed[:200], packed[200:], packed[:50]):
        status, _, answer = post(port, f"/v1/collections/{asked.id}/reports", b"".join(own))
        assert (status, answer["accepted"], answer["duplicates"]) == (200, len(own), 0)
    process.send_signal(signal.SIGTERM)
    process.wait()
    done = here("estimate", "design.json", "--reports", PLACE, "--out", "release")
    assert done.code == 0, done.err
    assert "Reports: 300 counted" in done.out
    assert "note: the round is open: this release is of the 300 reports so far; close the round on its" in done.err
    assert done.err.count("note: the round is open") == 1
    open_store(f"sqlite:///{tmp_path}/reports.db").close(0)
    done = here("estimate", "design.json", "--reports", PLACE, "--out", "release-of-all")
    assert (done.code, "the round is open" in done.err) == (0, False)
    done = here("export", "design.json", "--reports", PLACE, "--out", "reports.parquet", "--json")
    assert done.code == 0, done.err
    assert done.json == {"reports": "reports.parquet", "count": 300, "rejected": {"repeated": 50}}
    again = here("export", "design.json", "--reports", PLACE, "--out", "reports.parquet")
    assert (again.code, again.err.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("estimate", "design.json", "--reports", "sqlite:///none.db", "--out", "r"), "there is no store none.db"),
        (("export", "design.json", "--reports", "sqlite:///none.db", "--out", "r"), "there is no store none.db"),
        (("export", "design.json", "--reports", "mysql://h", "--out", "r"), "sqlite:///FILE or postgresql://"),
        (("export", "design.json", "--reports", "sqlite:///text.db", "--out", "r"), "the store text.db cannot be used"),
        (("export", "design.json", "--reports", "sqlite:///other.db", "--out", "r"), "the store has no round 0"),
        (("serve", "design.json", "--admin-token-file", "short"), "at least 16 characters of ASCII"),
        (("serve", "design.json", "--admin-token-file", "none"), "none"),
        (("serve", "design.json", "--store", "sqlite:///none/x.db"), "the folder none does not exist"),
        (("serve", "design.json", "--store", "postgresql://u@h?none=1"), "no URL of PostgreSQL"),
        (("serve", "design.json", "--store", "postgresql://u@127.0.0.1:1/x"), "no connection to the server"),
        (("serve", "table.toml"), "model"),
        (("serve", "reports.parquet"), "expected a specification or a design, got no text in UTF-8; if it holds rows,"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(asked, here, tmp_path, arguments, said):
    assert asked.local
    (tmp_path / "text.db").write_text("no database, but a text of some length " * 40)
    (tmp_path / "short").write_text("too short")
    (tmp_path / "reports.parquet").write_bytes(b"PAR1\x15\xff")
    (tmp_path / "table.toml").write_text(
        '[[attribute]]\nname = "a"\nkind = "integer"\nbounds = [0, 9]\n[privacy]\nepsilon = 1.0\n'
        '[release]\nkind = "histogram"\n'
    )
    store = open_store(f"sqlite:///{tmp_path / 'other.db'}", create=True)
    store.begin("a" * 64, 0, "design")
    store.disconnect()
    before = sorted(tmp_path.iterdir())
    done = here(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done.err
    assert said in done.err
    assert [one.name for one in sorted(tmp_path.iterdir()) if one not in before and "-" not in one.name] == []


def test_an_address_that_is_taken(asked, here):
    assert asked.local
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = here("serve", "design.json", "--store", PLACE, "--port", str(port))
    assert (done.code, done.err) == (1, f"dpress: cannot listen on 127.0.0.1 port {port}: Address already in use\n")
