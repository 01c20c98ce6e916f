"""Every way the file can fail: one clear line, and nothing charged."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger import sqlite_ledger
from dpress.ledger.ledger import Ledger, verify

ROW = Unit()
ONE = PureDP(epsilon=1)


@pytest.fixture
def ledger_place(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


def pay(book: Ledger, label: str = "x") -> str:
    return book.reserve(PureDP(epsilon=0.1), ROW, label=label, design="")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no ledger at .*none\.db; create it first"):
        Ledger.open(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_ledger_that_vanished_is_not_started_anew(book: Ledger) -> None:
    book.path.unlink()
    with pytest.raises(FileNotFoundError):
        pay(book)
    assert not book.path.exists()


def test_an_existing_file_is_not_overwritten(book: Ledger, tmp_path: Path) -> None:
    pay(book)
    with pytest.raises(FileExistsError, match="exists already"):
        Ledger.create(book.path, limit=ONE, unit=ROW)
    with pytest.raises(FileExistsError):
        Ledger.create(tmp_path, limit=ONE, unit=ROW)
    assert verify(book.path).rows == 2


def test_an_empty_file_is_what_a_crash_in_create_leaves_and_may_be_used(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(ValueError, match="is not a ledger"):
        Ledger.open(path)
    Ledger.create(path, limit=ONE, unit=ROW)
    assert verify(path).rows == 1


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        Ledger.create(tmp_path / "none" / "a.db", limit=ONE, unit=ROW)


def test_a_folder_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="is a folder or a device"):
        Ledger.open(tmp_path)


def test_a_text_file_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of a hundred bytes or more\n" * 20)
    with pytest.raises(ValueError, match="is not a ledger: not a SQLite file"):
        Ledger.open(path)


def test_another_programs_database_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE line (seq, payload, previous, hash)")
    connection.close()
    with pytest.raises(ValueError, match="is not a ledger: a file of another program"):
        Ledger.open(path)


@pytest.mark.parametrize(
    ("statement", "message"),
    [("PRAGMA user_version = 2", "version 2; this dpress reads version 1"), ("DROP TABLE line", "is damaged")],
)
def test_a_foreign_schema_is_refused(book: Ledger, statement: str, message: str) -> None:
    connection = sqlite3.connect(book.path)
    connection.execute(statement)
    connection.close()
    with pytest.raises(ValueError, match=message):
        Ledger.open(book.path)


def test_a_file_cut_in_the_middle_is_refused(book: Ledger) -> None:
    for _ in range(5):
        pay(book, "x" * 3000)
    content = book.path.read_bytes()
    book.path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"is damaged \(.*\); restore it from a copy"):
        pay(book)


def test_a_lock_held_by_another_is_waited_for_and_named(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_ledger, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(TimeoutError, match=r"was locked by another process for 0\.05 s; try again later"):
        pay(book)
    other.execute("ROLLBACK")
    other.close()
    pay(book)
    assert verify(book.path).rows == 2


def test_a_reader_that_does_not_let_go_stops_a_charge_whole(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_ledger, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(book.path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM line").fetchone()
    with pytest.raises(TimeoutError):
        pay(book)
    other.close()
    assert verify(book.path).rows == 1


def connect_with(monkeypatch: pytest.MonkeyPatch, *, mode: str = "mode=rw", pragma: str = "PRAGMA cache_size") -> None:
    """Let the store open its connections in another mode, or with one more pragma."""
    connect = sqlite3.connect

    def opened(address: str, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(address.replace("mode=rw", mode), **options)
        connection.execute(pragma)
        return connection

    monkeypatch.setattr("sqlite3.connect", opened)


def test_a_read_only_file_can_be_looked_at_but_not_charged(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    pay(book)
    connect_with(monkeypatch, mode="mode=ro")
    with pytest.raises(PermissionError, match="cannot be written; make the file and its folder writable"):
        pay(book)
    assert book.summary().rows == 2


def test_a_full_disk_charges_nothing(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    pay(book)
    with monkeypatch.context() as full:
        connect_with(full, pragma="PRAGMA max_page_count = 1")
        with pytest.raises(OSError, match=r"no space left for ledger .*; nothing was added to it"):
            pay(book, "x" * 100_000)
    assert verify(book.path).rows == 2
    pay(book)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


AS_NOBODY = """
import sys
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
import os
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    if sys.argv[1] == "create":
        Ledger.create(sys.argv[2], limit=PureDP(epsilon=1), unit=Unit())
    else:
        print(Ledger.open(sys.argv[2]).summary().rows)
        Ledger.open(sys.argv[2]).reserve(PureDP(epsilon=0.1), Unit(), label="x", design="")
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_another_user_may_look_but_not_charge_or_create(public_folder: Path) -> None:
    path = public_folder / "budget.db"
    Ledger.create(path, limit=ONE, unit=ROW)
    said = [
        subprocess.run(
            [sys.executable, "-c", AS_NOBODY, task, str(target)], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for task, target in (("reserve", path), ("create", public_folder / "new.db"))
    ]
    assert said[0][0] == "1"
    assert said[0][1].startswith("PermissionError ledger ")
    assert said[1][0].startswith("PermissionError ledger ")
    assert verify(path).rows == 1


@pytest.mark.slow
def test_a_real_write_failure_of_the_kernel_charges_nothing(book: Ledger) -> None:
    """A limit on file size makes the write itself fail, as a full disk does."""
    code = """
import resource, sys
from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
size = 64 * 1024
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    Ledger.open(sys.argv[1]).reserve(PureDP(epsilon=0.1), Unit(), label="x" * 200_000, design="")
except OSError as error:
    print("refused:", error)
"""
    pay(book)
    done = subprocess.run([sys.executable, "-c", code, str(book.path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("refused: ")
    assert done.stdout.count("\n") == 1
    assert verify(book.path).rows == 2
