"""`oue`: one bit for every value; the true one is a fair coin, so that the many others can be zero more often.

Flow: value -> own bit 1 with probability 1/2, every other with q -> packed bits -> column counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpress.core import bits, payload
from dpress.core.claim import Claim, PureDP
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.rng import Generator
from dpress.estimate import frequencies
from dpress.noise.bits import one_hot, one_hot_channel
from dpress.noise.response import truth_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Oue:
    """Optimised unary encoding: P(own bit = 1) = p = 1/2, P(other bit = 1) = q = 1 / (e^epsilon + 1).

    Promise: pure epsilon between any two values of one report, local model, ln((1 - q) / q) <= epsilon. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2
        = (4 N e^epsilon + n_v (e^epsilon - 1)^2) / (e^epsilon - 1)^2.
    Paper: Wang, Blocki, Li, Jha 2017, Section 4.3 (OUE).

    Args:
        size: k, up to 2^19; a report has k bits.
        loss: epsilon.

    >>> from dpress.core import rng
    >>> Oue(size=9, loss=PureDP(epsilon=4)).perturb(np.array([0, 8]), rng=rng.seeded(1)).tolist()
    [[1, 0], [0, 0]]
    """

    size: int
    loss: PureDP

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss, largest=bits.LARGEST_SIZE)

    @property
    def p(self) -> Fraction:
        """P(bit v = 1) for a user who holds v."""
        return Fraction(1, 2)

    @property
    def q(self) -> Fraction:
        """P(bit v = 1) for a user who holds another value."""
        return 1 - truth_probability(self.loss.epsilon)

    @property
    def width(self) -> int:
        """The number of bytes of k bits."""
        return bits.width(self.size)

    @property
    def claim(self) -> Claim:
        """The promise, from the probabilities that the sampler uses."""
        basis = f"own bit 1 with probability 1/2, every other with q = {self.q}: odds (1 - q) / q between two values"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

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

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,)."""
        return frequencies.counts(tally, users, self.p, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        return float(frequencies.variances(users, np.asarray(users * frequency), self.p, self.q))

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(1 << min(self.size, 64), self.size)
        return one_hot_channel(self.size, self.p, self.q)


def _serve(size: int, loss: Any) -> Oue | None:
    served = isinstance(loss, PureDP) and size <= bits.LARGEST_SIZE
    return Oue(size=size, loss=loss) if served else None


CARD = Card(
    name="oue",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Wang, Blocki, Li, Jha 2017)",
    summary="Reports one randomised bit for every value, the true one by a fair coin.",
    method=Oue,
    example=lambda loss, unit: Oue(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=_serve,
)
