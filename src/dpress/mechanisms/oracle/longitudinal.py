"""The two responses of RAPPOR on a string of bits: one kept for ever, one drawn anew for every report.

true bit -> permanent response (flipped with probability f/2, memoised) -> instantaneous response (1 with probability
q where the permanent bit is 1, p where it is 0).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Protocol

import numpy as np
from msgspec import Meta

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.convert import log_up, round_up
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.parameters import Parameters, Probability
from dpress.core.basics.rng import Generator
from dpress.core.reports.oracle import Oracle, Payloads, Values
from dpress.core.reports.payload import ANY_TWO_VALUES, Number
from dpress.noise.bit_coins import packed_coins
from dpress.noise.permanent import BITS, FIRST, Secrets, Slot, flip_probability

WORD = 1 << 64
SMALLEST_F = Fraction(1, 10)
"""Of a calibration: the smallest f of the document; below it a device spends its lifetime's loss too soon."""

NEAR = 4  # steps of f within which floats find the smallest
PAPER_P, PAPER_Q = Fraction(1, 2), Fraction(3, 4)


class Longitudinal(Oracle, Protocol):
    """An oracle with a permanent response, which a device derives from its secret: a base of every such oracle."""

    __slots__ = ()
    lasting: ClassVar[bool] = True

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one value."""
        ...

    def perturb(
        self, values: Values, *, rng: Generator, secrets: Secrets | None = None, slot: Slot = FIRST
    ) -> Payloads:
        """Return one report for every value."""
        ...

    def cells(self, values: Values, secrets: Secrets, slot: Slot) -> Number:
        """Return the cell of every device's value, where a permanent response is of a cell that values share.

        Such an oracle has a `lifelong` loss.

        Raises:
            NotSupported: every value has a permanent response of its own.
        """
        del values, secrets, slot
        raise NotSupported("every value has a permanent response of its own")


@dataclass(frozen=True, slots=True)
class Responses:
    """The probabilities of both responses, rounded when made so that they never spend more than those asked for.

    f goes up to a multiple of 2^-31, p up and q down to multiples of 2^-64: coins toss them exactly.

    Two strings that differ in one bit give reports whose likelihood ratio is at most max(q*/p*, (1-p*)/(1-q*)). A pair
    of bits, one of which is 1 in the first string only and the other in the second only, gives the product,
    R = q* (1 - p*) / (p* (1 - q*)). Of the permanent response alone, R_ever = ((1 - f/2) / (f/2))^2.
    The reports of one value depend on the value through the permanent response only: however many there are, they
    spend no more than R_ever (post-processing).

    Args:
        f: of the permanent response, strictly between 0 and 1.
        p: P(report 1 | permanent 0).
        q: P(report 1 | permanent 1), 0 <= p < q <= 1.
    """

    f: Fraction
    p: Fraction = PAPER_P
    q: Fraction = PAPER_Q

    def __post_init__(self) -> None:
        object.__setattr__(self, "f", check.probability("f", self.f))
        object.__setattr__(self, "p", check.exact("p", self.p))
        object.__setattr__(self, "q", check.exact("q", self.q))
        if not 0 <= self.p < self.q <= 1:
            raise ValueError(f"p and q must satisfy 0 <= p < q <= 1, got p={float(self.p)}, q={float(self.q)}")
        object.__setattr__(self, "f", 2 * flip_probability(self.f))
        object.__setattr__(self, "p", Fraction(math.ceil(self.p * WORD), WORD))
        object.__setattr__(self, "q", Fraction(math.floor(self.q * WORD), WORD))
        if self.f >= 1 or self.p >= self.q:
            raise ValueError("f is too close to 1, or p to q: the reports would say nothing")

    @property
    def flip(self) -> Fraction:
        """P(the permanent response differs from the true bit): f / 2."""
        return self.f / 2

    @property
    def p_star(self) -> Fraction:
        """P(report 1 | true 0) = f (p + q) / 2 + (1 - f) p."""
        return self.flip * self.q + (1 - self.flip) * self.p

    @property
    def q_star(self) -> Fraction:
        """P(report 1 | true 1) = f (p + q) / 2 + (1 - f) q."""
        return (1 - self.flip) * self.q + self.flip * self.p

    def per_report(self, pairs: int) -> Fraction:
        """Return a rational >= ln R^pairs, the loss of one report where at most so many pairs of bits differ."""
        return _loss(self.q_star * (1 - self.p_star) / (self.p_star * (1 - self.q_star)), pairs)

    def lifetime(self, pairs: int) -> Fraction:
        """Return a rational >= ln R_ever^pairs, the loss of any number of reports of one value."""
        return _loss(((1 - self.flip) / self.flip) ** 2, pairs)

    def claim(self, pairs: int, published: Fraction) -> Claim:
        """Return the promise of one report; the basis names the numbers."""
        basis = (
            f"permanent response with f = {float(2 * self.flip):.6g}, instantaneous response with p = "
            f"{float(self.p):.6g} and q = {float(self.q):.6g}; {2 * pairs} bits differ; one report"
        )
        proven = PureDP(epsilon=self.per_report(pairs))
        return Claim(published=PureDP(epsilon=published), proven=proven, unit=ANY_TWO_VALUES, basis=basis)

    def respond(self, permanent: Payloads, size: int, *, rng: Generator) -> Payloads:
        """Return one instantaneous response to every permanent one, packed, with unused bits zero.

        The two coins are independent, so that either is as good as the bit it stands for.
        """
        ones, zeros = (
            packed_coins(rate, permanent.size, rng=rng).reshape(permanent.shape) for rate in (self.q, self.p)
        )
        out = (permanent & ones) | (~permanent & zeros)
        if size % 8:
            out[:, -1] &= np.uint8((1 << size % 8) - 1)
        return out


def rounded(f: Fraction, p: Fraction, q: Fraction) -> Responses:
    """Return `Responses(f, p, q)`, made once: a device asks for them at every report, and integers are found fast."""
    if not all(isinstance(probability, Fraction) for probability in (f, p, q)):  # as a person wrote it
        return Responses(f, p, q)
    return _rounded(*f.as_integer_ratio(), *p.as_integer_ratio(), *q.as_integer_ratio())


@functools.lru_cache(maxsize=256)
def _rounded(*parts: int) -> Responses:
    return Responses(*(Fraction(*parts[place : place + 2]) for place in (0, 2, 4)))


class Rates(Parameters, frozen=True):
    """The probabilities of both responses."""

    f: (
        Annotated[
            Probability,
            Meta(
                description="the permanent response: flipped for ever with probability f / 2; the lifetime's loss "
                "depends on it alone; left out, the smallest from 1/10 on that epsilon allows"
            ),
        ]
        | None
    ) = None
    p: (
        Annotated[
            Fraction,
            Meta(
                description="the instantaneous response: P(bit 1) where the permanent bit is 0, 0 <= p < q; "
                "1/2 unless stated"
            ),
        ]
        | None
    ) = None
    q: Annotated[Fraction, Meta(description="the same where it is 1, q <= 1; 3/4 unless stated")] | None = None


def calibrated(
    loss: Loss,
    pairs: int,
    *,
    f: check.Number | None = None,
    p: check.Number = PAPER_P,
    q: check.Number = PAPER_Q,
) -> Responses:
    """Return responses whose report costs at most epsilon.

    Without `f` the smallest f >= 1/10 that does; at f = 1/10 the paper's p and q cost at most ln 2.7 a pair, so that a
    larger epsilon is not used up: state p and q then.

    Raises:
        NotSupported: the loss is not epsilon.
        ValueError: the stated numbers cost more than epsilon; both figures are named.
    """
    loss = pure(loss, f"a permanent response is calibrated to epsilon, got {describe(loss)}")
    low, high = check.exact("p", p), check.exact("q", q)
    if f is None:
        return _smallest(loss.epsilon, pairs, low, high)
    stated = Responses(check.probability("f", f), low, high)
    if (cost := stated.per_report(pairs)) > loss.epsilon:
        raise ValueError(
            f"f = {f}, p = {p}, q = {q} cost epsilon = {check.float_up(cost):.6g} per report, "
            f"more than epsilon = {float(loss.epsilon):.6g}; raise f or bring p and q together"
        )
    return stated


@functools.lru_cache(maxsize=256)
def _smallest(epsilon: Fraction, pairs: int, p: Fraction, q: Fraction) -> Responses:
    """Return the responses with the smallest f >= 1/10, a multiple of 2^-31, that cost at most epsilon.

    Bisection of the exact cost, in the few steps around where floats find it if that is where it is.
    """
    steps = 1 << (BITS - 1)
    least, most = -(-steps // SMALLEST_F.denominator) - 1, steps - 1

    def fits(place: int) -> bool:
        return Responses(Fraction(place, steps), p, q).per_report(pairs) <= epsilon

    if not fits(most):
        raise ValueError(f"no f below 1 costs as little as epsilon = {float(epsilon)} per report")
    near = _bisected(lambda place: _near_cost(place / steps, pairs, float(p), float(q)) <= epsilon, least, most)
    low, high = max(near - NEAR, least), min(near + NEAR, most)
    low = least if low > least and fits(low) else low
    high = most if high < most and not fits(high) else high
    return Responses(Fraction(_bisected(fits, low, high), steps), p, q)


def _bisected(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the smallest place in (low, high] that fits, where larger ones do, too, and `high` does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _near_cost(f: float, pairs: int, p: float, q: float) -> float:
    """Return the cost of one report in floats; infinite where a report may exclude a value."""
    low, high = f / 2 * q + (1 - f / 2) * p, f / 2 * p + (1 - f / 2) * q
    return pairs * math.log(high * (1 - low) / (low * (1 - high))) if low > 0 and high < 1 else math.inf


@functools.lru_cache(maxsize=256)
def _loss(ratio: Fraction, pairs: int) -> Fraction:
    return round_up(pairs * log_up(ratio))
