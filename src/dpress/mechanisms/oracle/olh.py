"""`olh`: the device draws a hash function and reports its value's bucket by randomised response over the buckets.

Flow: value -> seed (a, b, c), bucket of (c v^2 + a v + b) mod P -> `krr` over g buckets -> seed and bucket; the
collector counts for every value the reports whose bucket is that value's under their seed.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.compiled import compiled
from dpress.core.basics.errors import NotSupported, ReportRejected
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.inference import frequencies
from dpress.mechanisms.oracle.krr import Krr, respond
from dpress.noise.expansion import exponential_floor
from dpress.noise.response import LEFT_OUT, resolve_probability
from dpress.noise.uniform import small

SEED = ("a", "b", "c")  # as they follow in the payload
BITS = 31
PRIME = 2**BITS - 1
MOST_BUCKETS = 2**16
BLOCK = 1 << 14
LANES = 1 << 10  # reports whose hashes, steps and intervals stay in the first-level cache
_PRECISION = 192


@dataclass(frozen=True, slots=True, kw_only=True)
class Olh(frequencies.PureOracle):
    """Optimal local hashing: h(v) = (c v^2 + a v + b) mod P with P = 2^31 - 1, bucket floor(h g / 2^31).

    There are g = round(e^epsilon + 1) buckets. (a, b, c) is uniform in Z_P^3, so the hashes of any three values are
    independent and uniform in Z_P: every number below is exact. A report supports w where w falls into the reported
    bucket under the report's seed.

    Promise: pure epsilon between any two values of one report, local model: the seed does not depend on the value,
        and given the seed the report is `krr` over g buckets. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2; for rare values about
        4 N e^epsilon / (e^epsilon - 1)^2. Counts of different values do not correlate, so a query's variance is the
        sum of weight^2 times theirs: exactly, were the buckets of one size; as one may hold a hash more or two less
        than another, up to a share of (8 k g + 2 g (g + 3)) / P^2, which is below 2^-20 for k <= 2^20.
    Paper: Wang, Blocki, Li, Jha 2017, Section 4.4.

    Args:
        size: k, up to 2^31 - 1; the collector's work is k for every report.
        loss: epsilon.
        g: the number of buckets, from 2 to 2^16; 0, left out, stands for the integer nearest to e^epsilon + 1.
        p: P(the report supports the value of its user), the bucket being reported as it is; left out, the largest that
            epsilon allows.

    >>> from dpress.core.basics import rng
    >>> oracle = Olh(size=1000, loss=PureDP(epsilon=1))
    >>> oracle.perturb(np.array([999]), rng=rng.seeded(1)).tolist()
    [[101, 81, 27, 43, 217, 128, 3, 8, 69, 80, 14, 2, 0]]
    """

    size: int
    loss: PureDP
    g: int = 0
    p: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss)
        g = check.count("g", self.g, least=0) or buckets(self.loss.epsilon)
        if not 2 <= g <= MOST_BUCKETS:
            raise ValueError(f"g must lie between 2 and {MOST_BUCKETS}, got g={g}")
        object.__setattr__(self, "g", g)
        object.__setattr__(self, "p", resolve_probability(self.p, self.loss.epsilon, Fraction(g - 1)))

    @property
    def response(self) -> Krr:
        """Randomised response over the buckets: all of a report that depends on the value."""
        return Krr(size=self.g, loss=self.loss, p=self.p)

    @property
    def q(self) -> Fraction:
        """P(the report supports another value), exact.

        The other value's bucket Y is independent of the user's X, so it is sum over y of P(report = y) P(Y = y) =
        q' + (p - q') c, where q' is the probability of one wrong bucket and c = P(X = Y).
        """
        response = self.response
        return response.q + (response.p - response.q) * collision(self.g)

    @property
    def width(self) -> int:
        """Four bytes each for a, b and c, and those of the bucket."""
        return 12 + payload.width(self.g)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        basis = f"a uniform hash, then randomised response among {self.g} buckets, P(true) = {self.p}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size)
        out, g, p = np.empty((codes.size, self.width), dtype=np.uint8), self.g, self.p
        fields = out.view(self._layout).reshape(-1)
        for start in range(0, codes.size, BLOCK):
            block = codes[start : start + BLOCK]
            seed = small(PRIME, 3 * block.size, rng=rng).reshape(3, -1)
            part = fields[start : start + BLOCK]
            part["a"], part["b"], part["c"] = seed
            part["bucket"] = respond(bucket(hashes(block, *seed), g), g, p, rng=rng)
        return out

    @property
    def _layout(self) -> np.dtype[np.void]:
        return np.dtype([*((name, "<u4") for name in SEED), ("bucket", "u1" if self.g <= 256 else "<u2")])

    def _fields(self, payloads: Payloads) -> npt.NDArray[np.void]:
        return np.ascontiguousarray(payloads).view(self._layout).reshape(-1)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a seed or a bucket that there is not."""
        fields = self._fields(payloads)
        wrong = fields["bucket"] >= self.g
        for name in SEED:
            wrong |= fields[name] >= PRIME
        return {"out of range": wrong}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports support each value, shape (k,).

        Raises:
            ReportRejected: a report is out of range; `faults` tells which.
        """
        fields, counts = self._fields(payloads), np.zeros(self.size, dtype=np.int64)
        if self.faults(payloads)["out of range"].any():
            raise ReportRejected("a report is out of range")
        count = compiled(supports)
        for start in range(0, len(fields), BLOCK):
            block = fields[start : start + BLOCK]
            count(counts, differences(*(block[name] for name in SEED)), *intervals(block["bucket"], self.g))
        return counts

    def supporting(self, payloads: Payloads, value: int) -> Mask:
        """Return which reports support one value: what the audit counts, as the seeds are too many to list."""
        fields = self._fields(payloads)
        held = hashes(np.full(len(fields), value, dtype=np.int32), *(fields[name] for name in SEED))
        return np.asarray(bucket(held, self.g) == fields["bucket"])

    def channel(self) -> Channel:
        """Refuse: there are P^3 g reports; `given_seed` gives the channel in parts.

        Raises:
            NotSupported: always.
        """
        raise NotSupported("a channel of 2^93 seeds is too large to write down; given_seed gives it for one seed")

    def given_seed(self, *, rng: Generator) -> Channel:
        """Return the exact channel given one seed, which `rng` draws as a device does, whatever its value."""
        payload.check_channel(self.g, self.size)
        seed = small(PRIME, 3, rng=rng)
        held = bucket(hashes(np.arange(self.size, dtype=np.int32), *seed), self.g)
        rows, reports = self.response.channel().probabilities, np.empty(self.g, dtype=self._layout)
        reports["a"], reports["b"], reports["c"] = seed
        reports["bucket"] = np.arange(self.g)
        payloads = reports.view(np.uint8).reshape(self.g, self.width)
        return Channel(payloads=payloads, probabilities=tuple(rows[cell] for cell in held))


@functools.lru_cache(maxsize=1024)
def buckets(epsilon: Fraction) -> int:
    """Return the integer nearest to e^epsilon + 1, between 2 and 2^16; the same on every machine.

    >>> [buckets(Fraction(epsilon)) for epsilon in (1, 3, 900)]
    [4, 21, 65536]
    """
    if epsilon > 12:
        return MOST_BUCKETS
    return min(round(Fraction(1 << _PRECISION, exponential_floor(epsilon, _PRECISION))) + 1, MOST_BUCKETS)


@functools.lru_cache(maxsize=1024)
def collision(g: int, bits: int = BITS) -> Fraction:
    """Return P(X = Y) for the buckets of independent uniform hashes in Z_P, P = 2^bits - 1: sum of (s_y / P)^2.

    With 2^bits = m g + r, r buckets hold m + 1 hashes and the others m, but the last one (of the latter) lacks the
    hash P, which does not occur.

    >>> collision(2, bits=3)  # buckets of 4 and 3 out of 7
    Fraction(25, 49)
    """
    m, r = divmod(1 << bits, g)
    return Fraction(r * (m + 1) ** 2 + (g - r - 1) * m**2 + (m - 1) ** 2, ((1 << bits) - 1) ** 2)


def hashes(codes: Values, a: Number, b: Number, c: Number) -> Number:
    """Return (c v^2 + a v + b) mod P, as (c v + a) v + b."""
    return affine(affine(c, a, codes), b, codes)


def affine(slope: Number, first: Number, codes: Values) -> Number:
    """Return x = slope v + first modulo P.

    x is at most P^2 - P, so x mod 2^31 + floor(x / 2^31), which is x modulo P, is at most 2 P - 2.
    """
    x = slope * codes + first  # int64: unsigned and signed 32-bit numbers meet there
    return _reduced(((x & PRIME) + (x >> BITS)).astype(np.uint32))


def added(first: Number, second: Number) -> Number:
    """Return the sum modulo P of numbers below P."""
    return _reduced(first + second)


def _reduced(number: Number) -> Number:
    """Return a number below 2 P modulo P: where it is below P, subtracting P wraps around to a larger one."""
    reduced: Number = np.minimum(number, number - np.uint32(PRIME))
    return reduced


def bucket(hashed: Number, g: int) -> Number:
    """Return floor(h g / 2^31)."""
    cell = hashed.astype(np.int64) * g >> BITS
    return cell.astype(np.uint32)


def intervals(reported: npt.NDArray[np.unsignedinteger[Any]], g: int) -> tuple[Number, Number]:
    """Return the smallest hash of each reported bucket y, ceil(y 2^31 / g), and how many hashes it has (or one more).

    The last bucket ends at 2^31, one beyond the largest hash.
    """
    edges = (np.arange(g + 1, dtype=np.uint64) * np.uint64(1 << BITS) + np.uint64(g - 1)) // np.uint64(g)
    low, width = edges[:-1].astype(np.uint32), np.diff(edges).astype(np.uint32)
    return low[reported], width[reported]


def differences(a: Number, b: Number, c: Number) -> Number:
    """Return h(0) = b, its step h(1) - h(0) = a + c and the step's own step 2 c, modulo P, shape (3, reports)."""
    return np.stack((b, added(a, c), added(c, c)))


def supports(counts: Tally, steps: Number, low: Number, width: Number) -> None:
    """Add to counts[v] how many reports have h(v) in their interval; overwrites `steps`, the `differences` of h(0).

    Modulo P, h(v + 1) = h(v) + step(v) and step(v + 1) = step(v) + 2 c. Plain Python that numba compiles: values
    outside, reports inside, 32-bit lanes all the way, so that it vectorises.
    """
    prime = np.uint32(2147483647)
    hashed, moves, turns = steps[0], steps[1], steps[2]
    for start in range(0, low.size, LANES):
        stop = min(start + LANES, low.size)
        h, step, bend = hashed[start:stop], moves[start:stop], turns[start:stop]
        lo, w = low[start:stop], width[start:stop]
        for v in range(counts.size):
            supporting = np.uint32(0)
            for i in range(h.size):
                supporting = np.uint32(supporting + np.uint32(np.uint32(h[i] - lo[i]) < w[i]))
                moved, turned = np.uint32(h[i] + step[i]), np.uint32(step[i] + bend[i])
                h[i] = min(moved, np.uint32(moved - prime))
                step[i] = min(turned, np.uint32(turned - prime))
            counts[v] += supporting


CARD = Card(
    name="olh",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Wang, Blocki, Li, Jha 2017)",
    summary="Reports a bucket of a random hash; short reports with the error of oue, but a slow collector.",
    method=Olh,
    example=lambda loss, unit: Olh(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Olh),
    work="per report",
)
