"""Connections to PostgreSQL that all see the database at one moment, and change nothing in it.

One connection is kept, which statements share; rows are streamed on connections of their own. A statement stands
between a savepoint and the return to it, which gives up its locks: nobody who alters the table waits for a release.
"""

import re
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from dpress.core.basics.database_url import KEPT_OUT, NO_DATABASE, NO_ENTRY, connectable
from dpress.core.basics.extras import load
from dpress.data.sources.source import without_quotes

SAVE, RETURN = "SAVEPOINT dpress", "ROLLBACK TO SAVEPOINT dpress"
READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
POSITION = b"PG_DIAG_STATEMENT_POSITION"  # of the driver's details
PERMISSION = "42501"  # of SQLSTATE
LOST = "{}: no connection to the server, or it was lost; nothing was released"
_CONNECTING: tuple[tuple[str, type[OSError], str], ...] = (
    (NO_DATABASE, FileNotFoundError, "{}: the server has no such database"),
    (NO_ENTRY, PermissionError, f"{{}}: {KEPT_OUT}"),
    ("", OSError, LOST),
)
FAILED = "{} cannot be read: {why} (the server's message is withheld: it may quote rows)"
CAUSES = {
    "08": "the connection broke",
    "22": "a value has no place in its column's type, or none that can be read",
    "25": "the server reads nothing now",
    "42": "the server knows a table or an expression of ours not; PostgreSQL 13 and later do",
    "53": "the server has not enough memory, disk or connections",
    "54": "the statement is too large for the server",
    "57": "the server stopped the statement, or is shutting down",
    "58": "the server has a fault of its own",
}  # by class of SQLSTATE
T = TypeVar("T")


class Snapshot:
    """One moment of a database: that of the first connection, which is kept until this is let go of.

    Args:
        url: `postgresql://...`, without a password.
        name: of the rows, for messages.
    """

    def __init__(self, url: str, name: str) -> None:
        self._url, self._name = connectable(url, "the rows"), name
        self._lock = threading.Lock()
        self._kept: Any = None
        self._moment = ""

    def fetch(self, statement: str) -> pa.Table:
        """Return what a statement selects.

        Raises:
            OSError: no permission, a lost connection, or whatever else.
        """
        with self._lock, without_quotes(self._name, self._first().cursor, LOST) as cursor:
            try:
                return server_answer(self._name, cursor, partial(_fetched, cursor, statement))
            except OSError:
                _close(self._kept)  # the moment ends with its transaction
                raise

    @contextmanager
    def streaming(self) -> Iterator[Any]:
        """Give a cursor of a new connection.

        Raises:
            OSError: there is no connection.
        """
        with self._lock:
            self._first()
        connection = self._connection(f"{READING}; SET TRANSACTION SNAPSHOT '{self._moment}'")
        try:
            with connection.cursor() as cursor:
                yield cursor
        finally:
            _close(connection)

    def _first(self) -> Any:
        if self._kept is None:
            self._kept = self._connection(READING)
            weakref.finalize(self, _close, self._kept)
            with self._kept.cursor() as cursor:
                self._moment = server_answer(self._name, cursor, partial(_exported, cursor))
        return self._kept

    def _connection(self, begin: str) -> Any:
        dbapi = load("adbc_driver_postgresql.dbapi", extra="postgres", need="rows in PostgreSQL need")

        kind, line = _CONNECTING[-1][1:]

        def call() -> Any:
            nonlocal kind, line
            try:
                connection = dbapi.connect(self._url)
            except Exception as error:
                kind, line = _at_the_door(error)
                raise
            with connection.cursor() as cursor:
                cursor.executescript(begin)
            return connection

        with suppress(OSError):
            return without_quotes(self._name, call)
        raise kind(line.format(self._name))


def _at_the_door(error: Exception) -> tuple[type[OSError], str]:
    """Return how to say what kept this process from connecting: the server's words about a door quote no rows."""
    words = str(error)
    return next((kind, line) for pattern, kind, line in _CONNECTING if re.search(pattern, words))


def _exported(cursor: Any) -> str:
    """Return the name of the cursor's moment, which only a transaction without a savepoint gives."""
    cursor.execute("SELECT pg_export_snapshot()")
    moment = str(cursor.fetchone()[0])
    cursor.execute(SAVE)
    return moment


def _fetched(cursor: Any, statement: str) -> pa.Table:
    cursor.execute(statement)
    table = cursor.fetch_arrow_table()
    cursor.execute(RETURN)
    return table


def server_answer(name: str, cursor: Any, call: Callable[[], T]) -> T:
    """Return what the server answers, or say in a line of ours why it does not.

    Args:
        name: of the rows.
        cursor: that is asked.
        call: to it.

    Raises:
        OSError: no permission, a lost connection, or whatever else.
    """
    state = place = ""

    def noted() -> T:
        nonlocal state, place
        try:
            return call()
        except Exception as error:
            state = getattr(error, "sqlstate", None) or ""
            place = _place(error)
            raise

    with suppress(OSError):
        return without_quotes(name, noted)
    if state == PERMISSION:
        raise PermissionError(f"{name}: no permission to read it")
    raise OSError((FAILED if state or _answers(cursor) else LOST).format(name, why=_why(state) + place))


def _why(state: str) -> str:
    """Return the cause that a code of SQLSTATE names, with the code: it quotes nothing."""
    cause = CAUSES.get(state[:2], "the server refused it")
    return f"{cause}, code {state}" if state else cause


def _place(error: Exception) -> str:
    """Return where in a statement of ours the server met the fault, as it counts characters; it quotes nothing."""
    digits = dict(getattr(error, "details", None) or ()).get(POSITION, b"").decode()
    return f" at character {digits} of the statement" if digits.isdecimal() else ""


def _answers(cursor: Any) -> bool:
    """Return whether there still is a connection."""
    with suppress(Exception):
        cursor.connection.rollback()
        return True
    return False


def _close(connection: Any) -> None:
    with suppress(Exception):  # a lost one cannot be closed
        connection.close()
