"""`pgr`: the device reports a point of a projective space, one on its value's hyperplane more often than chance.

Flow: value -> a point on its hyperplane with probability p, else one off it, both uniform -> the point's number; the
collector counts points, and sums them over every value's hyperplane.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload, projective
from dpress.core.reports.oracle import Channel, Clones, Mask, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.core.reports.projective import Elements, points
from dpress.inference import frequencies
from dpress.inference.incidence import hyperplane_sums
from dpress.noise.response import LEFT_OUT, resolve_probability, truth_probability, truthful
from dpress.noise.uniform import small

BLOCK = 1 << 14
LARGEST_SIZE = 2**26 - 1
MOST_STEPS = 2**27  # points times q: a collector's steps for every coordinate


@functools.lru_cache(maxsize=1024)
def best_order(size: int, epsilon: Fraction) -> int:
    """Return the q of the smallest total variance over all values, compared exactly; the smaller of two equal ones.

    Where k is large that is about e^epsilon + 1; where it is small, the smallest q >= k - 1: randomised response.

    >>> [best_order(1000, Fraction(epsilon)) for epsilon in (1, 2, 4)]
    [4, 8, 53]
    """
    orders = [q for q in projective.orders() if _points(q, size) * q <= MOST_STEPS]
    return min(orders, key=lambda q: _total(size, q, epsilon))


def _points(order: int, size: int) -> int:
    return points(order, projective.dimension(order, size))


def _odds(order: int, size: int) -> Fraction:
    """Return how many points lie off a hyperplane for each that lies on it; 0 where there is one point only."""
    dimension = projective.dimension(order, size)
    on = points(order, dimension - 1)
    return Fraction(order ** (dimension - 1), on) if on else Fraction(0)


def _total(size: int, order: int, epsilon: Fraction) -> Fraction:
    """Return the total variance of all k counts, for one user."""
    if size == 1:
        return Fraction(0)
    p = truth_probability(epsilon, _odds(order, size))
    q = _other(order, projective.dimension(order, size), p)
    return (p * (1 - p) + (size - 1) * q * (1 - q)) / (p - q) ** 2


def _other(order: int, dimension: int, p: Fraction) -> Fraction:
    """Return P(the point lies on another value's hyperplane)."""
    on, both = points(order, dimension - 1), points(order, dimension - 2)
    return p * both / on + (1 - p) * Fraction(on - both, order ** (dimension - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pgr(frequencies.PureOracle):
    """A point of the projective space with t coordinates over the field of q elements, q about e^epsilon + 1.

    Value v is point v of the space, with the hyperplane of the points x with <x, v> = 0. Of the K = (q^t - 1) / (q - 1)
    >= k points c = (q^(t-1) - 1) / (q - 1) lie on each, and i = (q^(t-2) - 1) / (q - 1) on any two.

    Promise: pure epsilon between any two values of one report, local model, ln(p / (1 - p) (K - c) / c) <= epsilon: the
        odds of a point on v's hyperplane, being one of c, against one of the K - c others. Proven.
    Error: a report supports the values on whose hyperplane its point lies; variance of a count
        (n_v p (1 - p) + (N - n_v) q' (1 - q')) / (p - q')^2 with q' = p i / c + (1 - p) (c - i) / (K - c). For many
        rare values about N (e^epsilon + q - 1)^2 / ((q - 1) (e^epsilon - 1)^2), the optimum where q = e^epsilon + 1.
    Paper: Feldman, Nelson, Nguyen, Talwar 2022, Section 4.

    Args:
        size: k, up to 2^26 - 1; with one value the report carries nothing.
        loss: epsilon.
        order: q, a prime up to 1021, or 4 or 8; 0, left out, stands for the one of the smallest variance.
        p: P(the point lies on the value's hyperplane); left out, the largest that epsilon allows.

    >>> from dpress.core.basics import rng
    >>> oracle = Pgr(size=1000, loss=PureDP(epsilon=1))
    >>> oracle.points, oracle.perturb(np.array([0, 999]), rng=rng.seeded(1)).tolist()
    (1365, [[85, 4], [15, 5]])
    """

    size: int
    loss: PureDP
    order: int = 0
    p: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss, largest=LARGEST_SIZE)
        order = check.count("order", self.order, least=0) or best_order(self.size, self.loss.epsilon)
        if order not in projective.orders():
            raise ValueError(f"order must be a prime up to {projective.MOST_ORDER}, 4 or 8, got order={order}")
        if _points(order, self.size) * order > MOST_STEPS:
            raise NotSupported(f"order = {order} makes too many points of {self.size} values; leave out order")
        object.__setattr__(self, "order", order)
        p = resolve_probability(self.p, self.loss.epsilon, _odds(order, self.size))
        object.__setattr__(self, "p", p)

    @property
    def dimension(self) -> int:
        """The number of coordinates, t."""
        return projective.dimension(self.order, self.size)

    @property
    def points(self) -> int:
        """The number of points, K."""
        return points(self.order, self.dimension)

    @property
    def q(self) -> Fraction:
        """P(the point lies on the hyperplane of another value), exact."""
        return _other(self.order, self.dimension, self.p) if self.size > 1 else Fraction(0)

    @property
    def width(self) -> int:
        """The number of bytes that hold K - 1."""
        return payload.width(self.points)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        on = points(self.order, self.dimension - 1)
        basis = f"one of {self.points} points, with probability {self.p} one of the {on} on the value's hyperplane"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size).astype(np.int64)
        out, p = np.zeros((codes.size, self.width), dtype=np.uint8), self.p
        if self.size == 1:
            return out
        for start in range(0, codes.size, BLOCK):
            reports = self._report(codes[start : start + BLOCK], p, rng)
            out[start : start + BLOCK] = payload.pack(reports, self.width)
        return out

    def _report(self, codes: Elements, p: Fraction, rng: Generator) -> Number:
        """Return a point for every value: a vector x with <x, v> = 0, but not 0, or with <x, v> = 1, uniform.

        All coordinates are drawn but the one where v has its leading 1, which makes the product what it should be. A
        point on the hyperplane has q - 1 such vectors, one off it has one. Both are drawn for everybody.
        """
        order, size = self.order, self.dimension
        vectors = order ** (size - 1)
        on = truthful(p, codes.size, rng=rng)
        near, far = small(vectors - 1, codes.size, rng=rng) + np.uint32(1), small(vectors, codes.size, rng=rng)
        drawn = projective.digits(np.where(on, near, far).astype(np.int64), order, size - 1)
        value, lead = projective.coordinates(codes, order, size)
        x, total = np.zeros_like(value), (~on).astype(np.int64)
        for place in range(size):
            coordinate = np.where(place < lead, drawn[min(place, size - 2)], drawn[place - 1])
            x[place] = np.where(place == lead, 0, coordinate)
            product = projective.times(x[place], value[place], order)
            total = projective.plus(total, projective.minus(product, order), order)
        x[lead, np.arange(codes.size)] = total
        return projective.numbers(x, order).astype(np.uint32)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports name no point."""
        return {"out of range": payload.unpack(payloads) >= self.points}

    def clones(self, local: Fraction) -> Clones:
        """Return those of a report: uniform over K points, gamma = (1 - p) K / (K - c)."""
        every, on = self.points, points(self.order, self.dimension - 1)
        two = points(self.order, self.dimension - 2)
        gamma = (1 - self.p) * Fraction(every, every - on)
        return Clones(local=local, gamma=gamma, only=Fraction(on - two, every), both=Fraction(two, every))

    def tally(self, payloads: Payloads) -> Tally:
        """Return how often each point was reported, shape (K,)."""
        return payload.histogram(payloads, self.points)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,)."""
        return frequencies.counts(self.supports(tally), users, self.p, self.q)

    def covariances(self, held: Array, users: int) -> Callable[[Array], float]:
        """Return what gives the sum of w_i w_j Cov(count_i, count_j) over i != j, exact."""
        return functools.partial(self._covariances, held, users)

    def _covariances(self, held: Array, users: int, weights: Array) -> float:
        """Return that sum.

        A report x adds g(x) = the sum of w_v over the hyperplanes that it lies on to the weighted sum of supports, so
        that the variance for a user of value u follows from the sums of g^2 on and off the hyperplane of u. Where
        `held` does not add up to all users, their shares are as there.
        """
        if self.size == 1:
            return 0.0
        p, q, on = float(self.p), float(self.q), points(self.order, self.dimension - 1)
        padded = np.pad(weights.astype(np.float64), (0, self.points - self.size))
        squares = hyperplane_sums(padded, self.order) ** 2
        near = hyperplane_sums(squares, self.order)[: self.size]
        second = p * near / on + (1 - p) * (squares.sum() - near) / (self.points - on)
        mean = q * weights.sum() + (p - q) * weights
        single = weights**2 * (p * (1 - p)) + (float(weights @ weights) - weights**2) * (q * (1 - q))
        share = held / held.sum() if held.any() else np.full(self.size, 1 / self.size)
        return users * float(share @ (second - mean**2 - single)) / (p - q) ** 2

    def supports(self, tally: Tally) -> Tally:
        """Return how many reports support each value, shape (k,), from a tally of points."""
        counts: Tally = hyperplane_sums(tally, self.order)[: self.size] if self.size > 1 else tally
        return counts

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(self.points, self.size)
        reports = np.arange(self.points)
        x, _ = projective.coordinates(reports, self.order, self.dimension)
        on = points(self.order, self.dimension - 1)
        near, far = (self.p / on if on else Fraction(0)), (1 - self.p) / max(self.points - on, 1)
        rows = []
        for value in x.T[: self.size]:
            product = np.zeros_like(reports)
            for coordinate, other in zip(x, value, strict=True):
                term = projective.times(coordinate, np.full_like(coordinate, other), self.order)
                product = projective.plus(product, term, self.order)
            rows.append(tuple(far if entry else near for entry in product) if self.size > 1 else (Fraction(1),))
        return Channel(payloads=payload.pack(reports.astype(np.uint32), self.width), probabilities=tuple(rows))


CARD = Card(
    name="pgr",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Feldman, Nelson, Nguyen, Talwar 2022)",
    summary="Reports a point of a projective space; short reports, a fast collector, nearly the least error.",
    method=Pgr,
    example=lambda loss, unit: Pgr(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Pgr, LARGEST_SIZE),
)
