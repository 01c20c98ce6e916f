"""`dpress collection` on the store of a service, as programs: listed, expired and deleted, beside a service, too."""

import io
import json
import signal
from datetime import UTC, datetime

import pytest
from tests.flow.test_service_commands import told
from tests.service.served import TOKEN, design, numbered, post

from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.document.design import encode

PLACE = "sqlite:///reports.db"


@pytest.fixture
def asked(tmp_path):
    """A collection whose round is closed, with 20 reports."""
    own = design()
    (tmp_path / "design.json").write_text(encode(own))
    store = open_store(f"sqlite:///{tmp_path}/reports.db", create=True)
    store.begin(own.id, 0, encode(own))
    store.add([Upload(place=0, reports=20, body=numbered(own, 0, 20))], {(0, "late"): 2})
    store.close(0)
    store.disconnect()
    return own


def test_rounds_are_listed(asked, here):
    done = here("collection", "list", "--store", PLACE, "--json")
    assert done.code == 0, done.err
    today = datetime.now(UTC).date().isoformat()
    names = {"id": asked.id, "title": "age", "round": 0, "state": "closed", "ended": today}
    assert done.json == [names | {"reports": 20, "refused": 2, "deleted": 0}]
    done = here("collection", "list", "--store", PLACE)
    assert asked.id in done.out
    assert "closed" in done.out


def test_reports_expire(asked, here):
    kept = here("collection", "expire", "--store", PLACE, "--days", "1")
    assert (kept.code, kept.out) == (0, "0 reports of 0 rounds deleted\n"), kept.err
    gone = here("collection", "expire", "--store", PLACE, "--days", "0")
    assert (gone.code, gone.out) == (0, "20 reports of 1 round deleted\n"), gone.err
    (left,) = here("collection", "list", "--store", PLACE, "--json").json
    assert (left["state"], left["reports"], left["deleted"], left["refused"]) == ("expired", 0, 20, 2)
    refused = here("estimate", "design.json", "--reports", PLACE, "--out", "release")
    assert refused.err == "dpress: the 20 reports of round 0 were deleted from the store\n"
    assert asked.id == left["id"]


def test_what_expires_says_that_an_open_round_must_be_closed_first(tmp_path, here):
    own = design()
    store = open_store(f"sqlite:///{tmp_path}/reports.db", create=True)
    store.begin(own.id, 0, encode(own))
    store.disconnect()
    done = here("collection", "expire", "--store", PLACE, "--days", "0")
    wanted = "0 reports of 0 rounds deleted; still open, and to be closed first: 1 round\n"
    assert (done.code, done.out) == (0, wanted), done.err


def test_a_collection_is_deleted_once_somebody_says_yes(asked, here, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody is there to answer
    refused = here("collection", "delete", asked.id, "--store", PLACE)
    assert (refused.code, refused.out) == (1, ""), refused.err
    assert "Delete 20 reports and 1 round of age, for good?" in refused.err
    assert refused.err.endswith("dpress: nothing was deleted; --yes deletes without asking\n")
    assert len(here("collection", "list", "--store", PLACE, "--json").json) == 1
    done = here("collection", "delete", asked.id, "--store", PLACE, "--yes")
    assert (done.code, done.out) == (0, "20 reports and 1 round of age deleted\n"), done.err
    assert here("collection", "list", "--store", PLACE).out == "The store has no collections.\n"
    again = here("collection", "delete", asked.id, "--store", PLACE, "--yes")
    assert (again.code, again.err.count("\n")) == (1, 1)
    assert f"the store has no collection {asked.id}" in again.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "--store", "sqlite:///none.db"), "there is no store none.db"),
        (("expire", "--store", PLACE, "--days", "-1"), "--days"),
        (("expire", "--store", PLACE), "Missing option '--days'"),
        (
            ("delete", "abc", "--store", PLACE, "--yes"),
            "the store has no collection abc; `dpress collection list` names",
        ),
    ],
)
def test_what_cannot_be_done_is_said(asked, here, arguments, said):
    assert asked.local
    done = here("collection", *arguments)
    assert done.code in {1, 2}
    assert said in done.err
    assert len(here("collection", "list", "--store", PLACE, "--json").json) == 1


@pytest.mark.slow
def test_what_is_deleted_beside_a_running_service(tmp_path, here, serving):
    own = design()
    (tmp_path / "design.json").write_text(encode(own))
    (tmp_path / "token").write_text(TOKEN)
    options = ("--store", PLACE, "--json", "--quiet", "--public", "--admin-token-file", "token")
    process = serving("design.json", *options)
    port, path = told(process), f"/v1/collections/{own.id}"
    assert post(port, f"{path}/reports", numbered(own, 0, 20))[0] == 200
    assert post(port, f"{path}/close", token=TOKEN)[0] == 200
    assert here("collection", "expire", "--store", PLACE, "--days", "0").code == 0
    status, _, said = post(port, f"{path}/reports", numbered(own, 20, 20))
    assert (status, said["current"]) == (409, own.id)
    assert here("collection", "delete", own.id, "--store", PLACE, "--yes").code == 0
    assert post(port, f"{path}/reports", numbered(own, 40, 20))[0] in {404, 409}
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    assert json.loads(here("collection", "list", "--store", PLACE, "--json").out) == []
