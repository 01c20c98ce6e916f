"""The opening of a map: a part of it is named only where it is significantly the fullest, as small as that is known."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.kinds.conftest import mapped, mapped_table
from tests.kinds.reading import undrawn

from dpress.core.basics import rng
from dpress.core.maps.grid import Grid
from dpress.inference.maps.density import Cells, TreeNoise
from dpress.inference.normal import normal
from dpress.kinds.spatial import where_most as module
from dpress.kinds.spatial.where_most import HIDDEN, where_most
from dpress.reporting.findings import CONFIDENCE, largest
from dpress.reporting.rounding import MINUS

FALSE_ALARM = 1e-6
RUNS = 500
BOX = ((-16.0, 0.0), (0.0, 1.6))
NAMES = ("East (km)", "North (km)")


def density(counts: Any, variance: float = 25.0) -> Cells:
    grid = Grid(len(counts))
    return Cells(grid=grid, counts=counts, noise=TreeNoise(grid=grid, levels=(variance,)))


def told(counts: Any) -> str:
    return where_most(density(counts), "gaussian", BOX, NAMES, "people")


def named_of_equal_parts() -> int:
    """Return of how many maps on which all parts hold as many people one is named, each time wrongly."""
    noise = 5 * normal(RUNS * 256, rng=rng.seeded(4)).reshape(RUNS, 16, 16)
    return sum(not told(100 + each).endswith(HIDDEN) for each in noise)


def test_parts_that_hold_as_many_are_named_no_more_often_than_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that compares the first two with a confidence of its own is found out."""
    most = stats.binom.isf(FALSE_ALARM, RUNS, 1 - CONFIDENCE)
    ours = named_of_equal_parts()
    monkeypatch.setattr(module, "largest", lambda groups, _: largest(groups, -len(groups.labels) * 0.5))
    assert ours <= most < named_of_equal_parts()


def test_the_smallest_part_that_is_known_to_be_the_fullest_is_named_with_its_count() -> None:
    counts = np.full((16, 16), 10.0)
    counts[4:6, 14:16] += 100.0
    place = f"East (km) {MINUS}12.0 to {MINUS}10.0 and North (km) 1.40 to 1.60"
    assert told(counts) == f"Of 8 × 8 equal parts of the map the fullest is {place}: 440 people (419 to 461)."
    counts[12:14, 2:4] += 100.0
    assert told(counts) == (
        f"The largest estimate of 4 equal parts of the map is East (km) {MINUS}16.0 to {MINUS}8.0 and North (km) "
        f"0.80 to 1.60: 1,040 people (930 to 1,150); {HIDDEN}"
    )
    counts[0:8, 8:16] += 5.0
    assert told(counts).startswith("Of 2 × 2 equal parts")


@pytest.mark.slow
def test_pages_name_a_part_where_their_intervals_hold_alone() -> None:
    assert "equal parts of the map the fullest is lon" in undrawn(mapped_table())
    approximate = undrawn(mapped("ahead"))
    assert "fullest is" not in approximate
    assert "people reported. The largest estimate of 4 equal parts of the map is lon" in approximate
    assert "A group is called" not in approximate
