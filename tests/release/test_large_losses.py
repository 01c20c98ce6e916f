"""A loss at the end of what a specification may state: hardly any noise, and no division by it."""

import pyarrow as pa
import pytest

from dpress.core import rng
from dpress.data.specification.spec import from_dict
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import LEAST, DiscreteLaplace
from dpress.release.publish import publish

WARD = {"name": "ward", "kind": "categorical", "values": ["a", "b", "c"]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
ROWS = pa.table({"ward": ["a", "b", "c"] * 100, "sex": ["f", "m", "m"] * 100, "age": [row % 10 for row in range(300)]})
MEANS = {"by": ["ward"], "mean": ["age"], "median": ["age"]}
KINDS = {
    "joint": ([WARD, SEX, AGE], {"kind": "joint"}),
    "statistics": ([WARD, AGE], {"kind": "statistics", "parameters": MEANS}),
    "records": ([WARD, AGE], {"kind": "microdata", "method": "graphical"}),
}


def test_what_is_stated_of_noise_is_never_nothing():
    assert DiscreteLaplace(scale="0.001").variance == DiscreteGaussian(sigma2="0.0001").variance == LEAST
    assert DiscreteLaplace(scale=1).variance == pytest.approx(1.8413, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [{"epsilon": 1000}, {"rho": 1000}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_hardly_any_noise_is_the_truth(kind, loss):
    attributes, release = KINDS[kind]
    made = publish(from_dict({"attribute": attributes, "privacy": loss, "release": release}), ROWS, rng=rng.seeded(1))
    answer = made.query("ward = a")
    assert answer.value == pytest.approx(100, abs=1 if kind != "records" else 30)
    assert kind == "records" or answer.standard_error < 1e-3
