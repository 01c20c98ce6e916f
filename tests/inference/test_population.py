"""The made-up populations that plans are made for: the same every time, clustered at every scale, about nobody."""

import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.maps.density import clustering
from dpress.inference.maps.population import HEIGHT, SEEDS, normal, populations

FALSE_ALARM = 1e-6
Z = 5.2  # two-sided quantile of two normal tests at that false alarm


def test_they_have_a_total_of_one_and_nobody_is_negative() -> None:
    found = populations()
    assert len(found) == len(SEEDS)
    for one in found:
        assert one.counts.shape == (1 << HEIGHT, 1 << HEIGHT)
        assert one.counts.sum() == pytest.approx(1)
        assert one.counts.min() >= 0
    assert populations() is found
    assert not np.array_equal(found[0].counts, found[1].counts)


@pytest.mark.parametrize("side", [16, 64, 512])
@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_each_is_clustered_at_every_scale_and_not_all_at_one_point(number: int, side: int) -> None:
    width = (1 << HEIGHT) // side
    image = populations()[number].counts.reshape(side, width, side, width).sum(axis=(1, 3))
    top = np.sort(image.ravel())[::-1].cumsum()
    tenth = side**2 // 10
    assert 0.5 < top[tenth] < 0.9999  # a tenth of the cells holds most people, and not all of them
    assert 0.1 < clustering(image) < 0.95
    assert image.max() < 0.6


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_people_are_in_the_middle_of_each(number: int) -> None:
    """Seen from the middle, as on a circle, they balance; moved by an eighth of the box they no longer do."""
    counts = populations()[number].counts
    angles = 2 * np.pi * (np.arange(1 << HEIGHT) / (1 << HEIGHT) - 0.5)
    for axis in (0, 1):
        shares = counts.sum(axis=1 - axis)
        assert shares @ np.cos(angles) > 0.2
        assert abs(math.atan2(shares @ np.sin(angles), shares @ np.cos(angles))) < 2 * np.pi / (1 << HEIGHT)
        moved = np.roll(shares, (1 << HEIGHT) // 8)
        assert abs(math.atan2(moved @ np.sin(angles), moved @ np.cos(angles))) > 0.5


def test_standard_normal_numbers_have_mean_zero_and_variance_one() -> None:
    size = 40_000
    found = normal(size, rng=rng.seeded(1))
    assert abs(found.mean()) < Z / math.sqrt(size)
    assert abs((found**2).mean() - 1) < Z * math.sqrt(2 / size)
    assert not abs((1.05 * found).var() - 1) < Z * math.sqrt(2 / size)
    assert np.array_equal(normal(5, rng=rng.seeded(2)), normal(5, rng=rng.seeded(2)))
