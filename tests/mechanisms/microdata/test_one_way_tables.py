"""What tables say together: one total, margins sums by all tables, records spread within their groups."""

import math

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.linear import Stack
from dpress.core.measurement import Measurement
from dpress.core.mixed import Column
from dpress.inference.maps.population import normal
from dpress.inference.records import particles
from dpress.mechanisms.microdata.grouped_tables import GroupedTable
from dpress.mechanisms.microdata.one_way_tables import GROUPS, OneWayTables, PairTable, one_way_tables

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


def both(seed: int, rough: float) -> tuple[OneWayTables, PairTable]:
    one_way = one_way_tables(COLUMNS, noisy_histograms(COLUMNS, [TRUTH.sum(1), TRUTH.sum(0)], [rough, 1.0], seed))
    model = particles.initial(one_way.shares, rng=rng.seeded(seed), size=2000)
    return one_way, one_way.estimate((0, 1), measured(one_way.table((0, 1)), TRUTH, 4.0, 1000 + seed), model)


def test_a_margin_comes_from_the_most_precise_table() -> None:
    """The pair's margin has variance 16, the attribute's own table 2,500: the mean's error is near the former's."""
    alone, together = [], []
    for seed in range(0, 80, 2):
        one_way, pair = both(seed, 2500.0)
        alone.append(1000 * one_way.shares[0][0] - 700)
        together.append(1000 * one_way.consistent_shares([pair])[0, 1].sum(axis=1)[0] - 700)
    assert np.sqrt(np.mean(np.square(together))) < 5
    assert np.sqrt(np.mean(np.square(alone))) > 10


def test_consistent_tables_agree_with_each_other() -> None:
    one_way, pair = both(3, 1.0)
    table = one_way.consistent_shares([pair])[0, 1]
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)
    assert np.abs(table - TRUTH / 1000).sum() < 0.03


def test_the_total_is_the_mean_by_precision() -> None:
    one_way = one_way_tables(COLUMNS, noisy_histograms(COLUMNS, [TRUTH.sum(1), TRUTH.sum(0) + 50], [1e6, 1e-6], 1))
    assert one_way.size == 1200
    assert [own.sum() for own in one_way.counts] == pytest.approx([1200, 1200], rel=1e-3)


def test_records_are_spread_within_their_groups_as_the_one_way_table_says() -> None:
    column = Column(name="c", size=100, units=2 * np.arange(100) - 99, distance=np.zeros((0, 0)))
    counts = np.arange(100.0) * 10
    one_way = one_way_tables((column,), noisy_histograms((column,), [counts], [1.0], 1))
    groups = one_way.groups[0]
    assert groups.max() + 1 <= 2 * GROUPS + 1
    codes = np.repeat(np.arange(groups.max() + 1), np.bincount(groups, weights=counts).astype(int))[None]
    made = one_way.spread(codes.astype(np.int32), rng=rng.seeded(2))[0]
    assert np.array_equal(groups[made], codes[0])
    assert np.abs(np.bincount(made, minlength=100) - counts).max() < 8
