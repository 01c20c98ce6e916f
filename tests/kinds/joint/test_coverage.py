"""Intervals of joint tables hold the true counts as often as they say, for rare and for frequent cells.

Reports are made by the real oracles, from people with skewed and dependent values. A run's share of covered cells is
one draw; runs are independent, and their mean is compared with the nominal share under its own standard error.
"""

import itertools
import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
import pytest

from dpress import plan
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.mechanisms.joint.pairs import Pairs
from dpress.mechanisms.protocol.collection import Collection

SHAPE, USERS, RUNS = (16, 7, 6, 5, 2), 8000, 60
CLASSES = (0, 0.002, 0.02, 0.1, 1)  # borders of the cells' shares
CONFIDENCE = 0.95
SLACK = 0.02  # what the normal approximation may cost where a cell holds few users
EPSILONS = (1.0, 4.0, 8.0)
FALSE_ALARM = 1e-6  # of all comparisons of this file together
TRIPLES = 7  # further comparisons by class
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / ((2 * len(EPSILONS) + TRIPLES) * (len(CLASSES) - 1)))
HALF = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def uniforms(generator: rng.Generator) -> np.ndarray:
    return (generator.words(USERS) >> np.uint64(11)) / 2.0**53


def people() -> np.ndarray:
    """Six in ten hold the first value, and half of all attributes follow the first one."""
    generator = rng.seeded(5)
    columns: list[np.ndarray] = []
    for size in SHAPE:
        rest = np.arange(1, size) ** -1.5
        borders = np.cumsum(np.append(0.6, 0.4 * rest / rest.sum()))[:-1]
        column = np.searchsorted(borders, uniforms(generator), side="right")
        follows = uniforms(generator) < 0.5
        columns.append(np.where(follows, np.minimum(columns[0], size - 1), column) if columns else column)
    return np.array(columns, dtype=np.int32)


def collection(method: str, epsilon: float) -> Collection:
    attributes = [{"name": f"a{i}", "kind": "integer", "bounds": [0, size - 1]} for i, size in enumerate(SHAPE)]
    parameters = {"ways": 2} if method == "pairs" else {}
    release = {"kind": "joint", "method": method, "parameters": parameters}
    privacy = {"model": "local", "epsilon": epsilon}
    mechanism = plan(from_dict({"attribute": attributes, "privacy": privacy, "release": release})).chosen.mechanism
    assert isinstance(mechanism, Collection)
    return mechanism


def runs(own: Collection, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the true counts, and by run the errors and the stated standard errors."""
    tables = [np.zeros([own.shape[axis] for axis in axes]) for axes in own.decoder.tables]
    for axes, table in zip(own.decoder.tables, tables, strict=True):
        np.add.at(table, tuple(codes[axis] for axis in axes), 1)
    truth, errors, stated = np.concatenate([table.ravel() for table in tables]), [], []
    for seed in range(RUNS):
        generator = rng.seeded(seed)
        drawn = own.drawn(USERS, rng=generator)
        parts = [one.perturb(codes[:, drawn == number], rng=generator) for number, one in enumerate(own.types)]
        measured = own.measurement([own.tally(number, part) for number, part in enumerate(parts)])
        errors.append(measured.answers - truth)
        stated.append(np.sqrt(measured.variance))
    return truth, np.array(errors), np.array(stated)


def short(covered: np.ndarray, classes: np.ndarray) -> list[int]:
    """Return the classes of cells that are covered too rarely."""
    found = []
    for number in np.unique(classes):
        each = covered[:, classes == number].mean(axis=1)
        error = each.std(ddof=1) / math.sqrt(RUNS)
        if each.mean() < CONFIDENCE - SLACK - LIMIT * error:
            found.append(int(number))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("method", ["pairs", "rr_ldp"])
def test_intervals_cover(method: str, epsilon: float) -> None:
    own = collection(method, epsilon)
    pairs = sum(math.prod(SHAPE[axis] for axis in axes) for axes in own.decoder.tables if len(axes) == 2)
    truth, errors, stated = (found[..., :pairs] for found in runs(own, people()))
    classes = np.digitize(truth / USERS, CLASSES[1:-1])
    assert set(classes) == {0, 1, 2, 3}
    assert short(np.abs(errors) <= HALF * stated, classes) == []
    even = np.sqrt((stated**2).mean(axis=1, keepdims=True))
    missed = short(np.abs(errors) <= HALF * even, classes)
    assert (3 in missed) == (method == "pairs" and epsilon > 1)  # one variance for all cells would be found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "lasso", "lremh", "independent", "subset_selection"])
def test_intervals_of_every_other_method_cover(method: str) -> None:
    """All cells of all published tables; 0.6 of the stated width would be found."""
    own = collection(method, 6.0)
    truth, errors, stated = runs(own, people())
    classes = np.digitize(truth / USERS, CLASSES[1:-1])
    assert short(np.abs(errors) <= HALF * stated, classes) == []
    assert short(np.abs(errors) <= 0.6 * HALF * stated, classes) != []


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"reports": "rappor", "bits": 16}], ids=["one-hot", "filters"])
def test_intervals_of_three_attributes_cover(parameters: dict[str, object]) -> None:
    """The cells of the triples, by their shares; 0.6 of the stated width would be found."""
    shape = SHAPE[2:]
    attributes = [{"name": f"a{i}", "kind": "integer", "bounds": [0, size - 1]} for i, size in enumerate(shape)]
    release = {"kind": "joint", "method": "em", "parameters": parameters}
    privacy = {"model": "local", "epsilon": 6.0}
    own = plan(from_dict({"attribute": attributes, "privacy": privacy, "release": release})).chosen.mechanism
    assert isinstance(own, Collection)
    assert own.decoder.tables[-1] == (0, 1, 2)
    truth, errors, stated = (found[..., -math.prod(shape) :] for found in runs(own, people()[2:]))
    classes = np.digitize(truth / USERS, CLASSES[1:-1])
    assert set(classes) >= {1, 2, 3}
    assert short(np.abs(errors) <= HALF * stated, classes) == []
    assert short(np.abs(errors) <= 0.6 * HALF * stated, classes) != []


def sums() -> list[tuple[np.ndarray, ...]]:
    """Weights on every attribute: for each pair, one value or half of the first, and some values of the second."""
    whole = [np.ones(size) for size in SHAPE]
    found = []
    for first, second in itertools.combinations(range(len(SHAPE)), 2):
        for head in (np.arange(SHAPE[first]) == 0, np.arange(SHAPE[first]) < SHAPE[first] / 2):
            for tail in (np.arange(SHAPE[second]) > 0, np.arange(SHAPE[second]) % 2 == 0):
                query = list(whole)
                query[first], query[second] = head.astype(np.float64), tail.astype(np.float64)
                found.append(tuple(query))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "users"), [(1.0, USERS), (6.0, 300)])
def test_intervals_of_sums_over_a_pair_s_cells_cover_and_added_up_variances_would_not(
    epsilon: float, users: int
) -> None:
    """Cells of one row share the error of its sum: added up as if they had nothing in common they say too little."""
    own, codes = collection("pairs", epsilon), people()[:, :users]
    assert isinstance(own.estimator, Pairs)
    answers = [[*_sums(own, own.estimator, codes, seed)] for seed in range(RUNS)]
    errors, stated, added = np.array(answers).transpose(2, 0, 1)
    whole = np.zeros(errors.shape[1], dtype=np.int64)
    assert short(np.abs(errors) <= HALF * stated + 0.5, whole) == []
    assert short(np.abs(errors) <= 0.6 * HALF * stated, whole) == [0]
    ratios = (stated / added).mean(axis=0)
    assert (ratios.max() > 1.15) == (epsilon > 1)


def _sums(own: Collection, pairs: Pairs, codes: np.ndarray, seed: int) -> Iterator[tuple[float, float, float]]:
    """Yield for every sum its error, its stated standard error, and that of cells added up."""
    generator = rng.seeded(seed)
    drawn = own.drawn(codes.shape[1], rng=generator)
    tallies = [
        own.tally(place, one.perturb(codes[:, drawn == place], rng=generator)) for place, one in enumerate(own.types)
    ]
    made, variance = own.counted(tallies), pairs.query_variances(tallies)
    measured, decoder = made.measurement(tallies), made.decoder
    for query in sums():
        truth = np.prod([weights[row] for weights, row in zip(query, codes, strict=True)], axis=0).sum()
        added = decoder.query_variance(measured.variance, query)
        yield decoder.answer(measured, query) - truth, math.sqrt(variance(query)), math.sqrt(added)
