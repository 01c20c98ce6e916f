"""The error that a published map states is its own: near the measured one, whatever the plan was made for."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.spatial.towns import PLACE, places, table

from dpress import evaluate, load_release, plan, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import Spec, from_dict
from dpress.kinds.spatial.plan_text import text

DATA = Path(os.environ.get("DPRESS_DATA", "../shared/data"))
STATES, NEW_YORK = [[-125.0, -66.5], [24.5, 49.5]], [[-74.27, -73.68], [40.48, 40.93]]
SETS = {
    "gowalla/gowalla_poi_checkins.parquet": STATES,
    "gowalla/gowalla_nyc_checkins.parquet": NEW_YORK,
    "us_points/fars_fatal_crashes_2013_2015.parquet": STATES,
    "us_points/us_census_places_zctas_2010.parquet": STATES,
    "nyc_pickups/nyc_taxi_pickups.parquet": NEW_YORK,
}
NEAR = 1.25


def spec(epsilon: float, box: list[list[float]], **parameters: Any) -> Spec:
    attribute = PLACE | {"bounds": box, "outside": "drop"}
    release = {"kind": "spatial", "method": "quadtree", "parameters": parameters}
    return from_dict({"attribute": [attribute], "privacy": {"epsilon": epsilon}, "release": release})


def both(asked: Spec, rows: pa.Table) -> tuple[float, float]:
    """Return the stated and the measured root mean squared error."""
    found = evaluate(publish(asked, rows, rng=rng.seeded(4)), rows)
    return found["predicted_root_mean_squared_error"], found["root_mean_squared_error"]


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_it_is_within_a_quarter_of_the_measured_one_on_real_points(name: str, epsilon: float) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"no {DATA / name}: set DPRESS_DATA")
    rows = pq.read_table(DATA / name, columns=["lon", "lat"])
    stated, measured = both(spec(epsilon, SETS[name], users=rows.num_rows), rows)
    assert measured / NEAR < stated < NEAR * measured


def test_many_more_rows_than_the_plan_was_made_for_are_seen_in_what_is_published() -> None:
    """People in few places of a coarse map: what is stated grows with them, what is planned cannot."""
    box, rows = [[0.0, 8.0], [0.0, 4.0]], table(np.tile(places(), 50))
    asked = spec(1.0, box, height=4)
    stated, measured = both(asked, rows)
    planned = plan(asked).chosen.predicted_error ** 0.5
    assert planned < measured / 5
    assert 0.5 * measured < stated < 2 * measured


def test_a_plan_says_for_how_many_it_is_made_and_who_said_so() -> None:
    box = [[0.0, 8.0], [0.0, 4.0]]
    silent, told = (text(plan(spec(1.0, box, height=3, **own))).remarks[-2] for own in ({}, {"users": 500}))
    assert "Predicted for 10,000 rows, as nobody set `users`, over rectangles of 1 to 25 % of the box" in str(silent)
    assert "Predicted for 500 rows over rectangles" in str(told)
    assert all("twelve made-up populations, from spread almost evenly to" in str(one) for one in (silent, told))


def test_it_is_read_back_as_it_was_written_and_must_be_an_error(tmp_path: Path) -> None:
    release = publish(spec(1.0, [[0.0, 8.0], [0.0, 4.0]], height=3), table(places()), rng=rng.seeded(1))
    release.write(tmp_path / "map")
    assert load_release(tmp_path / "map").predicted == release.predicted
    description = tmp_path / "map" / "release.json"
    wrong = description.read_text().replace(f'"predicted": {release.predicted}', '"predicted": -1.0')
    assert wrong != description.read_text()
    description.write_text(wrong)
    with pytest.raises(SchemaMismatch, match="`error` is no number >= 0"):
        load_release(tmp_path / "map")


def test_the_unbiased_answers_have_an_error_of_their_own_beside_the_map_s() -> None:
    """Of a quadtree, which is adjusted; a uniform grid has one error only."""
    rows, box = table(places()), [[0.0, 8.0], [0.0, 4.0]]
    found = evaluate(publish(spec(0.1, box, height=5), rows, rng=rng.seeded(2)), rows)
    assert found["unbiased_root_mean_squared_error"] > 1.5 * found["root_mean_squared_error"]
    release = {"kind": "spatial", "method": "uniform_grid", "parameters": {"side": 8}}
    attribute = PLACE | {"bounds": box, "outside": "drop"}
    flat = from_dict({"attribute": [attribute], "privacy": {"epsilon": 0.1}, "release": release})
    assert "unbiased_root_mean_squared_error" not in evaluate(publish(flat, rows, rng=rng.seeded(2)), rows)
