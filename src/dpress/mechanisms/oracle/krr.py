"""`krr`: the device reports its value, or any other value, all others alike.

Flow: value -> the value with probability p, else one of the k - 1 others -> the number in the fewest bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Clones, Mask, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.inference import frequencies
from dpress.noise.response import LEFT_OUT, resolve_probability, truthful
from dpress.noise.uniform import small

BLOCK = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Krr(frequencies.PureOracle):
    """k-ary randomised response: P(true) = p, P(any one other value) = q = (1 - p) / (k - 1).

    Promise: pure epsilon between any two values of one report, local model, ln(p / q) <= epsilon. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2; for rare values about
        N (e^epsilon + k - 2) / (e^epsilon - 1)^2.
    Paper: Kairouz, Bonawitz, Ramage 2016, Section 2.2; Wang, Blocki, Li, Jha 2017, Section 4.1 (direct encoding).

    Args:
        size: k, up to 2^31 - 1; with one value the report carries nothing.
        loss: epsilon.
        p: P(report = the value); left out, the largest that epsilon allows.

    >>> from dpress.core.basics import rng
    >>> oracle = Krr(size=3, loss=PureDP(epsilon=2))
    >>> oracle.perturb(np.array([0, 1, 2, 2]), rng=rng.seeded(1)).tolist()
    [[0], [0], [2], [2]]
    """

    size: int
    loss: PureDP
    p: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss)
        object.__setattr__(self, "p", resolve_probability(self.p, self.loss.epsilon, Fraction(self.size - 1)))

    @property
    def q(self) -> Fraction:
        """P(report = v) for a user who holds another value than v."""
        return (1 - self.p) / (self.size - 1) if self.size > 1 else Fraction(0)

    @property
    def width(self) -> int:
        """The number of bytes that hold k - 1."""
        return payload.width(self.size)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        basis = f"randomised response among {self.size} values, P(true) = {self.p}, P(other) = (1 - P(true)) / (k - 1)"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size).view(np.uint32)
        out, p = np.empty((codes.size, self.width), dtype=np.uint8), self.p
        for start in range(0, codes.size, BLOCK):
            answers = respond(codes[start : start + BLOCK], self.size, p, rng=rng)
            out[start : start + BLOCK] = payload.pack(answers, self.width)
        return out

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports hold no value."""
        return {"out of range": payload.unpack(payloads) >= self.size}

    def clones(self, local: Fraction) -> Clones:
        """Return those of a report: uniform over k values, gamma = k q."""
        return Clones(local=local, gamma=self.size * self.q, only=Fraction(1, self.size))

    def tally(self, payloads: Payloads) -> Tally:
        """Return how often each value was reported, shape (k,)."""
        return payload.histogram(payloads, self.size)

    def pair_form(self, held: Array, users: int) -> tuple[Array, Array, Array]:
        """Return what gives the covariances of pairs of counts; see `frequencies.pair_form`."""
        return frequencies.pair_form(held, users, (self.p, self.q), 1)

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(self.size, self.size)
        p, q = self.p, self.q
        rows = tuple(tuple(p if y == v else q for y in range(self.size)) for v in range(self.size))
        return Channel(payloads=payload.pack(np.arange(self.size, dtype=np.uint32), self.width), probabilities=rows)


def respond(codes: Number, size: int, p: Fraction, *, rng: Generator) -> Number:
    """Return each code with probability p, else one of the size - 1 others, uniformly: one block of lanes.

    The other answer is drawn for everybody, so that the work does not depend on the coin.
    """
    if size == 1:
        return codes
    honest = truthful(p, codes.size, rng=rng)
    others = small(size - 1, codes.size, rng=rng)
    others += others >= codes  # skips the code itself
    return np.where(honest, codes, others)


CARD = Card(
    name="krr",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Kairouz, Bonawitz, Ramage 2016)",
    summary="Reports the value itself or any other one; best for few values.",
    method=Krr,
    example=lambda loss, unit: Krr(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Krr),
)
