import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.convert import zcdp_for
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.gaussian_profile import gaussian_epsilon
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.ranges import AllRanges, Range
from dpress.core.maps.workload import Boxes
from dpress.inference.lower_bound import lower_bound
from dpress.release.plan.plan import plan
from dpress.release.plan.strategies import table_bound


def errors(planned):
    return {candidate.method: candidate.predicted_error for candidate in planned.candidates}


def test_ranges_are_planned_over_every_range_strategy(make_spec):
    planned = plan(make_spec("ranges", ["age"]))
    assert set(errors(planned)) == {"identity", "binary_tree", "boost", "privelet", "prefix", "hierarchy"}
    assert list(errors(planned).values()) == sorted(errors(planned).values())
    assert planned.chosen is planned.candidates[0]
    assert planned.workload == Boxes((AllRanges(10),))


def test_a_named_method_is_chosen(make_spec):
    planned = plan(make_spec("ranges", ["age"], method="boost"))
    assert planned.chosen.method == "boost"


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            "krr",
            r"\$.release.method: 'krr' is for local collections \(model = \"local\"\) and does not serve kind = 'ra",
        ),
        ("dst", "'dst' needs rho in .privacy. to serve kind = 'ranges'; those that do: binary_tree, boost"),
        ("p_identity", "'p_identity' needs `seconds` in .release.parameters., the time to search"),
        ("marginals", "'marginals' does not serve kind = 'ranges'"),
        ("nope", "'nope' does not serve kind = 'ranges'; those that do: "),
    ],
)
def test_a_named_method_that_does_not_serve_says_what_it_needs(make_spec, method, message):
    with pytest.raises(NotSupported, match=message):
        plan(make_spec("ranges", ["age"], method=method))


def test_a_named_method_without_the_parameter_says_so(make_spec):
    with pytest.raises(ValueError, match="unknown parameter 'root' for boost; known: queries, length, users"):
        plan(make_spec("ranges", ["age"], method="boost", parameters={"root": True}))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"lenght": 3, "root": True},
            "unknown parameter 'lenght' for kind 'ranges'; known: queries, length, users, branching",
        ),
        ({"root": True, "seconds": 1}, "no method takes root, seconds for this release of kind 'ranges'"),
    ],
)
def test_a_parameter_that_no_method_takes_comes_with_those_that_there_are(make_spec, parameters, message):
    with pytest.raises(ValueError, match=message):
        plan(make_spec("ranges", ["age"], parameters=parameters))


def test_marginals_beat_the_full_table_where_it_is_large(make_spec):
    planned = plan(make_spec("marginals", parameters={"ways": 1}))
    assert planned.chosen.method == "priview"
    assert errors(planned)["identity"] > errors(planned)["marginals"] > errors(planned)["priview"]


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", ["ranges", "marginals", "histogram"])
def test_the_bound_is_that_of_the_noise_that_is_chosen(make_spec, kind, relation):
    """A delta pays for either noise; the bound of Laplace noise says nothing of Gaussian, nor the other way round."""
    planned = plan(
        make_spec(kind, ["age"] if kind == "ranges" else None, {"epsilon": 1, "delta": 1e-6, "relation": relation})
    )
    bounds = {candidate.method: table_bound(candidate, planned.workload) for candidate in planned.candidates}
    assert planned.lower_bound == bounds[planned.chosen.method]
    assert all(bounds[method] <= error * (1 + 1e-9) for method, error in errors(planned).items())
    once = lower_bound(planned.workload, Relation(relation))
    for candidate in planned.candidates:
        loss = candidate.mechanism.loss
        spread = loss.spread(Fraction(1))
        real = 2 * spread**2 if loss.order == 1 else spread
        assert once * float(real) * 0.9 < bounds[candidate.method] < once * float(real) * 1.001


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("privacy", [{"epsilon": 0.1}, {"epsilon": 5.0}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("kind", ["ranges", "marginals", "histogram"])
def test_no_candidate_is_below_the_lower_bound(make_spec, kind, privacy, relation):
    attributes = ["age"] if kind == "ranges" else None
    planned = plan(make_spec(kind, attributes, {**privacy, "relation": relation}))
    assert planned.lower_bound > 0
    assert min(errors(planned).values()) >= planned.lower_bound * (1 - 1e-9)


def test_a_bound_does_not_refuse_what_can_be_drawn(make_spec):
    """Noise of scale 3e11 can be drawn on whole numbers, on the fine steps of the bound it cannot."""
    wide = {"epsilon": 1e-9, "unit": "uid", "rows_per_unit": 300}
    planned = plan(make_spec("histogram", privacy=wide))
    assert planned.lower_bound == pytest.approx(2 * (300 / 1e-9) ** 2)
    assert planned.chosen.predicted_error == pytest.approx(planned.lower_bound)


PARAMETERS = [{}, {"queries": "prefixes"}, {"length": [3, 2]}, {"queries": ["age < 3", "size < 4", "age = 2"]}]


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("privacy", [{"epsilon": 0.1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_no_candidate_for_boxes_is_below_the_lower_bound(make_spec, parameters, privacy, relation):
    planned = plan(make_spec("ranges", ["age", "size"], {**privacy, "relation": relation}, parameters=parameters))
    assert min(errors(planned).values()) >= planned.lower_bound * (1 - 1e-9)
    assert set(errors(planned)) >= {"identity", "binary_tree", "boost", "privelet", "prefix", "hierarchy"}
    assert ("dst" in errors(planned)) is ("epsilon" not in privacy or "delta" in privacy)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_the_predicted_error_of_boxes_is_the_mean_variance_of_all_answers(make_spec, parameters):
    planned = plan(make_spec("ranges", ["age", "size"], {"rho": 0.5}, parameters=parameters))
    workload = planned.workload
    each = [every(axis) for axis in workload.axes]
    boxes = list(zip(*each, strict=True)) if workload.paired else list(itertools.product(*each))
    assert len(boxes) == workload.queries
    for candidate in planned.candidates:
        decoder, variance = candidate.mechanism.strategy.decoder, candidate.mechanism.variance
        assert candidate.predicted_error == pytest.approx(np.mean([decoder.query_variance(variance, w) for w in boxes]))


def every(axis):
    if not isinstance(axis, AllRanges):
        return [axis.ranges().weights(place) for place in range(axis.queries)]
    return [Range(a, b).weights(axis.cells) for a in range(1, axis.cells + 1) for b in range(a, axis.cells + 1)]


def test_a_workload_of_few_queries_is_served_better_than_one_of_all(make_spec):
    """Prefixes alone are what `prefix` answers with one number; single cells are what `identity` does."""
    cells = plan(make_spec("ranges", ["age"], parameters={"length": 1}))
    assert cells.chosen.method in {"identity", "hierarchy"}
    assert cells.chosen.predicted_error == pytest.approx(errors(cells)["identity"])
    everything = plan(make_spec("ranges", ["age"]))
    assert cells.chosen.predicted_error < everything.chosen.predicted_error


@pytest.mark.parametrize("kind", ["ranges", "histogram"])
def test_an_attribute_of_a_single_cell_is_planned(kind):
    from dpress.data.specification.spec import from_dict

    spec = from_dict(
        {
            "attribute": [{"name": "age", "kind": "integer", "bounds": [3, 3]}],
            "privacy": {"epsilon": 1},
            "release": {"kind": kind},
        }
    )
    assert plan(spec).chosen.predicted_error < 2


def test_a_search_over_three_attributes_is_refused_by_its_name():
    """Three units of 2^-20 make noise that the sampler does not draw, and answers that 64 bits do not hold."""
    from dpress.data.specification.spec import from_dict

    bits = [{"name": name, "kind": "integer", "bounds": [0, 3]} for name in "abc"]
    release = {"kind": "ranges", "parameters": {"seconds": 1}}
    with pytest.raises(ValueError, match="seconds"):
        plan(from_dict({"attribute": bits, "privacy": {"epsilon": 1}, "release": release}))


def test_predicted_error_is_the_mean_variance_of_all_answers(make_spec):
    planned = plan(make_spec("marginals", parameters={"tables": [["age", "sex"], ["size"]]}))
    for candidate in planned.candidates:
        decoder, variance = candidate.mechanism.strategy.decoder, candidate.mechanism.variance
        spread = []
        for axes in ((0, 1), (2,)):
            shape = [10, 2, 4]
            for cell in np.ndindex(*(shape[axis] for axis in axes)):
                weights = [np.ones(size) for size in shape]
                for axis, position in zip(axes, cell, strict=True):
                    weights[axis] = np.eye(1, shape[axis], position)[0]
                spread.append(decoder.query_variance(variance, weights))
        assert candidate.predicted_error == pytest.approx(np.mean(spread))


def test_an_epsilon_delta_budget_takes_the_better_noise(make_spec):
    many = plan(make_spec("marginals", privacy={"epsilon": 1, "delta": 1e-6}, parameters={"ways": 2}))
    one = plan(make_spec("histogram", ["sex"], privacy={"epsilon": 1, "delta": 1e-6}))
    assert isinstance(one.chosen.mechanism.loss, PureDP)
    large = plan(make_spec("marginals", privacy={"epsilon": 1, "delta": 1e-3}, parameters={"ways": 2}))
    assert min(errors(large).values()) <= min(errors(many).values())
    wide = [{"name": f"a{i}", "kind": "integer", "bounds": [0, 9]} for i in range(12)]
    from dpress.data.specification.spec import from_dict

    spec = from_dict({"attribute": wide, "privacy": {"epsilon": 1, "delta": 1e-6}, "release": {"kind": "marginals"}})
    loss = plan(spec).chosen.mechanism.loss
    assert isinstance(loss, GaussianDP)
    assert Fraction(9999, 10000) < gaussian_epsilon(loss.mu2, Fraction(1, 10**6)) <= 1
    assert loss.mu2 > 1.15 * 2 * zcdp_for(1, 1e-6)  # what noise by rho would be calibrated to
    assert math.prod(spec.schema.shape) == 10**12  # the full table is never formed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ranges", ["sex"]), r"ranges need integer, numeric, date or ordinal attributes, got sex \(categorical\)"),
        (("ranges", ["age", "sex"]), r"got age \(integer\), sex \(categorical\)"),
        (("spatial", None), 'kind = "spatial" needs one attribute of kind "location", got'),
    ],
)
def test_a_release_that_no_method_serves_is_refused(make_spec, arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(make_spec(*arguments))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"way": 2}, "unknown parameter 'way'"),
        ({"ways": 0}, "ways: expected an integer >= 1, got 0"),
        ({"ways": 2, "tables": [["age"]]}, "either `tables` or `ways`"),
        ({"tables": [["nope"]]}, r"tables\[#1\]: there is no attribute 'nope'"),
        ({"tables": "age"}, "expected a list of at least one list"),
        ({"tables": [["age"], ["age"]]}, "each over a different set of axes"),
        ({"tables": [["age"], ["sex"]], "shares": ["1/2", "1/3"]}, "shares must be positive and add up to 1"),
        ({"tables": [["age"], ["sex"]], "shares": [1]}, "shares must have one number for each of the 2 parts"),
        ({"ways": 4}, "ways: expected at most 3, got 4"),
        ({"tables": []}, "at least one list"),
        ({"shares": "oops"}, "shares: expected a list of numbers"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make_spec, parameters, message):
    with pytest.raises(ValueError, match=message):
        plan(make_spec("marginals", parameters=parameters))


def test_the_local_model_is_refused_for_central_kinds(make_spec):
    with pytest.raises(NotSupported, match=r"\$.release.kind: model = \"local\" collects one table"):
        plan(make_spec("queries", privacy={"epsilon": 1, "model": "local"}, parameters={"queries": ["age >= 4"]}))


@pytest.mark.parametrize("name", ["count", "low", "age_from"])
def test_attributes_that_would_hide_a_released_column_are_refused(name):
    from dpress.data.specification.spec import from_dict

    age = {"name": "age", "kind": "integer", "bounds": [0, 9]}
    odd = {"name": name, "kind": "categorical", "values": ["a"]}
    spec = from_dict({"attribute": [age, odd], "privacy": {"epsilon": 1}, "release": {"kind": "marginals"}})
    with pytest.raises(ValueError, match=f"two columns '{name}'; rename an attribute"):
        plan(spec)


def test_stated_shares_are_used_or_refused(make_spec):
    parameters = {"tables": [["age"], ["sex"]], "shares": ["1/4", 0.75]}
    planned = plan(make_spec("marginals", parameters=parameters))
    assert list(errors(planned)) == ["marginals"]
    assert [noise.scale for noise in planned.chosen.mechanism.noises] == [4, Fraction(4, 3)]
    with pytest.raises(ValueError, match="unknown parameter 'shares'"):
        plan(make_spec("histogram", parameters={"shares": [1]}))


def test_more_than_a_thousand_tables_need_noise_whose_residuals_are_independent():
    from dpress.data.specification.spec import from_dict

    bits = [{"name": f"b{i}", "kind": "integer", "bounds": [0, 1]} for i in range(46)]  # 1,035 pairs
    asked = {"attribute": bits, "release": {"kind": "marginals"}}
    planned = plan(from_dict(asked | {"privacy": {"rho": 0.5}}))
    assert list(errors(planned)) == ["residual_marginals"]
    assert planned.chosen.predicted_error == pytest.approx(planned.lower_bound, rel=0.01)
    with pytest.raises(ValueError, match=r"1035 tables .* at most 1000 .* 50000 under rho"):
        plan(from_dict(asked | {"privacy": {"epsilon": 1}}))


def test_what_would_take_minutes_to_plan_is_refused_at_once():
    from dpress.data.specification.spec import from_dict

    bits = [{"name": f"b{i}", "kind": "integer", "bounds": [0, 1]} for i in range(24)]
    for parameters in ({"ways": 12}, {"ways": 8}, {"tables": [[bit["name"] for bit in bits]]}):
        release = {"kind": "marginals", "parameters": parameters}
        spec = from_dict({"attribute": bits, "privacy": {"epsilon": 1}, "release": release})
        with pytest.raises(ValueError, match="at most 1000 tables of 8 attributes"):
            plan(spec)
    wide = [{"name": name, "kind": "integer", "bounds": [0, 99_999]} for name in "ab"]
    for kind in ("histogram", "marginals"):
        spec = from_dict({"attribute": wide, "privacy": {"epsilon": 1}, "release": {"kind": kind}})
        with pytest.raises(NotSupported, match="10,000,000,000 cells"):
            plan(spec)
