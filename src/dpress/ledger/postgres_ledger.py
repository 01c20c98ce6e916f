"""A ledger in PostgreSQL, for curators on several machines: one append-only table of chained lines.

URL -> connection (opened and closed within each call) -> lines in, lines out. No prices here.

A transaction adds one line: it takes the ledger's lock, reads all lines, decides, inserts. The lock makes writers
queue; what keeps two from spending the same budget, even without it, is the line's number: a primary key, so that
whoever decided had seen all lines before. A commit whose answer was lost is looked for under the lock, once its
transaction has ended.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from dpress.core.basics.database_url import connectable
from dpress.ledger.event import NO_HASH, Decision, Event, Row, following, link
from dpress.ledger.postgres_refusals import passes, refusal

T = TypeVar("T")
Connection = psycopg.Connection[Any]

QUEUE_SECONDS = 120.0
"""How long to wait for other processes, and for a server that went away."""

IDLE_SECONDS = 30
"""After which the server gives up a process that holds the lock and does nothing."""

PAUSE = 0.1  # seconds between two tries
LOCK = 0x44505253
VERSION = 1
MARK = "dpress ledger, version "
_SCHEMA = """
CREATE TABLE dpress_ledger (seq bigint PRIMARY KEY, payload text NOT NULL, previous text NOT NULL, hash text NOT NULL);
CREATE FUNCTION dpress_ledger_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE next bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        EXECUTE format('SELECT coalesce(max(seq), 0) + 1 FROM %s', TG_RELID::regclass) INTO next;
        IF NEW.seq = next THEN RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION 'a ledger is append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER no_gap BEFORE INSERT ON dpress_ledger FOR EACH ROW EXECUTE FUNCTION dpress_ledger_append_only();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON dpress_ledger
    FOR EACH STATEMENT EXECUTE FUNCTION dpress_ledger_append_only();
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresLedger:
    """The table `dpress_ledger` of a database: that of the first schema of the search path that has one."""

    url: str

    def exists(self) -> bool:
        """Say whether there is a table of that name."""
        return self._run(lambda connection: _mark(connection) is not None)

    def create(self, opening: Event) -> None:
        """Make the table, with only `opening` in it, in one transaction.

        Raises:
            FileExistsError: there is a table of that name.
            OSError: the database cannot be written, or does not hold every letter.
        """

        def make(connection: Connection) -> None:
            _begin(connection, self.url)
            connection.execute("SELECT pg_advisory_xact_lock(%s, 0)", (LOCK,))
            if _mark(connection) is not None:
                raise FileExistsError(f"{self.url} has a ledger already; a ledger is never overwritten, name another")
            if _value(connection, "SHOW server_encoding") != "UTF8":
                raise OSError(f"{self.url}: a ledger needs a database with the encoding UTF8")
            connection.execute(_SCHEMA)
            connection.execute(f"COMMENT ON TABLE dpress_ledger IS '{MARK}{VERSION}'".encode())
            _insert(connection, link(opening, seq=1, previous=NO_HASH))
            _commit(connection)

        self._run(make)

    def rows(self) -> list[Row]:
        """Return all lines, in order."""

        def look(connection: Connection) -> list[Row]:
            _check(connection, self.url)
            return _rows(connection)

        return self._run(look)

    def append(self, decide: Decision) -> None:
        """Add the fact that `decide` returns for all lines; it is on the server's disk on return."""
        sent: list[Row] = []  # the line whose commit was asked for, and not answered

        def add(connection: Connection) -> None:
            _begin(connection, self.url)
            _check(connection, self.url)
            _lock(connection)
            rows = _rows(connection)
            if sent and sent.pop() in rows:
                return
            row = following(rows, decide(rows))
            _insert(connection, row)
            sent.append(row)
            _commit(connection)

        self._run(add, sent=sent, answered=True)

    def _run(self, task: Callable[[Connection], T], *, sent: Sequence[Row] = (), answered: bool = False) -> T:
        """Return what a task does on a connection of its own, tried again while what is in its way may pass.

        Args:
            task: done anew with every connection.
            sent: holds a line from the moment that its commit is asked for.
            answered: the server did before, as it does before anything is added: it is waited for where it is away.
        """
        deadline = time.monotonic() + QUEUE_SECONDS
        while True:
            try:
                with contextlib.closing(_connected(self.url)) as connection:
                    answered = True
                    return task(connection)
            except psycopg.Error as error:
                if time.monotonic() > deadline or not passes(error, answered=answered):
                    raise refusal(error, self.url, seconds=QUEUE_SECONDS, sent=bool(sent)) from None
            time.sleep(PAUSE)


def _connected(url: str) -> Connection:
    return psycopg.connect(connectable(url, "the ledger"), autocommit=True, client_encoding="utf8")


def _begin(connection: Connection, url: str) -> None:
    """Begin a transaction that waits for a bounded time, holds others up for one, and commits to disk."""
    waits = f"SET LOCAL lock_timeout = {round(1000 * QUEUE_SECONDS)}"
    gives_up = f"SET LOCAL idle_in_transaction_session_timeout = {1000 * IDLE_SECONDS}"
    connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {waits}; {gives_up}".encode())
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', true) "
        "WHERE current_setting('synchronous_commit') <> 'remote_apply'"  # which is stronger
    )
    if _value(connection, "SHOW fsync") != "on":
        raise OSError(f"{url}: the server forgets charges when its power fails (fsync = off); turn that on")


def _lock(connection: Connection) -> None:
    """Wait until no other process writes this ledger; the lock ends with the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock(%s, 'dpress_ledger'::regclass::oid::integer)", (LOCK,))


def _commit(connection: Connection) -> None:
    connection.execute("COMMIT")


def _mark(connection: Connection) -> str | None:
    """Return what the table says that it is; None where there is no table."""
    table = "to_regclass('dpress_ledger')"
    mark: str | None = _value(
        connection, f"SELECT CASE WHEN {table} IS NOT NULL THEN coalesce(obj_description({table}, 'pg_class'), '') END"
    )
    return mark


def _check(connection: Connection, url: str) -> None:
    """Refuse a database without a ledger, with another table in its place, or with a ledger of another version."""
    mark = _mark(connection)
    if mark is None:
        raise FileNotFoundError(f"no ledger at {url}; create it first")
    if not mark.startswith(MARK):
        raise ValueError(f"{url} is not a ledger: its table dpress_ledger is of another program")
    if mark != f"{MARK}{VERSION}":
        raise ValueError(f"{url} is a ledger of another version; this dpress reads version {VERSION}")


def _rows(connection: Connection) -> list[Row]:
    cursor = connection.execute("SELECT seq, payload, previous, hash FROM dpress_ledger ORDER BY seq")
    return [Row(seq=seq, payload=payload, previous=previous, hash=digest) for seq, payload, previous, digest in cursor]


def _insert(connection: Connection, row: Row) -> None:
    values = (row.seq, row.payload, row.previous, row.hash)
    connection.execute("INSERT INTO dpress_ledger VALUES (%s, %s, %s, %s)", values)


def _value(connection: Connection, statement: str) -> Any:
    """Return the one value of a statement."""
    row = connection.execute(statement.encode()).fetchone()
    return None if row is None else row[0]
