"""What is deleted from a store is gone, what is not stays; a store of an older version is brought up to date."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from dpress.data.stored import report_store
from dpress.data.stored.report_store import MIGRATIONS, Upload
from dpress.data.stored.store_url import open_store

FIRST, SECOND, OTHER = "a" * 64, "b" * 64, "c" * 64
MARK = b"bytes of a report that nothing else holds"


@pytest.fixture
def store(opened):
    """A store of two rounds that follow each other, and of another collection between them."""
    own = opened(create=True)
    own.begin(FIRST, 0, "design")
    own.begin(OTHER, 0, "design")
    own.begin(SECOND, 1, "design", after=0)
    for place in range(3):
        own.add([Upload(place=place, reports=place + 2, body=MARK + bytes([place]))], {(place, "late"): place + 1})
    return own


def state(store):
    return {
        one.place: (one.closed, one.expired, store.reports(one.place), store.refused(one.place))
        for one in store.rounds()
    }


def today():
    return datetime.now(UTC).date().isoformat()


def test_reports_expire_and_rounds_stay(store):
    store.expire([0, 2])
    assert state(store) == {
        0: (True, 2, 0, {"late": 1}),
        1: (False, None, 3, {"late": 2}),
        2: (True, 4, 0, {"late": 3}),
    }
    assert [one.ended for one in store.rounds()] == [today(), None, today()]
    store.expire([0])
    assert state(store)[0] == (True, 2, 0, {"late": 1})
    assert store.add([Upload(place=0, reports=1, body=b"late")], {(0, "r"): 1}) == {0}


def test_a_collection_is_deleted_with_all_that_belongs_to_it(store):
    store.delete([0, 2])
    assert state(store) == {1: (False, None, 3, {"late": 2})}
    assert list(store.bodies(0)) == list(store.bodies(2)) == []
    assert store.add([Upload(place=0, reports=1, body=b"late")], {(0, "r"): 1}) == {0}
    assert store.begin("d" * 64, 0, "design").place == 2  # no place that a round has
    assert store.begin(FIRST, 0, "another design").place == 3
    assert [store.reports(place) for place in (1, 2, 3)] == [3, 0, 0]


def test_a_round_that_another_follows_is_not_deleted_alone(store, store_url):
    if store_url.startswith("sqlite"):
        pytest.skip("SQLite does not check it; `release.devices.retention` deletes whole collections")
    with pytest.raises(OSError, match="cannot be used"):
        store.delete([0])
    assert len(state(store)) == 3


def test_the_day_on_which_a_round_was_closed_stays(store):
    store.close(0)
    assert store.rounds()[0].ended == today()
    assert store.rounds()[1].ended is None


def files(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.glob("reports.db*")))


@pytest.mark.parametrize("what", ["expire", "delete"])
def test_no_byte_of_it_is_left_in_the_files(tmp_path, what):
    store = open_store(f"sqlite:///{tmp_path}/reports.db", create=True)
    for number in range(2):
        store.begin(FIRST, number, "design")
        store.add([Upload(place=number, reports=1, body=MARK + bytes([number]) * 40_000)], {})
    assert all(MARK + bytes([number]) in files(tmp_path) for number in range(2))  # the control
    getattr(store, what)([1])
    assert MARK + b"\0" in files(tmp_path)
    assert MARK + b"\1" not in files(tmp_path)
    store.disconnect()


def test_while_somebody_reads_it_says_that_a_trace_is_left(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/reports.db", create=True)
    store.begin(FIRST, 0, "design")
    store.add([Upload(place=0, reports=1, body=MARK)], {})
    store._writer.execute("PRAGMA busy_timeout = 50")
    reading = sqlite3.connect(tmp_path / "reports.db")
    reading.execute("BEGIN")
    assert reading.execute("SELECT count(*) FROM upload").fetchone() == (1,)
    with pytest.raises(OSError, match="while somebody reads them: `dpress collection expire` clears them later"):
        store.expire([0])
    reading.close()
    assert MARK in files(tmp_path)
    store.expire([])
    assert MARK not in files(tmp_path)
    assert store.rounds()[0].expired == 1
    store.disconnect()


def first_layout(store_url):
    """Make a store as the first version did, with an open round and a closed one."""
    dialect = "sqlite" if store_url.startswith("sqlite") else "postgres"
    script = (MIGRATIONS / f"{dialect}_0001.sql").read_text(encoding="utf-8")
    rounds = [(0, FIRST, 0, "design", 0), (1, FIRST, 1, "design", 1)]
    if dialect == "sqlite":
        path = Path(store_url.removeprefix("sqlite:///"))
        with sqlite3.connect(path) as connection:
            connection.executescript(f"{script}; PRAGMA user_version = 1; PRAGMA application_id = {0x44505252};")
            connection.executemany("INSERT INTO round (place, ask, number, design, closed) VALUES (?,?,?,?,?)", rounds)
            connection.execute("INSERT INTO upload VALUES (5, 3, ?)", (MARK,))
        connection.close()
        return
    with psycopg.connect(store_url) as connection:
        connection.execute("CREATE TABLE dpress_layout (number integer NOT NULL)")
        connection.execute(script)
        connection.execute("INSERT INTO dpress_layout VALUES (1)")
        for *fields, closed in rounds:
            connection.execute("INSERT INTO round VALUES (%s, %s, %s, %s, %s)", (*fields, bool(closed)))
        connection.execute("INSERT INTO upload VALUES (5, 3, %s)", (MARK,))


def test_a_store_of_the_first_layout_is_brought_up_to_date(store_url, opened):
    first_layout(store_url)
    store = opened()
    assert state(store) == {0: (False, None, 3, {}), 1: (True, None, 0, {})}
    assert [one.ended for one in store.rounds()] == [None, today()]  # when is not known: the day of the upgrade
    assert list(store.bodies(0)) == [MARK]
    assert state(opened()) == state(store)


def test_a_store_of_a_newer_version_is_refused(opened, monkeypatch):
    opened(create=True)
    known = {path: path.read_text(encoding="utf-8") for path in MIGRATIONS.glob("*_0001.sql")}
    assert len(known) == 2

    class Older:
        def glob(self, pattern):
            return [path for path in known if path.match(pattern)]

    monkeypatch.setattr(report_store, "MIGRATIONS", Older())
    with pytest.raises(OSError, match="the store has layout 2, and this dpress knows 1: use a newer dpress"):
        opened()
