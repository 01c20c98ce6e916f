"""A ledger in a SQLite file: one append-only table of chained lines, every failure as one clear line.

path -> connection (opened and closed within each call) -> lines in, lines out. No prices here.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dpress.ledger.event import NO_HASH, Decision, Event, Row, following, link

BUSY_SECONDS = 5.0
"""How long to wait for another process that is writing."""

APPLICATION_ID = 0x44505253
VERSION = 1
_SCHEMA = (
    """CREATE TABLE line
    (seq INTEGER PRIMARY KEY, payload TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL) STRICT""",
    "CREATE TRIGGER no_update BEFORE UPDATE ON line BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END",
    "CREATE TRIGGER no_delete BEFORE DELETE ON line BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END",
    """CREATE TRIGGER no_gap BEFORE INSERT ON line WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM line)
    BEGIN SELECT RAISE(ABORT, 'a ledger is append-only'); END""",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteLedger:
    """A file that each call opens and closes."""

    path: Path

    def exists(self) -> bool:
        """Say whether there is a file with content: an empty one is all that a crash in `create` leaves behind."""
        return self.path.exists() and self.path.stat().st_size > 0

    def create(self, opening: Event) -> None:
        """Write a new file that holds only `opening`, in one transaction.

        Raises:
            FileExistsError: there is a file with content.
            OSError: the folder is missing or cannot be written.
        """
        path = self.path
        if not path.parent.is_dir():
            raise FileNotFoundError(f"cannot create the ledger {path}: the folder {path.parent} does not exist")
        if path.is_dir() or self.exists():
            raise FileExistsError(f"{path} exists already; a ledger is never overwritten, choose another name")
        with _connection(path, mode="rwc") as connection, _transaction(connection, "IMMEDIATE"):
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                raise FileExistsError(f"{path} was just created by another process; use it, or choose another name")
            for statement in _SCHEMA:
                connection.execute(statement)
            _insert(connection, link(opening, seq=1, previous=NO_HASH))

    def rows(self) -> list[Row]:
        """Return all lines, in order."""
        with _opened(self.path) as connection, _transaction(connection, "DEFERRED"):
            return _rows(connection)

    def append(self, decide: Decision) -> None:
        """Add the fact that `decide` returns for all lines, with the only right to write; it is on disk on return."""
        with _opened(self.path) as connection, _transaction(connection, "IMMEDIATE"):
            rows = _rows(connection)
            _insert(connection, following(rows, decide(rows)))


def _rows(connection: sqlite3.Connection) -> list[Row]:
    cursor = connection.execute("SELECT seq, payload, previous, hash FROM line ORDER BY seq")
    return [Row(seq=seq, payload=payload, previous=previous, hash=digest) for seq, payload, previous, digest in cursor]


def _insert(connection: sqlite3.Connection, row: Row) -> None:
    connection.execute("INSERT INTO line VALUES (?, ?, ?, ?)", (row.seq, row.payload, row.previous, row.hash))


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.exists():
        raise FileNotFoundError(f"no ledger at {path}; create it first")
    if not path.is_file():
        raise OSError(f"{path} is a folder or a device; name the ledger's file")
    with _connection(path, mode="rw") as connection:
        if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
            raise ValueError(
                f"{path} is not a ledger: a file of another program, or one whose creation was interrupted"
            )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise ValueError(f"{path} is a ledger of version {version}; this dpress reads version {VERSION}")
        yield connection


@contextmanager
def _connection(path: Path, *, mode: str) -> Iterator[sqlite3.Connection]:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        with closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)) as connection:
            connection.execute("PRAGMA synchronous = EXTRA")
            yield connection
    except sqlite3.Error as error:
        raise _explained(path, error) from None


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _explained(path: Path, error: sqlite3.Error) -> Exception:
    """Return the same failure as one line that says what would be right."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    kind, text = _FAILURES.get(code, (ValueError, "ledger {path} is damaged ({error}); restore it from a copy"))
    return kind(text.format(path=path, error=error, seconds=f"{BUSY_SECONDS:g}"))


_WRITABLE = (PermissionError, "ledger {path} cannot be written; make the file and its folder writable")
_LOCKED = (TimeoutError, "ledger {path} was locked by another process for {seconds} s; try again later")
_FAILURES: dict[int, tuple[type[Exception], str]] = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _WRITABLE,
    sqlite3.SQLITE_PERM: _WRITABLE,
    sqlite3.SQLITE_CANTOPEN: (
        PermissionError,
        "ledger {path} cannot be opened; make the file and its folder readable and writable",
    ),
    sqlite3.SQLITE_FULL: (
        OSError,
        "no space left for ledger {path}; nothing was added to it, free some space and ask again",
    ),
    sqlite3.SQLITE_IOERR: (
        OSError,
        "the disk failed under ledger {path} ({error}); look at its summary before asking again",
    ),
    sqlite3.SQLITE_NOTADB: (ValueError, "{path} is not a ledger: not a SQLite file"),
}
