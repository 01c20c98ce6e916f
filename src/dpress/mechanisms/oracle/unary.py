"""Unary encoding: one bit for every value, each through a coin of its own; the methods that `sue` and `oue` share.

Flow: value -> own bit 1 with probability p, every other with q -> packed bits -> column counts.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpress.core.basics import bits, check
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.inference.frequencies import PureOracle
from dpress.noise.bit_coins import one_hot, one_hot_channel
from dpress.noise.response import check_coin, check_odds


class Unary(PureOracle, Protocol):
    """k values and two probabilities: a base of both oracles.

    `size` is k, up to 2^19, `loss` epsilon, `p` is P(bit v = 1) for a user who holds v, `q` for one who holds another.
    """

    __slots__ = ()
    if TYPE_CHECKING:  # a field, whose default a property would be

        @property
        def loss(self) -> PureDP: ...  # noqa: D102  # above

    @property
    def width(self) -> int:
        """The number of bytes of k bits."""
        return bits.width(self.size)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        return one_hot(payload.codes(values, self.size), self.size, self.p, self.q, rng=rng)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a bit beyond the last value."""
        return {"padding": bits.padded(payloads, self.size)}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports have each bit set, shape (k,)."""
        return bits.column_counts(payloads, self.size)

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(1 << min(self.size, 64), self.size)
        return one_hot_channel(self.size, self.p, self.q)


def check_domain(oracle: Unary) -> None:
    """Refuse a loss that is not pure, and more values than a report has bits for."""
    payload.check_domain(oracle.size, oracle.loss, largest=bits.LARGEST_SIZE)


def settle(oracle: Unary, p: Fraction, q: Fraction) -> None:
    """Write both probabilities into an oracle that is being made, once they are checked.

    Two values differ in two bits: the odds of a report are p (1 - q) / (q (1 - p)) at most.

    Raises:
        ValueError: coins of 64 bits do not toss them, they say nothing of the value, or spend more than epsilon.
    """
    for name, probability in (("p", check.exact("p", p)), ("q", check.exact("q", q))):
        check_coin(name, probability)
        object.__setattr__(oracle, name, probability)
    check_odds(oracle.p * (1 - oracle.q) / (oracle.q * (1 - oracle.p)), oracle.loss.epsilon)
