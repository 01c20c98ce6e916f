"""What a delta would buy is always said, also that it is nothing, and costs one more plan."""

import math

import pytest

from dpress.release.plan import with_delta as module
from dpress.release.plan.plan import plan
from dpress.release.plan.with_delta import NEARLY, sentence, with_delta


def spec(attributes: int, kind: str = "marginals", parameters=None, **privacy):
    columns = [{"name": f"a{place}", "kind": "integer", "bounds": [0, 9]} for place in range(attributes)]
    release = {"kind": kind, "parameters": parameters or {}}
    return {"attribute": columns, "privacy": privacy or {"epsilon": 1}, "release": release}


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("marginals", {"ways": 1}),
        ("joint", {}),
        ("statistics", {"mean": [f"a{place}" for place in range(20)]}),
        ("queries", {"queries": [f"a0 in {low}..{low + 5}" for low in range(5)] + [f"a{n} = 1" for n in range(1, 6)]}),
    ],
)
def test_it_is_what_a_plan_under_epsilon_and_delta_gives(kind, parameters):
    planned = plan(spec(20, kind, parameters))
    other = plan(spec(20, kind, parameters, epsilon=1, delta=1e-6))
    gain = math.sqrt(planned.chosen.predicted_error / other.chosen.predicted_error)
    found = with_delta(planned)
    assert found is not None
    assert (found.method, found.predicted_error) == (other.chosen.method, other.chosen.predicted_error)
    assert ("would buy nothing" in sentence(found, planned)) is (gain <= NEARLY)


def test_sixty_tables_gain_much_and_one_nothing():
    many = plan(spec(60, parameters={"ways": 1}))
    found = with_delta(many)
    assert found is not None
    assert sentence(found, many) == (
        "With epsilon = 1 and delta = 1e-6: a typical error of +- 29.9 instead of +- 80.6, by residual_marginals; the "
        "promise may then fail with a chance of 1e-6."
    )
    alone = plan(spec(2, "histogram"))
    found = with_delta(alone)
    assert found is not None
    assert found.predicted_error == alone.chosen.predicted_error
    assert sentence(found, alone) == (
        "With epsilon = 1 and delta = 1e-6: no smaller error; a delta would buy nothing here."
    )


def test_a_method_for_laplace_noise_is_compared_and_an_error_that_is_not_predicted_is_not():
    named = spec(1, "ranges")
    named["release"] |= {"method": "p_identity", "parameters": {"seconds": 1}}
    assert with_delta(plan(named)) is not None
    unknown = plan(spec(3, "microdata"))
    assert math.isfinite(unknown.chosen.predicted_error) is (with_delta(unknown) is not None)


def test_nothing_is_said_beside_a_delta_or_rho_or_of_devices():
    for privacy in ({"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}, {"epsilon": 1, "model": "local"}):
        assert with_delta(plan(spec(20, parameters={"ways": 1}, **privacy))) is None


def test_it_plans_once_more(monkeypatch):
    planned, calls = plan(spec(20, parameters={"ways": 1})), []
    monkeypatch.setattr(module, "plan", lambda asked: calls.append(asked) or plan(asked))
    assert with_delta(planned) is not None
    assert len(calls) == 1
