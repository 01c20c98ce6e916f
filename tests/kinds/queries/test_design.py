"""From a list of texts to strategies over their atoms: what is chosen, at which exact error, and what is refused."""

import json
import re

import numpy as np
import pytest

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.workload import Predicates
from dpress.data.specification.spec import from_dict
from dpress.document import design as documents
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.designs import mechanism_of
from dpress.release.plan.linear_error import mean_variance
from dpress.release.plan.plan import plan

OVERLAPPING = ["age >= 5 and sex = F", "sex = F or size < 4", "age < 3", "age in 2..8"]
PARTS = ["age < 5", "age >= 5", "total"]


@pytest.fixture
def planned(make_spec):
    def made(queries, privacy=None, attributes=None, **release):
        spec = make_spec("queries", attributes, privacy, parameters={"queries": queries}, **release)
        return plan(spec)

    return made


def test_the_workload_is_the_sums_of_the_atoms(planned) -> None:
    workload = planned(PARTS).workload
    assert isinstance(workload, Predicates)
    assert workload.texts == tuple(PARTS)
    assert workload.sums.sets == ((0,), (1,), (0, 1))
    rows = np.linalg.svd(workload.sums.matrix, compute_uv=False)
    assert workload.log_norms[0] == pytest.approx(np.log(rows.sum()))
    assert workload.log_norms[1] == pytest.approx(np.log(rows.max()))


@pytest.mark.parametrize("privacy", [{"epsilon": 0.5}, {"rho": 0.2}, {"epsilon": 1.0, "relation": "replace-one"}])
@pytest.mark.parametrize("queries", [OVERLAPPING, PARTS])
def test_the_best_by_exact_mean_squared_error_is_chosen(planned, queries, privacy) -> None:
    """Against W (A^T A)^+ W^T from dense matrices, and never below the lower bound."""
    found = planned(queries, privacy)
    assert {one.method for one in found.candidates} == {"direct_queries", "identity", "p_identity"}
    for one in found.candidates:
        mechanism, workload = one.mechanism, found.workload
        assert isinstance(mechanism, MatrixMechanism)
        matrix = np.stack([mechanism.strategy.map.apply(cell) for cell in np.eye(workload.cells)], axis=1)
        covariance = np.linalg.pinv(matrix.T @ matrix, rcond=1e-10) * mechanism.noises[0].variance
        exact = np.diag(workload.sums.matrix @ covariance @ workload.sums.matrix.T)
        assert one.predicted_error == pytest.approx(exact.mean(), rel=1e-6)
        assert one.predicted_error == mean_variance(mechanism, workload)
        assert one.predicted_error >= found.lower_bound * (1 - 1e-9)
    assert found.chosen.predicted_error == min(one.predicted_error for one in found.candidates)
    assert found.lower_bound > 0


def test_few_overlapping_queries_are_measured_as_they_are_many_by_their_atoms(planned) -> None:
    assert planned(["age < 5"]).chosen.method == "direct_queries"
    disjoint = planned([f"age = {age}" for age in range(10)])
    assert disjoint.candidates[0].predicted_error == disjoint.candidates[1].predicted_error
    assert planned([f"age >= {age}" for age in range(10)]).chosen.method in ("identity", "p_identity")


def test_a_search_for_epsilon_may_win_under_rho_too(planned) -> None:
    nested = ["total", *(f"age >= {age}" for age in range(1, 10))]
    assert planned(nested, {"rho": 0.5}).chosen.method == "p_identity"
    assert planned(["age < 5", "sex = F", "size < 4"], {"rho": 0.5}).chosen.method == "direct_queries"


def test_a_search_beats_both_where_queries_overlap_much(planned) -> None:
    queries = [f"age >= {low} and sex {sign} F" for low in range(10) for sign in ("=", "!=")] + ["total", "age < 5"]
    found = {one.method: one.predicted_error for one in planned(queries, {"epsilon": 0.1}).candidates}
    assert found["p_identity"] < 0.95 * min(found["identity"], found["direct_queries"])


def test_a_method_can_be_named_and_a_search_bounded(planned, make_spec) -> None:
    assert planned(OVERLAPPING, method="direct_queries").chosen.method == "direct_queries"
    spec = make_spec("queries", parameters={"queries": OVERLAPPING, "seconds": 1.5}, method="p_identity")
    assert plan(spec).chosen.method == "p_identity"
    with pytest.raises(NotSupported, match="'privelet' does not serve kind = 'queries'; those that do: direct_q"):
        planned(OVERLAPPING, method="privelet")


def test_the_plan_is_a_document_with_the_predicates_in_its_ask(planned) -> None:
    design = planned(OVERLAPPING).design
    again = documents.decode(documents.encode(design))
    assert again.queries == design.queries
    assert mechanism_of(again).claim == planned(OVERLAPPING).chosen.mechanism.claim
    ask = json.loads(documents.canonical(design.ask))
    first = ask["mechanism"]["strategy"]["atoms"]["predicates"][0]
    assert first == [[{"axis": 0, "runs": [[5, 9]]}, {"axis": 1, "runs": [[0, 0]]}]]
    assert "texts" not in json.dumps(ask)
    other = planned([OVERLAPPING[0].replace("5", "6"), *OVERLAPPING[1:]]).design
    assert other.id != design.id
    respelt = planned(["sex = F and age > 4", *OVERLAPPING[1:]]).design
    assert respelt.id == design.id


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([], "queries: expected a list of 1 to 1023 queries, got []"),
        ("age < 3", "queries: expected a list of 1 to 1023 queries, got 'age < 3'"),
        ([3], "queries: expected a list of 1 to 1023 queries, got [3]"),
        (["age < 3", "age < 3"], "queries[#2]: 'age < 3' holds of the same rows as queries[#1]"),
        (["age < 3", "total", "not age >= 3"], "queries[#3]: 'not age >= 3' holds of the same rows as queries[#1]"),
        (["total", "age < 3 and age > 5"], "queries[#2]: 'age < 3 and age > 5' holds of no row"),
        (["total", "ages < 3"], "queries[#2]: cannot read 'ages < 3'"),
        (["size < 3"], "queries[#1]: size: the condition cuts through a cell"),
        (["(age < 3"], "queries[#1]: '(age < 3': a parenthesis is not closed"),
    ],
)
def test_what_is_no_list_of_queries_is_refused_with_its_place(planned, queries, message) -> None:
    with pytest.raises(ValueError, match=re.escape(f"$.release.parameters.{message}")) as refused:
        planned(queries)
    assert "\n" not in str(refused.value)


def test_what_the_kind_does_not_take_is_refused(planned, make_spec) -> None:
    with pytest.raises(ValueError, match=r"^\$.release.parameters.queries: expected a list of queries, such as .*none"):
        plan(make_spec("queries"))
    with pytest.raises(NotSupported, match=r'^\$.release.postprocess: kind = "queries" has none'):
        planned(PARTS, postprocess=["nonnegative"])
    with pytest.raises(NotSupported, match=r'^\$.release.kind: model = "local"'):
        planned(PARTS, {"model": "local", "epsilon": 1.0})
    with pytest.raises(ValueError, match=r"unknown parameter 'weights' for kind 'queries'; known: queries"):
        plan(make_spec("queries", parameters={"queries": PARTS, "weights": [1, 2, 3]}))


def test_too_many_atoms_are_refused_with_their_place() -> None:
    bits = [{"name": f"b{place}", "kind": "categorical", "values": ["0", "1"]} for place in range(13)]
    release = {"kind": "queries", "parameters": {"queries": [f"{one['name']} = 1" for one in bits]}}
    with pytest.raises(NotSupported, match=r"^\$.release.parameters.queries: they cut the rows into more than 4,096"):
        plan(from_dict({"attribute": bits, "privacy": {"epsilon": 1.0}, "release": release}))
    fewer = {**release, "parameters": {"queries": release["parameters"]["queries"][:8]}}
    found = plan(from_dict({"attribute": bits, "privacy": {"epsilon": 1.0}, "release": fewer}))
    assert found.workload.cells == 256
    direct = next(one for one in found.candidates if one.method == "direct_queries")
    assert direct.predicted_error == pytest.approx(2 * 8**2, rel=0.01)
    assert direct.mechanism.noises[0].scale == 8
