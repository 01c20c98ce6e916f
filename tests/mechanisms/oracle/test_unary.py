"""What `sue` and `oue` share: the exact channel, padding, one value."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.oracle import oue, sue

both = pytest.mark.parametrize("card", [oue.CARD, sue.CARD], ids=lambda card: card.name)


def make(card: Card, size: int, epsilon: float = 1) -> Oracle:
    oracle: Oracle = card.method(size=size, loss=PureDP(epsilon=epsilon))
    return oracle


def spent(oracle: Oracle) -> float:
    """The largest log ratio between two values over all reports, from the exact channel."""
    rows = oracle.channel().probabilities
    return max(
        math.log(one / other) for first in rows for second in rows for one, other in zip(first, second, strict=True)
    )


@pytest.mark.slow
@both
def test_the_channel_costs_exactly_epsilon_and_gives_the_moments(card: Card) -> None:
    for case in itertools.product([0.1, 1, 3], [2, 5, 9]):
        epsilon, size = case
        oracle = make(card, size, epsilon)
        channel = oracle.channel()
        assert len(channel.payloads) == 1 << size, case
        assert math.isclose(spent(oracle), epsilon, rel_tol=1e-12), case
        plain = np.unpackbits(channel.payloads, axis=1, bitorder="little")
        supports = plain[:, :size].astype(float)
        assert not plain[:, size:].any(), case
        for value, row in enumerate(channel.probabilities):
            assert sum(row) == 1, case
            weights = np.array(row, dtype=float)
            estimates = (supports - float(oracle.q)) / float(oracle.p - oracle.q)
            held = np.eye(size)[value]
            assert np.allclose(weights @ estimates, held, atol=1e-9), case
            stated = [oracle.variance(1, float(share)) for share in held]
            assert np.allclose(weights @ estimates**2 - held, stated, rtol=1e-9), case


@both
def test_a_large_channel_or_domain_and_another_loss_are_refused(card: Card) -> None:
    for size in (17, 1024):
        with pytest.raises(NotSupported):
            make(card, size).channel()
    with pytest.raises(NotSupported):
        make(card, (1 << 19) + 1)
    with pytest.raises(NotSupported):
        card.method(size=4, loss=ZCDP(rho=1))
    assert card.oracle is not None
    assert card.oracle((1 << 19) + 1, PureDP(epsilon=1)) is None
    assert card.oracle(4, ZCDP(rho=1)) is None
    assert card.oracle(4, PureDP(epsilon=1)) == make(card, 4)


@both
def test_widths_padding_and_full_strength(card: Card) -> None:
    for case in itertools.product([1, 7, 8, 9, 64, 1000], [1, 5000]):
        size, users = case
        oracle = make(card, size, 1000)
        values = np.arange(users, dtype=np.int32) % size
        reports = oracle.perturb(values, rng=rng.seeded(1))
        assert reports.shape == (users, -(-size // 8)), case
        assert reports.dtype == np.uint8, case
        assert not oracle.faults(reports)["padding"].any(), case
        ones = np.unpackbits(reports, axis=1, bitorder="little")
        rows = np.arange(users)
        assert ones.sum() == ones[rows, values].sum(), case  # only own bits
        assert math.isclose(
            ones.sum() / users, float(oracle.p), abs_tol=0 if oracle.p > 0.6 else 6 * 0.5 / users**0.5
        ), case
        if size % 8:
            reports[0, -1] |= 0x80
            assert oracle.faults(reports)["padding"].tolist() == [True] + [False] * (users - 1), case


@both
def test_a_small_tally_and_its_estimate(card: Card) -> None:
    oracle = make(card, 10)
    tally = oracle.tally(np.array([[0b1, 0b10], [0b11, 0b10], [0, 0]], dtype=np.uint8))
    assert tally.tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    measured = oracle.estimate(tally, 3)
    assert np.allclose(measured.answers, (tally - 3 * float(oracle.q)) / float(oracle.p - oracle.q))
