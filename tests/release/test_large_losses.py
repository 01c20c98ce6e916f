"""A loss at the end of what a specification may state: hardly any noise, and no division by it."""

import pyarrow as pa
import pytest

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import LEAST, DiscreteLaplace
from dpress.release.curator.publish import publish

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
    assert kind == "records" or answer.standard_error < 0.01


def test_a_level_of_hardly_any_noise_beside_a_noisy_one_keeps_its_digits():
    parameters = {"branching": 4, "root": False, "shares": [0.999, 0.001], "queries": ["age in 0..3"]}
    release = {"kind": "ranges", "method": "hierarchy", "parameters": parameters}
    made = publish(from_dict({"attribute": [AGE], "privacy": {"epsilon": 100}, "release": release}), ROWS,
                   rng=rng.seeded(2))  # fmt: skip
    for query, truth in (("total", 300), ("age in 0..3", 120)):
        answer = made.query(query)
        assert answer.value == pytest.approx(truth, abs=0.01)
        assert answer.standard_error < 0.01
