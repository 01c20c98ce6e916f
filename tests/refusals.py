"""Fixtures of commands that must be refused, in a folder with rows: one line, nothing written, nothing charged."""

import re

import pytest

from dpress import Ledger, PureDP, Unit
from dpress.cli.main import main

SECRET = "4711-secret"  # in rows that no message may quote


@pytest.fixture
def ledger(folder):
    return Ledger.create(folder / "budget.sqlite", limit=PureDP(epsilon=1), unit=Unit())


@pytest.fixture
def refused(folder, capsys, monkeypatch):
    """Run a command that must be refused and return its only line."""

    def run(*arguments):
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        assert caught.value.code == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(r"dpress: [^\n]+\n", err), err
        assert SECRET not in err
        left = {path.name for path in folder.iterdir() if path.name == "out" or ".out." in path.name}
        assert left <= ({".out.unfinished"} if "finishes it without another" in err else set())
        return err.removeprefix("dpress: ").strip()

    return run


@pytest.fixture
def publish_refused(refused, ledger):
    """Publish with a ledger; the refusal must cost nothing."""

    def run(spec="spec.toml", *more, spent=0):
        line = refused("publish", spec, "--out", "out", "--ledger", "budget.sqlite", *more)
        assert ledger.summary().spent == {"epsilon": spent}
        return line

    return run
