"""`subset_selection`: the device reports w of the k values, its own among them more often than chance; the default.

Flow: value -> included with probability p -> the rest of the w values at random -> packed bits -> column counts.
"""

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Clones, Mask, Payloads, Tally, Values
from dpress.inference import frequencies
from dpress.noise.bit_coins import coins
from dpress.noise.response import LEFT_OUT, resolve_probability, truth_probability
from dpress.noise.subset import subsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The numbers of the mechanism: w values a report, P(v in report | v) = p, P(v in report | another value) = q."""

    weight: int
    p: Fraction
    q: Fraction


@functools.lru_cache(maxsize=1024)
def design(size: int, epsilon: Fraction) -> Design:
    """Return the design with the smallest total variance over all values; the smaller weight where two are equal.

    The variances are compared exactly, so that a device and a collector on different machines choose the same weight.

    >>> design(1024, Fraction(1)).weight
    275
    """
    if size == 1:
        return Design(weight=1, p=Fraction(1), q=Fraction(0))
    near = math.floor(size / (1 + math.exp(-float(epsilon))) * math.exp(-float(epsilon)))
    weights = sorted({min(max(1, near + offset), size - 1) for offset in (-1, 0, 1, 2)})
    return min((_design(size, weight, epsilon) for weight in weights), key=lambda tried: _total(size, tried))


def _design(size: int, weight: int, epsilon: Fraction) -> Design:
    p = truth_probability(epsilon, Fraction(size - weight, weight))
    return Design(weight=weight, p=p, q=(weight - p) / (size - 1))  # a report has w values, p of them one's own


def _total(size: int, tried: Design) -> Fraction:
    """Return the total variance of all k counts, for one user."""
    return (tried.p * (1 - tried.p) + (size - 1) * tried.q * (1 - tried.q)) / (tried.p - tried.q) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSelection(frequencies.PureOracle):
    """w of k values: with p = w e^eps / (w e^eps + k - w) one's own and w - 1 others, else w others, all sets alike.

    Promise: pure epsilon between any two values of one report, local model, ln(p / (1 - p) (k - w) / w) <= epsilon:
        the odds of a set that holds v, being one of C(k-1, w-1), against one of the C(k-1, w) that do not. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2 with q = (w - p) / (k - 1); the total
        over all values is the smallest that any epsilon-private report allows, up to rounding w to an integer.
    Paper: Ye, Barg 2018 (the scheme and its risk); optimal for every k and epsilon: Pan 2026. w = 1 is `krr`.

    Args:
        size: k, up to 2^19; a report has k bits, w of them set. With one value it carries nothing.
        loss: epsilon.
        weight: w, the number of values in a report; 0, left out, stands for the one of the smallest variance.
        p: P(report holds v) for a user who holds v; left out, the largest that epsilon allows.
        q: P(report holds v) for a user who holds another value: (w - p) / (k - 1), also where it is left out.

    >>> from dpress.core.basics import rng
    >>> oracle = SubsetSelection(size=9, loss=PureDP(epsilon=1))
    >>> oracle.weight, oracle.perturb(np.array([0, 8]), rng=rng.seeded(1)).tolist()
    (2, [[129, 0], [129, 0]])
    """

    size: int
    loss: PureDP
    weight: int = 0
    p: Fraction = LEFT_OUT
    q: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss, largest=bits.LARGEST_SIZE)
        w = check.count("weight", self.weight, least=0) or design(self.size, self.loss.epsilon).weight
        if w > (most := max(self.size - 1, 1)):
            raise ValueError(f"weight must be at most {most}, got weight={w}")
        p = resolve_probability(self.p, self.loss.epsilon, Fraction(self.size - w, w))
        q = (w - p) / (self.size - 1) if self.size > 1 else Fraction(0)  # a report has w values, p of them one's own
        if check.exact("q", self.q) not in (LEFT_OUT, q):
            raise ValueError(f"q must be (weight - p) / (size - 1), got q={float(self.q)}")
        for name, number in (("weight", w), ("p", p), ("q", q)):
            object.__setattr__(self, name, number)

    @property
    def width(self) -> int:
        """The number of bytes of k bits."""
        return bits.width(self.size)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        basis = f"random {self.weight} of {self.size} values, the true one among them with probability {self.p}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size).astype(np.int64)
        included = coins(self.p, codes.size, rng=rng)
        return subsets(codes, included, self.weight, self.size, rng=rng)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a bit beyond the last value, or not w bits."""
        return {"padding": bits.padded(payloads, self.size), "weight": bits.weights(payloads) != self.weight}

    def clones(self, local: Fraction) -> Clones:
        """Return those of a report: uniform over the sets of w values, gamma = (1 - p) k / (k - w)."""
        k, w = self.size, self.weight
        only, both = Fraction(w * (k - w), k * (k - 1)), Fraction(w * (w - 1), k * (k - 1))
        return Clones(local=local, gamma=(1 - self.p) * Fraction(k, k - w), only=only, both=both)

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports hold each value, shape (k,)."""
        return bits.column_counts(payloads, self.size)

    def pair_form(self, held: Array, users: int) -> tuple[Array, Array, Array]:
        """Return what gives the covariances of pairs of counts; see `frequencies.pair_form`."""
        return frequencies.pair_form(held, users, (self.p, self.q), self.weight)

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        k, w = self.size, self.weight
        payload.check_channel(math.comb(k, w), k)
        rows = np.zeros((math.comb(k, w), k), dtype=np.uint8)
        for row, members in zip(rows, itertools.combinations(range(k), w), strict=True):
            row[list(members)] = 1
        held = self.p / math.comb(k - 1, w - 1)
        missing = (1 - self.p) / max(1, math.comb(k - 1, w))
        probabilities = tuple(tuple(held if row[v] else missing for row in rows) for v in range(k))
        return Channel(payloads=np.packbits(rows, axis=1, bitorder="little"), probabilities=probabilities)


CARD = Card(
    name="subset_selection",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Ye, Barg 2018)",
    summary="Reports a random set of values that holds the true one more often; least error for every k and epsilon.",
    method=SubsetSelection,
    example=lambda loss, unit: SubsetSelection(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(SubsetSelection, bits.LARGEST_SIZE),
)
