"""Ranges that devices answer in rounds, from the spec to the answers and the page: plans, and what is left open."""

import numpy as np
import pyarrow as pa
import pytest

from dpress.core.basics.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.kinds.ranges.page import page
from dpress.release.devices.estimate import estimate
from dpress.release.devices.next_round import next_design
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import plan

AGES = np.repeat([0, 3, 17, 40, 63], [1800, 900, 120, 60, 120])


def spec(**own):
    return from_dict(
        {
            "attribute": [{"kind": "integer", "name": "age", "bounds": [0, 63]}],
            "privacy": {"model": "local", "epsilon": 1.0},
            "release": {"kind": "ranges", "parameters": {"users": 3000, **own.pop("parameters", {})}, **own},
        }
    )


def collected(asked, folder, seed):
    design, number = plan(asked).design, 0
    while design is not None:
        own = folder / f"{seed}-{number}"
        perturb(design, pa.table({"age": AGES}), out=own, rng=seeded(1000 * seed + number))
        release = estimate(design, own)
        design, number = next_design(release), number + 1
    return release


def test_what_is_not_halved_is_left_open_and_said(tmp_path):
    release = collected(spec(method="ahead", postprocess=["top_down"], parameters={"rounds": 2}), tmp_path, 1)
    starts = release.mechanism.estimator.starts
    whole, cut = release.query("age in 32..63"), release.query("age in 33..62")
    assert (whole.within, bool(whole.note)) == (None, False)
    assert 33 not in starts
    assert cut.within[0] <= cut.value <= cut.within[1]
    assert "not divided further" in cut.note
    assert release.query("total").standard_error == 0
    made = page(release)
    assert "Devices were asked in 2 rounds, each device in one; this is what was known after round 2." in made
    assert f"the last one had {len(starts)}." in made
    (cells,) = release.answers.all_tables.values()
    assert cells["adjusted"].to_numpy().min() >= 0
    measured = release.answers.query_ranges([33], [64]).to_pylist()[0]
    assert measured["standard_error"] == pytest.approx(whole.standard_error)


def test_rounds_are_planned_only_where_they_are_asked_for():
    assert plan(spec(parameters={"rounds": 2})).chosen.method == "ahead"
    assert "ahead" not in {one.method for one in plan(spec()).candidates}
    with pytest.raises(ValueError, match=r"\$.release.parameters.rounds: expected at most 6, .* got 9"):
        plan(spec(parameters={"rounds": 9}))
    with pytest.raises(ValueError, match="unknown parameter 'rounds' for level_tree"):
        plan(spec(method="level_tree", parameters={"rounds": 2}))
    with pytest.raises(ValueError, match="unknown parameter 'branching' for ahead"):
        plan(spec(method="ahead", parameters={"branching": 2}))
