"""What rectangles count at least and at most by leaves and by disks: exact without noise, wherever people are."""

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.leaves import named
from dpress.mechanisms.protocol.sum_form import SumForm
from dpress.mechanisms.spatial.documents.disk_reach import ADDED, DiskReach
from dpress.mechanisms.spatial.documents.disk_reports import DiskReports
from dpress.mechanisms.spatial.leaf_reach import LeafReach, nested
from dpress.mechanisms.spatial.report_noise import Noisy

PARTITIONS = [("0", "1", "2", "3"), ("0", "10", "11", "12", "13", "2", "3")]
SOME = Rectangles(*(np.array(end) for end in ([0.0, 0, 1, 2], [4.0, 2, 3, 4], [0.0, 2, 1, 0], [4.0, 4, 3, 1])))


def leaf_reach(people: np.ndarray, variance: float = 1e-9) -> LeafReach:
    """By answers without noise to both partitions, of a stated variance."""
    parts, cells = [named(own, 2) for own in PARTITIONS], Grid(4).flat(people)
    counts = [np.bincount(own.values(2), weights=cells) for own in parts]
    partitions = nested(parts, 2, [1.0, 1.0])
    forms = [
        SumForm(squares=np.full(own.size, variance), rows=np.zeros((0, own.size)), between=np.zeros((0, 0)))
        for own in parts
    ]
    return LeafReach(
        grid=Grid(4),
        partitions=partitions,
        noises=tuple(Noisy(form=own) for own in forms),
        counts=partitions.estimate(counts, float(people.sum())),
        leaves=parts[-1],
    )


def scattered(generator: Generator, side: int = 4) -> np.ndarray:
    return (generator.words(side**2) % 50).astype(float).reshape(side, side)


def test_leaves_within_and_around_hold_a_rectangle_wherever_people_are_and_whole_leaves_are_exact() -> None:
    generator = rng.seeded(1)
    for _ in range(20):
        people = scattered(generator)
        reach, truth = leaf_reach(people), sums(people, SOME)
        low, high = reach.ends(SOME, 0.0)
        assert (low - 1 <= truth).all()
        assert (truth <= high + 1).all()
        assert (low[0], high[0]) == pytest.approx((people.sum(), people.sum()))  # everybody is known
        assert (low[1], high[1]) == pytest.approx((truth[1], truth[1]), abs=1.01)  # the quarter that is split
        assert low[3] == pytest.approx(0, abs=1.01)  # no leaf lies in it
        assert high[3] == pytest.approx(people[2:, :2].sum(), abs=1.01)
        lows, highs = reach.cells(0.0)
        assert (lows - 1 <= people).all()
        assert (people <= highs + 1).all()


def test_noisier_leaves_reach_further() -> None:
    people = scattered(rng.seeded(2))
    near, far = (leaf_reach(people, variance).ends(SOME, 2.0) for variance in (1.0, 100.0))
    assert (far[1][1:] > near[1][1:]).all()
    assert (far[0][1:] <= near[0][1:]).all()


def disk_reach(people: np.ndarray, users: float, radius: int = 1) -> DiskReach:
    oracle = DiskReports(grid=Grid(len(people)), loss=PureDP(epsilon=3), radius=radius)
    return DiskReach(blur=oracle.blur, reports=oracle.blur.apply(oracle.grid.flat(people)), users=int(users))


def test_disks_within_windows_hold_a_rectangle_wherever_people_are() -> None:
    """From expected reports; what is added for chance is a few people of many."""
    generator, whole = rng.seeded(3), Rectangles(*(np.array([end]) for end in (0.0, 8.0, 0.0, 8.0)))
    ends = np.sort(generator.words(4 * 40).reshape(2, 2, 40) % np.uint64(9), axis=1).astype(float)
    asked = Rectangles(ends[0, 0], ends[0, 1] + (ends[0, 0] == ends[0, 1]), ends[1, 0], ends[1, 1])
    asked = Rectangles(
        np.minimum(asked.left, 7), np.maximum(asked.right, asked.left + 1).clip(1, 8), asked.bottom, asked.top
    )
    for _ in range(10):
        people = scattered(generator, 8) * 100
        people[generator.words(1)[0] % 8, generator.words(1)[0] % 8] += 50_000
        reach, truth = disk_reach(people, people.sum()), sums(people, asked)
        low, high = reach.ends(asked, 0.0)
        room = 20 * ADDED
        assert (low - room <= truth).all()
        assert (truth <= high + room).all()
        assert reach.ends(whole, 0.0)[1][0] == people.sum()
        lows, highs = reach.cells(0.0)
        assert (lows - room <= people).all()
        assert (people <= highs + room).all()


def test_a_wide_rectangle_is_bounded_from_below_and_a_disk_that_holds_all_says_nothing() -> None:
    people = np.zeros((8, 8))
    people[2, 2] = 90_000
    people[7, 7] = 10_000
    half = Rectangles(*(np.array([end]) for end in (0.0, 6.0, 0.0, 8.0)))
    low, high = disk_reach(people, people.sum()).ends(half, 2.0)
    assert 80_000 < low[0] <= 90_000 <= high[0] < 95_000
    low, high = disk_reach(people, people.sum(), radius=8).ends(half, 2.0)
    assert low[0] < 20_000
    assert high[0] > 99_000
