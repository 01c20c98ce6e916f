"""A session in Python: proposed by the specification alone, charged once, kept, and gone on with."""

import threading
from fractions import Fraction

import pyarrow as pa
import pytest
from tests.release.statements.wards import BY_WARD, SPEC, rows

from dpress import BudgetExceeded, Ledger, NotSupported, PureDP, SchemaMismatch, Session, Unit
from dpress.core.basics import rng
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.release.curator import publish as publishing
from dpress.release.statements import publish_statements as of_statements


@pytest.fixture
def opened(tmp_path):
    """What opens the session in the same folder, on the same ledger."""

    def session(data=None, **named):
        data = rows() if data is None else data
        return Session(SPEC, data, **{"ledger": tmp_path / "budget.db", "out": tmp_path / "visits", **named})

    return session


def ask(session, sql=BY_WARD, seed=1, **budget):
    return session.accept(session.propose(sql, **budget), rng=rng.seeded(seed))


def test_an_error_is_shown_first_and_holds_afterwards(opened) -> None:
    session = opened()
    proposal = session.propose(BY_WARD, spend=0.25)
    assert session.left.whole == {"epsilon": 1}
    assert not session.folder.exists()
    table = session.accept(proposal, rng=rng.seeded(1)).table
    assert table["count_error"].to_pylist() == pytest.approx([proposal.errors[0].error] * 3)
    assert session.left.whole == {"epsilon": Fraction(3, 4)}
    (kept,) = session.history
    assert (kept.sql, kept.budget, kept.whole) == (BY_WARD, PureDP(epsilon=0.25), True)
    assert opened().answer(1).table == table


def test_a_tenth_is_proposed_unless_something_is_stated(opened) -> None:
    session = opened()
    assert session.propose(BY_WARD).spend == 0.1
    ask(session, spend=0.95)
    assert session.usual == 0.05


@pytest.mark.parametrize("privacy", [{"epsilon": 1.0}, {"rho": 0.5}])
def test_within_finds_the_smallest_budget(tmp_path, privacy) -> None:
    session = Session({**SPEC, "privacy": privacy}, rows(), ledger=tmp_path / "l.db", out=tmp_path / "s")
    proposal = session.propose(BY_WARD, within=20)
    assert proposal.errors[0].error <= 20
    assert session.propose(BY_WARD, spend=float(f"{proposal.spend / 1.03:.3g}")).errors[0].error > 20
    with pytest.raises(NotSupported, match=r"no (epsilon|rho) up to 1000 has a typical error of 1e-90"):
        session.propose(BY_WARD, within=1e-90)


@pytest.mark.parametrize(
    ("sql", "caret"),
    [
        ("select count(*) from v where wrd = 'eyes'", "wrd"),
        ("select count(*) from v where ward = 'nose'", "nose"),
        ("select ward, count(*) from v where ward in ('eyes', 'toe') group by ward", "toe"),
        ("select count(*) from v join w on v.a = w.a", None),
        ("select * from v", None),
    ],
)
def test_what_the_specification_does_not_list_is_refused_without_a_row(opened, sql, caret) -> None:
    session = opened(data="no such file.csv")
    with pytest.raises(SqlRefusal) as refusal:
        session.propose(sql)
    if caret is not None:
        written, marks = refusal.value.caret.split("\n")
        assert written[marks.index("^") : marks.rindex("^") + 1] == caret
    assert session.history == ()


def test_what_was_measured_is_answered_for_nothing(opened) -> None:
    session = opened()
    ask(session, "select ward, size, count(*) from v group by ward, size", spend=0.5)
    free = session.propose("select count(*) from v where size >= 2", spend=0.1).free
    assert free is not None
    assert free.numbers == (1,)
    row = session.answer(1).table.to_pylist()
    assert free.table.table["count"][0].as_py() == pytest.approx(
        sum(each["count"] for each in row if each["size"] >= 2)
    )
    assert session.propose("select age // 50 * 50 as a, count(*) from v group by a").free is None
    assert session.left.whole == {"epsilon": Fraction(1, 2)}


def test_a_release_of_other_rows_answers_nothing(opened) -> None:
    session = opened()
    ask(session, "select avg(size), count(*) from v where age between 18 and 64", spend=0.5)
    assert session.propose("select count(*) from v", spend=0.1).free is None
    assert session.propose("select count(*) from v where age between 18 and 64", spend=0.1).free is None
    assert session.propose("select count(*), avg(size) from v where age between 18 and 64", spend=0.1).free is not None


def test_a_count_that_is_measured_again_errs_less_than_either(opened) -> None:
    session = opened()
    first = ask(session, spend=0.4).table["count_error"][0].as_py()
    alone = session.propose(BY_WARD, spend=0.3).errors[0].error
    both = ask(session, spend=0.3, seed=2)
    assert both.table["count_error"][0].as_py() == pytest.approx((first**-2 + alone**-2) ** -0.5)
    assert session.answer(1).table["count"].to_pylist() == pytest.approx(both.table["count"].to_pylist())
    assert "Together with statement 1, by least squares" in both.notes[-1]


def test_a_difference_of_earlier_counts_is_answered_for_nothing_and_improves_them(opened) -> None:
    """What no release has follows from two of them; measured once more it makes the first err less."""
    session = opened()
    whole = "select count(*) from v where ward = 'eyes'"
    part, rest = f"{whole} and size > 1", f"{whole} and size = 1"
    first, second = (ask(session, sql, seed, spend=0.2).table for seed, sql in enumerate((whole, part)))
    errors = [table["count_error"][0].as_py() for table in (first, second)]
    free = session.propose(rest, spend=0.2).free
    assert free.numbers == (1, 2)
    assert free.error == pytest.approx((errors[0] ** 2 + errors[1] ** 2) ** 0.5)
    assert ask(session, rest, 3, spend=0.2).table["count_error"][0].as_py() < free.error
    assert session.answer(1).table["count_error"][0].as_py() < errors[0]


def test_neither_share_nor_limit_is_passed(opened, tmp_path) -> None:
    Ledger.create(tmp_path / "budget.db", limit=PureDP(epsilon=1), unit=Unit(), analysts={"ada": 0.5, "ben": 0.5})
    ada, ben = (opened(analyst=name, out=tmp_path / name) for name in ("ada", "ben"))
    ask(ada, spend=0.4)
    assert ada.left.share.remaining == Fraction(1, 10)
    with pytest.raises(BudgetExceeded, match=r"share of ada epsilon = 0\.5; spent epsilon = 0\.4; asked"):
        ask(ada, "select count(*) from v where age < 50", spend=0.2)
    assert len(ada.history) == 1
    ask(ben, spend=0.5)
    assert [(each.analyst, each.who) for each in ada.ledger.summary().entries] == [("ada", "ada"), ("ben", "ben")]
    with pytest.raises(ValueError, match="no share for the analyst 'eve'; it has shares for ada, ben"):
        opened(analyst="eve", out=tmp_path / "c")


def test_sessions_at_once_spend_exactly_what_there_is(opened) -> None:
    """Five statements of 0.2 fit, whoever is first; those that were refused leave nothing behind."""
    opened()
    outcomes: list[bool] = []

    def race(seed: int) -> None:
        for number in range(4):
            try:
                ask(opened(), f"select count(*) from v where age < {10 * number + seed + 1}", spend=0.2)
                outcomes.append(True)
            except BudgetExceeded:
                outcomes.append(False)

    threads = [threading.Thread(target=race, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session = opened()
    assert (len(outcomes), sum(outcomes)) == (8, 5)
    assert session.left.whole == {"epsilon": 0}
    assert [each.whole for each in session.history] == [True] * 5


def test_an_interruption_loses_nothing_that_was_charged(opened, monkeypatch) -> None:
    """A statement that was paid for and not written stays, and is gone on with; one that was not is forgotten."""
    session = opened()
    ask(session, spend=0.2)
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "_write", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="the disk is full"):
            ask(session, "select count(*) from v where age < 50", spend=0.3)
    assert session.left.whole == {"epsilon": Fraction(1, 2)}
    again = opened()
    assert [each.whole for each in again.history] == [True, False]
    with pytest.raises(SchemaMismatch, match="statement 2 was interrupted; `resume 2` measures what is missing"):
        again.answer(2)
    assert again.resume(2, rng=rng.seeded(3)).table.num_rows == 1
    assert again.left.whole == {"epsilon": Fraction(1, 5)}
    with monkeypatch.context() as patch:
        patch.setattr(of_statements, "publish", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ask(again, "select count(*) from v where age < 30", spend=0.1)
    assert len(again.history) == 2


def test_rows_that_do_not_fit_are_refused_after_nothing_is_charged(opened) -> None:
    session = opened(data=pa.table({"age": [1], "size": [1], "stay": [1]}))
    with pytest.raises(SchemaMismatch):
        ask(session, spend=0.2)
    assert session.history == ()
    assert session.left.whole == {"epsilon": 1}


@pytest.mark.parametrize(
    ("limit", "budget"),
    [(ZCDP(rho=0.5), ZCDP(rho=0.1)), (ApproxDP(epsilon=2, delta="1e-6"), ApproxDP(epsilon=0.1, delta="5e-8"))],
)
def test_a_budget_is_in_the_loss_of_the_ledger(opened, tmp_path, limit, budget) -> None:
    Ledger.create(tmp_path / "budget.db", limit=limit, unit=Unit())
    session = opened()
    for number in range(2):
        ask(session, f"select count(*) from v where age < {number + 20}", spend=0.1)
    assert [each.budget for each in session.history] == [budget] * 2
    assert all(amount >= 0 for amount in session.left.whole.values())


def test_a_folder_is_of_one_specification(opened) -> None:
    ask(opened(), spend=0.2)
    with pytest.raises(SchemaMismatch, match="statement 1 is of another specification; choose another folder"):
        Session({**SPEC, "privacy": {"epsilon": 2.0}}, ledger=opened().ledger, out=opened().folder)


@pytest.mark.parametrize("text", ["{}", "no json", '{"format": 2}'])
def test_an_edited_folder_is_refused(opened, text) -> None:
    ask(opened(), spend=0.2)
    (opened().folder / "statement-1.json").write_text(text)
    with pytest.raises(SchemaMismatch, match=r"statement-1\.json(: format 2 is not known| is truncated or was edited)"):
        opened()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda session: session.propose(f"{BY_WARD}; {BY_WARD}"), "2 statements; give them one at a time"),
        (lambda session: session.propose(BY_WARD, spend=0.1, within=3), "not both"),
        (lambda session: session.propose(BY_WARD, within=-1), "expected an error above 0"),
        (lambda session: session.answer(3), "there are 0 statements, got 3"),
    ],
)
def test_what_does_not_go_together_is_refused(opened, call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call(opened())


def test_a_new_ledger_has_no_shares(opened, tmp_path) -> None:
    with pytest.raises(ValueError, match=r"no ledger at .*: `dpress ledger create --analyst ada=0\.5` makes one"):
        opened(analyst="ada")
    assert not (tmp_path / "budget.db").exists()


def test_devices_answer_no_statements(tmp_path) -> None:
    with pytest.raises(NotSupported, match="a session is of a table"):
        Session({**SPEC, "privacy": {"epsilon": 1.0, "model": "local"}}, ledger=tmp_path / "l.db", out=tmp_path / "s")
    with pytest.raises(ValueError, match="name the session's folder"):
        Session(SPEC, ledger=tmp_path / "l.db")
