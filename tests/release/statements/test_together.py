"""Counts that several releases measured: their combination's error is what it says, by simulation, and only falls."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.release.statements.wards import BY_WARD, SPEC, TRUE, rows

from dpress import load_spec
from dpress.core.basics import rng
from dpress.query.result import Result
from dpress.release.curator.publish import publish
from dpress.release.statements.plan_statements import ANY, plan_statements
from dpress.release.statements.together import Reading, combined, rows_of, together

AGAIN = 150  # times that all is drawn


def count(value: float, variance: float) -> Result:
    return Result.of_count("total", value, variance, 0.0, 0.95)


@pytest.fixture(scope="module")
def plans():
    """The same counts three times: by themselves, and as sums of finer ones, under different budgets."""
    finer = "select ward, size, count(*) from v group by ward, size"
    return [
        plan_statements({**SPEC, "privacy": privacy}, sql).parts[0].planned
        for privacy, sql in (({"epsilon": 0.5}, BY_WARD), ({"epsilon": 0.3}, BY_WARD), ({"epsilon": 0.8}, finer))
    ]


def test_the_error_of_a_combination_is_that_of_a_simulation(plans) -> None:
    errors, stated, within = [], [], []
    for draw in range(AGAIN):
        readings = [
            Reading(number, publish(planned, rows(), rng=rng.seeded(10 * draw + number)), BY_WARD, 0.95)
            for number, planned in enumerate(plans)
        ]
        answer = together(readings[0], readings[1:])
        assert answer.numbers == (0, 1, 2)
        for row in answer.table.table.to_pylist():
            errors.append(row["count"] - TRUE[row["ward"]])
            stated.append(row["count_error"])
            within.append(row["count_low"] <= TRUE[row["ward"]] <= row["count_high"])
    alone = [reading.release.query("ward = eyes").standard_error for reading in readings]
    assert max(stated) < min(alone)
    assert stated == pytest.approx([1 / math.sqrt(sum(1 / error**2 for error in alone))] * len(stated))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(stated[0], rel=0.09)
    assert abs(np.mean(errors)) < 4 * stated[0] / math.sqrt(len(errors))
    assert np.mean(within) >= 0.94


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)), min_size=2, max_size=6))
def test_the_error_only_falls_and_the_value_lies_between(pairs) -> None:
    counts = [count(value, variance) for value, variance in pairs]
    last = counts[0]
    for number in range(2, len(counts) + 1):
        both = combined(counts[:number], "laplace")
        assert both.standard_error < last.standard_error
        assert both.standard_error <= min(each.standard_error for each in counts[:number])
        values = [each.value for each in counts[:number]]
        assert min(values) - 1e-6 <= both.value <= max(values) + 1e-6
        last = both


def test_other_numbers_than_counts_stay_those_of_one_release(plans) -> None:
    sql = "select avg(size), count(*) from v"
    planned = plan_statements({**SPEC, "privacy": {"epsilon": 0.5}}, sql).parts[0].planned
    first = Reading(1, publish(planned, rows(), rng=rng.seeded(1)), sql, 0.95)
    other = Reading(2, publish(plans[2], rows(), rng=rng.seeded(2)), sql, 0.95)
    (row,) = together(first, [other]).table.table.to_pylist()
    (alone,) = together(first, []).table.table.to_pylist()
    assert row["avg"] == alone["avg"]
    assert row["avg_error"] == alone["avg_error"]
    assert row["count_error"] < alone["count_error"]


def test_only_releases_of_the_same_rows_are_used() -> None:
    """A release of those of an age, and one of an attribute that leaves rows out, count others."""
    spec = load_spec(SPEC, release=ANY)
    every = [
        rows_of(spec, sql)
        for sql in (
            BY_WARD,
            "select count(*) from v",
            "select avg(size) from v where age between 18 and 64",
            "select avg(size), count(*) from v where age between 65 and 80",
            "select stay, count(*) from v group by stay",
        )
    ]
    assert every[0] == every[1]
    assert len({*every[1:]}) == 4


def test_a_planted_dependence_of_the_noise_is_caught(plans, monkeypatch) -> None:
    """Were one release asked twice, the stated error would be too small."""
    seeded = rng.seeded
    monkeypatch.setattr(rng, "seeded", lambda number: seeded(number // 10))
    twice = [plans[0]] * 3
    with pytest.raises(AssertionError):
        test_the_error_of_a_combination_is_that_of_a_simulation(twice)
