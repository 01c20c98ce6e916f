"""A plan of `dam` simulates maps on grids that it can afford; finer ones are refused at once."""

import pytest

from dpress.core.basics.errors import NotSupported
from dpress.mechanisms.spatial.documents import dam
from dpress.release.plan.plan import plan

PLACE = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]], "outside": "clamp"}


def spec(**parameters):
    release = {"kind": "spatial", "method": "dam", "parameters": {"users": 1237, **parameters}}
    return {"attribute": [PLACE], "privacy": {"model": "local", "epsilon": 4}, "release": release}


@pytest.fixture
def sides(monkeypatch):
    """The sides of the grids of which a likeliest map is made."""
    seen = []

    def evenly(blur, reports):
        seen.append(blur.grid.side)
        return blur.grid.image(reports[: blur.cells] * 0 + 1 / blur.cells)

    monkeypatch.setattr(dam, "likeliest", evenly)
    return seen


def test_finer_grids_than_it_affords_are_left_out(sides):
    assert plan(spec()).chosen.method == "dam"
    assert sorted(set(sides)) == [8, 16, 32, 64]


def test_a_named_grid_that_is_too_fine_is_refused_before_any_map(sides):
    with pytest.raises(NotSupported, match=r"dam: 128 x 128 cells are 16,384, more than 2\^13.*set side = 90 or less"):
        plan(spec(side=128))
    assert sides == []
