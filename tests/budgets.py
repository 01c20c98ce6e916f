"""Fixtures of a ledger, once in a SQLite file and once in PostgreSQL."""

import sqlite3
from pathlib import Path

import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def ledger_place(request, tmp_path):
    """The file or the URL of a ledger that is still to be created."""
    if request.param == "sqlite":
        return tmp_path / "budget.db"
    return request.getfixturevalue("new_database")()


@pytest.fixture
def book(ledger_place):
    """A ledger of epsilon = 1 for rows."""
    return Ledger.create(ledger_place, limit=PureDP(epsilon=1), unit=Unit())


def run_sql(place: Path | str, *statements: str, forge: bool = False) -> list[tuple]:
    """Run statements on the table of a ledger, called `line`, and return the last one's rows.

    Args:
        place: of the ledger.
        statements: one after the other, in one transaction.
        forge: as somebody would who may take the triggers away first.
    """
    return (_in_sqlite if isinstance(place, Path) else _in_postgres)(place, statements, forge=forge)


def _in_sqlite(path, statements, *, forge):
    connection = sqlite3.connect(path)
    try:
        if forge:
            for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {trigger}")
        found = [connection.execute(statement).fetchall() for statement in statements]
        connection.commit()
        return found[-1]
    finally:
        connection.close()


def _in_postgres(url, statements, *, forge):
    import psycopg

    found = None
    with psycopg.connect(url) as connection:
        if forge:
            connection.execute("ALTER TABLE dpress_ledger DISABLE TRIGGER USER")
        for statement in statements:
            found = connection.execute(statement.replace(" line", " dpress_ledger"))
        return found.fetchall() if found.description else []
