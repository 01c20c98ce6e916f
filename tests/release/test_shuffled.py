"""The promise of a shuffled collection: per report type, by the better bound, on the command line and its refusals."""

import json

import pytest
from click.testing import CliRunner

from dpress import plan
from dpress.cli.main import cli
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import from_dict
from dpress.release.plan.shuffled import rounded_up, sentence, shuffled

SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 99]}
TOML = """
[[attribute]]
name = "sex"
kind = "categorical"
values = ["F", "M"]
[privacy]
model = "{model}"
epsilon = 1.0
[release]
kind = "histogram"
"""


def collection(*attributes, method="auto", kind="marginals", **parameters):
    return plan(
        from_dict({
            "attribute": list(attributes),
            "privacy": {"model": "local", "epsilon": 1.0},
            "release": {"kind": kind, "method": method, "parameters": parameters},
        })
    ).chosen.mechanism  # fmt: skip


def test_users_of_another_type_hide_nobody():
    one, two = collection(SEX, method="krr"), collection(SEX, AGE, method="krr", split="users")
    alone = shuffled(one, 50_000, "1e-8")
    assert shuffled(two, 100_000, "1e-8").epsilon >= alone.epsilon > 0.95 * shuffled(two, 100_000, "1e-8").epsilon
    together = shuffled(collection(SEX, AGE, method="krr", split="budget"), 50_000, "1e-8")
    assert together.bound == "any randomiser"


@pytest.mark.parametrize("method", ["krr", "oue", "subset_selection", "pgr"])
def test_a_methods_own_reports_hide_more_than_any(method):
    own = shuffled(collection(AGE, method=method), 20_000, "1e-6")
    other = shuffled(collection(AGE, method="hadamard"), 20_000, "1e-6")
    assert own.bound == method
    assert own.epsilon < other.epsilon < 0.1
    assert other.bound == "any randomiser"
    assert rounded_up(own.epsilon) >= own.epsilon
    assert f"epsilon = {rounded_up(own.epsilon):g}, delta = 1e-06" in sentence(own)


def test_a_loss_that_hides_nobody_is_stated_as_it_is():
    own = plan(
        from_dict({
            "attribute": [SEX], "privacy": {"model": "local", "epsilon": 900.0}, "release": {"kind": "histogram"},
        })
    ).chosen.mechanism  # fmt: skip
    assert shuffled(own, 10**6, "1e-8").epsilon == pytest.approx(900)


def test_what_names_its_sender_is_not_shuffled():
    with pytest.raises(NotSupported, match="reports that carry a device's own hash name their sender"):
        shuffled(collection(AGE, method="loloha"), 1000, "1e-8")


def test_nothing_unproven_is_shuffled():
    place = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 1], [0, 1]]}
    unproven = collection(place, method="psda", kind="spatial", users=1000)
    with pytest.raises(NotSupported, match="shuffling adds to a proven epsilon of every report"):
        shuffled(unproven, 1000, "1e-8")


def run(tmp_path, *options, model="local"):
    (tmp_path / "spec.toml").write_text(TOML.format(model=model))
    return CliRunner().invoke(cli, ["plan", str(tmp_path / "spec.toml"), *options])


def test_the_command_says_it_in_words_and_as_json(tmp_path):
    said = run(tmp_path, "--shuffled", "--delta", "1e-8")
    assert "trusts whoever shuffles; epsilon = 1 of a report needs nobody's trust." in said.stdout
    found = json.loads(run(tmp_path, "--shuffled", "--delta", "1e-8", "--json").stdout)["shuffled"]
    assert set(found) == {"local", "epsilon", "delta", "reports", "bound"}
    assert 0 < found["epsilon"] < found["local"] == 1
    assert "shuffled" not in json.loads(run(tmp_path, "--json").stdout)


@pytest.mark.parametrize(
    ("options", "model", "message"),
    [
        (["--shuffled"], "local", "--shuffled and --delta go together"),
        (["--delta", "1e-8"], "local", "--shuffled and --delta go together"),
        (["--shuffled", "--delta", "2"], "local", "delta must lie strictly between 0 and 1, got delta=2"),
        (["--shuffled", "--delta", "x"], "local", "delta"),
        (["--shuffled", "--delta", "1e-8"], "central", "--shuffled is of reports from devices"),
    ],
)
def test_what_is_refused(tmp_path, options, model, message):
    done = run(tmp_path, *options, model=model)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)
