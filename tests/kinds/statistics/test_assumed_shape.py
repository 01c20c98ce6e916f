"""A stated mean and spread change what is predicted, and are a guess that no promise rests on."""

from typing import Any

import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, WARD, spec, table

from dpress import plan, publish
from dpress.core.basics import rng
from dpress.kinds.statistics import plan_text

SKEWED = {"cost": {"mean": 190.0, "sd": 190.0}}
OWN: dict[str, Any] = {"variance": None, "median": None, "quantiles": None, "share": None}


def errors(**changes: Any) -> dict[str, float]:
    planned = plan(spec([WARD, COST, *([AGE] if changes.get("variance") else [])], **(OWN | changes)))
    return plan_text.expected_errors(planned, planned.chosen)


def test_the_prediction_is_that_of_a_release_of_such_values() -> None:
    even, stated = errors(), errors(assume=SKEWED, users=9000)
    assert stated["mean cost"] != pytest.approx(even["mean cost"])
    own = spec([WARD, COST], **(OWN | {"assume": SKEWED, "users": 9000}))
    found = publish(own, table(), rng=rng.seeded(1)).query("mean cost where ward = eyes").standard_error
    assert found == pytest.approx(stated["mean cost"], rel=0.15)


def test_a_variance_and_quantiles_take_it_too_and_the_evenly_spread_are_the_same() -> None:
    assert errors(variance=["age"])["variance age"] > 0
    uniform = {"age": {"mean": 49.5, "sd": 100 / 12**0.5}}
    pair = [errors(variance=["age"], **own)["variance age"] for own in ({}, {"assume": uniform})]
    assert pair[0] == pytest.approx(pair[1], rel=0.01)
    narrow = {"cost": {"mean": 500.0, "sd": 50.0}}
    wide, close = (errors(quantiles={"cost": [0.5]}, assume=own, users=600)["median cost"] for own in (None, narrow))
    assert close < wide / 2


def test_a_plan_says_what_it_rests_on_and_a_promise_does_not() -> None:
    planned, plain = (plan(spec([WARD, COST], **(OWN | {"assume": own}))) for own in (SKEWED, None))
    assert "cost as stated (mean 190, sd 190): a guess, not the rows" in str(plan_text.text(planned).remarks[0])
    assert planned.chosen.mechanism.claim == plain.chosen.mechanism.claim


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ({"price": {"mean": 1.0, "sd": 1.0}}, r"assume\.price: it has no mean, variance or quantile"),
        ({"cost": {"mean": 2000.0, "sd": 1.0}}, r"assume\.cost\.mean: expected a number between the bounds 0 and 1000"),
        ({"cost": {"mean": 500.0, "sd": 501.0}}, r"assume\.cost\.sd: .* at most 500"),
        ({"cost": {"mean": 500.0, "sd": 0.0}}, r"assume"),
        ({"cost": {"mean": 500.0}}, r"assume"),
    ],
)
def test_a_shape_that_no_values_have_is_refused(assume: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        errors(assume=assume)
