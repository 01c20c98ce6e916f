"""Reports in PostgreSQL: any number of processes write it at the same time."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import psycopg

from dpress.core.basics.database_url import connectable
from dpress.data.stored.report_store import (
    MOST_ROUNDS,
    ROUNDS,
    Keys,
    Round,
    Upload,
    begun,
    bounds,
    drawn_keys,
    migrations,
    round_of,
)

LOCK = 0x44505252  # of the migrations: one process runs them
MOST_NAMED = 1 << 16  # keys in one statement
TODAY = "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
CLOSE = f"UPDATE round SET closed = true, ended = coalesce(ended, {TODAY}) WHERE place = ANY(%s)"  # noqa: S608  # ours


class PostgresStore:
    """Tables in the database that a URL names; a commit is on the server's disk when it returns.

    Args:
        url: `postgresql://...`; what it leaves out comes from libpq's own places.
        create: the tables where there are none.
    """

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._url = connectable(url, "the store")
        self._lock = threading.Lock()
        self._writer: psycopg.Connection[Any] | None = None
        with _readable_errors(), self._connected() as connection:
            run = connection.execute
            run("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            if not create and _value(connection, "SELECT to_regclass('dpress_layout')") is None:
                raise OSError("the database has no store of reports")
            run("CREATE TABLE IF NOT EXISTS dpress_layout (number integer NOT NULL)")
            done = _value(connection, "SELECT coalesce(max(number), 0) FROM dpress_layout")
            for number, script in migrations("postgres", done):
                run(script.encode())
                run("INSERT INTO dpress_layout VALUES (%s)", (number,))

    def rounds(self) -> list[Round]:
        """Return all rounds, in the order in which they began."""
        return [round_of(row) for row in self._read(ROUNDS)]

    def begin(self, ask: str, number: int, design: str, *, after: int | None = None) -> Round:
        """Return a round, which is new unless it is there already, or another one follows that before it.

        Raises:
            ValueError: it is there with another design.
        """
        with self._transaction() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            place = _value(connection, "SELECT coalesce(max(place) + 1, 0) FROM round")
            if place >= MOST_ROUNDS:
                raise OSError(f"the store is full: it has {place} rounds; use another database")
            statement = (
                "INSERT INTO round (place, ask, number, design, after) "
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
            )
            connection.execute(statement, (place, ask, number, design, after))
        wanted = Round(place=place, ask=ask, number=number, design=design, closed=False, after=after)
        return begun(self.rounds(), wanted)

    def add(self, uploads: Sequence[Upload], refused: Mapping[tuple[int, str], int]) -> set[int]:
        """Keep uploads, all or none of them, and return the places of rounds that are closed: theirs are not kept."""
        while True:
            try:
                with self._transaction() as connection:
                    return _add(connection, uploads, refused)
            except psycopg.errors.UniqueViolation:  # a key is taken already: draw others
                continue

    def close(self, place: int) -> None:
        """Accept nothing more in a round; waits for uploads that are being kept at this moment."""
        with self._transaction() as connection:
            connection.execute(CLOSE, ([place],))

    def expire(self, places: Sequence[int]) -> None:
        """Close rounds and delete their reports; the rounds stay, with how many reports they had."""
        with self._erased() as connection:
            connection.execute(CLOSE, (list(places),))  # waits for uploads that are being kept
            for place in places:
                connection.execute(
                    "UPDATE round SET expired = coalesce(expired, 0) + "
                    "(SELECT coalesce(sum(reports), 0) FROM upload WHERE key BETWEEN %s AND %s) WHERE place = %s",
                    (*bounds(place), place),
                )
                connection.execute("DELETE FROM upload WHERE key BETWEEN %s AND %s", bounds(place))

    def delete(self, places: Sequence[int]) -> None:
        """Delete rounds and all that belongs to them; those that follow one of them must be among them."""
        with self._erased() as connection:
            connection.execute(CLOSE, (list(places),))
            for place in places:
                connection.execute("DELETE FROM upload WHERE key BETWEEN %s AND %s", bounds(place))
            connection.execute("DELETE FROM refused WHERE place = ANY(%s)", (list(places),))
            connection.execute("DELETE FROM round WHERE place = ANY(%s)", (list(places),))

    @contextmanager
    def _erased(self) -> Iterator[psycopg.Connection[Any]]:
        """Give the connection in a transaction, then clear the pages of rows that nobody sees any more."""
        with self._transaction() as connection:
            yield connection
        with _readable_errors(), self._connected() as connection:
            connection.autocommit = True
            connection.execute("VACUUM upload, round, refused")

    def keys(self, place: int) -> Keys:
        """Return the keys of a round's uploads, sorted."""
        rows = self._streamed(
            "SELECT key FROM upload WHERE key BETWEEN %s AND %s ORDER BY key", "int8", [bounds(place)]
        )
        return np.fromiter((key for (key,) in rows), dtype=np.int64)

    def reports(self, place: int) -> int:
        """Return how many reports a round has, those counted that arrived twice."""
        statement = "SELECT coalesce(sum(reports), 0) FROM upload WHERE key BETWEEN %s AND %s"
        return sum(int(count) for (count,) in self._read(statement, bounds(place)))

    def refused(self, place: int) -> dict[str, int]:
        """Return how many reports of a round were refused, by reason."""
        return dict(self._read("SELECT reason, reports FROM refused WHERE place = %s ORDER BY reason", (place,)))

    def bodies(self, place: int, keys: Iterable[int] | None = None) -> Iterator[bytes]:
        """Yield the uploads of a round in the order of their keys, which is random; or only those with these keys."""
        if keys is None:
            statement = "SELECT body FROM upload WHERE key BETWEEN %s AND %s ORDER BY key"
            rows = self._streamed(statement, "bytea", [bounds(place)])
        else:
            wanted = list(keys)
            named = [(wanted[start : start + MOST_NAMED],) for start in range(0, len(wanted), MOST_NAMED)]
            rows = self._streamed("SELECT body FROM upload WHERE key = ANY(%s) ORDER BY key", "bytea", named)
        yield from (body for (body,) in rows)

    def _read(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return a few rows, read on a connection of its own."""
        with _readable_errors(), self._connected() as connection:
            return connection.execute(statement.encode(), values).fetchall()

    def _streamed(self, statement: str, of: str, values: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of one column, for one set of values after the other, and hold one of them at a time."""
        with _readable_errors(), self._connected() as connection, connection.cursor() as cursor:
            for bound in values:
                with cursor.copy(f"COPY ({statement}) TO STDOUT (FORMAT BINARY)".encode(), bound) as copy:
                    copy.set_types([of])
                    yield from copy.rows()

    def _connected(self) -> psycopg.Connection[Any]:
        """Return a new connection whose commits are on disk when they return, whatever the server's own setting is."""
        connection = psycopg.connect(self._url)
        connection.execute("SET synchronous_commit = on")
        connection.commit()
        return connection

    def disconnect(self) -> None:
        """Give the connection back; the next upload opens another."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[Any]]:
        """Give the one connection that writes; a lost one is opened again the next time."""
        with self._lock, _readable_errors():
            if self._writer is None or self._writer.closed:
                self._writer = self._connected()
            try:
                with self._writer.transaction():
                    yield self._writer
            except psycopg.errors.UniqueViolation:
                raise
            except BaseException:
                self._writer.close()
                raise


def _add(
    connection: psycopg.Connection[Any], uploads: Sequence[Upload], refused: Mapping[tuple[int, str], int]
) -> set[int]:
    """Keep uploads of rounds that are open, which stay open until this is on disk."""
    places = sorted({upload.place for upload in uploads} | {place for place, _ in refused})
    statement = "SELECT place FROM round WHERE place = ANY(%s) AND NOT closed ORDER BY place FOR SHARE"
    opened = {place for (place,) in connection.execute(statement, (places,))}
    kept = [upload for upload in uploads if upload.place in opened]
    if kept:
        with connection.cursor() as cursor, cursor.copy("COPY upload FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", "int4", "bytea"])
            for key, upload in zip(drawn_keys([upload.place for upload in kept]), kept, strict=True):
                copy.write_row((key, upload.reports, upload.body))
    statement = (
        "INSERT INTO refused VALUES (%s, %s, %s) "
        "ON CONFLICT (place, reason) DO UPDATE SET reports = refused.reports + excluded.reports"
    )
    counts = [(place, reason, count) for (place, reason), count in sorted(refused.items()) if place in opened]
    if counts:
        with connection.cursor() as cursor:
            cursor.executemany(statement, counts)
    return set(places) - opened


def _value(connection: psycopg.Connection[Any], statement: str) -> Any:
    """Return the one value of a statement."""
    row = connection.execute(statement.encode()).fetchone()
    return None if row is None else row[0]


NO_CONNECTION = "no connection to the server; check that it runs, its host, its port and the network"


@contextmanager
def _readable_errors() -> Iterator[None]:
    """Turn what PostgreSQL says into one line that holds no address and no password."""
    try:
        yield
    except psycopg.errors.UniqueViolation:
        raise
    except psycopg.Error as error:
        lost = isinstance(error, psycopg.OperationalError)  # what libpq says of it holds the address
        why = error.diag.message_primary or (NO_CONNECTION if lost else type(error).__name__)
        raise OSError(f"the store in PostgreSQL cannot be used: {why}") from None
