"""A ledger in PostgreSQL: two hundred at once, connections that are lost in the worst moments, a server that dies."""

import contextlib
import signal
import subprocess
import threading
import time
from fractions import Fraction

import psycopg
import pytest
from tests.budgets import run_sql
from tests.ledger.test_processes import SPENDER, start

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger import postgres_ledger
from dpress.ledger.ledger import Ledger, verify
from dpress.ledger.postgres_ledger import PostgresLedger

pytestmark = pytest.mark.slow

THIRD = PureDP(epsilon="1/3")
CURATORS = 200


@pytest.fixture
def ledger_place(new_database):
    return new_database()


def pay(book, loss=THIRD):
    return book.reserve(loss, Unit(), label="x", design="")


def at_once(number, task):
    """Run a task in so many threads, and return what all of them returned or raised."""
    found = []

    def run():
        try:
            found.append(task())
        except Exception as error:  # noqa: BLE001  # looked at by the test
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_of_two_hundred_at_once_exactly_three_are_paid(book):
    """They are more than the server takes connections."""

    def publication():
        book.check(THIRD, Unit())
        ticket = pay(book)
        book.spend(ticket, "")
        return ticket

    found = at_once(CURATORS, publication)
    paid = [one for one in found if isinstance(one, str)]
    assert [one for one in found if not isinstance(one, (str, BudgetExceeded))] == []
    assert (len(found), len(paid)) == (CURATORS, 3)
    entries = book.summary().entries
    assert sorted(paid) == sorted(one.reservation for one in entries if one.confirmed)
    assert len(entries) == 3


def paid_of_five_that_read_together(book, monkeypatch):
    """Return how many of five are paid that have all read the ledger, without its lock, before any of them writes."""
    together, rows, waited = threading.Barrier(5), postgres_ledger._rows, set()

    def read(connection):
        found = rows(connection)
        if (own := threading.get_ident()) not in waited:
            waited.add(own)
            together.wait()
        return found

    with monkeypatch.context() as planted:
        planted.setattr(postgres_ledger, "_lock", lambda connection: None)  # noqa: ARG005
        planted.setattr(postgres_ledger, "_rows", read)
        return sum(isinstance(one, str) for one in at_once(5, lambda: pay(book)))


def test_without_the_lock_the_number_of_the_line_refuses_what_saw_too_little(book, monkeypatch):
    assert paid_of_five_that_read_together(book, monkeypatch) == 3
    assert verify(book.path).rows == 4


def test_a_store_without_lock_and_key_overspends_and_is_found(book, monkeypatch):
    """The planted fault that the tests above must see."""
    run_sql(book.path, "ALTER TABLE line DROP CONSTRAINT dpress_ledger_pkey", forge=True)
    assert paid_of_five_that_read_together(book, monkeypatch) == 5
    with pytest.raises(ValueError, match="row 3 is missing or moved: found row 2"):
        verify(book.path)


def killing(connection):
    """End a connection from the server's side."""
    (own,) = connection.execute("SELECT pg_backend_pid()").fetchone()
    with psycopg.connect(connection.info.dsn, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (own,))
        for _ in range(5000):
            if other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (own,)).fetchone() is None:
                break
            time.sleep(0.001)


def once(monkeypatch, name, wrong):
    """Do something else the first time that a step of a transaction is made."""
    right, steps = getattr(postgres_ledger, name), []

    def step(*arguments):
        steps.append(name)
        return (wrong if len(steps) == 1 else right)(*arguments)

    monkeypatch.setattr(postgres_ledger, name, step)
    return steps


def lost(connection, *_):
    """The connection ends before the server has heard."""
    killing(connection)
    connection.execute("SELECT 1")


def unanswered(connection):
    """The server commits, and its answer is lost."""
    connection.execute("COMMIT")
    raise psycopg.OperationalError("server closed the connection unexpectedly")


@pytest.mark.parametrize(
    ("name", "wrong", "steps"),
    [("_lock", lost, 2), ("_insert", lost, 2), ("_commit", lost, 2), ("_commit", unanswered, 1)],
)
def test_a_lost_connection_charges_once(book, monkeypatch, name, wrong, steps):
    made = once(monkeypatch, name, wrong)
    ticket = pay(book)
    assert len(made) == steps
    assert [one.reservation for one in book.summary().entries] == [ticket]
    book.spend(ticket, "")


def test_a_retry_that_does_not_look_for_its_line_charges_twice_and_is_seen(book, monkeypatch):
    """The planted fault that the test above must see."""

    class Blind(list):
        def __contains__(self, row):
            return False

    rows = postgres_ledger._rows
    monkeypatch.setattr(postgres_ledger, "_rows", lambda connection: Blind(rows(connection)))
    with pytest.raises(AssertionError):
        test_a_lost_connection_charges_once(book, monkeypatch, "_commit", unanswered, 1)
    assert len(PostgresLedger(url=book.path).rows()) == 3


def test_a_commit_whose_fate_is_unknown_says_so(book, monkeypatch):
    def gone(_url):
        raise psycopg.OperationalError("connection refused")

    def committed_and_gone(connection):
        monkeypatch.setattr(postgres_ledger, "_connected", gone)
        monkeypatch.setattr(postgres_ledger, "QUEUE_SECONDS", 0.0)
        unanswered(connection)

    monkeypatch.setattr(postgres_ledger, "QUEUE_SECONDS", 0.5)
    once(monkeypatch, "_commit", committed_and_gone)
    with pytest.raises(ConnectionError, match="lost during a commit, so what was to be added may stand"):
        pay(book)
    monkeypatch.undo()
    assert len(book.summary().entries) == 1


def test_one_that_holds_the_lock_and_does_nothing_is_given_up(book, monkeypatch):
    monkeypatch.setattr(postgres_ledger, "IDLE_SECONDS", 1)
    held, frozen = threading.Event(), threading.Event()

    def freeze(connection, _row):
        held.set()
        return frozen.wait(60) and connection.execute("SELECT 1")

    once(monkeypatch, "_insert", freeze)
    holder = threading.Thread(target=pay, args=(book,))
    holder.start()
    assert held.wait(30)
    tickets = [pay(book), pay(book)]
    frozen.set()
    holder.join()
    assert len(tickets) == 2
    assert len(book.summary().entries) == 3


def test_a_commit_is_on_disk_whatever_the_database_says(book, monkeypatch, ledger_place):
    seen = []

    def setting(connection, row):
        names = ("synchronous_commit", "transaction_isolation", "transaction_read_only")
        seen.append([connection.execute(f"SHOW {name}").fetchone()[0] for name in names])
        insert(connection, row)

    insert = postgres_ledger._insert
    monkeypatch.setattr(postgres_ledger, "_insert", setting)
    with psycopg.connect(ledger_place, autocommit=True) as connection:
        name = connection.info.dbname
        for own in ("synchronous_commit = off", "default_transaction_isolation = serializable"):
            connection.execute(f"ALTER DATABASE {name} SET {own}")
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    pay(book)
    assert seen == [["on", "read committed", "off"]]


def test_a_server_that_forgets_at_a_power_failure_is_refused(book, ledger_place):
    with psycopg.connect(ledger_place, autocommit=True) as connection:
        try:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            refused = wait_for(lambda: refusal_of(lambda: pay(book, PureDP(epsilon=1e-3))))
        finally:
            connection.execute("ALTER SYSTEM RESET fsync")
            connection.execute("SELECT pg_reload_conf()")
    assert "the server forgets charges when its power fails (fsync = off)" in refused
    assert wait_for(lambda: not refusal_of(lambda: pay(book, PureDP(epsilon=1e-3))))


def refusal_of(task):
    try:
        task()
    except OSError as error:
        return str(error)
    return ""


def wait_for(task):
    while not (found := task()):
        threading.Event().wait(0.05)
    return found


def is_running(server):
    """Say whether a server runs, which is started if it does not."""
    with contextlib.suppress(subprocess.SubprocessError, AssertionError):  # it may be recovering still
        server.ensure_postgres_running()
        return True


@pytest.mark.long
def test_a_server_that_dies_again_and_again_loses_no_charge(ledger_place, postgres_server):
    book = Ledger.create(ledger_place, limit=PureDP(epsilon=1000), unit=Unit())
    process = start(SPENDER, ledger_place)
    lines = []
    for attempt in range(3):
        lines += [process.stdout.readline() for _ in range(6 + 5 * attempt)]
        server = postgres_server.get_postmaster_info().process
        server.send_signal(signal.SIGQUIT)  # no checkpoint: it recovers from its log
        server.wait()
        wait_for(lambda: is_running(postgres_server))
    lines += [process.stdout.readline() for _ in range(6)]
    process.kill()
    lines += process.communicate()[0].splitlines()
    acknowledged = {line.split()[1] for line in lines if line.startswith("reserved") and len(line.split()) == 2}
    summary = book.summary()
    entries = {one.reservation for one in summary.entries}
    assert len(acknowledged) >= 15
    assert acknowledged <= entries
    assert summary.spent == {"epsilon": len(entries) * Fraction(1, 1000)}


def test_ledgers_of_two_schemas_know_nothing_of_each_other(ledger_place):
    with psycopg.connect(ledger_place, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA north; CREATE SCHEMA south")
    north, south = (f"{ledger_place}&options=-csearch_path%3D{name}" for name in ("north", "south"))
    pay(Ledger.create(north, limit=PureDP(epsilon=1), unit=Unit()))
    assert (Ledger.exists(north), Ledger.exists(south), Ledger.exists(ledger_place)) == (True, False, False)
    assert not Ledger.create(south, limit=PureDP(epsilon=2), unit=Unit()).summary().entries
    assert len(Ledger.open(north).summary().entries) == 1


def test_creations_at_once_make_one(ledger_place):
    found = at_once(12, lambda: Ledger.create(ledger_place, limit=PureDP(epsilon=1), unit=Unit()))
    assert sum(isinstance(one, Ledger) for one in found) == 1
    assert sum(isinstance(one, FileExistsError) for one in found) == 11
    assert len(PostgresLedger(url=ledger_place).rows()) == 1
