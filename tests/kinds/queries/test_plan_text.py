"""A plan of queries says what they form, how much a row can change, and how wrong all answers can be at once."""

import math

import pytest

from dpress.kinds.queries import plan_text
from dpress.release.plan.other_kinds import other_kinds
from dpress.release.plan.plan import Plan, plan

DISJOINT = {"queries": ["age < 3", "age in 3..5"]}
OVERLAPPING = {"queries": ["age < 3", "age < 5", "sex = F or age < 8"]}


def said(planned: Plan) -> str:
    return " ".join(str(one) for one in plan_text.text(planned).remarks)


FORMED = "form 4 cells of rows; one row that is added or removed changes at most 3 of the answers (L1 sensitivity 3)."
MOVED = "form 3 cells of rows; one row that is replaced changes at most 2 of the answers (L1 sensitivity 2)."


@pytest.mark.parametrize(
    ("parameters", "privacy", "sentence"),
    [
        (OVERLAPPING, {"epsilon": 1.0}, FORMED),
        (DISJOINT, {"epsilon": 1.0, "relation": "replace-one"}, MOVED),
        (DISJOINT, {"rho": 1.0}, "changes at most 1 of the answers (squared L2 sensitivity 1)."),
        ({"queries": ["total"]}, {"epsilon": 1.0}, "1 query forms 1 cells of rows"),
    ],
)
def test_it_says_what_the_queries_form(make_spec, parameters, privacy, sentence) -> None:
    assert sentence in said(plan(make_spec("queries", None, privacy, parameters=parameters)))


def test_every_candidate_has_the_bound_on_all_answers(make_spec) -> None:
    planned = plan(make_spec("queries", parameters=OVERLAPPING))
    each = {one.method: plan_text.plain(planned, one)["largest_error"] for one in planned.candidates}
    direct = each["direct_queries"]
    assert direct["exact"]
    assert direct["textbook"] == pytest.approx(3 * math.log(3 / 0.05))
    assert direct["within"] <= math.ceil(direct["textbook"])
    assert not each["identity"]["exact"]
    own = math.ceil(10 * each[planned.chosen.method]["within"]) / 10
    assert f"all 3 counts of {planned.chosen.method} at once are within +- {own:g} of the truth" in said(planned)


def test_no_other_kind_is_offered_and_none_offers_it(make_spec) -> None:
    assert other_kinds(plan(make_spec("queries", parameters=OVERLAPPING))) == []
    assert "queries" not in {one.kind for one in other_kinds(plan(make_spec("histogram", ["age"])))}
