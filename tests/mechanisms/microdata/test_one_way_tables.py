"""What one-way tables say together: one total, groups for tables of pairs, records spread within their groups."""

import math

import numpy as np
import pytest

from dpress.attributes.mixed import Column
from dpress.core.basics import rng
from dpress.core.maps.linear import Stack
from dpress.core.maps.measurement import Measurement
from dpress.inference.normal import normal
from dpress.mechanisms.microdata.grouped_tables import GroupedTable
from dpress.mechanisms.microdata.one_way_tables import groups_of_numbers, one_way_tables

TRUTH = np.outer([0.7, 0.3], [0.1, 0.2, 0.3, 0.4]) * 1000
COLUMNS = (
    Column(name="a", size=2, units=np.zeros(0, np.int64), distance=1 - np.eye(2)),
    Column(name="b", size=4, units=np.zeros(0, np.int64), distance=1 - np.eye(4)),
)


def measured(part: GroupedTable, exact: np.ndarray, variance: float, seed: int) -> Measurement:
    noise = math.sqrt(variance) * normal(exact.size, rng=rng.seeded(seed))
    return Measurement(map=Stack((part,)), answers=exact.ravel() + noise, variance=variance)


def noisy_histograms(
    columns: tuple[Column, ...], tables: list[np.ndarray], variances: list[float], seed: int
) -> Measurement:
    shape = tuple(column.size for column in columns)
    parts = [GroupedTable(shape=shape, axes=(axis,), groups=(np.arange(size),)) for axis, size in enumerate(shape)]
    rows = zip(parts, tables, variances, strict=True)
    found = [measured(part, own, spread, seed + i) for i, (part, own, spread) in enumerate(rows)]
    spreads = np.repeat(variances, shape)
    return Measurement(
        map=Stack(tuple(parts)), answers=np.concatenate([one.answers for one in found]), variance=spreads
    )


@pytest.mark.parametrize(
    ("records", "deviation", "groups"), [(0, 40, 4), (40_000, 40, 21), (160_000, 40, 42), (1e9, 1, 64)]
)
def test_numbers_have_as_many_groups_as_noise_allows(records: float, deviation: float, groups: int) -> None:
    assert groups_of_numbers(records, deviation) == groups


def test_the_total_is_the_mean_by_precision() -> None:
    one_way = one_way_tables(
        COLUMNS, noisy_histograms(COLUMNS, [TRUTH.sum(1), TRUTH.sum(0) + 50], [1e6, 1e-6], 1), 40.0
    )
    assert one_way.size == 1200
    assert [own.sum() for own in one_way.counts] == pytest.approx([1200, 1200], rel=1e-3)


def test_a_number_of_few_cells_keeps_them_apart_only_where_noise_is_small() -> None:
    column = Column(name="c", size=10, units=2 * np.arange(10) - 9, distance=np.zeros((0, 0)))
    counts = np.array([20_000.0, *[1.0] * 9])
    found = [one_way_tables((column,), noisy_histograms((column,), [counts], [1e-6], 1), own) for own in (10.0, 200.0)]
    assert [int(own.groups[0].max()) + 1 for own in found] == [10, 2]


def test_records_are_spread_within_their_groups_as_the_one_way_table_says() -> None:
    column = Column(name="c", size=100, units=2 * np.arange(100) - 99, distance=np.zeros((0, 0)))
    counts = np.arange(100.0) * 10
    one_way = one_way_tables((column,), noisy_histograms((column,), [counts], [1.0], 1), 193.0)
    groups = one_way.groups[0]
    assert 8 <= groups.max() + 1 <= 2 * 11 + 1  # 11 are asked for: sqrt(49,500 / 193) = 16
    codes = np.repeat(np.arange(groups.max() + 1), np.bincount(groups, weights=counts).astype(int))[None]
    made = one_way.spread(codes.astype(np.int32), rng=rng.seeded(2))[0]
    assert np.array_equal(groups[made], codes[0])
    assert np.abs(np.bincount(made, minlength=100) - counts).max() < 8


def test_a_second_measurement_is_weighted_by_precision_and_leaves_groups_and_size() -> None:
    first = one_way_tables(COLUMNS, noisy_histograms(COLUMNS, [TRUTH.sum(1), TRUTH.sum(0)], [40.0, 40.0], 1), 40.0)
    more = noisy_histograms(COLUMNS, [TRUTH.sum(1) + 400, TRUTH.sum(0) + 200], [10.0, 10.0], 5)
    both = first.again(more)
    for old, new, part in zip(first.noisy, both.noisy, more.parts, strict=True):
        assert new == pytest.approx(0.2 * old + 0.8 * part.answers)
    assert both.size == first.size
    assert [counts.sum() for counts in both.counts] == pytest.approx([first.size] * 2)
    assert both.groups is first.groups
    scale = first.size / np.mean([table.sum() for table in both.noisy])
    assert both.variances == pytest.approx([8 * scale**2] * 2, rel=0.01)


def test_attributes_that_have_one_group_each_are_spread_apart_from_each_other() -> None:
    """In one order of records two halves would follow each other."""
    columns = tuple(Column(name=n, size=2, units=np.zeros(0, np.int64), distance=1 - np.eye(2)) for n in "ab")
    one_way = one_way_tables(columns, noisy_histograms(columns, [np.array([500.0, 500.0])] * 2, [1e6, 1e6], 3), 40.0)
    one_way = one_way.again(noisy_histograms(columns, [np.array([500.0, 500.0])] * 2, [1.0, 1.0], 3))
    assert [int(groups.max()) for groups in one_way.groups] == [0, 0]
    made = one_way.spread(np.zeros((2, 1000), np.int32), rng=rng.seeded(1))
    together = float(np.mean(made[0] == made[1]))
    assert abs(together - 0.5) < 0.1  # six standard deviations of 1,000 coins
