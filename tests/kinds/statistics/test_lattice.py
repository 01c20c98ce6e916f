"""Levels that are multiples of a stated unit: exact sums, rounding, and what is refused."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from dpress.core.bounded_attribute import Integer, Numeric
from dpress.core.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics.lattice import finest
from dpress.release.plan import plan
from dpress.release.publish import publish

COST = {"name": "cost", "kind": "numeric", "bounds": [-2.0, 10.0], "bins": 4}


def spec(unit, attributes=(COST,), **parameters):
    measured = {**(parameters or {"mean": ["cost"]}), "unit": {"cost": unit}}
    release = {"kind": "statistics", "parameters": measured}
    return from_dict({"attribute": list(attributes), "privacy": {"epsilon": 1000.0}, "release": release})


@pytest.mark.parametrize("unit", [Fraction(1, 100), Fraction(1, 4), Fraction(3)])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_middles_of_the_levels_are_the_multiples(unit, degree):
    own = Numeric(name="cost", bounds=(-2.0, 10.0), bins=4)
    found = finest(own, degree, units={"cost": unit}, quantiles=False)
    edges = found.edges_at(np.arange(found.ordered + 1))
    assert found.ordered == 12 / unit + 1
    assert np.allclose((edges[1:] + edges[:-1]) / 2, -2 + float(unit) * np.arange(found.ordered), rtol=0, atol=1e-12)


def test_sums_are_those_of_the_rounded_values_and_not_of_our_own_levels():
    rows = pa.table({"cost": [0.24, 0.26, 9.99, -7.0, 3.0] * 40})
    release = publish(spec(0.5), rows, rng=seeded(3))
    exact = 40 * (0.0 + 0.5 + 10.0 - 2.0 + 3.0)
    assert release.query("sum cost").value == pytest.approx(exact, abs=0.6)
    halves = 2 * release.query("sum cost").value
    assert halves == pytest.approx(round(halves), abs=1e-6)
    finer = publish(spec(0.01), rows, rng=seeded(3))
    assert finer.query("sum cost").value == pytest.approx(40 * (0.24 + 0.26 + 9.99 - 2 + 3), abs=0.6)


def test_quantiles_keep_the_cells_of_the_specification():
    rows = pa.table({"cost": [1.5, 4.5, 7.5] * 100})
    release = publish(spec(0.01, mean=["cost"], median=["cost"]), rows, rng=seeded(3))
    assert 3.9 <= release.query("median cost").value <= 7.1


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (spec(0.7), "divides the width of the bounds, 12"),
        (spec(1e-9), "would overflow 63 bits over 2.31 rows; at most 1,073,741,823 fit"),
        (spec(0.0001, variance=["cost"]), "at most 65,535 fit"),
        (spec(0.5, median=["cost"]), "has no mean, sum or variance to be rounded for"),
        (spec(1, ({"name": "cost", "kind": "integer", "bounds": [0, 9]},)), "integers are their own unit"),
    ],
)
def test_a_unit_that_does_not_suit_is_refused(own, message):
    with pytest.raises(ValueError, match=message) as refused:
        plan(own)
    assert "\n" not in str(refused.value)
    assert "$.release.parameters.unit.cost" in str(refused.value)


def test_attributes_without_moments_keep_their_cells():
    age = Integer(name="age", bounds=(0, 99), bins=10)
    assert finest(age, 0, units={}, quantiles=True) is age
