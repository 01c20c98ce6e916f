import pytest

from dpress import publish
from dpress.release.evaluate import evaluate


def test_errors_agree_with_the_prediction(make_spec, rows):
    release = publish(make_spec("ranges", ["age"], method="privelet"), rows)
    metrics = evaluate(release, rows)
    assert metrics["rows"] == 500
    assert 0 < metrics["cell_root_mean_squared_error"] < 10 * metrics["cell_predicted_root_mean_squared_error"]
    assert 0 < metrics["range_root_mean_squared_error"] < 10 * metrics["range_predicted_root_mean_squared_error"]
    assert metrics["range_predicted_root_mean_squared_error"] ** 2 == pytest.approx(
        release.planned.chosen.predicted_error
    )


def test_without_noise_to_speak_of_nothing_is_wrong(make_spec, rows):
    metrics = evaluate(publish(make_spec(privacy={"epsilon": 1000}), rows), rows)
    assert metrics["cell_largest_error"] == pytest.approx(0, abs=1e-9)
    assert metrics["total_variation"] == pytest.approx(0, abs=1e-9)
    assert metrics["cell_within_interval"] == 1


def test_the_wrong_table_shows(make_spec, rows):
    release = publish(make_spec(privacy={"epsilon": 1000}), rows)
    assert evaluate(release, rows.slice(100))["total_variation"] > 0.1
