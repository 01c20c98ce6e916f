"""The made-up populations that plans are made for: the same every time, clustered at every scale, about nobody."""

import math

import numpy as np
import pytest

from dpress.core.maps.grid import LARGEST_SIDE
from dpress.core.maps.linear import Array
from dpress.inference.maps.density import clustering
from dpress.inference.maps.population import ROUGHS, family


def every() -> list[Array]:
    """Return the shares of all populations: of towns, of few places, of people who are spread almost evenly."""
    return [population.counts for shape in ROUGHS for population in family(shape)]


def test_they_have_a_total_of_one_and_nobody_is_negative() -> None:
    assert len(every()) == 12
    for shares in every():
        assert shares.shape == (LARGEST_SIDE, LARGEST_SIDE)
        assert shares.sum() == pytest.approx(1)
        assert shares.min() >= 0
    assert family("towns") is family("towns")
    assert not np.array_equal(every()[0], every()[1])


@pytest.mark.parametrize("side", [16, 64, 1024])
@pytest.mark.parametrize("number", range(8))
def test_each_is_clustered_at_every_scale_and_not_all_at_one_point(number: int, side: int) -> None:
    width = LARGEST_SIDE // side
    image = every()[number].reshape(side, width, side, width).sum(axis=(1, 3))
    top = np.sort(image.ravel())[::-1].cumsum()
    assert top[side**2 // 10] > 0.5  # a tenth of the cells holds most people
    assert top[side**2 // 100] < 0.9999  # and a hundredth not all of them
    assert 0.1 < clustering(image) < 0.999
    assert image.max() < 0.6


@pytest.mark.parametrize("number", range(0, 8, 2))
def test_people_are_in_the_middle_of_every_second(number: int) -> None:
    """Seen from the middle, as on a circle, they balance; moved by an eighth of the box they no longer do."""
    counts = every()[number]
    angles = 2 * np.pi * (np.arange(LARGEST_SIDE) / LARGEST_SIDE - 0.5)
    for axis in (0, 1):
        shares = counts.sum(axis=1 - axis)
        assert shares @ np.cos(angles) > 0.2
        assert abs(math.atan2(shares @ np.sin(angles), shares @ np.cos(angles))) < 2 * np.pi / LARGEST_SIDE
        moved = np.roll(shares, LARGEST_SIDE // 8)
        assert abs(math.atan2(moved @ np.sin(angles), moved @ np.cos(angles))) > 0.5
