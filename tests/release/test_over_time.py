"""What a device gives away over time: by method, and why reports of one permanent response do not add up one by one."""

import math
from fractions import Fraction

import pytest

from dpress import plan
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.mechanisms.oracle.loloha import Loloha, calibrated
from dpress.release.plan.over_time import given_away

AGE = {"name": "age", "kind": "integer", "bounds": [0, 99]}


def planned(method="auto", **parameters):
    asked = {"kind": "histogram", "method": method, "parameters": parameters}
    return plan(from_dict({"attribute": [AGE], "privacy": {"model": "local", "epsilon": 1.0}, "release": asked}))


def lost(method, reports, changes, **parameters):
    return float(given_away(planned(method, **parameters).chosen.mechanism, reports, changes))


@pytest.mark.parametrize(("reports", "changes"), [(1, 0), (12, 0), (12, 3), (120, 100)])
def test_losses_by_method(reports, changes):
    values = min(changes + 1, reports)
    assert lost("pgr", reports, changes) == reports
    ever = planned("rr_ldp").chosen.mechanism.lifetime.epsilon
    assert lost("rr_ldp", reports, changes) == pytest.approx(0.983005 if reports == 1 else values * float(ever))
    assert lost("loloha", reports, changes) == pytest.approx(1 if reports == 1 else 2 * min(values, 2))
    assert lost("loloha", reports, changes, g=5) == pytest.approx(1 if reports == 1 else 2 * min(values, 5))


def together(own, reports):
    """The exact loss of so many reports of one value, all of them its cell's."""
    odds = (own.p / ((1 - own.p) / (own.g - 1))) ** reports
    return math.log((own.kept * odds + 1 - own.kept) / (own.other * odds + 1 - own.other))


def test_two_reports_of_one_permanent_response_may_cost_more_than_twice_one():
    own = calibrated(9, PureDP(epsilon="0.2"), 9, Fraction("2.5"))
    assert isinstance(own, Loloha)
    assert together(own, 1) == pytest.approx(0.2)
    assert together(own, 2) > 2 * together(own, 1) * 1.01
    assert all(together(own, reports) <= float(own.lifetime.epsilon) for reports in (2, 10, 1000))


def test_a_plan_takes_what_gives_away_least_and_says_it():
    once, often = planned(), planned(reports=120, changes=6)
    assert once.chosen.method != "loloha"
    assert often.chosen.method == "loloha"
    costs = {one.method: given_away(one.mechanism, 120, 6) for one in often.candidates}
    assert min(costs.values()) == costs["loloha"] < costs["rr_ldp"] < costs["krr"]
