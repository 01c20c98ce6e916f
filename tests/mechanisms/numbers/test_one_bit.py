"""one_bit: the exact channel with equal steps, reports that follow it, and what is refused."""

import itertools
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.reports.oracle import Channel
from dpress.mechanisms.numbers.one_bit import CARD, OneBit


@pytest.mark.parametrize(("size", "epsilon"), [(2, "1"), (7, "0.5"), (300, "3")])
def test_the_channel_costs_epsilon_and_five_percent_more_is_caught(checks: ModuleType, size: int, epsilon: str) -> None:
    own = OneBit(size=size, loss=PureDP(epsilon=epsilon))
    channel = own.channel()
    assert checks.rows_add_up(channel)
    assert checks.keeps_promise([channel], epsilon)
    assert checks.spends_all([channel], epsilon)
    ones = [row[1] for row in channel.probabilities]
    assert len({b - a for a, b in itertools.pairwise(ones)}) == 1
    assert all((2**64 * one).denominator == 1 for one in ones)
    more = OneBit(size=size, loss=PureDP(epsilon=Fraction(epsilon) * Fraction(21, 20))).channel()
    assert not checks.keeps_promise([more], epsilon)


def test_bits_follow_the_channel_and_a_swap_is_caught(checks: ModuleType) -> None:
    own, generator = OneBit(size=5, loss=PureDP(epsilon=1)), rng.seeded(1)
    channel = own.channel()
    assert all(checks.reports_fit(own, channel, value, 20_000, generator) for value in range(5))
    swapped = Channel(payloads=channel.payloads, probabilities=channel.probabilities[::-1])
    assert not checks.reports_fit(own, swapped, 0, 20_000, generator)
    scores = own.scores.rows[1] @ np.array([[float(p) for p in row] for row in channel.probabilities]).T
    assert np.allclose(scores, np.arange(5) - 2)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="size must lie between 2 and 4,096"):
        OneBit(size=1, loss=PureDP(epsilon=1))
    with pytest.raises(ValueError, match="4 times a multiple of 2\\^-64"):
        OneBit(size=5, loss=PureDP(epsilon=1), p=Fraction(2**63 + 1, 2**64))
    with pytest.raises(ValueError, match="spend more than epsilon"):
        OneBit(size=5, loss=PureDP(epsilon=1), p=Fraction(3, 4))
    with pytest.raises(NotSupported):
        CARD.example(ZCDP(rho=1), None)
    own = OneBit(size=5, loss=PureDP(epsilon=1))
    assert own.faults(np.array([[0], [1], [2]], np.uint8))["out of range"].tolist() == [False, False, True]
