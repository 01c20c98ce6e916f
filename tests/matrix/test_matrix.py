"""Whole cases that cover every pair of values of all options, each run from end to end.

Their noise is that of secure generators whose keys follow from the case, so that it is the same every day. The
intervals of all cases that ran so far are tested together: `pooled.FALSE_ALARM` is that of the whole run, shared out.
"""

import json
import os
from pathlib import Path

import pytest
from tests.matrix import pooled
from tests.matrix.array import cases, drawn, meetings, pairs_of
from tests.matrix.checks import told
from tests.matrix.rules import RULES
from tests.matrix.whole import verdict

PARTS = 24
PAIRS = 11_729  # that some case can have, and that the array covers
MEETINGS = 246  # of conditions with kinds by sources and by engines, of 304; random cases have the others, too
DRAWN = 20_000  # random cases, none of which has a pair that the array does not cover


@pytest.fixture
def shares(tmp_path_factory, request):
    """The file that all processes of a run add to: of each case the share of its intervals that hold."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if hasattr(request.config, "workerinput") else base) / "shares.txt"


def test_the_array_covers_every_pair():
    """Counted without the library that made it."""
    array = cases()
    assert all(rule.holds(case) for case in array for rule in RULES)
    covered = set().union(*map(pairs_of, array))
    assert len(covered) == PAIRS
    assert len(set().union(*map(meetings, array))) == MEETINGS
    random = drawn(0)
    for case in (next(random) for _ in range(DRAWN)):
        if all(rule.holds(case) for rule in RULES):
            assert pairs_of(case) <= covered


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_of_options(part, tmp_path, shares):
    """Each case by itself; then the intervals of all cases so far together."""
    wrong = {}
    for number, case in enumerate(cases()[part::PARTS]):
        found = verdict(case, tmp_path / str(number))
        if found.wrong:
            wrong[told(case)] = found.wrong
        if found.intervals:
            with shares.open("a") as file:
                file.write(f"{found.held / found.intervals}\n")
    assert not wrong, json.dumps(wrong, indent=1, ensure_ascii=False)
    assert not pooled.too_few([float(line) for line in shares.read_text().splitlines()], looks=PARTS)


def test_intervals_that_hold_too_seldom_are_found():
    """A planted fault: intervals that hold in 90 of 100 cases; those that hold in 95 pass."""
    assert pooled.too_few([0.0] * 100 + [1.0] * 900, looks=PARTS)
    assert not pooled.too_few([0.0] * 50 + [1.0] * 950, looks=PARTS)


@pytest.mark.skipif("MATRIX_MINUTES" not in os.environ, reason="`make matrix` runs random cases as long as it is told")
def test_random_cases(tmp_path):
    """As many as there is time for, from a seed that `MATRIX_SEED` names."""
    import time

    end, wrong, held = time.monotonic() + 60 * float(os.environ["MATRIX_MINUTES"]), {}, []
    random, ran = drawn(int(os.environ.get("MATRIX_SEED", "1"))), 0
    while time.monotonic() < end:
        case, ran = next(random), ran + 1
        found = verdict(case, tmp_path / str(ran))
        if found.intervals:
            held.append(found.held / found.intervals)
        if found.wrong:
            wrong[told(case)] = found.wrong
    Path("out").mkdir(exist_ok=True)
    Path("out/matrix.json").write_text(json.dumps({"cases": ran, "wrong": wrong}, indent=1, ensure_ascii=False))
    assert not wrong, json.dumps(wrong, indent=1, ensure_ascii=False)
    assert not pooled.too_few(held)
