"""What is refused: by the specification alone where that tells it, before the charge in any case."""

import contextlib
import itertools

import pytest
from tests.matrix import runs
from tests.matrix.array import drawn
from tests.matrix.axes import AXES, ROOMS
from tests.matrix.checks import told
from tests.matrix.refusals import breaking, refusal
from tests.matrix.rules import RULES, allowed

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch

OF_EACH = 3  # cases of every rule
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.refused], ids=lambda rule: rule.why)
def test_what_breaks_a_rule_is_refused_by_the_specification_alone(rule, tmp_path):
    by_oracle = ("joint of devices",) if "method" in rule.axes else ()  # any oracle collects it
    broken = (case for case in breaking(rule, rng.seeded(5)) if case["room"] not in by_oracle)
    cases = list(itertools.islice(broken, OF_EACH))
    assert cases
    for number, case in enumerate(cases):
        assert refusal(case, tmp_path / str(number)) == [], told(case)


@pytest.mark.parametrize("room", ROOMS)
def test_a_table_without_rows_is_refused_before_the_charge(room, tmp_path):
    of_room = (case for case in drawn(3) if case["room"] == room and case["read"] != "command")
    few = {"rows": 300 if room.endswith("of devices") else 1}  # what is about nothing is refused for that first
    case = next(case for case in of_room if allowed(case | few)) | {"rows": 0}
    with pytest.raises(SchemaMismatch, match="no rows"):
        runs.run(case, tmp_path / "case")
    nothing_came_of_it(tmp_path / "case")


@pytest.mark.parametrize("room", [room for room in ROOMS if room.endswith("of devices")])
@pytest.mark.parametrize("rows", [1, 4])
def test_few_reports_are_enough_or_refused_in_a_line(room, rows, tmp_path):
    case = next(case for case in drawn(4) if case["room"] == room and case["read"] != "command") | {"rows": rows}
    with contextlib.suppress(ValueError):
        runs.run(case, tmp_path / "case")
        return
    assert not (tmp_path / "case" / "out").exists()


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("names", "strings of devices")])
def test_a_stray_value_that_is_to_be_refused_is_refused_before_the_charge(room, tmp_path):
    """The message has no value of the rows."""
    stray = {"outside": "reject", "missing": "reject", "contents": "stray", "rows": 300, "where": "none"}
    plain = (case | stray for case in drawn(6))
    used = (case for case in plain if case["grouped"] != "no" or "statistics" not in room)
    case = next(case for case in used if case["room"] == room and allowed(case | {"contents": "spread"})
                and case["read"] != "command" and case["column"] != "truths")  # fmt: skip
    with pytest.raises(SchemaMismatch) as refused:
        runs.run(case, tmp_path / "case")
    assert "\n" not in str(refused.value)
    assert "nowhere" not in str(refused.value)
    nothing_came_of_it(tmp_path / "case")


def nothing_came_of_it(folder):
    """Nothing was charged, and nothing was written."""
    assert not (folder / "out").exists()
    ledger = folder / "budget.db"
    assert not ledger.exists() or dpress.Ledger.open(ledger).summary().entries == ()


def test_every_rule_is_about_axes_that_there_are():
    assert all(set(rule.axes) <= set(AXES) for rule in RULES)
