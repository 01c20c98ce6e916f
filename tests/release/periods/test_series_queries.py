"""Queries over a series: by groups and by periods, and the difference of two periods with its exact error."""

import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from tests.release.periods.months import MONTHS, VISITED, WARD, published, spec

from dpress.cli.main import cli
from dpress.core.basics.errors import NotSupported
from dpress.core.maps.spans import closing
from dpress.query.query_tree import Query
from dpress.release.periods.period_numbers import counts, group_weights, statistics

COST = {"name": "cost", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 4}


def of_means(folder, months, attributes=(VISITED, WARD, COST), name="cost"):
    plan = spec(kind="statistics", parameters={"by": ["ward"], "mean": [name]}, attributes=attributes)
    return published(folder, plan, months)


def variance_of(series, weights):
    """Return the variance of a sum of periods in that of one span, from all spans at once: w^T (S^T S)^-1 w."""
    measured = np.array([[first <= period <= last for period in range(4)] for first, last in series.spans], dtype=float)
    return weights @ np.linalg.inv(measured.T @ measured) @ weights


def test_counts_by_periods_are_those_of_the_published_ones(tmp_path):
    series = published(tmp_path / "out", spec(), MONTHS[:3])
    found = series.results("count by visited, ward")
    labels = series.calendar.dated.labels_between(0, 3)  # the first is cut by the bounds
    assert [dict(each.group)["visited"] for each in found] == [label for label in labels for _ in WARD["values"]]
    assert [each.value for each in found] == [
        series.query(f"visited = {month} and ward = {ward}").value for month in MONTHS[:3] for ward in WARD["values"]
    ]


def test_statistics_by_groups_are_answered_of_every_period(tmp_path):
    series = of_means(tmp_path / "out", MONTHS[:2])
    found = series.results("mean cost by ward")
    assert [each.group for each in found] == [
        (("visited", month), ("ward", ward)) for month in MONTHS[:2] for ward in WARD["values"]
    ]
    assert found[1].value == series.by_period("mean cost where ward = hearts")[MONTHS[0]].value
    assert [each.group for each in series.results("mean cost by visited")] == [
        (("visited", each),) for each in MONTHS[:2]
    ]
    done = CliRunner().invoke(cli, ["query", str(tmp_path / "out"), "mean cost by ward"])
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[0].split()[:3] == ["visited", "ward", "value"]
    with pytest.raises(ValueError, match="has an answer for every group; ask"):
        series.by_period("mean cost by ward")
    for text in ("mean cost", f"mean cost where visited = {MONTHS[0]}", "share ward = hearts"):
        with pytest.raises(
            ValueError, match=r"an answer for every group or period; ask `series.results\(...\)` for all"
        ):
            series.query(text)  # of several periods, of which nothing adds up


@pytest.mark.parametrize(
    ("text", "asked", "periods"),
    [
        ("count visited = 2024-02 - count visited = 2024-01", "total", ["2024-02", "2024-01"]),
        ("count visited = 2024-02 - count visited = 2024-01 where ward = eyes", "count where ward = eyes",
         ["2024-02", "2024-01"]),
        ("mean cost where visited = 2024-02 and ward = eyes", "mean cost where ward = eyes", ["2024-02"]),
        ("mean cost where visited = 2024-01", "mean cost", ["2024-01"]),
        ("visited in (2024-01, 2024-02)", "total", ["2024-01"]),
    ],
)  # fmt: skip
def test_a_query_of_periods_that_do_not_add_up_is_refused_with_what_does_work(tmp_path, text, asked, periods):
    """Every command of the refusal is answered."""
    folder = tmp_path / "out"
    of_means(folder, MONTHS[:2])
    done = CliRunner().invoke(cli, ["query", str(folder), text])
    assert done.exit_code == 1
    assert "every period answers by itself; of all periods `dpress query" in done.stderr
    commands = [shlex.split(command)[2:] for command in done.stderr.split("`")[1::2]]
    assert commands == [[str(place), asked] for place in (folder, *(folder / period for period in periods))]
    assert ("the squares of their standard errors" in done.stderr) is (" - " in text)
    for command in commands:
        assert CliRunner().invoke(cli, ["query", *command]).exit_code == 0


@pytest.mark.parametrize("counter", ["separate", "tree", "smooth"])
def test_the_difference_of_two_periods_has_the_noise_of_all_spans_that_either_is_made_of(tmp_path, counter):
    series = published(tmp_path / "out", spec(counter), MONTHS[:4])
    text = f"count visited = {MONTHS[3]} - count visited = {MONTHS[1]} where ward = eyes"
    (found,) = series.results(text)
    one = series.releases[closing(series.spans, 0)[0]].query("ward = eyes").standard_error
    assert found.standard_error**2 == pytest.approx(one**2 * variance_of(series, np.array([0.0, -1, 0, 1])))
    numbers = counts(series, group_weights(series, ("ward",)))
    change = numbers.change(1, 3, 0.95)
    assert (change.value[0], change.low[0], change.high[0]) == pytest.approx((found.value, *found.interval))
    each = [variance_of(series, np.eye(4)[period]) for period in range(4)]
    assert numbers.error[0] ** 2 == pytest.approx(one**2 * np.array(each))


def test_other_groups_of_separate_periods_are_compared_and_of_the_same_one_are_not(tmp_path):
    series = published(tmp_path / "out", spec(), MONTHS[:2])
    first, second = (f"ward = eyes and visited = {MONTHS[0]}", f"ward = hearts and visited = {MONTHS[1]}")
    (found,) = series.results(f"count {first} - count {second}")
    pair = series.query(first), series.query(second)
    assert found.value == pair[0].value - pair[1].value
    assert found.standard_error == pytest.approx(np.hypot(pair[0].standard_error, pair[1].standard_error))
    with pytest.raises(NotSupported, match="ask a period's own folder"):
        series.results(f"count {first} - count ward = hearts and visited = {MONTHS[0]}")


def test_a_change_of_a_statistic_lies_between_the_ends_of_two_intervals_each_with_half_the_chance(tmp_path):
    series = of_means(tmp_path / "out", MONTHS[:2])
    change = statistics(series, Query(of="mean", attribute="cost")).change(0, 1, 0.9)
    before, after = series.by_period("mean cost", confidence=0.95).values()
    assert change.value[0] == after.value - before.value
    assert (change.low[0], change.high[0]) == (
        after.interval[0] - before.interval[1],
        after.interval[1] - before.interval[0],
    )


def test_a_statistic_of_an_attribute_that_needs_quotes_is_answered(tmp_path):
    odd = COST | {"name": "a-b", "column": "cost"}
    series = of_means(tmp_path / "out", MONTHS[:1], (VISITED, WARD, odd), "a-b")
    for text in ("mean a-b", "mean 'a-b' where ward = eyes"):
        assert series.by_period(text)[MONTHS[0]].standard_error > 0
