"""The command as a real process: its table, its JSON, its exit codes."""

import pytest

from dpress.audit.verdict import Audit
from dpress.cli import audit as command
from dpress.cli.main import main

KEYS = {"kind", "instance", "relation", "claimed", "loss", "lower_bound", "samples", "confidence", "kept", "verdict"}
KEYS |= {"remark"}


@pytest.mark.slow
def test_a_channel_and_samples_of_it(dpress):
    done = dpress("audit", "krr", "--epsilon", "0.5", "--samples", "2000", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert set(found) == {"method", "model", "claimed", "checks", "kept"}
    assert (found["method"], found["model"], found["claimed"], found["kept"]) == (
        "krr",
        "local",
        {"epsilon": 0.5},
        True,
    )
    assert all(set(check) == KEYS for check in found["checks"])
    *exact, sampled = found["checks"]
    assert {check["kind"] for check in exact} == {"exact channel"}
    assert all(check["verdict"] == "kept exactly" and check["loss"] <= 0.5 for check in exact)
    assert sampled["kind"] == "sampled events"
    assert sampled["samples"] == 2000
    assert sampled["confidence"] == 0.99
    assert sampled["lower_bound"] <= 0.5
    assert sampled["verdict"] == "not contradicted by 2,000 samples"


@pytest.mark.slow
def test_the_table_names_every_relation_and_no_proof(dpress):
    done = dpress("audit", "dst")
    assert done.code == 0, done.err
    assert "replace-one, 3 rows" in done.out
    assert "kept, rounding bounded" in done.out
    assert "rounded matrix: an upper bound" in done.out
    assert "proven" not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no method 'nothing'"),
        (["dst", "--epsilon", "1"], "dst claims no epsilon; it claims rho"),
        (["krr", "--epsilon", "1", "--rho", "1"], "either --epsilon or --rho"),
        (["krr", "--epsilon", "-1"], "epsilon must be > 0"),
        (["krr", "--samples", "10"], "10 is not in the range"),
    ],
)
def test_wrong_usage_exits_with_two(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["audit", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_broken_claim_exits_with_one(monkeypatch, capsys):
    honest = command.audit

    def broken(card, loss, *, samples=None):
        found = honest(card, loss, samples=samples)
        first, *rest = found.checks
        bad = type(first)(kind=first.kind, instance="k", relation="r", claimed=loss, kept=False, loss=float("inf"))
        return Audit(method=found.method, model=found.model, checks=(bad, *rest))

    monkeypatch.setattr(command, "audit", broken)
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "krr"])
    assert stopped.value.code == 1
    assert "infinity  VIOLATED" in capsys.readouterr().out
