"""`sue`: one bit for every value, each reported through a coin of its own; one-time RAPPOR without Bloom filters.

Flow: value -> one-hot bits -> each bit kept with probability p, flipped with 1 - p -> packed bits -> column counts.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.mechanisms.oracle import unary
from dpress.noise.response import LEFT_OUT, truth_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Sue(unary.Unary):
    """Symmetric unary encoding: P(own bit = 1) = p, P(other bit = 1) = q = 1 - p, p = e^(eps/2) / (e^(eps/2) + 1).

    Promise: pure epsilon between any two values of one report, local model, 2 ln(p / q) <= epsilon. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2 = N e^(eps/2) / (e^(eps/2) - 1)^2.
    Paper: Erlingsson, Pihur, Korolova 2014 (basic one-time RAPPOR); Wang, Blocki, Li, Jha 2017, Section 4.3 (SUE).

    Args:
        size: k, up to 2^19; a report has k bits.
        loss: epsilon.
        p: P(bit v = 1) for a user who holds v; left out, the largest that epsilon allows.
        q: P(bit v = 1) for a user who holds another value: 1 - p, also where it is left out.

    >>> import numpy as np
    >>> from dpress.core.basics import rng
    >>> Sue(size=9, loss=PureDP(epsilon=4)).perturb(np.array([0, 8]), rng=rng.seeded(1)).tolist()
    [[37, 0], [4, 1]]
    """

    size: int
    loss: PureDP
    p: Fraction = LEFT_OUT
    q: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        unary.check_domain(self)
        p = check.exact("p", self.p) or truth_probability(self.loss.epsilon / 2)
        if check.exact("q", self.q) not in (LEFT_OUT, 1 - p):
            raise ValueError(f"q must be 1 - p, got p={float(p)} and q={float(self.q)}")
        unary.settle(self, p, 1 - p)

    @property
    def claim(self) -> Claim:
        """The promise, from the probabilities that the sampler uses."""
        basis = f"two values differ in two bits, each with odds p / (1 - p), p = {self.p}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)


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
