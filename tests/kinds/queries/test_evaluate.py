"""The errors of a list of answers against the truth."""

import pytest

from dpress import publish
from dpress.core.basics.errors import NotSupported
from dpress.release.truth.evaluate import evaluate

PARAMETERS = {"queries": ["age >= 5 or sex = F", "size < 4", "total"]}


def test_without_noise_to_speak_of_nothing_is_wrong(make_spec, rows) -> None:
    release = publish(make_spec("queries", parameters=PARAMETERS, privacy={"epsilon": 1000}), rows)
    found = evaluate(release, rows)
    assert found["rows"] == len(rows)
    assert found["query_largest_error"] == pytest.approx(0, abs=0.5)
    assert found["query_within_interval"] == 1


def test_another_truth_is_seen(make_spec, rows) -> None:
    release = publish(make_spec("queries", parameters=PARAMETERS, privacy={"epsilon": 1000}), rows)
    found = evaluate(release, rows.slice(0, 400))
    assert found["query_largest_error"] == pytest.approx(100, abs=0.5)
    assert found["query_within_interval"] < 1


def test_persons_are_drawn_anew_and_no_rows_are_held_out(make_spec, rows) -> None:
    privacy = {"epsilon": 10, "unit": "uid", "rows_per_unit": 1}
    release = publish(make_spec("queries", parameters=PARAMETERS, privacy=privacy), rows)
    assert "redrawn_root_mean_squared_difference" in evaluate(release, rows)
    with pytest.raises(NotSupported, match="--held-out"):
        evaluate(release, rows, held_out=rows)
