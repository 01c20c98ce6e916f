"""Where a ledger keeps its lines: a SQLite file, or a database in PostgreSQL that a URL names."""

import os
from pathlib import Path
from typing import Protocol

from dpress.core.basics.database_url import connectable, is_postgres
from dpress.ledger.event import Decision, Event, Row
from dpress.ledger.sqlite_ledger import SqliteLedger


class LedgerStore(Protocol):
    """Append-only lines. Every method raises OSError or ValueError, one line, where they cannot be had."""

    def exists(self) -> bool:
        """Say whether there is a ledger, or something else in its place."""
        ...

    def create(self, opening: Event) -> None:
        """Begin a ledger that holds only `opening`.

        Raises:
            FileExistsError: there is one, or something else in its place.
        """
        ...

    def rows(self) -> list[Row]:
        """Return all lines in order, in one consistent look."""
        ...

    def append(self, decide: Decision) -> None:
        """Add the fact that `decide` returns for all lines; nobody adds another in between.

        On return it is on disk. What `decide` raises is raised, and nothing was added. It may be called again, with
        newer lines. An OSError says so where the fact may stand all the same.
        """
        ...


def located(path: str | os.PathLike[str]) -> Path | str:
    """Return the place of a ledger, whatever folder is current later: the whole path of a file, or the URL."""
    text = os.fspath(path)
    return text if is_postgres(text) else Path(text).absolute()


def store_at(path: str | os.PathLike[str]) -> LedgerStore:
    """Return the store that a path or a URL names.

    Raises:
        ValueError: a URL that is none of PostgreSQL, or that holds a password; it is not shown.
        NotSupported: the driver is not installed.
    """
    text = os.fspath(path)
    if is_postgres(text):
        connectable(text, "the ledger")
        from dpress.ledger.postgres_ledger import PostgresLedger  # noqa: PLC0415  # the driver is an extra

        return PostgresLedger(url=text)
    if "://" in text:
        raise ValueError(f"a ledger is a file or postgresql://..., got {text.partition(':')[0][:20]!r}")
    return SqliteLedger(path=Path(text))
