"""`rr_ldp`: the document's formulas, the exact channel, what many reports of one device reveal, unbiased counts."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Identity, Marginal, Stack
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.joint.rr_ldp import CARD, RrLdp
from dpress.mechanisms.oracle.longitudinal import Responses, calibrated

HALF = Fraction(1, 2)
FALSE_ALARM = 1e-6


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def secrets(devices: int, seed: int = 5) -> np.ndarray:
    return rng.seeded(seed).words(2 * devices).view(np.uint8).reshape(devices, 16)


def unpacked(payloads: np.ndarray, size: int) -> np.ndarray:
    return np.unpackbits(payloads, axis=1, count=size, bitorder="little").astype(np.int64)


@pytest.mark.parametrize("f", ["0.1", "0.25", "0.5", "0.9"])
def test_the_probabilities_and_losses_are_the_documents(f: str) -> None:
    own, number, p, q, d = RrLdp(sizes=(2, 5, 3), f=Fraction(f)), float(f), 0.5, 0.75, 3
    q_star = number * (p + q) / 2 + (1 - number) * q
    p_star = number * (p + q) / 2 + (1 - number) * p
    pair = math.log(q_star * (1 - p_star) / (p_star * (1 - q_star)))
    ever = 2 * d * math.log((2 - number) / number)
    assert float(own.responses.q_star) == pytest.approx(q_star, rel=1e-8)
    assert float(own.responses.p_star) == pytest.approx(p_star, rel=1e-8)
    claim = own.claim
    assert isinstance(claim.proven, PureDP)
    assert isinstance(claim.published, PureDP)
    assert float(claim.proven.epsilon) == pytest.approx(d * pair, rel=1e-8)
    assert float(claim.published.epsilon) == pytest.approx(ever + pair, rel=1e-8)
    assert float(own.lifetime.epsilon) == pytest.approx(ever, rel=1e-8)
    assert claim.proven.epsilon < own.lifetime.epsilon < claim.published.epsilon
    assert claim.unit.relation is Relation.REPLACE_ONE
    assert "p = 0.5 and q = 0.75" in claim.basis
    assert f"f = {number:g}" in claim.basis


def worst_ratio(rows: tuple[tuple[Fraction, ...], ...]) -> Fraction:
    return max(a / b for first, second in itertools.permutations(rows, 2) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("sizes", [(2,), (4,), (2, 3), (2, 2, 2)])
@pytest.mark.parametrize("pq", [(HALF, Fraction(3, 4)), (Fraction(1, 3), Fraction(9, 10)), (Fraction(0), Fraction(1))])
def test_the_exact_channel_costs_what_is_claimed(sizes: tuple[int, ...], pq: tuple[Fraction, Fraction]) -> None:
    own = RrLdp(sizes=sizes, f=Fraction(1, 3), p=pq[0], q=pq[1])
    channel = own.channel()
    assert all(sum(row) == 1 for row in channel.probabilities)
    assert len(channel.probabilities) == own.size
    ratio, claimed = worst_ratio(channel.probabilities), own.claim.proven
    assert isinstance(claimed, PureDP)
    one, none = own.responses.q_star, own.responses.p_star
    assert ratio == (one * (1 - none) / (none * (1 - one))) ** len(sizes)
    assert math.log(ratio) == pytest.approx(float(claimed.epsilon), rel=1e-12)
    if pq == (0, 1):  # the permanent response alone
        assert ratio == ((1 - own.responses.flip) / own.responses.flip) ** (2 * len(sizes))
        assert math.log(ratio) == pytest.approx(float(own.lifetime.epsilon), rel=1e-12)


def test_the_log_is_rounded_up_and_rounding_of_f_p_q_only_helps() -> None:
    exact = Responses(Fraction(1, 3), Fraction(1, 3), Fraction(2, 3))
    assert exact.flip >= Fraction(1, 6)
    assert exact.p > Fraction(1, 3)
    assert exact.q < Fraction(2, 3)
    ratio = exact.q_star * (1 - exact.p_star) / (exact.p_star * (1 - exact.q_star))
    loss, partial, term = exact.per_report(1), Fraction(1), Fraction(1)
    for order in range(1, 60):  # a lower bound of e^loss
        term *= loss / order
        partial += term
    assert partial >= ratio


def test_many_reports_of_one_device_converge_to_p_or_q_by_its_permanent_bits() -> None:
    own, reports = RrLdp(sizes=(3, 4), f=HALF), 10_000
    generator = rng.seeded(1)
    for value in ([0, 0], [2, 3]):
        values = np.repeat(np.array(value)[:, None], reports, axis=1)
        device = np.repeat(secrets(1), reports, axis=0)
        kept = unpacked(own.permanent(values, rng=generator, secrets=device), own.bits)
        assert (kept == kept[0]).all()
        rates = np.where(kept[0] == 1, 0.75, 0.5)
        bound = z(2 * own.bits) * np.sqrt(rates * (1 - rates) / reports)
        found = unpacked(own.perturb(values, rng=generator, secrets=device), own.bits).mean(axis=0)
        assert (np.abs(found - rates) < bound).all()
        fresh = unpacked(own.perturb(values, rng=generator), own.bits).mean(axis=0)
        assert (np.abs(fresh - rates) > bound).any(), "a fresh permanent response each time must be caught"


def test_equal_permanent_responses_of_different_values_make_the_same_reports() -> None:
    own = RrLdp(sizes=(2,), f=Fraction(9, 10))
    devices = secrets(400)
    first, second = (own.permanent(np.full(400, value), rng=rng.seeded(1), secrets=devices) for value in (0, 1))
    same = np.flatnonzero((first == second).all(axis=1))
    assert same.size > 20
    reports = [own.perturb(np.full(same.size, value), rng=rng.seeded(7), secrets=devices[same]) for value in (0, 1)]
    assert np.array_equal(*reports)


def test_a_change_of_one_attribute_draws_that_attributes_response_only() -> None:
    own, devices = RrLdp(sizes=(40, 40), f=HALF), secrets(3)
    before, after = (
        unpacked(own.permanent(np.array([[5] * 3, [value] * 3]), rng=rng.seeded(1), secrets=devices), 80)
        for value in (6, 7)
    )
    assert np.array_equal(before[:, :40], after[:, :40])
    assert (before[:, 40:] != after[:, 40:]).any(axis=1).all()


@pytest.mark.parametrize("with_secrets", [False, True])
@pytest.mark.parametrize("size", [3, 9, 100])
def test_every_bit_has_its_probability(size: int, with_secrets: object) -> None:
    own, users = RrLdp(sizes=(size,), f=Fraction(1, 4)), 20_000
    keys = secrets(users) if with_secrets else None
    payloads = own.perturb(np.full(users, size - 1), rng=rng.seeded(2), secrets=keys)
    assert payloads.shape == (users, own.width) == (users, -(-size // 8))
    assert not own.faults(payloads)["padding"].any()
    rates = np.full(size, float(own.responses.p_star))
    rates[-1] = float(own.responses.q_star)
    bound = z(6 * size) * np.sqrt(rates * (1 - rates) / users)
    assert (np.abs(own.tally(payloads) / users - rates) < bound).all()


def test_the_estimate_is_unbiased_on_the_exact_channel_and_its_variance_exact() -> None:
    own = RrLdp(sizes=(2, 3), f=HALF)
    channel = own.channel()
    answers = np.stack([own.estimate(own.tally(row[None]), 1).answers for row in channel.payloads])
    for cell, weights in zip(np.ndindex(2, 3), channel.probabilities, strict=True):
        mass = np.array([float(weight) for weight in weights])
        truth = np.concatenate([np.eye(2)[cell[0]], np.eye(3)[cell[1]]])
        assert mass @ answers == pytest.approx(truth, abs=1e-9)
        spread = mass @ (answers - truth) ** 2
        assert spread == pytest.approx([own.variance(1, held) for held in truth], rel=1e-9)


def test_the_one_way_tables_come_as_a_stack() -> None:
    own = RrLdp(sizes=(2, 3), f=HALF)
    values = np.array([[0, 1, 1], [2, 2, 0]])
    measured = own.estimate(own.tally(own.perturb(values, rng=rng.seeded(1))), 3)
    assert measured.map == Stack((Marginal((2, 3), (0,)), Marginal((2, 3), (1,))))
    assert [part.answers.size for part in measured.parts] == [2, 3]
    alone = RrLdp(sizes=(3,), f=HALF)
    assert isinstance(alone, Oracle)
    assert alone.estimate(alone.tally(alone.perturb(values[1], rng=rng.seeded(1))), 3).map == Identity(3)


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "0.7", "0.98"])
def test_a_calibrated_report_costs_at_most_epsilon_and_nearly_that(epsilon: str) -> None:
    own = calibrated(PureDP(epsilon=epsilon), 1)
    assert 0 <= float(PureDP(epsilon=epsilon).epsilon - own.per_report(1)) < 1e-8
    assert own.f >= Fraction(1, 10)


def test_a_large_epsilon_is_not_used_up_below_the_documents_smallest_f() -> None:
    assert calibrated(PureDP(epsilon=5), 1).f == pytest.approx(0.1, abs=1e-9)


def test_stated_numbers_that_cost_too_much_are_refused_with_both_figures() -> None:
    stated = CARD.oracle
    assert stated is not None
    served = stated(4, PureDP(epsilon=1), f=0.5)
    assert isinstance(served, RrLdp)
    assert served.f == HALF
    with pytest.raises(ValueError, match=r"cost epsilon = 0\.9\d+ per report, more than epsilon = 0\.2"):
        stated(4, PureDP(epsilon=0.2), f=0.1)
    assert stated(4, ZCDP(rho=1)) is None
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        calibrated(ZCDP(rho=1), 1)
    with pytest.raises(ValueError, match="no f below 1"):
        calibrated(PureDP(epsilon="1e-9"), 8, p=Fraction(0), q=Fraction(1))


@pytest.mark.parametrize(
    ("f", "p", "q"),
    [(0, 0.5, 0.75), (1, 0.5, 0.75), (0.5, 0.75, 0.5), (0.5, 0.5, 0.5), (0.5, -0.1, 0.5), (0.5, 0, 1.1)],
)
def test_probabilities_that_make_no_response_are_refused(f: float, p: float, q: float) -> None:
    with pytest.raises(ValueError, match=r"f must lie|p and q must"):
        RrLdp(sizes=(2,), f=f, p=p, q=q)  # type: ignore[arg-type]


def test_bad_values_sizes_and_channels_are_refused() -> None:
    own = RrLdp(sizes=(2, 3), f=HALF)
    for values in (np.array([0, 1]), np.array([[0], [3]]), np.array([[-1], [0]]), np.array([[0.0], [1.0]])):
        with pytest.raises(ValueError, match="values must"):
            own.perturb(values, rng=rng.seeded(1))
    with pytest.raises(ValueError, match="secret"):
        own.perturb(np.array([[0], [0]]), rng=rng.seeded(1), secrets=np.zeros((1, 8), np.uint8))
    with pytest.raises(ValueError, match="at least one attribute"):
        RrLdp(sizes=(), f=HALF)
    with pytest.raises(NotSupported, match="too large"):
        RrLdp(sizes=(17,), f=HALF).channel()
    assert own.faults(np.array([[0b00011111], [0b00100000]], np.uint8))["padding"].tolist() == [False, True]
