"""Reports in a SQLite file: one process writes it, whoever estimates reads it at the same time."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

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

APPLICATION_ID = 0x44505252
PAGE = 16384  # bytes; uploads are tens of kilobytes
WAL_PAGES = 1024  # of the log before it is written into the file, for which one commit waits
MOST_NAMED = 500  # keys in one statement
CLOSE = "UPDATE round SET closed = 1, ended = coalesce(ended, date('now')) WHERE place = ?"


class SqliteStore:
    """A file in write-ahead mode; a commit is on disk when it returns.

    Args:
        path: of the file.
        create: a new one where there is none.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise OSError(f"there is no store {path}")
        if not path.parent.is_dir():
            raise OSError(f"cannot create the store {path}: the folder {path.parent} does not exist")
        self.path = path
        self._lock = threading.Lock()
        with _readable_errors(path):
            self._writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._writer.close()
                raise

    def _prepare(self) -> None:
        """Bring the file to the newest layout."""
        run = self._writer.execute
        (application,), (tables,) = (
            run("PRAGMA application_id").fetchone(),
            run("SELECT count(*) FROM sqlite_master").fetchone(),
        )
        if application != APPLICATION_ID and tables:
            raise OSError(f"{self.path} is a SQLite file of something else, no store of reports")
        run(f"PRAGMA page_size = {PAGE}")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        self._file = _identity(self.path)
        with self._transaction():
            (done,) = run("PRAGMA user_version").fetchone()
            for number, script in migrations("sqlite", done):
                for statement in script.split(";\n"):
                    run(statement)
                run(f"PRAGMA user_version = {number}")
                run(f"PRAGMA application_id = {APPLICATION_ID}")

    def rounds(self) -> list[Round]:
        """Return all rounds, in the order in which they began."""
        return [round_of(row) for row in self._read(ROUNDS)]

    def begin(self, ask: str, number: int, design: str, *, after: int | None = None) -> Round:
        """Return a round, which is new unless it is there already, or another one follows that before it.

        Raises:
            ValueError: it is there with another design.
        """
        with self._lock, _readable_errors(self.path), self._transaction():
            (place,) = self._writer.execute("SELECT coalesce(max(place) + 1, 0) FROM round").fetchone()
            if place >= MOST_ROUNDS:
                raise OSError(f"{self.path} is full: it has {place} rounds; use another file")
            statement = (
                "INSERT INTO round (place, ask, number, design, after) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
            )
            self._writer.execute(statement, (place, ask, number, design, after))
        wanted = Round(place=place, ask=ask, number=number, design=design, closed=False, after=after)
        return begun(self.rounds(), wanted)

    def add(self, uploads: Sequence[Upload], refused: Mapping[tuple[int, str], int]) -> set[int]:
        """Keep uploads, all or none of them, and return the places of rounds that are closed: theirs are not kept."""
        with self._lock, _readable_errors(self.path):
            while True:
                try:
                    with self._transaction():
                        return self._add(uploads, refused)
                except sqlite3.IntegrityError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
                        raise  # else a key is taken already: draw others

    def _add(self, uploads: Sequence[Upload], refused: Mapping[tuple[int, str], int]) -> set[int]:
        places = {upload.place for upload in uploads} | {place for place, _ in refused}
        opened = {place for (place,) in self._writer.execute("SELECT place FROM round WHERE NOT closed")} & places
        kept = [upload for upload in uploads if upload.place in opened]
        keys = drawn_keys([upload.place for upload in kept])
        rows = [(key, upload.reports, upload.body) for key, upload in zip(keys, kept, strict=True)]
        self._writer.executemany("INSERT INTO upload VALUES (?, ?, ?)", rows)
        counts = [(place, reason, count) for (place, reason), count in refused.items() if place in opened]
        statement = (
            "INSERT INTO refused VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET reports = reports + excluded.reports"
        )
        self._writer.executemany(statement, counts)
        return places - opened

    def close(self, place: int) -> None:
        """Accept nothing more in a round; what was accepted before is all there is."""
        with self._lock, _readable_errors(self.path), self._transaction():
            self._writer.execute(CLOSE, (place,))

    def expire(self, places: Sequence[int]) -> None:
        """Close rounds and delete their reports; the rounds stay, with how many reports they had."""
        with self._erased() as run:
            for place in places:
                run(CLOSE, (place,))
                run(
                    "UPDATE round SET expired = coalesce(expired, 0) + "
                    "(SELECT coalesce(sum(reports), 0) FROM upload WHERE key BETWEEN ? AND ?) WHERE place = ?",
                    (*bounds(place), place),
                )
                run("DELETE FROM upload WHERE key BETWEEN ? AND ?", bounds(place))

    def delete(self, places: Sequence[int]) -> None:
        """Delete rounds and all that belongs to them; those that follow one of them must be among them."""
        with self._erased() as run:
            for place in places:
                run("DELETE FROM upload WHERE key BETWEEN ? AND ?", bounds(place))
                run("DELETE FROM refused WHERE place = ?", (place,))
                run("DELETE FROM round WHERE place = ?", (place,))

    @contextmanager
    def _erased(self) -> Iterator[Callable[..., object]]:
        """Give what runs statements in one transaction, then write the file anew: nothing of what was deleted is left.

        Raises:
            OSError: it cannot be used, or somebody reads it, so that its log cannot be emptied.
        """
        with self._lock, _readable_errors(self.path):
            with self._transaction():
                yield self._writer.execute
            if self._writer.execute("PRAGMA freelist_count").fetchone()[0]:
                self._writer.execute("VACUUM")
            (busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OSError(
                f"deleted, but the files of {self.path} hold it while somebody reads them: "
                "`dpress collection expire` clears them later"
            )

    def keys(self, place: int) -> Keys:
        """Return the keys of a round's uploads, sorted."""
        rows = self._read("SELECT key FROM upload WHERE key BETWEEN ? AND ? ORDER BY key", *bounds(place))
        return np.fromiter((key for (key,) in rows), dtype=np.int64)

    def reports(self, place: int) -> int:
        """Return how many reports a round has, those counted that arrived twice."""
        statement = "SELECT coalesce(sum(reports), 0) FROM upload WHERE key BETWEEN ? AND ?"
        return sum(count for (count,) in self._read(statement, *bounds(place)))

    def refused(self, place: int) -> dict[str, int]:
        """Return how many reports of a round were refused, by reason."""
        return dict(self._read("SELECT reason, reports FROM refused WHERE place = ? ORDER BY reason", place))

    def bodies(self, place: int, keys: Iterable[int] | None = None) -> Iterator[bytes]:
        """Yield the uploads of a round in the order of their keys, which is random; or only those with these keys."""
        if keys is None:
            statement = "SELECT body FROM upload WHERE key BETWEEN ? AND ? ORDER BY key"
            yield from (body for (body,) in self._read(statement, *bounds(place)))
            return
        wanted = list(keys)
        with self._reading() as connection:
            for start in range(0, len(wanted), MOST_NAMED):
                named = wanted[start : start + MOST_NAMED]
                marks = ", ".join("?" * len(named))
                statement = f"SELECT body FROM upload WHERE key IN ({marks}) ORDER BY key"  # noqa: S608  # only marks
                yield from (body for (body,) in connection.execute(statement, named))

    def disconnect(self) -> None:
        """Close the file."""
        with self._lock:
            self._writer.close()

    def _read(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield rows, one consistent look."""
        with self._reading() as connection:
            yield from connection.execute(statement, values)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection of its own, which does not wait for the one that writes."""
        with _readable_errors(self.path):
            self._check_file()
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)) as connection:
                yield connection

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Commit what is done, as long as the file is where it was: a deleted one would take everything and lose it."""
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._check_file()
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise
        self._check_file()

    def _check_file(self) -> None:
        """Refuse another file in the place of the one that was opened.

        Raises:
            OSError: it is gone, or another one.
        """
        try:
            file = _identity(self.path)
        except OSError as error:
            raise OSError(
                f"the store {self.path} is gone ({error.strerror}); put the same file back, or start again"
            ) from None
        if file != self._file:
            raise OSError(f"the store {self.path} was replaced while it was open; put it back, or start again")


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says into one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"the store {path} cannot be used: {error}") from None
