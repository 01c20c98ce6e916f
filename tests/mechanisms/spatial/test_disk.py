"""The disk: its cells by hand, convolution = dense matrix, the likeliest map, the radius by brute force."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.claim import Relation
from dpress.core.maps.grid import Grid
from dpress.mechanisms.spatial.documents.disk import Blur, Disk, _information, informative_share, likeliest

P, Q = Fraction(1, 20), Fraction(1, 50)


def within(disk: Disk) -> np.ndarray:
    """Whether an output lies within a disk, from distances alone, shape (outputs, cells), both row by row."""
    place = np.stack(np.indices((disk.width, disk.width)), axis=-1).reshape(-1, 1, 2) - disk.radius
    cell = np.stack(np.indices((disk.side, disk.side)), axis=-1).reshape(1, -1, 2)
    near = ((place - cell) ** 2).sum(axis=2) <= disk.radius**2
    return near[near.any(axis=1)]


DISKS = [Disk(side, radius) for side in (1, 2, 5) for radius in (0, 1, 2, 3, 7)]


def test_outputs_and_disks_are_those_of_the_distances() -> None:
    for disk in DISKS:
        near = within(disk)
        assert near.shape == (disk.outputs, disk.side**2), disk
        assert (near.sum(axis=0) == disk.area).all(), disk
        assert disk.area == sum(disk.lengths) == len(disk.offsets[0]), disk
        for image, cell in zip(np.eye(disk.side**2).reshape(-1, disk.side, disk.side), near.T, strict=True):
            assert np.array_equal(np.rint(disk.spread(image)), disk.image(cell.astype(float))), disk
        reports = np.arange(disk.outputs, dtype=float)
        assert np.allclose(disk.gather(disk.image(reports)).ravel(), near.T @ reports), disk


@pytest.mark.parametrize("side", [4, 5])
def test_the_blur_equals_its_dense_matrix_in_the_order_of_the_cells(side: int) -> None:
    disk = Disk(side, 2)
    blur = Blur(grid=Grid(side), disk=disk, near=P, far=Q)
    by_row = np.where(within(disk), float(P), float(Q))
    dense = by_row[:, blur.grid.flat(np.arange(side**2, dtype=float).reshape(side, side)).astype(int)]
    counts, reports = np.arange(side**2) + 1, np.arange(disk.outputs) - 3.0
    assert np.allclose(blur.apply(counts), dense @ counts)
    assert np.allclose(blur.transpose(reports), dense.T @ reports)
    for order in (1, 2):
        assert float(blur.sensitivity(order, Relation.ADD_REMOVE)) == pytest.approx((dense**order).sum(axis=0).max())
        moved = (np.abs(dense[:, :, None] - dense[:, None]) ** order).sum(axis=0).max()
        assert float(blur.sensitivity(order, Relation.REPLACE_ONE)) >= moved - 1e-12


def test_the_likeliest_map_is_the_truth_for_exact_reports_and_a_maximum_for_noisy_ones() -> None:
    disk = Disk(6, 1)
    share = Fraction(1, 2 * disk.area)
    blur = Blur(grid=Grid(6), disk=disk, near=share, far=Fraction(1, 2 * (disk.outputs - disk.area)))
    truth = np.zeros((6, 6))
    truth[1, 2], truth[4, 4] = 0.7, 0.3
    assert np.abs(likeliest(blur, blur.seen(truth), gap=1e-9) - truth).max() < 1e-3
    reports = np.arange(disk.outputs) % 7.0
    found = likeliest(blur, reports, gap=1e-7)
    best = reports @ np.log(blur.seen(found)) / reports.sum()
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    slope = blur.back(reports / reports.sum() / blur.seen(found))
    assert slope.max() < 1 + 1e-7  # no cell would raise the likelihood: that is the maximum
    rough = likeliest(blur, reports, rounds=1)
    assert reports @ np.log(blur.seen(rough)) / reports.sum() < best - 1e-4


def brute_information(epsilon: float, radius: float, side: int = 24) -> float:
    """The mutual information on a fine grid, from the dense channel of whole cells."""
    near = within(Disk(side, round(radius * side)))
    far = 1 / (math.exp(epsilon) * near[:, 0].sum() + (~near[:, 0]).sum())
    shares = near.mean(axis=1)
    report = far * (1 + (math.exp(epsilon) - 1) * shares)
    conditional = far * math.exp(epsilon) * near[:, 0].sum() * (epsilon + math.log(far))
    conditional += far * (~near[:, 0]).sum() * math.log(far)
    return float(conditional - report @ np.log(report))


@pytest.mark.parametrize(("epsilon", "radius"), [(1, 0.5), (1, 0.25), (3, 0.375)])
def test_the_information_is_that_of_a_fine_grid(epsilon: int, radius: float) -> None:
    assert _information(epsilon, radius) == pytest.approx(brute_information(epsilon, radius), rel=0.05)
    assert _information(epsilon, radius) != pytest.approx(brute_information(epsilon, 1.5 * radius), rel=0.05)


def test_the_radius_says_most_and_shrinks_with_epsilon() -> None:
    found = [informative_share(Fraction(epsilon)) for epsilon in ("0.1", "0.5", "1", "2", "4", "8", "700")]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1e-3
    best = informative_share(Fraction(1))
    assert brute_information(1, best) > max(brute_information(1, factor * best) for factor in (0.5, 2))
