"""Plans of maps: which grids and methods are tried, what is expected of them, what is refused."""

import math

import numpy as np
import pytest

from dpress import plan
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid
from dpress.core.maps.workload import Areas
from dpress.data.specification.spec import from_dict
from dpress.kinds.spatial.design import AREAS, areas
from dpress.kinds.spatial.plan_text import text
from dpress.kinds.spatial.prediction import expected, rectangles
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.spatial.central_map import CentralMap

PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 8], [0, 4]]}
CENTRAL = ("quadtree", "adaptive_grid", "uniform_grid")
AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}


def spec(method="auto", *, privacy=None, attributes=(PLACE,), outside="clamp", postprocess=(), **parameters):
    places = [{**one, "outside": outside} if one["kind"] == "location" else one for one in attributes]
    release = {"kind": "spatial", "method": method, "parameters": parameters, "postprocess": list(postprocess)}
    return from_dict(
        {"attribute": places, "privacy": privacy or {"model": "local", "epsilon": 1.0}, "release": release}
    )


def side(planned):
    return planned.chosen.mechanism.decoder.shape[0]


def test_rectangles_have_the_areas_that_were_asked_for_and_lie_in_the_box():
    for low, high in ((0.01, 0.25), (0.2, 0.6), (1, 1), (0.0001, 0.0001)):
        own = rectangles(Areas(low, high), 500)
        wide, tall = own.right - own.left, own.top - own.bottom
        found = wide * tall
        assert found.min() >= low - 1e-12
        assert found.max() <= high + 1e-12
        assert own.left.min() >= 0
        assert max(own.right.max(), own.top.max()) <= 1 + 1e-12
        assert (np.maximum(wide / tall, tall / wide)[found < 1 / 3] <= 3 + 1e-9).all()
        if high > low:
            assert abs(found.mean() - (low + high) / 2) < 6 * (high - low) / math.sqrt(12 * 500)
    assert np.array_equal(rectangles(Areas(0.1, 0.2)).left, rectangles(Areas(0.1, 0.2)).left)


@pytest.mark.slow
def test_without_a_height_the_best_grid_is_taken_and_it_grows_with_the_users():
    sizes = [side(plan(spec(users=users))) for users in (300, 1_000_000)]
    assert sizes[0] < sizes[1]
    auto = plan(spec(users=20_000))
    errors = {h: plan(spec("gtr_top_down", users=20_000, height=h)).chosen.predicted_error for h in (3, 4, 5, 6, 7, 8)}
    assert auto.chosen.predicted_error == min(errors.values())
    assert side(auto) == 1 << min(errors, key=errors.get)
    assert auto.chosen.method == "gtr_top_down"


@pytest.mark.parametrize(
    "method", ["gtr", "n_gtr", "qt_krr", "qt_rappor", "gtr_top_down", "psda", "n_psda", "dam", "krr", "oue", "rappor"]
)
def test_every_method_makes_a_collection_of_its_grid(method):
    planned = plan(spec(method, users=5000, height=3))
    assert planned.chosen.method == method
    assert isinstance(planned.chosen.mechanism, Collection)
    assert planned.choice.schema == planned.design.schema
    assert planned.design.schema.names == ("lon", "lat")
    assert planned.design.schema.shape == (8, 8) == planned.chosen.mechanism.shape
    assert planned.chosen.predicted_error > 0


@pytest.mark.parametrize("method", CENTRAL)
@pytest.mark.parametrize("privacy", [{"epsilon": 0.5}, {"rho": 0.1}, {"epsilon": 0.5, "delta": 1e-6}])
def test_every_method_of_a_curator_serves_epsilon_and_rho(method, privacy):
    planned = plan(spec(method, privacy=privacy, users=5000))
    assert planned.chosen.method == method
    if privacy == {"rho": 0.1}:
        assert isinstance(planned.chosen.mechanism.claim.proven, ZCDP)


def test_a_curator_who_names_no_method_gets_the_smallest_expected_error():
    planned = plan(spec(privacy={"epsilon": 0.5}, users=5000))
    assert {one.method for one in planned.candidates} == set(CENTRAL)
    assert planned.chosen.predicted_error == min(one.predicted_error for one in planned.candidates)


def test_a_guess_of_the_crowd_chooses_among_the_methods_of_a_curator():
    """Where people are everywhere a grid errs less, where they are in few places a tree: as the plan says."""
    made = {
        shape: plan(spec(privacy={"epsilon": 1.0}, users=60_000, shape=shape)) for shape in ("even", "towns", "places")
    }
    assert {shape: planned.chosen.method for shape, planned in made.items()} == {
        "even": "adaptive_grid",
        "towns": "quadtree",
        "places": "quadtree",
    }
    remarks = [str(text(planned).remarks[0]) for planned in made.values()]
    assert "four made-up populations that are spread almost evenly." in remarks[0]
    assert "four made-up populations that are crowded in a few places." in remarks[2]
    with pytest.raises(ValueError, match=r"\$\.release\.parameters\.shape: expected"):
        plan(spec(privacy={"epsilon": 1.0}, shape="round"))


def test_how_a_curators_quadtree_reconstructs_cells_can_be_named():
    made = [
        plan(spec("quadtree", privacy={"epsilon": 0.1}, users=5000, height=6, **own)).chosen
        for own in ({}, {"reconstruction": "nonnegative"}, {"reconstruction": "least_squares"})
    ]
    assert all(isinstance(one.mechanism, CentralMap) for one in made)
    assert [one.mechanism.reconstruction for one in made] == ["nonnegative", "nonnegative", "least_squares"]
    assert made[0].predicted_error == made[1].predicted_error < made[2].predicted_error


def test_the_predicted_error_falls_with_epsilon_and_users_and_grows_with_the_area():
    def error(epsilon=1.0, users=20_000, **own):
        own_spec = spec("gtr", privacy={"model": "local", "epsilon": epsilon}, users=users, height=4, **own)
        return plan(own_spec).chosen.predicted_error

    assert error(epsilon=2.0) < error() < error(epsilon=0.5)
    assert error(users=80_000) / 80_000**2 < error() / 20_000**2
    assert error(area=[0.001, 0.002]) < error(area=[0.2, 0.3])
    assert plan(spec(height=4)).workload == Areas(*AREAS) == areas(spec())


def test_a_prediction_is_the_same_every_time():
    made = plan(spec("gtr_top_down", users=9000, height=4)).chosen.mechanism.estimator
    assert expected(made, Areas(0.1, 0.2), 9000) == expected(made, Areas(0.1, 0.2), 9000)
    assert made.grid == Grid(16)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"height": 4, "side": 16}, "unknown parameter 'side' for gtr_top_down"),
        ({"privacy": {"epsilon": 1.0}, "height": 4, "side": 16}, "set either `height` or `side`"),
        ({"method": "n_gtr", "height": 4, "side": 16}, "set either `height` or `side`"),
        ({"height": 11}, r"parameters.height: expected at most 10, got 11"),
        ({"height": 0}, r"height: expected an integer from 1 to 10, got 0"),
        ({"height": 2.5}, "height: expected an integer"),
        ({"method": "n_gtr", "side": 1025}, "side: expected at most 1024, got 1025"),
        ({"method": "gtr", "side": 12}, "unknown parameter 'side' for gtr; its quadtree needs a power of two: set"),
        ({"side": 12}, "unknown parameter 'side' for gtr_top_down; its quadtree needs a power of two"),
        ({"split": "users"}, "unknown parameter 'split' for gtr_top_down"),
        ({"area": [0.5, 0.1]}, r"area: expected \[low, high\] with 0 < low <= high <= 1, got \[0.5, 0.1\]"),
        ({"area": 0.2}, "area: expected"),
        ({"area": [0, 0.5]}, "area: expected"),
        ({"area": [0.1, float("nan")]}, "area: expected"),
        ({"area": [True, 1]}, "area: expected"),
        ({"area": ["a", "b"]}, "area: expected"),
        ({"outside": "drop"}, 'outside = "drop" under model = "local": .* set outside = "clamp"'),
        ({"attributes": (PLACE, AGE)}, 'kind = "spatial" needs one attribute of kind "location", got place, age'),
        ({"attributes": (AGE,)}, 'needs one attribute of kind "location", got age'),
        ({"postprocess": ["nonnegative"]}, 'kind = "spatial" has no tables to adjust'),
        ({"method": "psda", "height": 3, "region_levels": [3]}, "region_levels must lie below 3"),
        ({"method": "psda", "height": 3, "epsilons": [1.5]}, "epsilons must be at most 1"),
        (
            {"method": "quadtree", "privacy": {"epsilon": 1.0}, "reconstruction": "x"},
            'reconstruction: expected "least_squares" or "nonneg',
        ),
        ({"method": "quadtree", "privacy": {"epsilon": 1.0}, "side": 12}, "quadtree; its quadtree needs a power"),
    ],
)
def test_what_cannot_be_planned_is_refused(own, message):
    with pytest.raises(ValueError, match=message):
        plan(spec(**own))


@pytest.mark.parametrize(
    ("method", "privacy", "message"),
    [
        ("privelet", None, "'privelet' makes no map from reports; those that do: .*gtr_top_down"),
        ("quadtree", None, "'quadtree' makes no map from reports"),
        ("adaptive_grid", None, "'adaptive_grid' makes no map from reports"),
        ("nonsense", None, "'nonsense' makes no map from reports"),
        ("gtr", {"epsilon": 1.0}, "'gtr' makes no map from a table; those that do: adaptive_grid, quadtree"),
        ("gtr", {"model": "local", "rho": 0.5}, "needs `epsilon` alone"),
    ],
)
def test_a_method_of_the_other_model_or_of_none_is_refused(method, privacy, message):
    with pytest.raises((NotSupported, ValueError), match=message):
        plan(spec(method, privacy=privacy, users=1000))
