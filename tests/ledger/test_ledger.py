"""The ledger's promises in one process: exact refusal, confirmation, summary, and a chain that no edit survives."""

import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from tests.budgets import run_sql

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger.compose import Amounts, Charge, total
from dpress.ledger.ledger import Ledger, verify

ROW = Unit()
TENTH = PureDP(epsilon=0.1)


def pay(book: Ledger, loss: Loss = TENTH, partition: str | None = None) -> str:
    return book.reserve(loss, ROW, label="identity", design="abc", partition=partition)


def test_ten_tenths_fit_and_1e_9_more_is_refused(book: Ledger) -> None:
    for _ in range(10):
        pay(book)
    before = book.summary()
    with pytest.raises(BudgetExceeded) as refusal:
        pay(book, PureDP(epsilon=1e-9))
    assert str(refusal.value) == (
        "budget exceeded: limit epsilon = 1; spent epsilon = 1; asked epsilon = 1e-9; together epsilon = 1.000000001"
    )
    assert book.summary() == before
    assert before.remaining == {"epsilon": Fraction(0)}


def test_a_refusal_shows_every_figure_rounded_up(book: Ledger) -> None:
    pay(book, PureDP(epsilon=Fraction(2, 3)))
    with pytest.raises(BudgetExceeded, match=r"spent epsilon = 0\.666666666667; asked epsilon = 0\.5; together"):
        pay(book, PureDP(epsilon=0.5))


def test_check_agrees_with_reserve_and_writes_nothing(book: Ledger) -> None:
    content = run_sql(book.path, "SELECT * FROM line ORDER BY seq")
    book.check(PureDP(epsilon=1), ROW)
    with pytest.raises(BudgetExceeded):
        book.check(PureDP(epsilon=1.1), ROW)
    assert run_sql(book.path, "SELECT * FROM line ORDER BY seq") == content


def test_a_reservation_counts_whether_confirmed_or_not(book: Ledger) -> None:
    first, second = pay(book), pay(book, partition="north")
    book.spend(first, "release-7")
    summary = book.summary()
    assert summary.spent == {"epsilon": Fraction(1, 5)}
    assert summary.remaining == {"epsilon": Fraction(4, 5)}
    assert [entry.reservation for entry in summary.entries] == [first, second]
    assert [(entry.confirmed, entry.note, entry.partition) for entry in summary.entries] == [
        (True, "release-7", None),
        (False, None, "north"),
    ]
    assert {(entry.label, entry.design, entry.loss) for entry in summary.entries} == {("identity", "abc", TENTH)}
    assert all(entry.time.endswith("+00:00") for entry in summary.entries)
    assert summary.rows == 4


def test_unknown_and_repeated_confirmations_are_refused(book: Ledger) -> None:
    ticket = pay(book)
    with pytest.raises(ValueError, match="no reservation nonsense"):
        book.spend("nonsense", "")
    book.spend(ticket, "")
    with pytest.raises(ValueError, match="is confirmed already"):
        book.spend(ticket, "")


@pytest.mark.parametrize("unit", [Unit(relation=Relation.REPLACE_ONE), Unit(column="uid", rows=3)])
def test_a_loss_for_another_unit_is_refused(book: Ledger, unit: Unit) -> None:
    with pytest.raises(ValueError, match="the ledger protects one row under add-remove; the loss must be stated"):
        book.reserve(TENTH, unit, label="x", design="")
    with pytest.raises(ValueError, match="the ledger protects"):
        book.check(TENTH, unit)


def test_a_loss_of_a_kind_that_the_limit_cannot_pay_is_refused(book: Ledger) -> None:
    with pytest.raises(ValueError, match=r"epsilon = 1 pays only for losses in epsilon, got rho = 0\.1"):
        pay(book, ZCDP(rho=0.1))


def test_parts_are_charged_in_parallel(book: Ledger) -> None:
    for part in ("north", "south", "west"):
        pay(book, PureDP(epsilon=0.9), part)
    assert book.summary().spent == {"epsilon": Fraction(9, 10)}
    with pytest.raises(BudgetExceeded):
        pay(book, PureDP(epsilon=0.2), "north")


@pytest.mark.parametrize(
    ("limit", "loss"),
    [
        (ZCDP(rho="1/3"), ZCDP(rho="1/9")),
        (ApproxDP(epsilon=1.5, delta="3e-7"), ApproxDP(epsilon=0.5, delta="1e-7")),
        (ApproxDP(epsilon=1, delta=1e-6), ZCDP(rho=zcdp_for(1, 1e-6) / 3)),
    ],
)
def test_other_limits_fill_up_exactly(ledger_place: Path | str, limit: Loss, loss: Loss) -> None:
    unit = Unit(relation=Relation.REPLACE_ONE, column="uid", rows=4)
    book = Ledger.create(ledger_place, limit=limit, unit=unit)
    for _ in range(3):
        book.reserve(loss, unit, label="x", design="")
    with pytest.raises(BudgetExceeded):
        book.reserve(loss, unit, label="x", design="")
    summary = Ledger.open(ledger_place).summary()
    assert (summary.limit, summary.unit, summary.rows) == (limit, unit, 4)
    assert all(0 <= left < Fraction(1, 10**20) for left in summary.remaining.values())


def test_a_discount_of_5_percent_planted_in_the_ledger_is_caught(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def cheap(charges: list[Charge], limit: Loss, unit: Unit) -> Amounts:
        return {name: value * Fraction(95, 100) for name, value in total(charges, limit, unit).items()}

    monkeypatch.setattr("dpress.ledger.ledger.total", cheap)
    with pytest.raises(pytest.fail.Exception):
        test_ten_tenths_fit_and_1e_9_more_is_refused(book)


def test_stored_facts_are_exact_and_canonical(book: Ledger) -> None:
    pay(book, PureDP(epsilon="1/3"))
    payloads = [payload for (payload,) in run_sql(book.path, "SELECT payload FROM line ORDER BY seq")]
    assert '"limit":{"epsilon":"1/1"}' in payloads[0]
    assert '"price":{"epsilon":"1/3"}' in payloads[1]
    assert all(" " not in payload for payload in payloads)


def check_forbidden(book: Ledger, statement: str) -> None:
    pay(book)
    pay(book)
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match="append-only"):
        run_sql(book.path, statement)
    assert verify(book.path).rows == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE line SET payload = '{}' WHERE seq = 2",
        "DELETE FROM line WHERE seq = 3",
        "DELETE FROM line",
        "INSERT INTO line VALUES (99, '{}', '', '')",
    ],
)
def test_the_store_itself_forbids_changes(book: Ledger, statement: str) -> None:
    check_forbidden(book, statement)


@pytest.mark.parametrize(
    ("ledger_place", "statement"),
    [
        ("sqlite", "INSERT OR REPLACE INTO line VALUES (2, '{}', '', '')"),
        pytest.param("postgres", "TRUNCATE line", marks=pytest.mark.slow),
        pytest.param(
            "postgres",
            "INSERT INTO line VALUES (2, '{}', '', '') ON CONFLICT (seq) DO UPDATE SET payload = '{}'",
            marks=pytest.mark.slow,
        ),
    ],
    indirect=["ledger_place"],
)
def test_so_it_does_in_words_of_its_own(book: Ledger, statement: str) -> None:
    check_forbidden(book, statement)


EDITS = [
    (("UPDATE line SET payload = replace(payload, '1/10', '1/20') WHERE seq = 3",), "row 3 was edited"),
    (("UPDATE line SET payload = replace(payload, '1/1', '9/1') WHERE seq = 1",), "row 1 was edited"),
    (("UPDATE line SET hash = previous WHERE seq = 3",), "row 3 was edited"),
    (("UPDATE line SET hash = previous WHERE seq = 5",), "row 5 was edited"),
    (("UPDATE line SET previous = hash WHERE seq = 4",), "row 4 does not follow"),
    (("DELETE FROM line WHERE seq = 3",), "row 3 is missing or moved: found row 4"),
    (("DELETE FROM line WHERE seq = 1",), "row 1 is missing or moved"),
    (("DELETE FROM line WHERE seq = 3", "UPDATE line SET seq = seq - 1 WHERE seq > 3"), "row 3 does not follow"),
    (
        (
            "UPDATE line SET seq = 99 WHERE seq = 2",
            "UPDATE line SET seq = 2 WHERE seq = 3",
            "UPDATE line SET seq = 3 WHERE seq = 99",
        ),
        "row 2 does not follow",
    ),
    (("DELETE FROM line",), "row 1 is missing"),
]


@pytest.mark.parametrize(("statements", "message"), EDITS)
def test_an_edited_ledger_is_found_and_refuses_to_pay(book: Ledger, statements: tuple[str, ...], message: str) -> None:
    for _ in range(4):
        ticket = pay(book)
    assert verify(book.path).rows == 5
    run_sql(book.path, *statements, forge=True)
    calls: list[Callable[[], object]] = [
        lambda: verify(book.path),
        lambda: Ledger.open(book.path),
        lambda: pay(book),
        lambda: book.check(TENTH, ROW),
        lambda: book.spend(ticket, ""),
        book.summary,
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_a_cut_off_tail_is_found_by_whoever_kept_the_head(book: Ledger) -> None:
    pay(book)
    kept = pay(book) and verify(book.path).head
    pay(book)
    assert verify(book.path, head=kept).rows == 4
    run_sql(book.path, "DELETE FROM line WHERE seq > 2", forge=True)
    assert verify(book.path).rows == 2
    with pytest.raises(ValueError, match="row 3 is missing"):
        verify(book.path, head=kept)


def test_a_loss_for_more_rows_of_a_person_pays_for_fewer(tmp_path):
    """Two tables that differ in a person with at most two rows differ in one with at most five; not the reverse."""
    account = Ledger.create(tmp_path / "rows.db", limit=PureDP(epsilon=1), unit=Unit(column="uid", rows=2))
    account.check(PureDP(epsilon=1), Unit(column="uid", rows=5))
    for other in (Unit(column="uid"), Unit(), Unit(column="name", rows=5)):
        with pytest.raises(ValueError, match="the ledger protects a uid with at most 2 rows"):
            account.check(PureDP(epsilon=1), other)
