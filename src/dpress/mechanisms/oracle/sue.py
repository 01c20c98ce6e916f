"""`sue`: one bit for every value, each reported through a coin of its own; one-time RAPPOR without Bloom filters.

Flow: value -> one-hot bits -> each bit kept with probability p, flipped with 1 - p -> packed bits -> column counts.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core import bits, payload
from dpress.core.claim import Claim, PureDP
from dpress.core.mechanism import Card
from dpress.inference import frequencies
from dpress.mechanisms.oracle import unary
from dpress.noise.response import truth_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Sue:
    """Symmetric unary encoding: P(own bit = 1) = p, P(other bit = 1) = q = 1 - p, p = e^(eps/2) / (e^(eps/2) + 1).

    Promise: pure epsilon between any two values of one report, local model, 2 ln(p / q) <= epsilon. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2 = N e^(eps/2) / (e^(eps/2) - 1)^2.
    Paper: Erlingsson, Pihur, Korolova 2014 (basic one-time RAPPOR); Wang, Blocki, Li, Jha 2017, Section 4.3 (SUE).

    Args:
        size: k, up to 2^19; a report has k bits.
        loss: epsilon.

    >>> import numpy as np
    >>> from dpress.core import rng
    >>> Sue(size=9, loss=PureDP(epsilon=4)).perturb(np.array([0, 8]), rng=rng.seeded(1)).tolist()
    [[37, 0], [4, 1]]
    """

    size: int
    loss: PureDP

    def __post_init__(self) -> None:
        unary.check(self)

    @property
    def p(self) -> Fraction:
        """P(bit v = 1) for a user who holds v."""
        return truth_probability(self.loss.epsilon / 2)

    @property
    def q(self) -> Fraction:
        """P(bit v = 1) for a user who holds another value."""
        return 1 - self.p

    @property
    def claim(self) -> Claim:
        """The promise, from the probabilities that the sampler uses."""
        basis = f"two values differ in two bits, each with odds p / (1 - p), p = {self.p}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    width = property(unary.width)
    perturb = unary.perturb
    faults = unary.faults
    tally = unary.tally
    channel = unary.channel
    estimate = frequencies.estimate
    variance = frequencies.variance


CARD = Card(
    name="sue",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Erlingsson, Pihur, Korolova 2014)",
    summary="Reports one randomised bit for every value, true and other bits alike.",
    method=Sue,
    example=lambda loss, unit: Sue(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Sue, bits.LARGEST_SIZE),
)
