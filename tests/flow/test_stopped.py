"""What an interruption, a full disk or another package's failure leaves on the terminal and in the ledger."""

import contextlib

import duckdb
import pytest

from dpress import Ledger, PureDP, Unit
from dpress.cli.main import main
from dpress.data.sources.source import without_quotes
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.curator import paid
from dpress.release.curator import publish as publishing

SECRET = "4711-secret"
STANDS = "epsilon = 1 stands, and publishing it again finishes it without another"


@pytest.fixture
def failed(folder, capsys, monkeypatch):
    """Run a command that must end with exit code 1 and return its only line."""

    def run(*arguments):
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert (caught.value.code, out) == (1, "")
        assert SECRET not in err
        (line,) = err.split("\n")[-2:-1]
        return line.removeprefix("dpress: ")

    return run


def test_a_message_of_another_package_is_withheld_wherever_it_is_installed(failed, monkeypatch):
    """What counts is the module that raised, not the name of a folder on its path."""
    from dpress.kinds.ranges import design as module

    scope = {"__name__": "another"}
    exec(compile(f"def broken(_spec): raise ValueError({SECRET!r})", "/x/dpress/site/another.py", "exec"), scope)  # noqa: S102  # a function of another module
    monkeypatch.setattr(module, "choose", scope["broken"])
    assert failed("plan", "ages.toml").startswith("internal error: ValueError at dpress.")


def test_a_library_that_cannot_be_loaded_is_named_without_its_message(failed, monkeypatch):
    from dpress.kinds.ranges import design as module

    scope = {"__name__": "another"}
    exec(f"def broken(_spec): raise ImportError({SECRET!r}, name='_ssl')", scope)  # noqa: S102  # as a loader does
    monkeypatch.setattr(module, "choose", scope["broken"])
    assert failed("plan", "ages.toml").startswith("the module _ssl cannot be loaded at dpress.")


def test_signs_that_steer_a_terminal_are_shown_as_text(failed):
    assert r"\x1b[2Jx.toml" in failed("plan", "\x1b[2Jx.toml")


@pytest.mark.parametrize(
    ("place", "words", "spent"),
    [("prepare", "nothing was charged", 0), ("noisy", f"the charge of {STANDS}", 1)],
)
def test_an_interruption_says_whether_the_budget_was_charged(folder, failed, monkeypatch, place, words, spent):
    def interrupted(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(MatrixMechanism, place, interrupted)
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    assert failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet") == f"stopped; {words}"
    assert Ledger.open(folder / "b.sqlite").summary().spent["epsilon"] == spent
    assert not (folder / "out").exists()


@pytest.mark.parametrize("place", [(paid, "_drawn"), (publishing, "_released"), (publishing, "_write")])
@pytest.mark.parametrize("cause", [ZeroDivisionError, ValueError, MemoryError])
def test_whatever_fails_after_the_charge_says_that_it_stands(folder, failed, monkeypatch, place, cause):
    def broken(*_args, **_more):
        raise cause(SECRET)

    monkeypatch.setattr(*place, broken)
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    line = failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet")
    assert line.endswith(f"; the charge of {STANDS}")
    assert line.count("stands") == 1
    assert Ledger.open(folder / "b.sqlite").summary().spent["epsilon"] == 1
    assert not (folder / "out").exists()


def test_without_the_note_a_failure_after_the_charge_is_found(folder, failed, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError

    monkeypatch.setattr(paid, "_drawn", broken)
    monkeypatch.setattr(paid, "_noting", lambda *_: contextlib.nullcontext())
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    assert "stands" not in failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet")


def test_a_refusal_by_the_ledger_is_no_charge_and_has_no_note(folder, failed, monkeypatch):
    monkeypatch.setattr(Ledger, "check", lambda *_args, **_more: None)  # another process was faster
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon="1/2"), unit=Unit())
    assert "stands" not in failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet")
    assert Ledger.open(folder / "b.sqlite").summary().spent["epsilon"] == 0


def test_a_note_of_another_package_is_withheld(failed, monkeypatch):
    from dpress.kinds.ranges import design as module

    def broken(_spec):
        error = ValueError("no such thing")
        error.add_note(SECRET)
        raise error

    monkeypatch.setattr(module, "choose", broken)
    failed("plan", "ages.toml")


def test_an_engine_that_was_interrupted_did_not_fail_to_read():
    def interrupted():
        raise duckdb.InterruptException("SELECT the rows")

    with pytest.raises(KeyboardInterrupt):
        without_quotes("rows.csv", interrupted)


def test_memory_that_an_engine_lacks_is_no_fault_of_the_file():
    def lacking():
        raise duckdb.OutOfMemoryException(SECRET)

    with pytest.raises(MemoryError) as caught:
        without_quotes("rows.csv", lacking)
    assert (str(caught.value), caught.value.__context__) == ("", None)


def test_memory_that_is_lacking_before_the_charge_says_that_nothing_was_charged(folder, failed, monkeypatch):
    def lacking(*_args, **_more):
        raise MemoryError(SECRET)

    monkeypatch.setattr(MatrixMechanism, "prepare", lacking)
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    line = failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet")
    assert line.startswith("there is not enough memory for this")
    assert line.endswith("nothing was charged")
    assert Ledger.open(folder / "b.sqlite").summary().spent["epsilon"] == 0


def test_a_disk_that_fills_after_the_charge_says_that_the_charge_stands(folder, failed, monkeypatch):
    def full(*_args):
        raise OSError("no space left")

    monkeypatch.setattr(Ledger, "spend", full)
    Ledger.create(folder / "b.sqlite", limit=PureDP(epsilon=2), unit=Unit())
    message = failed("publish", "ages.toml", "--out", "out", "--ledger", "b.sqlite", "--quiet")
    assert message == f"no space left; noise was drawn, so the charge of {STANDS}"
    assert Ledger.open(folder / "b.sqlite").summary().spent["epsilon"] == 1
