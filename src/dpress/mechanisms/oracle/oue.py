"""`oue`: one bit for every value; the true one is a fair coin, so that the many others can be zero more often.

Flow: value -> own bit 1 with probability 1/2, every other with q -> packed bits -> column counts.
"""

from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Clones
from dpress.mechanisms.oracle import unary
from dpress.noise.response import LEFT_OUT, truth_probability

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oue(unary.Unary):
    """Optimised unary encoding: P(own bit = 1) = p = 1/2, P(other bit = 1) = q = 1 / (e^epsilon + 1).

    Promise: pure epsilon between any two values of one report, local model, ln((1 - q) / q) <= epsilon. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2
        = (4 N e^epsilon + n_v (e^epsilon - 1)^2) / (e^epsilon - 1)^2.
    Paper: Wang, Blocki, Li, Jha 2017, Section 4.3 (OUE).

    Args:
        size: k, up to 2^19; a report has k bits.
        loss: epsilon.
        p: P(bit v = 1) for a user who holds v: 1/2, also where it is left out.
        q: P(bit v = 1) for a user who holds another value; left out, the smallest that epsilon allows.

    >>> import numpy as np
    >>> from dpress.core.basics import rng
    >>> Oue(size=9, loss=PureDP(epsilon=4)).perturb(np.array([0, 8]), rng=rng.seeded(1)).tolist()
    [[1, 0], [0, 0]]
    """

    size: int
    loss: PureDP
    p: Fraction = LEFT_OUT
    q: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        unary.check_domain(self)
        if check.exact("p", self.p) not in (LEFT_OUT, HALF):
            raise ValueError(f"p must be 1/2, got p={float(self.p)}")
        unary.settle(self, HALF, self.q or 1 - truth_probability(self.loss.epsilon))

    @property
    def claim(self) -> Claim:
        """The promise, from the probabilities that the sampler uses."""
        basis = f"own bit 1 with probability 1/2, every other with q = {self.q}: odds (1 - q) / q between two values"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def clones(self, local: Fraction) -> Clones:
        """Return those of a report: bits that are all 1 with probability q.

        The own bit is a fair coin, and a share gamma = 1 / (2 (1 - q)) of its tosses are those of probability q.
        """
        q = self.q
        return Clones(local=local, gamma=1 / (2 * (1 - q)), only=q * (1 - q), both=q * q)


CARD = Card(
    name="oue",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Wang, Blocki, Li, Jha 2017)",
    summary="Reports one randomised bit for every value, the true one by a fair coin.",
    method=Oue,
    example=lambda loss, unit: Oue(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Oue, bits.LARGEST_SIZE),
)
