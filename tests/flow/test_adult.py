"""The examples on the real Adult file: what is published is as wrong as predicted, no more and no less."""

from pathlib import Path

import pytest

from dpress import load_spec, publish
from dpress.release.truth.evaluate import evaluate

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples" / "adult"


def mean_square(spec, data, runs):
    """Return the ratio of the measured to the predicted mean squared error of the published cells."""
    ratios = []
    for _ in range(runs):
        metrics = evaluate(publish(spec, data), data)
        measured, predicted = (metrics[f"cell_{name}root_mean_squared_error"] for name in ("", "predicted_"))
        ratios.append((measured / predicted) ** 2)
    return sum(ratios) / runs


@pytest.mark.parametrize(("name", "runs"), [("ages", 60), ("marginals", 6)])
def test_measured_errors_agree_with_the_prediction(reference_data, name, runs):
    """Over 74 x 60 (ages) and about 6 x 800 (marginals) Laplace errors the ratio is 1 +- 0.035; 6 of these: 1e-8."""
    ratio = mean_square(load_spec(EXAMPLES / f"{name}.toml"), reference_data / "adult" / "adult.parquet", runs)
    assert ratio == pytest.approx(1, abs=0.21)
    assert ratio * 1.5 != pytest.approx(1, abs=0.21)  # noise of half as much variance again would be found


def test_the_command_publishes_both(dpress, reference_data):
    data = reference_data / "adult" / "adult.parquet"
    for name in ("ages", "marginals"):
        done = dpress("publish", EXAMPLES / f"{name}.toml", "--data", data, "--out", f"out/{name}", "--json", "--quiet")
        assert done.code == 0, done.err
        assert done.json["charged"] == {"epsilon": 1.0}
    answer = dpress("query", "out/marginals", "sex = Female and education = Bachelors", "--json").json[0]
    assert abs(answer["value"] - 2477) < 10 * answer["standard_error"]  # 2,477 in the public file
    ages = dpress("query", "out/ages", "age in 30..40", "--json").json[0]
    assert abs(ages["value"] - 14116) < 10 * ages["standard_error"]
    assert dpress("report", "out/marginals").code == 0
