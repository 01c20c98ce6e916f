"""The errors of ranges against the truth, beside those that were predicted."""

import pytest

from dpress import publish
from dpress.core.basics import rng
from dpress.core.maps.ranges import Prefixes, Range, RangeList
from dpress.core.maps.workload import Boxes
from dpress.kinds.ranges.drawn import drawn
from dpress.release.truth.evaluate import evaluate


def test_errors_agree_with_the_prediction(make_spec, rows):
    release = publish(make_spec("ranges", ["age"], method="privelet"), rows)
    metrics = evaluate(release, rows)
    assert metrics["rows"] == 500
    assert 0 < metrics["cell_root_mean_squared_error"] < 10 * metrics["cell_predicted_root_mean_squared_error"]
    assert 0 < metrics["range_root_mean_squared_error"] < 10 * metrics["range_predicted_root_mean_squared_error"]
    assert metrics["range_predicted_root_mean_squared_error"] ** 2 == pytest.approx(release.predicted)


BOXES = [{}, {"queries": "prefixes"}, {"length": [3, 2]}, {"queries": ["age < 3 and size < 4", "age in 2..7"]}]


@pytest.mark.parametrize("method", ["privelet", "hierarchy", "binary_tree", "identity", "dst"])
@pytest.mark.parametrize("parameters", BOXES, ids=str)
def test_errors_of_boxes_agree_with_the_prediction(make_spec, rows, parameters, method):
    privacy = {"rho": 0.5} if method == "dst" else {"epsilon": 1.0}
    spec = make_spec("ranges", ["age", "size"], privacy, method=method, parameters=parameters)
    release = publish(spec, rows, rng=rng.seeded(3))
    metrics = evaluate(release, rows)
    assert 0 < metrics["range_root_mean_squared_error"] < 10 * metrics["range_predicted_root_mean_squared_error"]
    assert metrics["range_predicted_root_mean_squared_error"] ** 2 == pytest.approx(release.predicted)


def test_without_noise_to_speak_of_no_box_is_wrong(make_spec, rows):
    metrics = evaluate(publish(make_spec("ranges", ["age", "size"], {"epsilon": 1000}, method="boost"), rows), rows)
    assert metrics["range_root_mean_squared_error"] == pytest.approx(0, abs=1e-6)
    wrong = evaluate(publish(make_spec("ranges", ["age", "size"], {"epsilon": 1000}), rows), rows.slice(100))
    assert wrong["range_root_mean_squared_error"] > 1


def test_questions_are_drawn_from_the_workload_and_from_nothing_else():
    lists = (RangeList(9, (Range(1, 2), Range(3, 9))), RangeList(4, (Range(4, 4), Range(1, 3))))
    asked = {tuple((one.left, one.right) for one in box) for box in zip(lists[0].listed, lists[1].listed, strict=True)}
    first, second = drawn(Boxes(lists, paired=True), 500, rng=rng.secure())
    seen = set(zip(zip(first.left, first.right, strict=True), zip(second.left, second.right, strict=True), strict=True))
    assert seen == asked
    both = drawn(Boxes(lists), 500, rng=rng.secure())
    combined = set(zip(both[0].left.tolist(), both[1].left.tolist(), strict=True))
    assert combined == {(1, 4), (1, 1), (3, 4), (3, 1)}
    (prefixes,) = drawn(Boxes((Prefixes(5),)), 500, rng=rng.secure())
    assert set(prefixes.left) == {1}
    assert set(prefixes.right) == {1, 2, 3, 4, 5}
