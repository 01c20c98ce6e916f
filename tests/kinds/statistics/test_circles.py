"""Numbers on a circle from devices: the whole path, ranges that go past the end, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpress import evaluate, load_release, perturb, plan
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.data.specification.spec import from_dict
from dpress.inference.group_moments import of_rows
from dpress.kinds.statistics import page, plan_text
from dpress.kinds.statistics.devices.estimates import turned
from dpress.release.devices.estimate import estimate

HOUR = {"name": "hour", "kind": "integer", "bounds": [0, 23]}
WEEKDAY = {"name": "weekday", "kind": "integer", "bounds": [0, 6]}
ZONE = {"name": "zone", "kind": "categorical", "values": ["a", "b"]}


def spec(parameters: dict[str, Any], *attributes: Any, method: str = "auto", model: str = "local") -> Any:
    release = {"kind": "statistics", "method": method, "parameters": parameters}
    privacy = {"model": model, "epsilon": 3.0}
    return from_dict({"attribute": list(attributes), "privacy": privacy, "release": release})


def test_the_whole_path_with_groups(tmp_path: Path) -> None:
    users, draw = 8000, np.random.default_rng(5)  # noqa: TID251  # made-up people
    zone = draw.choice(["a", "b"], users)
    hour = (draw.normal(23.5, 2, users) + 6 * (zone == "b")).astype(int) % 24
    data = pa.table({"hour": hour, "weekday": draw.integers(0, 7, users), "zone": zone})
    asked = spec({"by": ["zone"], "circular": ["hour", "weekday"], "users": users}, HOUR, WEEKDAY, ZONE)
    perturb(asked, data, out=tmp_path / "reports.parquet", rng=rng.seeded(1))
    release = estimate(asked, tmp_path / "reports.parquet", out=tmp_path / "release")
    metrics = evaluate(release, data)
    assert all(one == 1 for name, one in metrics.items() if name.endswith("within interval"))
    again = load_release(tmp_path / "release")
    late = again.query("circular mean hour where zone = a")
    truth = np.angle(np.exp(2j * np.pi * hour[zone == "a"] / 24).mean()) * 12 / np.pi
    assert abs((late.value - truth + 12) % 24 - 12) < 4 * late.standard_error < 1
    length = again.query("resultant length hour where zone = a")
    assert abs(length.value - abs(np.exp(2j * np.pi * hour[zone == "a"] / 24).mean())) < 4 * length.standard_error < 0.2
    night = again.query("share hour in 22..2 where zone = a")
    assert abs(night.value - ((hour >= 22) | (hour <= 2))[zone == "a"].mean()) < 4 * night.standard_error < 0.4
    assert night.value == pytest.approx(1 - again.query("share hour in 3..21 where zone = a").value)
    days = again.query("share weekday in 5..1")
    assert days.value == pytest.approx(1 - again.query("share weekday in 2..4").value)
    assert set(again.answers.tables) == {
        "statistics.parquet",
        "distribution-hour.parquet",
        "distribution-weekday.parquet",
    }
    assert "The distribution of hour" in page.page(again)
    with pytest.raises(ValueError, match="there is no statistic 'mean hour'"):
        again.query("mean hour")


def test_directions_are_values_within_the_bounds_and_their_intervals_go_beyond() -> None:
    angles = of_rows([(-0.1, 0.2, -0.5, 0.3)])
    for own, first in (
        (Numeric(name="hour", bounds=(0.0, 24.0), bins=24), 0.5),  # the middle of the first level
        (Integer(name="hour", bounds=(0, 23)), 0.0),
    ):
        found, turn = turned(own, angles), 12 / np.pi
        value = (first - 0.1 * turn) % 24
        assert np.allclose([found.value[0], found.standard_error[0]], [value, 0.2 * turn])
        assert np.allclose([found.low[0], found.high[0]], [value - 0.4 * turn, value + 0.4 * turn])


def test_a_plan_predicts_directions_where_one_is_supposed() -> None:
    known = {"circular": ["hour"], "assume": {"hour": {"mean": 23, "sd": 3}}, "users": 10_000}
    planned = plan(spec(known, HOUR))
    assert planned.chosen.method == "circular_wave"
    errors = plan_text.expected_errors(planned, planned.chosen)
    assert set(errors) == {"count", "circular mean hour", "resultant length hour"}
    assert 0 < errors["circular mean hour"] < 0.5
    assert "resultant length, %" in str(plan_text.text(planned))


@pytest.mark.parametrize(
    ("parameters", "model", "method", "line"),
    [
        (
            {"circular": ["hour"], "mean": ["weekday"]},
            "local",
            "auto",
            "circular: numbers on a circle have",
        ),
        ({"circular": ["zone"]}, "local", "auto", "circular: zone is categorical"),
        ({"circular": ["hour"]}, "central", "auto", "unknown parameter 'circular'"),
        ({"circular": ["hour"]}, "local", "square_wave", '"circular_wave" collects the numbers of `circular`'),
        ({"mean": ["hour"]}, "local", "circular_wave", '"circular_wave" collects the numbers of `circular`'),
    ],
)
def test_what_does_not_fit_is_refused(parameters: Any, model: str, method: str, line: str) -> None:
    own = [one for one in (HOUR, WEEKDAY, ZONE) if one["name"] in str(parameters)]
    with pytest.raises((ValueError, NotSupported), match=line):
        plan(spec(parameters, *own, method=method, model=model))
