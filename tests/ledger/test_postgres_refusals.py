"""Every way that a database can fail: one clear line without its text and without a password, and nothing charged."""

import psycopg
import pytest
from tests.budgets import run_sql

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger import postgres_ledger, postgres_refusals
from dpress.ledger.ledger import Ledger, verify

pytestmark = pytest.mark.slow

ROW = Unit()
ONE = PureDP(epsilon=1)
SECRET = "4711-secret"


@pytest.fixture
def ledger_place(new_database):
    return new_database()


@pytest.fixture
def as_role(ledger_place, request):
    """What makes a role with some rights on the ledger, and returns the URL by which it connects."""
    made = []

    def make(*rights):
        name = f"role_{abs(hash(request.node.name)) % 10**9}_{len(made)}"
        with psycopg.connect(ledger_place, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {name} LOGIN")
            for right in rights:
                connection.execute(f"GRANT {right} ON dpress_ledger TO {name}")
        made.append(name)
        return ledger_place.replace("postgres:@", f"{name}@")

    return make


def pay(book, label="x"):
    return book.reserve(PureDP(epsilon=0.1), ROW, label=label, design="")


def refused(kind, words, task):
    with pytest.raises(kind, match=words) as caught:
        task()
    text = str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert len(text.splitlines()) == 1
    assert [word for word in ("FATAL", "ERROR", "LINE 1", "DETAIL", SECRET) if word in text] == []


def test_a_database_without_a_ledger(ledger_place):
    assert not Ledger.exists(ledger_place)
    refused(FileNotFoundError, "no ledger at postgresql://.*; create it first", lambda: Ledger.open(ledger_place))


def test_a_ledger_is_not_overwritten(book):
    pay(book)
    create = lambda: Ledger.create(book.path, limit=ONE, unit=ROW)  # noqa: E731
    refused(FileExistsError, "has a ledger already", create)
    assert verify(book.path).rows == 2


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (
            lambda url: url.replace("host=", "host=/none"),
            ConnectionError,
            "no connection to the server; check the host",
        ),
        (lambda _: "postgresql://127.0.0.1:1/x", ConnectionError, "no connection to the server; check the host"),
        (lambda _: "postgresql://nowhere.invalid/x", ConnectionError, "no connection to the server; check the host"),
        (lambda _: "postgresql:///?service=nowhere", ConnectionError, "no connection to the server; check the host"),
        (lambda url: url.replace("store_", "nothing_"), FileNotFoundError, "no such database; create it first"),
        (
            lambda url: url.replace("postgres:@", "nobody@"),
            PermissionError,
            "lets this role not in; passwords come from",
        ),
    ],
)
def test_what_cannot_be_reached(ledger_place, change, kind, words):
    place = change(ledger_place)
    refused(kind, words, lambda: Ledger.open(place))
    refused(kind, words, lambda: Ledger.exists(place))
    refused(kind, words, lambda: Ledger.create(place, limit=ONE, unit=ROW))


def test_a_password_in_the_url_is_refused_and_not_echoed():
    for url in (f"postgresql://ann:{SECRET}@host/db", f"postgresql://host/db?password={SECRET}"):
        refused(ValueError, "the URL of the ledger holds a password", lambda: Ledger.open(url))  # noqa: B023
    refused(
        ValueError, "a ledger is a file or postgresql://..., got 'mysql'", lambda: Ledger.open(f"mysql://a:{SECRET}@h")
    )


def test_a_role_may_do_what_it_was_granted(book, as_role):
    pay(book)
    writer, reader, nobody = as_role("SELECT, INSERT"), as_role("SELECT"), as_role()
    book = Ledger.open(writer)
    book.spend(pay(book), "")
    assert Ledger.open(reader).summary().rows == 4
    refused(PermissionError, "needs SELECT and INSERT on dpress_ledger", lambda: pay(Ledger.open(reader)))
    refused(PermissionError, "needs SELECT and INSERT", lambda: Ledger.open(nobody))
    assert verify(book.path).rows == 4


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE line SET payload = ''",
        "DELETE FROM line",
        "TRUNCATE line",
        "DROP TABLE line",
        "ALTER TABLE line DISABLE TRIGGER USER",
        "SET session_replication_role = replica",
        "DROP FUNCTION dpress_ledger_append_only CASCADE",
        "CREATE OR REPLACE FUNCTION dpress_ledger_append_only() RETURNS trigger LANGUAGE sql AS ''",
    ],
)
def test_a_curators_role_cannot_take_anything_back(book, as_role, statement):
    pay(book)
    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidFunctionDefinition)):
        run_sql(as_role("SELECT, INSERT"), statement)
    assert verify(book.path).rows == 2


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["COMMENT ON TABLE line IS NULL"], "is not a ledger: its table dpress_ledger is of another program"),
        (["COMMENT ON TABLE line IS 'dpress ledger, version 2'"], "another version; this dpress reads version 1"),
        (["ALTER TABLE line DROP COLUMN hash"], "is damaged: a column is missing"),
    ],
)
def test_a_foreign_table_is_refused(book, statements, words):
    run_sql(book.path, *statements)
    for task in (lambda: pay(book), lambda: verify(book.path), book.summary):
        refused(ValueError, words, task)


def test_another_programs_table_is_not_touched(ledger_place):
    with psycopg.connect(ledger_place) as connection:
        connection.execute("CREATE TABLE dpress_ledger (text text)")
    assert Ledger.exists(ledger_place)
    refused(ValueError, "of another program", lambda: Ledger.open(ledger_place))
    refused(FileExistsError, "name another", lambda: Ledger.create(ledger_place, limit=ONE, unit=ROW))


def test_a_schema_that_is_not_there(ledger_place):
    place = f"{ledger_place}&options=-csearch_path%3Dnowhere"
    refused(FileNotFoundError, "the schema that the URL names", lambda: Ledger.create(place, limit=ONE, unit=ROW))


def test_a_database_that_does_not_hold_every_letter(ledger_place):
    with psycopg.connect(ledger_place, autocommit=True) as connection:
        name = f"{connection.info.dbname}_latin"
        connection.execute(f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        place = ledger_place.replace(connection.info.dbname, name)
    refused(OSError, "a database with the encoding UTF8", lambda: Ledger.create(place, limit=ONE, unit=ROW))


def test_every_letter_comes_back(book):
    pay(book, "Größe \N{SNOWMAN} \x00 '; DROP TABLE dpress_ledger; --")
    assert book.summary().entries[0].label == "Größe \N{SNOWMAN} \x00 '; DROP TABLE dpress_ledger; --"


def test_a_lock_held_by_another_is_waited_for_and_named(book, monkeypatch):
    with psycopg.connect(book.path) as other:
        postgres_ledger._lock(other)
        with monkeypatch.context() as short:
            short.setattr(postgres_ledger, "QUEUE_SECONDS", 0.05)
            refused(TimeoutError, r"was locked by other processes for 0\.05 s; try again later", lambda: pay(book))
        assert book.summary().rows == 1  # whoever reads waits for nobody
    pay(book)
    assert verify(book.path).rows == 2


def test_a_server_that_only_reads_says_so(book, monkeypatch):
    begin = postgres_ledger._begin

    def reading(connection, url):
        begin(connection, url)
        connection.execute("SET TRANSACTION READ ONLY")

    monkeypatch.setattr(postgres_ledger, "_begin", reading)
    refused(PermissionError, "this server only reads; name the one that writes", lambda: pay(book))


def test_a_statement_that_the_server_cancels(book, monkeypatch):
    monkeypatch.setattr(
        postgres_ledger, "_lock", lambda own: own.execute("SET statement_timeout = 1; SELECT pg_sleep(9)")
    )
    refused(TimeoutError, "cancelled the statement, nothing was added", lambda: pay(book))
    assert verify(book.path).rows == 1


def test_no_text_of_the_server_is_passed_on(book, monkeypatch):
    def failing(connection, _row):
        connection.execute(f"SELECT '{SECRET}'::integer")

    monkeypatch.setattr(postgres_ledger, "_insert", failing)
    refused(OSError, "PostgreSQL refused with code 22P02; nothing was added", lambda: pay(book))


def test_a_full_server_is_waited_for_and_named(ledger_place, monkeypatch):
    def full(_url):
        tries.append(1)
        raise psycopg.OperationalError("connection failed: FATAL:  sorry, too many clients already")

    tries = []
    monkeypatch.setattr(postgres_ledger, "_connected", full)
    monkeypatch.setattr(postgres_ledger, "QUEUE_SECONDS", 0.3)
    refused(TimeoutError, r"took no connection for 0\.3 s", lambda: Ledger.exists(ledger_place))
    assert len(tries) > 1


def test_only_what_may_pass_is_tried_again():
    gone, other = psycopg.OperationalError("connection refused"), psycopg.DataError("none of these")
    assert postgres_refusals.passes(gone, answered=True)
    assert not postgres_refusals.passes(gone, answered=False)
    assert not postgres_refusals.passes(other, answered=True)
    assert postgres_refusals.passes(psycopg.errors.DeadlockDetected(), answered=False)
    assert not postgres_refusals.passes(psycopg.errors.DiskFull(), answered=True)
