"""Latent classes have the tables of pairs that they are fitted to, as far as these say more than noise."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.normal import normal
from dpress.inference.records import latent_classes
from dpress.inference.records.latent_classes import LatentClasses, Pair, evidence, fit, fitted, initial

SIZES = (3, 2, 4)
SHAPE = tuple(SIZES)
EXACT = 1e-12  # of a noisy share's variance


def joint() -> np.ndarray:
    """A joint table with dependence in every pair."""
    even = (rng.seeded(3).words(24) % np.uint64(90) + np.uint64(10)).astype(float).reshape(SHAPE)
    return even / even.sum()


def margins(table: np.ndarray) -> list[np.ndarray]:
    axes = range(table.ndim)
    return [table.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]


def pairs(table: np.ndarray) -> dict[Pair, np.ndarray]:
    return {(i, j): table.sum(axis=3 - i - j) for i, j in itertools.combinations(range(3), 2)}


def apart(model: LatentClasses, tables: dict[Pair, np.ndarray]) -> float:
    return max(float(np.abs(model.table(pair) - own).sum() / 2) for pair, own in tables.items())


def start(table: np.ndarray, seed: int = 1, classes: int = 200) -> LatentClasses:
    return initial(margins(table), rng=rng.seeded(seed), classes=classes)


def test_a_model_has_shares_in_every_class() -> None:
    model = start(joint())
    assert model.weights.sum() == pytest.approx(1)
    for axis, size in enumerate(SIZES):
        assert model.of(axis).shape == (200, size)
        assert model.of(axis).sum(axis=1) == pytest.approx(np.ones(200))
    assert model.tables[3:5, 5:9] == pytest.approx(model.table((1, 2)))


def test_exact_tables_are_met_and_the_one_that_is_missing_follows_the_classes() -> None:
    asked = pairs(joint())
    model = fit(start(joint()), evidence(margins(joint()), {pair: (own, EXACT) for pair, own in asked.items()}), 300)
    assert apart(model, asked) < 0.01
    independent = np.multiply.outer(*margins(joint())[:2])
    assert float(np.abs(independent - asked[0, 1]).sum() / 2) > 0.03
    hidden = fit(start(joint()), evidence(margins(joint()), {(0, 1): (asked[0, 1], EXACT)}), 300)
    assert apart(hidden, {(0, 1): asked[0, 1]}) < 0.01
    for axis, own in enumerate(margins(joint())):
        assert hidden.weights @ hidden.of(axis) == pytest.approx(own, abs=0.01)


def test_no_round_makes_the_likelihood_of_exact_tables_smaller() -> None:
    asked, one_way = pairs(joint()), margins(joint())
    known = evidence(one_way, {pair: (own, EXACT) for pair, own in asked.items()})

    def likelihood(model: LatentClasses) -> float:
        own = sum(float((share * np.log(model.weights @ model.of(axis))).sum()) for axis, share in enumerate(one_way))
        return own + sum(float((table * np.log(model.table(pair))).sum()) for pair, table in asked.items())

    model, found = start(joint()), []
    for _ in range(30):
        found.append(likelihood(model))
        model = fit(model, known, 1)
    assert (np.diff(found) > -1e-9).all()
    assert found[-1] - found[0] > 1e-3


def test_a_table_within_its_noise_says_nothing() -> None:
    """With variances far above the tables the model is independent; without them it follows the noise."""
    table = np.einsum("a,b,c->abc", *margins(joint()))
    noisy = {
        pair: own + 0.05 * normal(own.size, rng=rng.seeded(7)).reshape(own.shape) for pair, own in pairs(table).items()
    }
    distances = {}
    for variance in (1.0, EXACT):
        model = fit(
            start(joint()), evidence(margins(joint()), {pair: (own, variance) for pair, own in noisy.items()}), 300
        )
        distances[variance] = apart(model, pairs(table))
    assert distances[1.0] < 0.02
    assert distances[EXACT] > 0.05


def test_attributes_that_determine_each_other_are_met() -> None:
    """Forty cells, their tens and whether they are even: most combinations of cells are impossible."""
    cells = np.arange(40)
    codes = np.array([cells, cells // 10, cells % 2])
    sizes, one_way = (40, 4, 2), [np.full(size, 1 / size) for size in (40, 4, 2)]
    asked = {
        (i, j): np.bincount(codes[i] * sizes[j] + codes[j], minlength=sizes[i] * sizes[j]).reshape(sizes[i], sizes[j])
        / 40
        for i, j in itertools.combinations(range(3), 2)
    }
    model = fitted(one_way, evidence(one_way, {pair: (own, EXACT) for pair, own in asked.items()}), rng=rng.seeded(1))
    assert apart(model, asked) < 0.03
    assert apart(initial(one_way, rng=rng.seeded(1)), asked) > 0.4


def test_the_estimate_is_the_mean_of_independent_starts() -> None:
    one_way = margins(joint())
    known = evidence(one_way, {pair: (own, EXACT) for pair, own in pairs(joint()).items()})
    mean, source = fitted(one_way, known, rng=rng.seeded(5)), rng.seeded(5)
    each = [fit(initial(one_way, rng=source), known, latent_classes.ROUNDS) for _ in range(latent_classes.MODELS)]
    assert mean.table((0, 2)) == pytest.approx(np.mean([one.table((0, 2)) for one in each], axis=0))
    assert len({one.weights.tobytes() for one in each}) == latent_classes.MODELS


def test_evidence_knows_where_nothing_was_measured() -> None:
    known = evidence(margins(joint()), {(0, 2): (pairs(joint())[0, 2], 0.5)})
    assert np.array_equal(known.pairs, known.pairs.T)
    assert known.pairs[:3, 5:] == pytest.approx(pairs(joint())[0, 2])
    assert np.isinf(known.variances).sum() == 81 - 24
    assert not math.isinf(known.variances[0, 5])
