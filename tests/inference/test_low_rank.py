"""Factors that all attributes share: nearer than tables as measured and classes alone; little out of noise."""

import itertools

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.inference.maps.population import normal
from dpress.inference.records import latent_classes, low_rank
from dpress.inference.records.latent_classes import Evidence, LatentClasses

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


def classes(known: Evidence) -> LatentClasses:
    shares = np.split(known.one_way, np.cumsum(SIZES)[:-1])
    return latent_classes.fit(latent_classes.initial(shares, rng=rng.seeded(9), classes=30), known, 100)


def test_the_mean_is_nearer_than_measured_and_than_either_model() -> None:
    model = truth(0.8)
    known = noisy(model, 0.008, ALL)
    start = classes(known)
    found = low_rank.averaged(start, known, rng=rng.seeded(1))
    assert error(found, model, known) < 0.9 * error(start.tables, model, known)
    assert error(found, model, known) < 0.6 * error(known.pairs, model, known)
    assert found.min() >= 0
    assert found[:6, 6:11].sum() == pytest.approx(1)


def test_of_noise_alone_little_is_left() -> None:
    model = truth(0.0)
    known = noisy(model, 0.008, ALL)
    found = low_rank.low_rank(classes(known), known, rng=rng.seeded(1))
    assert error(found, model, known) < 0.25 * error(known.pairs, model, known)


def test_exact_tables_come_back() -> None:
    model = truth(0.8)
    known = noisy(model, 1e-7, ALL)
    found = low_rank.low_rank(classes(known), known, rng=rng.seeded(1))
    assert error(found, model, known) < 1e-3


def test_a_pair_that_was_not_measured_is_as_the_classes_have_it() -> None:
    known = noisy(truth(0.8), 0.01, ALL[1:])
    start = classes(known)
    found = low_rank.averaged(start, known, rng=rng.seeded(1))
    assert np.allclose(found[:6, 6:11], start.table((0, 1)))
    assert not np.allclose(found[:6, 11:15], start.table((0, 2)), atol=1e-5)


@pytest.mark.parametrize("deviation", [0.0, 1e-20])
def test_tables_without_noise_are_met(deviation):
    model = truth(1.0)
    known = noisy(model, deviation, list(itertools.combinations(range(len(SIZES)), 2)))
    assert error(low_rank.low_rank(model, known, rng=rng.seeded(9)), model, known) < 1e-3
