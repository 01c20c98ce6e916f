"""Unary encoding: one bit for every value, each through a coin of its own; the methods that `sue` and `oue` share.

Flow: value -> own bit 1 with probability p, every other with q -> packed bits -> column counts.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol

from dpress.core import bits, payload
from dpress.core.claim import PureDP
from dpress.core.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.rng import Generator
from dpress.noise.bits import one_hot, one_hot_channel


class Unary(Protocol):
    """k values and two probabilities."""

    @property
    def size(self) -> int:
        """The number of values, k, up to 2^19."""
        ...

    @property
    def loss(self) -> PureDP:
        """Epsilon."""
        ...

    @property
    def p(self) -> Fraction:
        """P(bit v = 1) for a user who holds v."""
        ...

    @property
    def q(self) -> Fraction:
        """P(bit v = 1) for a user who holds another value."""
        ...


def check(oracle: Unary) -> None:
    """Refuse a loss that is not pure, and more values than a report has bits for."""
    payload.check_domain(oracle.size, oracle.loss, largest=bits.LARGEST_SIZE)


def width(oracle: Unary) -> int:
    """Return the number of bytes of k bits."""
    return bits.width(oracle.size)


def perturb(oracle: Unary, values: Values, *, rng: Generator) -> Payloads:
    """Return one report for every value.

    Raises:
        ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
    """
    return one_hot(payload.codes(values, oracle.size), oracle.size, oracle.p, oracle.q, rng=rng)


def faults(oracle: Unary, payloads: Payloads) -> Mapping[str, Mask]:
    """Return which reports have a bit beyond the last value."""
    return {"padding": bits.padded(payloads, oracle.size)}


def tally(oracle: Unary, payloads: Payloads) -> Tally:
    """Return how many reports have each bit set, shape (k,)."""
    return bits.column_counts(payloads, oracle.size)


def channel(oracle: Unary) -> Channel:
    """Return the exact channel.

    Raises:
        NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
    """
    payload.check_channel(1 << min(oracle.size, 64), oracle.size)
    return one_hot_channel(oracle.size, oracle.p, oracle.q)
