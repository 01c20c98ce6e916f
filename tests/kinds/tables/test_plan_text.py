"""A plan of tables says how wrong all counts can be at once, in words and as data."""

import math

import pytest

from dpress.kinds.tables import plan_text
from dpress.release.plan.plan import Plan, plan

REPLACED = {"epsilon": 1.0, "relation": "replace-one"}


def last(planned: Plan) -> str:
    return " ".join(str(one) for one in plan_text.text(planned).remarks[1:])


def test_a_histogram_has_the_exact_quantile_beside_the_textbook(make_spec) -> None:
    planned = plan(make_spec("histogram", ["sex", "size"], privacy=REPLACED))
    own = plan_text.plain(planned, planned.chosen)["largest_error"]
    assert set(own) == {"cells", "beta", "within", "textbook", "exact"}
    assert own["textbook"] == pytest.approx(2 * math.log(own["cells"] / 0.05))
    assert own["within"] <= math.ceil(own["textbook"])
    said = last(planned)
    assert f"all {own['cells']} counts of identity at once are within +- {own['within']:g} of the truth" in said
    assert f"sensitivity x ln(k / 0.05) / epsilon: {own['textbook']:.1f})." in said


def test_every_candidate_has_its_own(make_spec) -> None:
    planned = plan(make_spec("marginals", ["age", "sex", "size"]))
    each = {one.method: plan_text.plain(planned, one)["largest_error"] for one in planned.candidates}
    assert set(each) == {"identity", "marginals", "priview"}
    assert each["identity"]["within"] != each["marginals"]["within"]
    assert not any(one["exact"] or one["textbook"] for one in each.values())
    assert f"+- {math.ceil(10 * each[planned.chosen.method]['within']) / 10:g}" in last(planned)


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_bound_is_on_both_scales_of_the_table(make_spec, model) -> None:
    planned = plan(make_spec("marginals", ["age", "sex"], privacy={"model": model, "epsilon": 1.0}))
    root = math.sqrt(planned.lower_bound)
    said = " ".join(map(str, plan_text.text(planned).remarks))
    assert f"counts squared, a typical error below +- {root:,.1f}." in said


def test_a_collection_has_none(make_spec) -> None:
    planned = plan(make_spec("marginals", ["age", "sex"], privacy={"model": "local", "epsilon": 1.0}))
    assert "largest_error" not in plan_text.plain(planned, planned.chosen)
    assert "at once" not in last(planned)
