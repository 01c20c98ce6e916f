"""What the page forecasts: of made-up rows that fit, and in chances that the mechanism itself keeps."""

import itertools
import math

import pytest

from dpress import catalog
from dpress.core.basics.claim import ROW, Unit
from dpress.data.specification.spec import load_spec
from dpress.release.plan.made_up import MOST, made_up
from dpress.release.plan.plan import plan
from dpress.release.truth.data_check import check
from dpress.reporting.posterior import at_most
from dpress.reporting.rounding import error as rounded
from dpress.studio import acts, forecast

ATTRIBUTES = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [-3, 9]
bins = 5
[[attribute]]
name = "size"
kind = "numeric"
edges = [0.5, 1.0, 4.0]
[[attribute]]
name = "sex"
kind = "categorical"
values = ["f", "m"]
[[attribute]]
name = "smokes"
kind = "ordinal"
values = [0, 1, 2]
[[attribute]]
name = "born"
kind = "date"
bounds = ["1999-05-05", "2001-02-02"]
cells = "month"
[[attribute]]
name = "day"
kind = "date"
cells = "weekday"
[[attribute]]
name = "at"
kind = "datetime"
zone = "Europe/Berlin"
cells = "hour of day"
"""
PRIVACY = "[privacy]\nepsilon = 1\n"


def test_made_up_rows_fit_every_kind_of_attribute():
    spec = load_spec(f"{ATTRIBUTES}{PRIVACY}[release]\nkind = 'marginals'\nparameters = {{ ways = 1 }}\n")
    rows = made_up(spec.attribute, ROW, 2000)
    found = check(spec, rows)
    assert (found.rows, found.kept, found.passed) == (2000, 2000, True)
    assert made_up(spec.attribute, ROW, 2000).equals(rows)
    assert all(len(set(column.to_pylist())) > 1 for column in rows.columns)
    assert made_up(spec.attribute, ROW, 10**9).num_rows == MOST


def test_made_up_people_have_as_many_rows_as_count():
    spec = load_spec(f"{ATTRIBUTES}{PRIVACY}[release]\nkind = 'histogram'\nattributes = ['sex']\n")
    rows = made_up(spec.attribute, Unit(column="uid", rows=3), 30)
    assert rows["uid"].to_pylist() == [one // 3 for one in range(30)]


RELEASES = {
    "histogram": "attributes = ['sex', 'smokes']",
    "ranges": "attributes = ['age']",
    "statistics": "attributes = ['age', 'sex']\nparameters = { by = ['sex'], mean = ['age'], users = 500 }",
    "joint": "attributes = ['age', 'sex', 'smokes']",
    "microdata": "attributes = ['age', 'sex']\nparameters = { users = 500 }",
    "queries": "attributes = ['age', 'sex']\nparameters = { queries = ['sex = f or age = 0', 'sex = m'] }",
}


UNPREDICTED = ("microdata",)  # whose methods predict no error that could be compared


@pytest.mark.parametrize("kind", RELEASES)
def test_every_kind_has_a_forecast_and_a_picture(kind):
    spec = load_spec(f"{ATTRIBUTES.replace('bins = 5', '')}{PRIVACY}[release]\nkind = '{kind}'\n{RELEASES[kind]}\n")
    found = forecast.forecast(spec)
    assert found["why"].startswith(found["method"])
    assert found["promise"] == "epsilon = 1 (proven)"
    times = [float(one["times"]) for one in found["budgets"]]
    assert not times if kind in UNPREDICTED else times[0] > 1 > times[1]
    assert ("errs least" in found["why"]) is (kind not in UNPREDICTED and "only method" not in found["why"])
    drawn = forecast.bars(acts.made_up_release(spec, 500))
    assert drawn["bars"] or drawn["records"]
    assert all(one["low"] <= one["value"] <= one["high"] for one in drawn["bars"])


def test_bars_are_called_as_people_call_them():
    labelled = ATTRIBUTES.replace('values = ["f", "m"]', 'values = ["f", "m"]\nlabels = { f = "women" }')
    spec = load_spec(f"{labelled}{PRIVACY}[release]\nkind = 'histogram'\nattributes = ['sex', 'smokes']\n")
    drawn = [bar["label"] for bar in forecast.bars(acts.made_up_release(spec, 500))["bars"]]
    assert drawn == ["women, 0", "women, 1", "women, 2", "m, 0", "m, 1", "m, 2"]


def test_chances_are_those_that_randomized_response_reaches():
    """The best tests of a bit that is kept with probability e / (1 + e) reach the bound at every chance."""
    for epsilon in (0.1, 1.0, 3.0):
        kept = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert at_most(1 - kept, epsilon) == pytest.approx(kept)
        assert at_most(1.0, epsilon) == 1.0
        for step in range(101):
            chance = step / 100
            tests = [(0, 0), (1 - kept, kept), (1, 1)]  # of the bit: never, where it is one, always
            reached = max(
                left[1] + (right[1] - left[1]) * (chance - left[0]) / (right[0] - left[0])
                for left, right in itertools.pairwise(tests)
                if left[0] <= chance <= right[0]
            )
            assert reached <= at_most(chance, epsilon) + 1e-12
            assert reached == pytest.approx(at_most(chance, epsilon))


def test_chances_of_a_promise_with_delta_are_larger():
    assert at_most(0.1, 1.0, 0.01) > at_most(0.1, 1.0)
    assert at_most(0.1, 0.0, 0.05) == pytest.approx(0.15)


STATISTICS = """
[[attribute]]
name = "ward"
kind = "categorical"
values = ["eyes", "hearts"]
[[attribute]]
name = "cost"
kind = "integer"
bounds = [0, 9999]
title = "Cost of a visit"
unit = "EUR"
[privacy]
epsilon = 1
[release]
kind = "statistics"
[release.parameters]
users = 8000
by = ["ward"]
mean = ["cost"]
"""


def test_how_far_off_means_will_be_is_the_plan_s_error_of_means():
    spec = load_spec(STATISTICS)
    planned = plan(spec)
    errors = catalog.room("statistics").words.plain(planned, planned.chosen)["standard_errors"]
    told = forecast.forecast(spec)
    mean, count = (rounded(errors[name]) for name in ("mean cost", "count"))
    assert f"mean of Cost of a visit \N{PLUS-MINUS SIGN} {mean} EUR" in told["off"]
    assert told["off"].endswith(f" and count \N{PLUS-MINUS SIGN} {count}.")
    listed = dict(told["tables"][0]["rows"])
    assert listed["mean cost"] == f"+- {mean}"


def test_how_far_off_counts_will_be_is_the_plan_s_error():
    spec = load_spec(f"{ATTRIBUTES}{PRIVACY}[release]\nkind = 'marginals'\nparameters = {{ ways = 1 }}\n")
    error = math.sqrt(plan(spec).chosen.predicted_error)
    told = forecast.forecast(spec)
    assert told["off"] == f"Its numbers will be off by \N{PLUS-MINUS SIGN} {rounded(error)}, typically."
    assert f"+- {error:,.1f}" in told["tables"][0]["rows"][0]


def test_how_far_off_records_will_be_no_plan_can_tell():
    spec = load_spec(f"{ATTRIBUTES}{PRIVACY}[release]\nkind = 'microdata'\n")
    assert forecast.forecast(spec)["off"] == ""
