"""A store that cannot be used: senders come back later, nothing is half kept, and it goes on when the store is back."""

import os
import shutil
import subprocess

import pytest
from tests.service.served import TYPE, design, numbered

from dpress.data.stored.sqlite_store import SqliteStore

ROOT = os.geteuid() == 0


@pytest.fixture
def asked():
    return design()


def send(client, asked, number, count=20):
    body = numbered(asked, number * count, count)
    return client.post(f"/v1/collections/{asked.id}/reports", content=body, headers={"Content-Type": TYPE})


def check_unavailable(answer):
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["detail"] == "the reports cannot be kept now; send them again"


def kept(store):
    """Return the first ids of the uploads in a store, which are all whole."""
    found = b"".join(store.bodies(0))
    one = len(numbered(design(), 0, 1))
    ids = sorted(int.from_bytes(found[at + 22 : at + 38], "big") for at in range(0, len(found), one))
    assert len(found) % (20 * one) == 0
    return ids[::20]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "own" / "reports.db"


@pytest.fixture
def sqlite(file):
    file.parent.mkdir(exist_ok=True)
    store = SqliteStore(file, create=True)
    yield store
    store.disconnect()


def move(file, to):
    """Move a store with the log that belongs to it."""
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).rename(to.with_name(to.name + ending))


def test_a_file_that_is_moved_away_and_back(application, asked, sqlite, file):
    client, _ = application(sqlite, asked)
    assert send(client, asked, 0).status_code == 200
    file.rename(file.with_name("away.db"))
    for number in (1, 2):
        check_unavailable(send(client, asked, number))
    assert client.get("/readyz").status_code == 503
    assert "dpress_store_up 0" in client.get("/metrics").text
    assert client.get("/healthz").status_code == client.get(f"/v1/collections/{asked.id}").status_code == 200
    file.with_name("away.db").rename(file)
    assert client.get("/readyz").status_code == 200
    assert send(client, asked, 2).status_code == 200
    assert kept(sqlite) == [0, 40]  # of the refused one nothing


def test_a_file_that_is_replaced(application, asked, sqlite, file):
    client, _ = application(sqlite, asked)
    assert send(client, asked, 0).status_code == 200
    move(file, file.with_name("away.db"))
    other = SqliteStore(file, create=True)
    other.begin("b" * 64, 0, "another design")
    check_unavailable(send(client, asked, 1))
    assert client.get("/readyz").status_code == 503
    assert other.reports(0) == 0
    other.disconnect()
    move(file.with_name("away.db"), file)
    assert send(client, asked, 2).status_code == 200
    assert kept(sqlite) == [0, 40]


def test_a_file_that_is_deleted_takes_nothing(application, asked, sqlite, file):
    client, _ = application(sqlite, asked)
    assert send(client, asked, 0).status_code == 200
    shutil.rmtree(file.parent)
    check_unavailable(send(client, asked, 1))
    check_unavailable(send(client, asked, 1))
    assert not file.exists()


def filled(client, asked, count=1000):
    """Send until the store is full; return what was acknowledged, and one that was not."""
    for number in range(10_000):
        answer = send(client, asked, number, count)
        if answer.status_code != 200:
            check_unavailable(answer)
            return set(range(number)), number
    raise AssertionError("the store is never full")


def test_a_full_file(application, asked, sqlite):
    client, _ = application(sqlite, asked)
    sqlite._writer.execute("PRAGMA max_page_count = 40")
    acknowledged, last = filled(client, asked)
    assert acknowledged
    assert sqlite.reports(0) == 1000 * len(acknowledged)
    check_unavailable(send(client, asked, last, 1000))
    sqlite._writer.execute("PRAGMA max_page_count = 4000")
    assert send(client, asked, last, 1000).status_code == 200
    assert sqlite.reports(0) == 1000 * (len(acknowledged) + 1)


@pytest.mark.slow
@pytest.mark.skipif(not ROOT, reason="only root may mount a small file system")
def test_a_full_disk(application, asked, tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", place], check=True)
    try:
        store = SqliteStore(place / "reports.db", create=True)
        client, _ = application(store, asked)
        acknowledged, last = filled(client, asked)
        assert acknowledged
        assert store.reports(0) == 1000 * len(acknowledged)
        check_unavailable(send(client, asked, last, 1000))
        subprocess.run(["mount", "-o", "remount,size=64m", place], check=True)
        assert send(client, asked, last, 1000).status_code == 200
        assert store.reports(0) == 1000 * (len(acknowledged) + 1)
        store.disconnect()
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.slow
def test_a_server_that_is_stopped_and_started_again(application, asked, new_database, postgres_server):
    from dpress.data.stored.postgres_store import PostgresStore

    store = PostgresStore(new_database(), create=True)
    client, _ = application(store, asked)
    assert send(client, asked, 0).status_code == 200
    postgres_server.stop()
    try:
        for number in (1, 2):
            check_unavailable(send(client, asked, number))
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
    finally:
        postgres_server.ensure_postgres_running()
    assert send(client, asked, 2).status_code == 200
    assert client.get("/readyz").status_code == 200
    assert kept(store) == [0, 40]
    store.disconnect()


class Failing:
    """A store with a fault of its own."""

    def __init__(self, store):
        self.store, self.fails = store, False

    def __getattr__(self, name):
        return getattr(self.store, name)

    def add(self, uploads, refused):
        if self.fails:
            raise KeyError("a fault of the store")
        return self.store.add(uploads, refused)


def test_a_fault_of_ours_ends_no_thread(application, asked, sqlite):
    own = Failing(sqlite)
    client, _ = application(own, asked)
    own.fails = True
    answer = send(client, asked, 0)
    assert (answer.status_code, answer.json()["detail"]) == (500, "the service failed; send the same again")
    own.fails = False
    assert send(client, asked, 1).status_code == 200
    assert kept(sqlite) == [20]
