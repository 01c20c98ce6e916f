"""Shares of a ledger's limit: never more than an analyst's own, never more than the whole, whoever races."""

import contextlib
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.budgets import run_sql

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.ledger import event
from dpress.ledger.analysts import NOBODY, limits_of
from dpress.ledger.ledger import Ledger, verify

ROW = Unit()
SHARES = {"ada": 0.5, "ben": 0.3}
RACER = """
import sys
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
print("ready", flush=True)
sys.stdin.readline()
try:
    while True:
        ticket = Ledger.open(sys.argv[1]).reserve(
            PureDP(epsilon=0.05), Unit(), label="race", design="", analyst=sys.argv[2]
        )
        print(ticket, flush=True)
except BudgetExceeded:
    pass
"""


@pytest.fixture
def shared(ledger_place):
    """A ledger of epsilon = 1 of which 0.2 is nobody's."""
    return Ledger.create(ledger_place, limit=PureDP(epsilon=1), unit=ROW, analysts=SHARES)


def pay(ledger: Ledger, epsilon: float | str, analyst: str = NOBODY, **part: str) -> str:
    return ledger.reserve(PureDP(epsilon=epsilon), ROW, label="x", design="", analyst=analyst, **part)


def test_an_analyst_spends_a_share_and_no_more(shared) -> None:
    pay(shared, 0.4, "ada")
    pay(shared, 0.1, "ada")
    before = shared.summary()
    for refused in (shared.check, lambda *words, **named: shared.reserve(*words, label="", design="", **named)):
        with pytest.raises(BudgetExceeded) as refusal:
            refused(PureDP(epsilon=1e-9), ROW, analyst="ada")
        assert str(refusal.value) == (
            "budget exceeded: share of ada epsilon = 0.5; spent epsilon = 0.5; asked epsilon = 1e-9; "
            "together epsilon = 0.500000001"
        )
    assert shared.summary() == before
    assert [entry.analyst for entry in before.entries] == ["ada", "ada"]
    assert {name: (share.spent, share.remaining) for name, share in before.shares.items()} == {
        "ada": (Fraction(1, 2), 0),
        "ben": (0, Fraction(3, 10)),
        NOBODY: (0, Fraction(1, 5)),
    }


def test_nobody_spends_what_belongs_to_an_analyst(shared) -> None:
    with pytest.raises(
        BudgetExceeded, match=r"what no analyst has a share of, epsilon = 0\.2; spent epsilon = 0; asked"
    ):
        pay(shared, 0.21)
    pay(shared, 0.2)
    pay(shared, 0.3, "ben")
    pay(shared, 0.5, "ada")
    assert shared.summary().remaining == {"epsilon": 0}


def test_who_has_no_share_is_refused_by_name(shared, tmp_path) -> None:
    with pytest.raises(
        ValueError, match="no share for the analyst 'bem'; its analysts are ada, ben; did you mean 'ben'"
    ):
        pay(shared, 0.1, "bem")
    plain = Ledger.create(tmp_path / "plain.db", limit=PureDP(epsilon=1), unit=ROW)
    with pytest.raises(ValueError, match="no share for the analyst 'ada'; dpress ledger create --analyst gives shares"):
        pay(plain, 0.1, "ada")


@pytest.mark.parametrize(
    ("analysts", "message"),
    [
        ({"ada": 0.6, "ben": 0.5}, "epsilon = 1.1 together, more than the limit of epsilon = 1"),
        ({"ada": 0}, "epsilon must be > 0"),
        ({"ada": "half"}, "half"),
        ({" ": 0.5}, "an analyst needs a name"),
        ({"a\nb": 0.5}, "printable text on one line"),
    ],
)
def test_shares_that_are_none_are_refused_before_there_is_a_ledger(tmp_path, analysts, message) -> None:
    with pytest.raises(ValueError, match=message):
        Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=1), unit=ROW, analysts=analysts)
    assert not (tmp_path / "l.db").exists()


def test_thirds_fill_a_limit_exactly(tmp_path) -> None:
    thirds = dict.fromkeys(("a", "b", "c"), "1/3")
    ledger = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=1), unit=ROW, analysts=thirds)
    for name in thirds:
        pay(ledger, "1/3", name)
    assert ledger.summary().remaining == {"epsilon": 0}
    with pytest.raises(BudgetExceeded):
        pay(ledger, 1e-9)


def test_a_share_is_in_the_unit_of_the_limit(tmp_path) -> None:
    """Epsilon counts epsilon^2 / 2 of a share in rho; beside a delta rho is paid for, with what is fixed, too."""
    ledger = Ledger.create(tmp_path / "rho.db", limit=ZCDP(rho=1), unit=ROW, analysts={"ada": 0.125})
    pay(ledger, 0.5, "ada")
    with pytest.raises(BudgetExceeded, match=r"share of ada rho = 0\.125"):
        pay(ledger, 1e-3, "ada")
    both = ApproxDP(epsilon=1, delta="1e-6")
    ledger = Ledger.create(tmp_path / "delta.db", limit=both, unit=ROW, analysts={"ada": 0.1})
    with pytest.raises(BudgetExceeded, match=r"share of ada epsilon = 0\.1"):
        ledger.reserve(ZCDP(rho=0.01), ROW, label="", design="", analyst="ada")


def test_parts_of_the_table_are_shared_in_parallel(shared) -> None:
    for part in ("north", "south"):
        pay(shared, 0.5, "ada", partition=f"side: {part}")
    assert shared.summary().shares["ada"].remaining == 0
    with pytest.raises(BudgetExceeded, match="share of ada"):
        pay(shared, 0.01, "ada", partition="side: north")


def test_a_ledger_without_shares_is_written_as_ever(book) -> None:
    pay(book, 0.1)
    payloads = [payload for (payload,) in run_sql(book.path, "SELECT payload FROM line ORDER BY seq")]
    assert not any("analyst" in payload for payload in payloads)
    assert book.summary().shares == {}


def test_the_chain_covers_shares_and_names(shared) -> None:
    pay(shared, 0.1, "ada")
    assert verify(shared.path).rows == 2
    run_sql(shared.path, "UPDATE line SET payload = replace(payload, 'ada', 'ben') WHERE seq = 2", forge=True)
    with pytest.raises(ValueError, match="row 2 was edited"):
        pay(shared, 0.1, "ben")


def test_larger_shares_written_into_the_first_line_are_found(shared) -> None:
    run_sql(shared.path, "UPDATE line SET payload = replace(payload, '3/10', '9/10') WHERE seq = 1", forge=True)
    with pytest.raises(ValueError, match="row 1 was edited"):
        pay(shared, 0.4, "ben")


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["ada", "ben", NOBODY]), st.integers(1, 40), st.booleans()), max_size=12))
def test_whatever_is_asked_in_whatever_order_no_share_and_no_limit_is_passed(asked) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shared = Ledger.create(Path(folder) / "l.db", limit=PureDP(epsilon=1), unit=ROW, analysts=SHARES)
        left = {"ada": Fraction(1, 2), "ben": Fraction(3, 10), NOBODY: Fraction(1, 5)}
        for name, cost, part in asked:
            with contextlib.suppress(BudgetExceeded):
                pay(shared, f"{cost}/100", name, **({"partition": "side: north"} if part else {}))
        summary = shared.summary()
        for name, share in left.items():
            paid = [entry.loss.epsilon for entry in summary.entries if entry.analyst == name]
            assert summary.shares[name].spent == sum(paid) <= share
        assert summary.spent["epsilon"] <= sum(share.spent for share in summary.shares.values()) <= 1


@pytest.mark.slow
def test_two_processes_at_once_get_exactly_their_shares(shared) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(shared.path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ada", "ada", "ben", "ben")
    ]
    assert [racer.stdout.readline() for racer in racers if racer.stdout] == ["ready\n"] * 4
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [racer.communicate()[0].split() for racer in racers]
    assert [racer.returncode for racer in racers] == [0] * 4
    assert [len(won[0]) + len(won[1]), len(won[2]) + len(won[3])] == [10, 6]
    shares = shared.summary().shares
    assert (shares["ada"].remaining, shares["ben"].remaining, shares[NOBODY].remaining) == (0, 0, Fraction(1, 5))


OPENED = '"column":null,"fact":"opening","limit":{"epsilon":"1/1"},"relation":"add-remove","rows":1,"time":"t"}'
PAID = '"design":"","fact":"reservation","id":"a","label":"x","price":{"epsilon":"1/10"},"time":"t"}'


@pytest.mark.parametrize(
    ("opened", "paid", "head", "limits"),
    [
        ("{" + OPENED, "{" + PAID, "a868a9a0", {}),
        (
            '{"analysts":{"ada":"1/2"},' + OPENED,
            '{"analyst":"ada",' + PAID,
            "c69d5867",
            {"ada": Fraction(1, 2), NOBODY: Fraction(1, 2)},
        ),
    ],
    ids=["without shares", "with shares"],
)
def test_stored_lines_stay_as_they_are(opened, paid, head, limits) -> None:
    """Facts as they stand in files: read as what they are, and written as the same letters, under the same hashes."""
    first = event.Row(seq=1, payload=opened, previous=event.NO_HASH, hash=event.digest(1, opened, event.NO_HASH))
    second = event.Row(seq=2, payload=paid, previous=first.hash, hash=event.digest(2, paid, first.hash))
    history = event.replay([first, second])
    assert limits_of(history.opening) == limits
    assert event.link(history.opening, seq=1, previous=event.NO_HASH) == first
    assert event.link(history.reservations[0], seq=2, previous=first.hash) == second
    assert history.head.startswith(head)
