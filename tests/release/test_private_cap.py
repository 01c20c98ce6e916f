"""A private cap: no person changes a score by more than is stated, whatever the rows; charged before it is drawn."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from dpress import load_spec
from dpress.cli.check import command
from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import BudgetExceeded, SchemaMismatch
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.ledger import Ledger
from dpress.mechanisms.choice.exponential import Exponential
from dpress.release.curator.private_cap import private_cap, scores, sensitivity

CAPS = 3
SPEC = """
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
[privacy]
epsilon = 1.0
unit = {unit}
relation = "{relation}"
[release]
kind = "histogram"
"""


def spec(unit='"uid"', relation="add-remove"):
    return load_spec(SPEC.format(unit=unit, relation=relation))


def people(rows):
    """Return a table in which the persons have so many rows each."""
    uids = np.repeat(np.arange(len(rows)), rows)
    return pa.table({"uid": uids, "sex": ["F"] * len(uids)})


def scored(rows, quantile):
    at_most = [sum(own <= cap for own in rows) for cap in range(CAPS)]
    return scores(np.array([*at_most, len(rows)]), quantile)


def largest_change(relation, quantile, score=scored):
    """Return the most that a person with up to 50 rows changes a score, over all tables of up to three others."""
    rows, most = (1, 2, 3, 4, 50), 0
    for others in (table for size in range(4) for table in itertools.combinations_with_replacement(rows, size)):
        own = [score([*others, one], quantile) for one in rows]
        near = own if relation is Relation.REPLACE_ONE else [score(list(others), quantile)]
        most = max([most, *(int(np.abs(first - second).max()) for first in own for second in near)])
    return most


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("quantile", [Fraction(19, 20), Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)])
def test_the_sensitivity_is_that_of_all_small_tables_and_tight(relation, quantile):
    assert largest_change(relation, quantile) == sensitivity(quantile, relation)


def test_a_score_of_rows_is_more_sensitive():
    """The control counts rows in the place of persons: a person with 50 rows changes it fifty times as much."""

    def in_rows(rows, quantile):
        at_most = [sum(min(own, cap) for own in rows) for cap in range(CAPS)]
        return scores(np.array([*at_most, sum(rows)]), quantile)

    quantile = Fraction(1, 2)
    assert largest_change(Relation.ADD_REMOVE, quantile, in_rows) > 10 * sensitivity(quantile, Relation.ADD_REMOVE)


@pytest.mark.parametrize(
    ("rows", "quantile", "cap"),
    [
        ([3] * 50, 0.95, 3),
        ([1] * 94 + [7] * 6, 0.95, 7),
        ([1] * 96 + [7] * 4, 0.95, 1),
        ([1, 2, 3, 4, 5] * 20, 0.5, 3),
        ([500] * 10, 0.95, 9),
    ],
)
def test_without_noise_it_is_the_quantile(rows, quantile, cap):
    found = private_cap(spec(), people(rows), epsilon=1000, quantile=quantile, largest=9, rng=rng.seeded(1))
    assert found.cap == cap
    assert (found.largest, found.quantile) == (9, Fraction(str(quantile)))


def test_the_choice_is_that_of_the_mechanism_and_so_is_the_claim():
    """The claim's loss is the sampler's: the same words choose the same cap."""
    rows = [1, 2, 2, 3, 3, 3, 4, 9] * 5
    mechanism = Exponential(loss=PureDP(epsilon=0.5), unit=Unit(column="uid"), sensitivity=19)
    wanted = scores(np.array([*(sum(own <= cap for own in rows) for cap in range(6)), len(rows)]), Fraction(19, 20))
    found = [private_cap(spec(), people(rows), epsilon=0.5, largest=6, rng=rng.seeded(seed)) for seed in range(20)]
    assert [one.cap for one in found] == [1 + mechanism.choose(wanted, rng=rng.seeded(seed)) for seed in range(20)]
    assert found[0].claim == mechanism.claim
    assert len({one.cap for one in found}) > 2


def test_the_ledger_pays_before_the_choice_for_a_person_with_any_rows(tmp_path, monkeypatch):
    """A ledger of another number of rows pays too; of another person, or without enough, it refuses and keeps all."""
    data = people([1, 2, 3] * 9)
    account = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=0.5), unit=Unit(column="uid", rows=7))

    def failing(*_, **__):
        raise OSError("stopped")

    private_cap(spec(), data, epsilon=0.2, ledger=account, rng=rng.seeded(1))
    (entry,) = account.summary().entries
    assert (entry.loss, entry.confirmed, entry.label) == (PureDP(epsilon=0.2), True, "rows_per_unit")
    with monkeypatch.context() as patch:
        patch.setattr(Exponential, "choose", failing)
        with pytest.raises(OSError, match="stopped"):
            private_cap(spec(), data, epsilon=0.2, ledger=tmp_path / "l.db")
    assert [one.confirmed for one in account.summary().entries] == [True, False]
    with pytest.raises(BudgetExceeded):
        private_cap(spec(), tmp_path / "not read.csv", epsilon=0.2, ledger=account)
    with pytest.raises(ValueError, match="the ledger protects a uid"):
        private_cap(spec('"sex"'), data, epsilon=0.01, ledger=account)
    assert len(account.summary().entries) == 2


def test_what_cannot_be_is_refused():
    data = people([1, 2])
    for arguments, words in (({"epsilon": 0}, "epsilon"), ({"epsilon": 1, "quantile": 1}, "quantile must lie")):
        with pytest.raises(ValueError, match=words):
            private_cap(spec(), data, **arguments)
    with pytest.raises(ValueError, match="a cap needs a column that names the person"):
        private_cap(spec('"row"'), data, epsilon=1)
    with pytest.raises(SchemaMismatch, match="no column 'uid'"):
        private_cap(spec(), data.select(["sex"]), epsilon=1)


def test_the_command_keeps_the_cap_apart_from_what_is_not_private(tmp_path):
    rows = "\n".join(f"{person},F" for person in range(200) for _ in range(4))
    (tmp_path / "rows.csv").write_text(f"uid,sex\n{rows}\n")
    (tmp_path / "spec.toml").write_text(SPEC.format(unit='"uid"', relation="add-remove"))
    account = Ledger.create(tmp_path / "l.db", limit=PureDP(epsilon=3), unit=Unit(column="uid"))
    asked = [str(tmp_path / "spec.toml"), "--data", str(tmp_path / "rows.csv")]
    paid = ["--private-cap", "2", "--ledger", str(tmp_path / "l.db")]
    first, *others = CliRunner().invoke(command, [*asked, *paid]).stdout.splitlines()
    assert first == "may be published | rows_per_unit = 4 for 95% of all, by epsilon = 2 for a uid with any rows"
    assert all(line.startswith("not private |") for line in others)
    refused = CliRunner().invoke(command, [*asked, *paid])
    assert isinstance(refused.exception, BudgetExceeded)
    assert refused.stdout == ""
    assert len(account.summary().entries) == 1
    plain = json.loads(CliRunner().invoke(command, [*asked, "--json", "--private-cap", "9"]).stdout)
    assert plain["private_cap"] == {
        "private": True, "cap": 4, "quantile": 0.95, "largest": 100, "charged": {"epsilon": 9.0}
    }  # fmt: skip
    assert "private_cap" not in json.loads(CliRunner().invoke(command, [*asked, "--json"]).stdout)
    assert CliRunner().invoke(command, [*asked, "--ledger", "l.db"]).exit_code == 2
