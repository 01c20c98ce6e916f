"""Plans that know how few people there are: which method answers best, and what is said of that."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpress
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.ranges import AllRanges
from dpress.core.maps.workload import Boxes
from dpress.kinds.ranges import few_people
from dpress.kinds.ranges.plan_text import WORDS
from dpress.mechanisms.ranges.level_tree import level_tree
from dpress.release.plan.plan import Plan

CELLS = 1024
AGE = {"name": "age", "kind": "integer", "bounds": [0, CELLS - 1]}


def planned(**parameters: Any) -> Plan:
    plain = {
        "attribute": parameters.pop("attribute", [AGE]),
        "privacy": {"epsilon": 0.1},
        "release": {"kind": "ranges", **parameters.pop("release", {}), "parameters": parameters},
    }
    return dpress.plan(dpress.load_spec(plain))


def remark(plan: Plan) -> str:
    return next(text for text in WORDS.text(plan).remarks if isinstance(text, str) and "unbiased" in text)


def test_few_people_get_the_tree_that_errs_less_and_many_the_unbiased_best() -> None:
    few, many, usual = planned(users=500), planned(users=10_000_000), planned()
    assert few.chosen.mechanism == few_people.tree(usual.chosen.mechanism)
    assert few.chosen.predicted_error > usual.chosen.predicted_error
    assert many.chosen.mechanism == usual.chosen.mechanism
    assert few.choice.users == 500
    assert "`users`" in remark(usual)
    likely = few_people.likely_error(few.chosen.mechanism, few.choice.workload, 500) ** 0.5
    assert f"Of 500 people the value, of counts >= 0, is likely to err by +- {likely:,.1f}" in remark(few)


@pytest.mark.parametrize(
    "named",
    [
        {"release": {"method": "hierarchy"}},
        {"release": {"postprocess": []}},
        {"release": {"postprocess": ["integer"]}},
        {"branching": 2},
    ],
)
def test_what_is_named_stays_and_unbiased_answers_keep_their_best_method(named: dict[str, Any]) -> None:
    release = named.pop("release", {})
    assert planned(users=500, release=release, **named).design.ask == planned(release=release, **named).design.ask


def test_users_are_asked_for_where_they_choose_a_method_and_are_not_stated() -> None:
    hours = {"name": "hour", "kind": "integer", "bounds": [0, 23]}
    boxes = [planned(attribute=[hours, {**hours, "name": "end"}], **users) for users in ({}, {"users": 500})]
    assert all("counts >= 0" in remark(plan) and "`users`" not in remark(plan) for plan in boxes)
    assert "`users`" in remark(planned(attribute=[hours]))


def test_how_many_devices_report_is_known_to_their_counts() -> None:
    """Almost without noise nearly nothing is left; a total that is one standard deviation off, the control, stays."""
    tree, users = level_tree(16, PureDP(epsilon=16), AllRanges(16)), 10_000
    error = few_people.likely_error_of_reports(tree, Boxes((AllRanges(16),)), users)
    assert error < 0.01 * users


@pytest.mark.slow
def test_the_likely_error_is_near_the_one_that_comes_out() -> None:
    """Within a factor of four for two crowds that nobody simulated; that of the unbiased answers is not."""
    plan = planned(users=1000)
    likely = few_people.likely_error(plan.chosen.mechanism, plan.choice.workload, 1000)
    draws = np.random.default_rng(1)  # noqa: TID251  # made-up people
    left, right = np.sort(draws.integers(0, CELLS + 1, (2, 300)), axis=0)
    left, right = left[left < right], right[left < right]
    for shares in (np.linspace(0, 1, CELLS), np.arange(CELLS) % 37 == 5):
        truth, squares = draws.multinomial(1000, shares / shares.sum()), []
        sums = np.append(0, np.cumsum(truth))
        for run in range(4):
            rows = pa.table({"age": np.repeat(np.arange(CELLS), truth)})
            release = dpress.publish(plan, rows, rng=rng.seeded(run))
            counts = release.answers.query_ranges(left + 1, right)["count"].to_numpy()
            squares.append(np.mean((counts - (sums[right] - sums[left])) ** 2))
        assert likely / 4 < np.mean(squares) < 4 * likely
    assert plan.chosen.predicted_error > 4 * likely
