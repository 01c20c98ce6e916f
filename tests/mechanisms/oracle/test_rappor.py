"""`rappor`: the documented bytes, RAPPOR's losses, the exact channel, unbiased counts, decoding by LASSO."""

import hashlib
import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import extras, rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.oracle.bloom_filters import positions
from dpress.mechanisms.oracle.rappor import CARD, Rappor

HALF = Fraction(1, 2)
FALSE_ALARM = 1e-6


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def tiny(**changed: object) -> Rappor:
    return Rappor(**({"candidates": ("a", "b", "ü"), "f": HALF, "bits": 6, "hashes": 2, "cohorts": 3} | changed))  # type: ignore[arg-type]


def secrets(devices: int) -> np.ndarray:
    return rng.seeded(5).words(2 * devices).view(np.uint8).reshape(devices, 16)


def test_the_positions_are_those_of_the_documented_layout() -> None:
    own = tiny(bits=100, cohorts=300)
    for cohort, (v, name) in itertools.product((0, 1, 299), enumerate(own.candidates)):
        wanted = set()
        for number in range(2):
            message = b"dpress bloom bit" + cohort.to_bytes(2, "little") + number.to_bytes(2, "little") + name.encode()
            wanted.add(int.from_bytes(hashlib.sha256(message).digest()[:8], "little") % 100)
        assert set(positions(name, cohort, bits=100, hashes=2)) == wanted
        assert set(np.flatnonzero(own.blooms[cohort, :, v])) == wanted


@pytest.mark.parametrize(("h", "f"), [(1, 0.5), (2, 0.5), (2, 0.75), (4, 0.25)])
def test_the_losses_are_those_of_rappors_theorems(h: int, f: float) -> None:
    own = tiny(hashes=h, f=Fraction(f))
    q_star, p_star = 0.5 * f * 1.25 + (1 - f) * 0.75, 0.5 * f * 1.25 + (1 - f) * 0.5
    proven = own.claim.proven
    assert isinstance(proven, PureDP)
    assert own.claim.published == proven
    assert float(proven.epsilon) == pytest.approx(h * math.log(q_star * (1 - p_star) / (p_star * (1 - q_star))))
    assert float(own.lifetime.epsilon) == pytest.approx(2 * h * math.log((1 - f / 2) / (f / 2)))
    assert f"{2 * h} bits differ" in own.claim.basis


def test_the_exact_channel_keeps_the_claim_and_a_pair_without_common_bits_attains_it() -> None:
    own = tiny(bits=8, cohorts=6)
    channel = own.channel()
    assert all(sum(row) == 1 for row in channel.probabilities)
    pairs = itertools.permutations(channel.probabilities, 2)
    worst = max(a / b for first, second in pairs for a, b in zip(first, second, strict=True))
    proven = own.claim.proven
    assert isinstance(proven, PureDP)
    blooms = own.blooms
    apart = [
        (blooms[c, :, u] & ~blooms[c, :, v]).sum() == (blooms[c, :, v] & ~blooms[c, :, u]).sum() == 2
        for c in range(6)
        for u, v in itertools.combinations(range(3), 2)
    ]
    assert any(apart)
    assert math.log(worst) == pytest.approx(float(proven.epsilon), rel=1e-12)
    assert math.log(worst) > float(tiny(hashes=1).claim.proven.epsilon)  # type: ignore[union-attr]  # planted: one h too few


def test_the_estimate_is_unbiased_on_the_exact_channel_and_its_variance_exact() -> None:
    own = tiny()
    assert isinstance(own, Oracle)
    assert own.identified
    channel = own.channel()
    answers = np.stack([own.estimate(own.tally(row[None]), 1).answers for row in channel.payloads])
    added = own._added(np.ones(3, dtype=bool))
    diagonal, others = [], []
    for v, weights in enumerate(channel.probabilities):
        mass, truth = np.array([float(weight) for weight in weights]), np.eye(3)[v]
        assert mass @ answers == pytest.approx(truth, abs=1e-9)
        spread = mass @ (answers - truth) ** 2
        assert spread == pytest.approx(added[:, v], rel=1e-9)
        diagonal.append(spread[v])
        others.append(np.delete(spread, v))
    assert own.variance(1, 1.0) == pytest.approx(np.mean(diagonal))
    assert own.variance(1, 0.0) == pytest.approx(np.mean(others))


@pytest.mark.slow
@pytest.mark.parametrize("with_secrets", [False, True])
def test_simulated_counts_lie_within_their_standard_errors(with_secrets: object) -> None:
    own = Rappor(candidates=tuple(f"word {v}" for v in range(30)), f=HALF, bits=32, cohorts=16)
    truth = np.arange(30) * 400
    values = np.repeat(np.arange(30), truth)
    payloads = own.perturb(values, rng=rng.seeded(3), secrets=secrets(values.size) if with_secrets else None)
    assert payloads.shape == (values.size, own.width) == (values.size, 6)
    assert not any(mask.any() for mask in own.faults(payloads).values())
    exact = own._added(np.ones(30, dtype=bool)) @ truth
    measured = own.estimate(own.tally(payloads), values.size)
    deviations = (measured.answers - truth) / np.sqrt(exact)
    assert (np.abs(deviations) < z(120)).all()
    assert np.sqrt(np.mean(deviations**2)) > 0.4
    wrong = Rappor(candidates=own.candidates[::-1], f=HALF, bits=32, cohorts=16)
    planted = wrong.estimate(wrong.tally(payloads), values.size)
    assert (np.abs((planted.answers - truth) / np.sqrt(exact)) > z(120)).any()


def test_tallies_add_up_and_an_empty_one_is_zero() -> None:
    own = tiny()
    payloads = own.perturb(np.arange(90) % 3, rng=rng.seeded(1))
    both = own.tally(payloads[:40]) + own.tally(payloads[40:])
    assert np.array_equal(both, own.tally(payloads))
    assert not own.tally(payloads[:0]).any()
    assert own.tally(payloads).reshape(3, 7)[:, -1].sum() == 90


def test_a_devices_cohort_and_permanent_response_stay() -> None:
    own, device = tiny(bits=16), np.repeat(secrets(1), 4000, axis=0)
    payloads = own.perturb(np.full(4000, 1), rng=rng.seeded(1), secrets=device)
    assert len(np.unique(payloads[:, :2], axis=0)) == 1
    rates = np.unpackbits(payloads[:, 2:], axis=1, bitorder="little").mean(axis=0)
    assert (np.minimum(np.abs(rates - 0.5), np.abs(rates - 0.75)) < z(16) * 0.5 / math.sqrt(4000)).all()


def test_lasso_finds_the_frequent_among_more_candidates_than_bits() -> None:
    pytest.importorskip("sklearn")
    names = tuple(f"word {v}" for v in range(100))
    own = Rappor(candidates=names, f=Fraction(1, 10), bits=16, cohorts=4)
    assert not own.identified
    assert own.variance(1) == math.inf
    truth = np.zeros(100, dtype=np.int64)
    truth[[3, 50, 99]] = 20_000, 10_000, 15_000
    values = np.repeat(np.arange(100), truth)
    tally = own.tally(own.perturb(values, rng=rng.seeded(1)))
    found = own.decode(tally, values.size)
    assert found.selected[[3, 50, 99]].all()
    assert found.selected.sum() < 15
    own_variance = np.asarray(found.measurement.variance)
    assert np.isinf(own_variance[~found.selected]).all()
    deviations = (found.measurement.answers - truth)[[3, 50, 99]] / np.sqrt(own_variance[[3, 50, 99]])
    assert (np.abs(deviations) < z(3)).all()
    assert np.array_equal(own.estimate(tally, values.size).answers, found.measurement.answers)


def test_without_scikit_learn_decoding_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(extras.importlib, "import_module", missing)
    own = tiny()
    with pytest.raises(NotSupported, match=r"pip install 'dpress\[lasso\]'"):
        own.decode(own.tally(own.perturb(np.array([0]), rng=rng.seeded(1))), 1)


def test_reports_that_cannot_be_and_bad_arguments_are_refused() -> None:
    own = tiny()
    faults = own.faults(np.array([[2, 0, 0b00111111], [3, 0, 0], [0, 1, 0], [0, 0, 0b01000000]], np.uint8))
    assert faults["unknown cohort"].tolist() == [False, True, True, False]
    assert faults["padding"].tolist() == [False, False, False, True]
    for changed in ({"candidates": ("a", "a")}, {"candidates": ()}, {"cohorts": 65537}, {"bits": 0}, {"hashes": 0}):
        with pytest.raises(ValueError, match=r"candidates|cohorts|bits|hashes"):
            tiny(**changed)
    with pytest.raises(ValueError, match="values must lie between"):
        own.perturb(np.array([3]), rng=rng.seeded(1))
    with pytest.raises(NotSupported, match="too large"):
        tiny(bits=17).channel()


def test_the_card_serves_and_refuses() -> None:
    serve = CARD.oracle
    assert serve is not None
    served = serve(4, PureDP(epsilon=1))
    assert isinstance(served, Rappor)
    assert served.candidates == ("0", "1", "2", "3")
    assert served.claim.proven.epsilon <= 1  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="expected 4 strings, got 1"):
        serve(4, PureDP(epsilon=1), candidates=("x",))
    with pytest.raises(ValueError, match="per report, more than"):
        serve(4, PureDP(epsilon=1), f=0.2)


def test_counts_that_no_collector_holds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bits x cohorts must be at most 16,777,216, .* got 10,000,000 x 64"):
        Rappor(candidates=("a", "b"), f=Fraction(1, 2), bits=10**7)
