"""`pcep`: the documented signs, the exact channel, unbiased counts for one region and for many, refusals."""

import hashlib
import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.oracle.pcep import CARD, Pcep

ONE, TWO = PureDP(epsilon=1), PureDP(epsilon=2)
FALSE_ALARM = 1e-6
SEED = bytes(range(16))


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def test_the_signs_are_those_of_the_documented_layout() -> None:
    own = Pcep(size=300, levels=(ONE,), rows=301, seed=SEED)
    for j, v in itertools.product((0, 1, 300), (0, 1, 255, 256, 299)):
        block = b"dpress pcep rows" + SEED + j.to_bytes(4, "little") + (v // 256).to_bytes(4, "little")
        bit = hashlib.sha256(block).digest()[v % 256 // 8] >> (v % 8) & 1
        assert own.signs[j, v] == 2 * bit - 1
    assert abs(own.signs.mean()) < z(1) / math.sqrt(own.signs.size)


def test_the_channel_is_exact_and_costs_epsilon_to_64_bits() -> None:
    own = Pcep(size=4, levels=(TWO,), rows=12)
    assert isinstance(own, Oracle)
    channel = own.channel()
    assert all(sum(row) == 1 for row in channel.probabilities)
    pairs = itertools.permutations(channel.probabilities, 2)
    worst = max(a / b for first, second in pairs for a, b in zip(first, second, strict=True))
    assert worst == own.p(0) / (1 - own.p(0))
    assert math.log(worst) == pytest.approx(2, abs=1e-15)
    assert own.claim.proven == own.claim.published == TWO


def test_the_estimate_is_unbiased_on_the_exact_channel_and_its_variance_exact() -> None:
    own = Pcep(size=4, levels=(ONE,), rows=9)
    channel = own.channel()
    tallies = [own.tally(row[None]) for row in channel.payloads]
    answers = np.stack([own.estimate(tally, 1).answers for tally in tallies])
    projected = np.stack([own.projected(tally) for tally in tallies])
    factor = ((math.e + 1) / (math.e - 1)) ** 2
    gram = own.signs.astype(float).T @ own.signs / own.rows
    held, free = [], []
    for v, weights in enumerate(channel.probabilities):
        mass, truth = np.array([float(weight) for weight in weights]), np.eye(4)[v]
        assert mass @ answers == pytest.approx(truth, abs=1e-9)
        spread = mass @ (answers - truth) ** 2
        assert spread == pytest.approx(factor * np.diag(np.linalg.inv(gram)) - truth)
        held.append(spread[v])
        free.append(spread)
        assert mass @ projected == pytest.approx(gram[v])  # the document's estimate is biased for a fixed projection
        assert np.abs(mass @ projected - truth).max() > 0.1
    assert own.variance(1, 1.0) == pytest.approx(np.mean(held))
    assert own.variance(1) == pytest.approx(np.mean(free) + 1 / 4)


def personal() -> Pcep:
    regions = (tuple(range(8)), (0, 1, 2, 3), (4, 5, 6, 7), (6, 7))
    return Pcep(size=8, levels=(ONE, TWO, PureDP(epsilon=4)), rows=64, regions=regions, seed=SEED)


def test_users_with_regions_and_levels_of_their_own_are_counted_without_bias() -> None:
    own, users, repeats = personal(), 4000, 60
    words = rng.seeded(1).words(3 * users).reshape(3, users)
    regions, levels = (words[0] % 4).astype(np.int64), (words[1] % 3).astype(np.int64)
    values = np.array([own.regions[r][int(w) % len(own.regions[r])] for r, w in zip(regions, words[2], strict=True)])
    truth = np.bincount(values, minlength=8)
    generator, errors = rng.seeded(2), []
    for _ in range(repeats):
        payloads = own.perturb(values, rng=generator, regions=regions, levels=levels)
        assert not any(mask.any() for mask in own.faults(payloads).values())
        tally = own.tally(payloads)
        measured = own.estimate(tally, users)
        errors.append((measured.answers - truth) / np.sqrt(measured.variance))
    found = np.array(errors)
    assert (np.abs(found.mean(axis=0)) < z(16) / math.sqrt(repeats)).all()
    assert abs((found**2).mean() - 1) < z(2) * math.sqrt(4 / found.size)
    assert payloads.shape == (users, own.width) == (users, 1 + 1 + 1)
    planted = []
    for _ in range(repeats):  # everybody reports at the lowest level and names another
        lied = own.perturb(values, rng=generator, regions=regions, levels=np.zeros(users, dtype=np.int64))
        lied[:, 2] = levels
        measured = own.estimate(own.tally(lied), users)
        planted.append((measured.answers - truth) / np.sqrt(measured.variance))
    assert (np.abs(np.mean(planted, axis=0)) > z(16) / math.sqrt(repeats)).all()


def test_every_level_has_its_own_claim_and_the_largest_speaks_for_all() -> None:
    own = personal()
    assert [own.claim_of(level).proven for level in range(3)] == list(own.levels)
    assert own.claim.proven == PureDP(epsilon=4)
    assert "between the values of a user's public region" in own.claim.basis
    with pytest.raises(NotSupported, match="several regions or levels"):
        own.channel()
    assert own.variance(1000) > Pcep(size=8, levels=(TWO,), rows=64, seed=SEED).variance(1000)


def test_tallies_add_up_and_an_empty_one_is_zero() -> None:
    own = personal()
    payloads = own.perturb(np.arange(8), rng=rng.seeded(1), levels=np.arange(8) % 3)
    assert np.array_equal(own.tally(payloads[:3]) + own.tally(payloads[3:]), own.tally(payloads))
    assert own.tally(payloads).size == 4 * 3 * 65
    assert not own.tally(payloads[:0]).any()


def test_reports_that_cannot_be_are_named() -> None:
    own = personal()
    faults = own.faults(np.array([[127, 3, 2], [128, 0, 0], [0, 4, 0], [0, 0, 3]], np.uint8))
    assert faults["out of range"].tolist() == [False, True, False, False]
    assert faults["unknown region"].tolist() == [False, False, True, False]
    assert faults["unknown level"].tolist() == [False, False, False, True]


def test_bad_arguments_are_refused() -> None:
    own = personal()
    for wrong in (
        {"regions": np.array([3])},  # value 0 lies outside
        {"regions": np.array([4])},
        {"levels": np.array([3])},
        {"levels": np.array([0, 0])},
    ):
        with pytest.raises(ValueError, match=r"values must|for every user"):
            own.perturb(np.array([0]), rng=rng.seeded(1), **wrong)  # type: ignore[arg-type]
    for changed in (
        {"levels": ()},
        {"rows": 2},
        {"regions": ((0, 1),)},
        {"regions": ((0, 1, 2, 2),)},
        {"regions": ((0, 1, 2, 3),)},
        {"seed": b""},
    ):
        with pytest.raises(ValueError, match=r"levels|rows|regions|seed"):
            Pcep(**({"size": 3, "levels": (ONE,)} | changed))  # type: ignore[arg-type]
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        Pcep(size=3, levels=(ZCDP(rho=1),))  # type: ignore[arg-type]
    with pytest.raises(NotSupported, match="name fewer rows"):
        Pcep(size=2**15, levels=(ONE,))


def test_a_projection_that_confuses_two_values_is_refused() -> None:
    confused = [
        seed
        for seed in range(64)
        if np.linalg.matrix_rank(Pcep(size=2, levels=(ONE,), rows=2, seed=bytes([seed] * 16)).signs) < 2
    ]
    assert confused
    own = Pcep(size=2, levels=(ONE,), rows=2, seed=bytes([confused[0]] * 16))
    with pytest.raises(NotSupported, match="cannot tell the values"):
        own.variance(1)


def test_one_value_and_the_cards_default() -> None:
    own = Pcep(size=1, levels=(ONE,))
    assert own.estimate(own.tally(own.perturb(np.zeros(9, np.int32), rng=rng.seeded(1))), 9).answers.shape == (1,)
    serve = CARD.oracle
    assert serve is not None
    assert serve(100, ONE) == Pcep(size=100, levels=(ONE,), rows=800)
    assert serve(100, ZCDP(rho=1)) is None
