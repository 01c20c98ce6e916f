"""The smallest budget for a wished error: it reaches it, less does not, and what cannot be reached is refused."""

import math
from fractions import Fraction

import pytest

from dpress.core.basics.errors import NotSupported
from dpress.release.plan import plan_for_error as module
from dpress.release.plan.plan import plan
from dpress.release.plan.plan_for_error import plan_for_error, rounded_up

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
FORMS = {
    "central": ({"epsilon": 1.0}, {"kind": "histogram"}, 7.5, "epsilon"),
    "rho": ({"rho": 8.0}, {"kind": "ranges"}, 3, "rho"),
    "delta": ({"epsilon": 0.01, "delta": 1e-6}, {"kind": "histogram"}, 20, "epsilon"),
    "local": ({"model": "local", "epsilon": 1.0}, {"kind": "ranges", "parameters": {"users": 5000}}, 120, "epsilon"),
    "mean": ({"epsilon": 1.0}, {"kind": "statistics", "parameters": {"mean": ["age"], "users": 500}}, 0.05, "epsilon"),
}


def spec(privacy, release):
    return {"attribute": [AGE], "privacy": privacy, "release": release}


@pytest.mark.parametrize("form", FORMS)
def test_the_budget_reaches_the_error_and_two_percent_less_does_not(form, monkeypatch):
    privacy, release, error, name = FORMS[form]
    made = []
    monkeypatch.setattr(module, "plan", lambda asked: made.append(asked) or plan(asked))
    found = plan_for_error(spec(privacy, release), error)
    budget = getattr(found.spec.privacy, name)
    assert math.sqrt(found.chosen.predicted_error) <= error
    less = plan(spec({**privacy, name: budget * 0.98}, release))
    assert math.sqrt(less.chosen.predicted_error) > error
    assert len(made) < 25
    assert found.spec.privacy.delta == privacy.get("delta")
    assert found.design.claim.proven is not None


@pytest.mark.parametrize("error", [0, -1.0, math.inf, math.nan, True, "10", None])
def test_an_error_that_is_no_number_above_zero_is_refused(error):
    with pytest.raises(ValueError, match=r"error: expected a number above 0, got"):
        plan_for_error(spec({"epsilon": 1.0}, {"kind": "histogram"}), error)


def test_an_error_that_no_budget_reaches_is_refused_with_what_the_largest_has():
    asked = spec({"model": "local", "epsilon": 1.0}, {"kind": "marginals", "parameters": {"users": 500, "ways": 1}})
    asked["attribute"] = [AGE, {**AGE, "name": "other"}]
    asked["release"]["parameters"]["split"] = "users"  # half of the people are asked about each
    with pytest.raises(NotSupported, match=r"up to 1000 has a typical error of 0\.1 counts; at 1000 it is [\d.]+"):
        plan_for_error(asked, 0.1)


@pytest.mark.parametrize(
    ("form", "unit"), [("central", "counts"), ("local", "counts"), ("mean", "widths of the bounds")]
)
def test_the_sentence_has_the_unit_of_the_error(form, unit):
    privacy, release, error, _ = FORMS[form]
    words = module.sentence(plan_for_error(spec(privacy, release), error), error)
    assert f"with a typical error of at most {error:g} {unit}: write it" in words


def test_a_budget_is_never_rounded_down():
    for budget in (0.1234, 1.0, 999.9, 3.1e-6, 0.100001):
        assert (
            Fraction(repr(budget)) <= Fraction(repr(rounded_up(budget))) <= Fraction(repr(budget)) * Fraction(101, 100)
        )
