"""A connection to MariaDB or MySQL that sees the database at one moment, and changes nothing in it.

Passes follow each other on it: a moment cannot be handed to another connection. Its session's zone is UTC.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from dpress.core.basics.extras import load
from dpress.data.sources.source import without_quotes

SCHEMES = ("mysql", "mariadb")
FORM = "mysql://USER@HOST:PORT/DATABASE#TABLE"
OPTIONS = ("ssl_ca", "unix_socket")
BEGIN = (
    "SET SESSION time_zone = '+00:00', sql_mode = ''",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
CONNECT_SECONDS = 10
REFUSED = (1044, 1045, 1142, 1143, 1227, 1356, 1698)
LOST = (2002, 2003, 2005, 2006, 2013, 2055)
NO_SERVER = "{}: no connection to the server, or it was lost; nothing was released"
FAILED = "{} cannot be read: the server refused it{} (its message is withheld: it may quote rows)"
T = TypeVar("T")
Answer = Callable[[Callable[[Any], Any]], Any]


def is_mysql(text: str) -> bool:
    """Say whether a text is meant as a URL of MariaDB or MySQL.

    >>> is_mysql("mariadb://host/database"), is_mysql("rows.csv")
    (True, False)
    """
    return text.partition("://")[0] in SCHEMES


class Snapshot:
    """One moment of a database: that of the connection, which is kept until this is let go of.

    Args:
        url: `mysql://...`, without a password: that is in MYSQL_PWD or in ~/.my.cnf.
        name: of the rows, for messages.
    """

    def __init__(self, url: str, name: str) -> None:
        self._stated, self._name = connection_of(url), name
        self._lock = threading.Lock()
        self._kept: Any = None

    def fetch(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what a statement about the catalogue selects.

        Raises:
            OSError: no permission, a lost connection, or whatever else.
        """
        with self._lock:
            return self._answer(lambda: self._fetched(statement, values))

    @contextmanager
    def streaming(self, query: str) -> Iterator[Answer]:
        """Give what asks a cursor that has begun to read a query; nothing else is asked meanwhile.

        Raises:
            OSError: see `fetch`.
        """
        with self._lock:
            cursor = self._answer(lambda: self._first().cursor())
            try:
                self._answer(lambda: cursor.execute(query))
                yield lambda call: self._answer(lambda: call(cursor))
            finally:
                self._answer(cursor.close)  # reads what was not read, as the connection is asked again

    def _fetched(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._first().cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def _first(self) -> Any:
        if self._kept is None:
            driver = load("pymysql", extra="mysql", need="rows in MariaDB or MySQL need")
            written = {kind: write for kind, write in driver.converters.conversions.items() if isinstance(kind, type)}
            self._kept = driver.connect(**self._stated, cursorclass=driver.cursors.SSCursor, conv=written)
            weakref.finalize(self, _close, self._kept)
            with self._kept.cursor() as cursor:
                for statement in BEGIN:
                    cursor.execute(statement)
        return self._kept

    def _answer(self, call: Callable[[], T]) -> T:
        """Return what the server answers, or say in a line of ours why it does not."""
        code = 0

        def noted() -> T:
            nonlocal code
            try:
                return call()
            except Exception as error:
                code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
                raise

        with suppress(OSError):
            return without_quotes(self._name, noted)
        if code in REFUSED:
            raise PermissionError(f"{self._name}: no permission to read it, code {code}")
        if code in LOST:
            raise OSError(NO_SERVER.format(self._name))
        raise OSError(FAILED.format(self._name, f", code {code}" if code else ""))


def connection_of(url: str) -> dict[str, Any]:
    """Return what the driver takes of a URL.

    Raises:
        ValueError: it is none; it is not shown.
    """
    try:
        parts = urlsplit(url)
        port, options = parts.port, dict(parse_qsl(parts.query, strict_parsing=True) if parts.query else ())
    except ValueError:
        raise ValueError(f"the URL of the rows is none of MariaDB or MySQL: {FORM}") from None
    if not parts.path.strip("/") or not set(options) <= set(OPTIONS):
        raise ValueError(f"the URL of the rows is none of MariaDB or MySQL: {FORM}, and ?{' or '.join(OPTIONS)}=FILE")
    stated = {"host": parts.hostname, "port": port, "user": parts.username and unquote(parts.username), **options}
    file, password = Path.home() / ".my.cnf", os.environ.get("MYSQL_PWD")
    account = {name: entry for name, entry in stated.items() if entry} | ({"password": password} if password else {})
    kept = {"read_default_file": str(file)} if file.exists() else {}
    rest = {"charset": "utf8mb4", "connect_timeout": CONNECT_SECONDS, "local_infile": False}
    return {**account, **kept, **rest, "database": unquote(parts.path.strip("/"))}


def _close(connection: Any) -> None:
    with suppress(Exception):  # a lost one cannot be closed
        connection.close()
