"""What a plan predicts of a mean from devices is what it errs by, at every epsilon, for people who lie as supposed.

RUNS collections of the same people: the root mean square of errors has a standard deviation of 1 / sqrt(2 RUNS) of
itself, so that one that is predicted right leaves .8 to 1.25 by chance less than once in 10^6 times.
"""

import math
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.inference.numbers import report_sums
from dpress.kinds.statistics.assumed_shape import level_shares
from dpress.kinds.statistics.design import choose
from dpress.kinds.statistics.devices.estimates import CountedNumbers, DeviceEstimates, reported
from dpress.kinds.statistics.kind import Shape
from dpress.release.plan.candidate import Choice

RUNS, PEOPLE = 400, 3000
AGE = {"name": "age", "kind": "integer", "bounds": [0, 99]}
SHAPES: dict[str, Any] = {
    "even": {}, "in the middle": {"age": {"mean": 40, "sd": 8}}, "at a bound": {"age": {"mean": 3, "sd": 4}},
}  # fmt: skip


def chosen(epsilon: float, shape: str) -> Choice:
    parameters = {"mean": ["age"], "users": PEOPLE, "assume": SHAPES[shape]}
    privacy = {"model": "local", "epsilon": epsilon}
    return choose(
        from_dict({"attribute": [AGE], "privacy": privacy, "release": {"kind": "statistics", "parameters": parameters}})
    )


def ratio(choice: Choice, shape: str) -> float:
    """Return the root mean squared error of the mean, in widths of the bounds, over the predicted one."""
    assert choice.chosen.collection is not None
    estimator: Any = choice.chosen.collection.estimator
    (oracle,), age, squares = estimator.oracles, choice.schema.tabular[0].numbers, []
    assert age is not None
    shares = level_shares(age, choice_shapes(shape))
    people = np.searchsorted(np.cumsum(shares), (np.arange(PEOPLE) + 0.5) / PEOPLE).astype(np.int32)
    counts, mask = np.bincount(people, minlength=shares.size)[None], np.ones((1, 1), bool)
    exact = CountedNumbers(attribute=age, degree=1, quantiles=(), counts=counts)
    truth = DeviceEstimates(numbers=(exact,), masks=mask, users=PEOPLE, z=2.0).of("mean age").value
    for run in range(RUNS):
        reports = oracle.tally(oracle.perturb(people, rng=rng.seeded(run)))
        numbers = reported(choice.schema, estimator, [reports])
        found = DeviceEstimates(numbers=numbers, masks=mask, users=PEOPLE, z=2.0).of("mean age").value
        squares.append(float((found - truth) @ (found - truth)) / 99**2)
    return math.sqrt(float(np.mean(squares)) / choice.chosen.predicted_error)


def choice_shapes(shape: str) -> Any:
    return {name: Shape(**stated) for name, stated in SHAPES[shape].items()}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4, 8])
def test_means_err_by_what_is_predicted_at_every_epsilon(epsilon: float, shape: str) -> None:
    choice = chosen(epsilon, shape)
    assert 0.8 < ratio(choice, shape) < 1.25, choice.chosen.method


@pytest.mark.slow
def test_the_spread_of_people_taken_for_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_spread(*given: Any, part: float) -> report_sums.Sums:
        return report_sums.sums(*given, part=0.0 * part)

    assert ratio(chosen(4, "even"), "even") > 0.8
    monkeypatch.setattr("dpress.kinds.statistics.devices.estimates.sums", with_spread)
    assert ratio(chosen(4, "even"), "even") < 0.8
