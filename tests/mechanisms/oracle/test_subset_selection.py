"""subset_selection: optimal weight, exact channel, total error against the other oracles, faults, one value."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.subset_selection import CARD, SubsetSelection

SIZES = (2, 16, 256, 1024)
EPSILONS = (0.5, 1, 2, 4)
NEAR_OPTIMAL = 1.02


def oracle_of(size: int, epsilon: float = 1) -> SubsetSelection:
    return SubsetSelection(size=size, loss=PureDP(epsilon=epsilon))


def total(size: int, p: float, q: float) -> float:
    """The total variance of all counts for one user, whatever the frequencies."""
    return (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2


def at_weight(size: int, weight: float, power: float) -> float:
    p = weight * power / (weight * power + size - weight)
    return total(size, p, (weight - p) / (size - 1))


def test_total_error_is_the_optimum_and_never_above_the_others() -> None:
    for case in itertools.product(SIZES, EPSILONS):
        size, epsilon = case
        oracle, power = oracle_of(size, epsilon), math.exp(epsilon)
        own = oracle.variance(1, 1.0) + (size - 1) * oracle.variance(1, 0.0)
        assert math.isclose(own, at_weight(size, oracle.weight, power), rel_tol=1e-9), case
        real = max(1.0, size / (power + 1))
        assert own <= NEAR_OPTIMAL * at_weight(size, real, power), case
        assert own <= min(at_weight(size, weight, power) for weight in range(1, size)) * (1 + 1e-12), case
        hashes = round(power) + 1
        others = {
            "krr": total(size, power / (power + size - 1), 1 / (power + size - 1)),
            "sue": size * math.sqrt(power) / (math.sqrt(power) - 1) ** 2,
            "oue": size * 4 * power / (power - 1) ** 2 + 1,
            "olh": total(size, power / (power + hashes - 1), 1 / hashes),
            "hadamard": size * ((power + 1) / (power - 1)) ** 2 - 1,
        }
        assert all(own <= other * (1 + 1e-12) for other in others.values()), (own, others)


@pytest.mark.parametrize(("size", "epsilon", "weight"), [(1024, 1, 275), (1024, 4, 18), (16, 4, 1), (2, 0.5, 1)])
def test_weights(size: int, epsilon: float, weight: int) -> None:
    oracle = oracle_of(size, epsilon)
    assert abs(oracle.weight - weight) <= (size > 1000)
    w, p, q = oracle.weight, oracle.p, oracle.q
    assert q == (p * (w - 1) + (1 - p) * w) / (size - 1)


@pytest.mark.parametrize("size", [2, 5, 16])
def test_one_value_of_k_is_krr(size: int) -> None:
    oracle, krr = oracle_of(size, 4), Krr(size=size, loss=PureDP(epsilon=4))
    assert oracle.weight == 1
    assert (oracle.p, oracle.q) == (krr.p, krr.q)


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (5, 1), (9, 0.1), (10, 2), (16, 0.5)])
def test_the_channel_costs_exactly_epsilon_and_gives_the_moments(size: int, epsilon: float) -> None:
    oracle = oracle_of(size, epsilon)
    channel = oracle.channel()
    assert len(channel.payloads) == math.comb(size, oracle.weight)
    columns = list(zip(*channel.probabilities, strict=True))
    assert math.isclose(max(math.log(max(one) / min(one)) for one in columns), epsilon, rel_tol=1e-12)
    supports = np.unpackbits(channel.payloads, axis=1, bitorder="little")[:, :size].astype(float)
    estimates = (supports - float(oracle.q)) / float(oracle.p - oracle.q)
    for value, row in enumerate(channel.probabilities):
        assert sum(row) == 1
        weights, held = np.array(row, dtype=float), np.eye(size)[value]
        assert np.allclose(weights @ estimates, held, atol=1e-9)
        stated = [oracle.variance(1, float(share)) for share in held]
        assert np.allclose(weights @ estimates**2 - held, stated, rtol=1e-9)


def test_one_value_says_nothing_and_costs_nothing() -> None:
    oracle = oracle_of(1)
    for users in (1, 9000):
        reports = oracle.perturb(np.zeros(users, dtype=np.int32), rng=rng.seeded(1))
        assert not any(mask.any() for mask in oracle.faults(reports).values())
        assert oracle.estimate(oracle.tally(reports), users).answers.tolist() == [users]
    assert oracle.variance(7) == oracle.variance(7, 1.0) == 0
    assert oracle.channel().probabilities == ((Fraction(1),),)


@pytest.mark.parametrize("size", [2, 7, 64, 1000])
@pytest.mark.parametrize("users", [1, 5000])
def test_faults_are_weight_and_padding(size: int, users: int) -> None:
    oracle = oracle_of(size)
    reports = oracle.perturb(np.arange(users, dtype=np.int32) % size, rng=rng.seeded(2))
    assert reports.shape == (users, oracle.width)
    assert not any(mask.any() for mask in oracle.faults(reports).values())
    reports[0, 0] ^= 1
    assert oracle.faults(reports)["weight"].tolist() == [True] + [False] * (users - 1)
    if size % 8:
        reports[-1, -1] |= 0x80
        assert np.flatnonzero(oracle.faults(reports)["padding"]).tolist() == [users - 1]


def test_what_it_does_not_serve() -> None:
    with pytest.raises(NotSupported):
        oracle_of(64, 0.1).channel()
    with pytest.raises(NotSupported):
        SubsetSelection(size=4, loss=ZCDP(rho=1))
    assert CARD.oracle is not None
    assert CARD.oracle((1 << 19) + 1, PureDP(epsilon=1)) is None
    assert CARD.oracle(4, PureDP(epsilon=1)) == oracle_of(4)
