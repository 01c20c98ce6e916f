"""The errors of tables against the truth."""

import math

import pytest

from dpress import publish
from dpress.release.truth.evaluate import evaluate


def test_without_noise_to_speak_of_nothing_is_wrong(make_spec, rows):
    metrics = evaluate(publish(make_spec(privacy={"epsilon": 1000}), rows), rows)
    assert metrics["cell_largest_error"] == pytest.approx(0, abs=1e-9)
    assert metrics["total_variation"] == pytest.approx(0, abs=1e-9)
    assert metrics["cell_within_interval"] == 1


def test_the_error_of_adjusted_counts_stands_beside_that_of_the_unbiased(make_spec, rows):
    spec = make_spec("histogram", privacy={"epsilon": 0.1}, postprocess=["nonnegative", "integer"])
    release = publish(spec, rows)
    metrics = evaluate(release, rows)
    table = release.answers.all_tables["age-sex-size.parquet"].to_pydict()
    places = zip(rows["age"].to_pylist(), rows["sex"].to_pylist(), rows["size"].to_pylist(), strict=True)
    truth = {}
    for age, sex, size in places:
        truth[str(age), sex, size // 2 * 2] = truth.get((str(age), sex, size // 2 * 2), 0) + 1
    cells = zip(table["age"], table["sex"], table["size_from"], table["adjusted"], strict=True)
    squares = [(adjusted - truth.get((age, sex, low), 0)) ** 2 for age, sex, low, adjusted in cells]
    assert metrics["adjusted_cell_root_mean_squared_error"] == pytest.approx(math.sqrt(sum(squares) / len(squares)))
    assert metrics["adjusted_cell_root_mean_squared_error"] != metrics["cell_root_mean_squared_error"]
    assert "adjusted_cell_root_mean_squared_error" not in evaluate(publish(make_spec(postprocess=[]), rows), rows)


def test_the_wrong_table_shows(make_spec, rows):
    release = publish(make_spec(privacy={"epsilon": 1000}), rows)
    assert evaluate(release, rows.slice(100))["total_variation"] > 0.1
