"""Factors that all attributes share: nearer than tables as measured and classes alone; little out of noise."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.inference.normal import normal
from dpress.inference.records import latent_classes
from dpress.inference.records.blocks import Blocks
from dpress.inference.records.factor_count import significant
from dpress.inference.records.latent_classes import Evidence, LatentClasses
from dpress.inference.records.low_rank import LowRank, low_rank
from dpress.inference.records.pair_model import PairModel, pair_model

SIZES = (6, 5, 4, 6)
Tables = dict[tuple[int, int], Array]


def truth(strength: float) -> LatentClasses:
    """Four classes whose shares differ the more, the greater the strength."""
    source, parts = rng.seeded(7), []
    for size in SIZES:
        raw = np.exp(strength * normal(4 * size, rng=source).reshape(4, size))
        parts.append(raw / raw.sum(axis=1, keepdims=True))
    return LatentClasses(sizes=SIZES, weights=np.full(4, 0.25), cells=np.concatenate(parts, axis=1))


def noisy(model: LatentClasses, deviation: float, pairs: list[tuple[int, int]]) -> Evidence:
    source = rng.seeded(8)
    own = [model.weights @ model.of(axis) for axis in range(len(SIZES))]
    found = {pair: model.table(pair) for pair in pairs}
    tables = {
        pair: (table + deviation * normal(table.size, rng=source).reshape(table.shape), deviation**2)
        for pair, table in found.items()
    }
    return latent_classes.evidence(own, tables)


def error(tables: Array, model: LatentClasses, known: Evidence) -> float:
    return float(np.abs(tables - model.tables)[np.isfinite(known.variances)].sum())


ALL = list(itertools.combinations(range(len(SIZES)), 2))


BLOCKS = Blocks(sizes=SIZES)


def factors(known: Evidence) -> LowRank:
    return low_rank(known, BLOCKS, significant(known, BLOCKS), rng=rng.seeded(1))


def fitted(known: Evidence) -> PairModel:
    return pair_model(np.split(known.one_way, np.cumsum(SIZES)[:-1]), known, rng=rng.seeded(1))


@pytest.mark.slow
def test_where_noise_is_large_it_is_nearer_than_classes_of_noisy_tables() -> None:
    model = truth(0.8)
    known = noisy(model, 0.06, ALL)
    found = fitted(known)
    alone = latent_classes.fitted(np.split(known.one_way, np.cumsum(SIZES)[:-1]), known, rng=rng.seeded(9))
    assert error(found.tables, model, known) < 0.7 * error(alone.tables, model, known)


def test_it_is_nearer_than_measured() -> None:
    model = truth(0.8)
    known = noisy(model, 0.008, ALL)
    found = fitted(known)
    assert error(found.tables, model, known) < 0.6 * error(known.pairs, model, known)
    assert found.tables.min() >= 0
    assert found.tables[:6, 6:11].sum() == pytest.approx(1)


def test_of_noise_alone_nothing_is_left() -> None:
    known = noisy(truth(0.0), 0.008, ALL)
    assert significant(known, BLOCKS).factors == 0
    assert fitted(known).tables == pytest.approx(np.outer(known.one_way, known.one_way))
    assert significant(noisy(truth(0.8), 0.008, ALL), BLOCKS).factors > 0


def test_little_noise_leaves_nearly_all() -> None:
    """Four classes differ in three directions."""
    known = noisy(truth(0.8), 1e-4, ALL)
    found = significant(known, BLOCKS)
    assert found.factors >= 3
    assert error(found.deviations + np.outer(known.one_way, known.one_way), truth(0.8), known) < 0.05


def test_one_strong_table_among_many_weak_ones_is_kept() -> None:
    """Its singular value is below the largest of all tables' noise together, its norm far beyond its own noise."""
    sizes = (2,) * 40
    blocks, shares = Blocks(sizes=sizes), [np.array([0.5, 0.5])] * 40
    pairs = list(itertools.combinations(range(40), 2))
    source, deviation = rng.seeded(4), 0.05
    tables = {
        pair: (0.25 + deviation * normal(4, rng=source).reshape(2, 2) + 0.2 * (pair == (0, 1)) * SIGNS, deviation**2)
        for pair in pairs
    }
    found = significant(latent_classes.evidence(shares, tables), blocks)
    assert 1 <= found.factors <= 3
    kept = found.deviations[:2, 2:4]
    assert np.sign(kept) == pytest.approx(SIGNS)
    assert 0.1 < np.abs(kept).mean() < 0.3
    rest = np.abs(found.deviations)
    rest[:4, :4] = 0
    assert rest.max() < 0.25 * np.abs(kept).mean()


SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])


def test_factors_follow_as_much_of_the_tables_as_these_say() -> None:
    quiet, loud = (factors(noisy(truth(0.8), deviation, ALL)) for deviation in (0.0005, 0.008))
    assert 0 < loud.degrees < quiet.degrees <= 1


def test_a_pair_that_was_not_measured_is_as_the_classes_have_it() -> None:
    known = noisy(truth(0.8), 0.01, ALL[1:])
    found = fitted(known)
    assert found.tables[:6, 6:11] == pytest.approx(found.classes.table((0, 1)))
    assert found.tables[:6, 11:15] != pytest.approx(found.classes.table((0, 2)), abs=1e-5)


@pytest.mark.parametrize("deviation", [0.0, 1e-20, 1e-7])
def test_tables_without_noise_are_met(deviation):
    model = truth(1.0)
    known = noisy(model, deviation, ALL)
    assert error(factors(known).tables, model, known) < 1e-3
