"""`olh`: the device draws a hash function and reports its value's bucket by randomised response over the buckets.

Flow: value -> seed (a, b), bucket of (a v + b) mod P -> `krr` over g buckets -> seed and bucket; the collector counts
for every value the reports whose bucket is that value's under their seed.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpress.core import payload
from dpress.core.claim import Claim, PureDP
from dpress.core.errors import NotSupported, ReportRejected
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.payload import Number
from dpress.core.rng import Generator
from dpress.estimate import frequencies
from dpress.mechanisms.oracle.krr import Krr, respond
from dpress.noise.expansion import exponential_floor
from dpress.noise.uniform import small

BITS = 31
PRIME = 2**BITS - 1
MOST_BUCKETS = 2**16
BLOCK = 1 << 14
LANES = 1 << 10  # reports whose hashes, steps and intervals stay in the first-level cache
_PRECISION = 192


@dataclass(frozen=True, slots=True, kw_only=True)
class Olh:
    """Optimal local hashing: h(v) = (a v + b) mod P with P = 2^31 - 1, bucket floor(h g / 2^31), g = round(e^eps + 1).

    (a, b) is uniform in Z_P^2, so the hashes of two values are independent and uniform in Z_P: every number below is
    exact. A report supports w where w falls into the reported bucket under the report's seed.

    Promise: pure epsilon between any two values of one report, local model: the seed does not depend on the value,
        and given the seed the report is `krr` over g buckets. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2; for rare values about
        4 N e^epsilon / (e^epsilon - 1)^2.
    Paper: Wang, Blocki, Li, Jha 2017, Section 4.4.

    Args:
        size: k, up to 2^31 - 1; the collector's work is k for every report.
        loss: epsilon.

    >>> from dpress.core import rng
    >>> oracle = Olh(size=1000, loss=PureDP(epsilon=1))
    >>> oracle.perturb(np.array([999]), rng=rng.seeded(1)).tolist()
    [[101, 81, 27, 43, 217, 128, 3, 8, 2]]
    """

    size: int
    loss: PureDP

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss)

    @property
    def g(self) -> int:
        """The number of buckets: the integer nearest to e^epsilon + 1, at most 2^16."""
        return buckets(self.loss.epsilon)

    @property
    def response(self) -> Krr:
        """Randomised response over the buckets: all of a report that depends on the value."""
        return Krr(size=self.g, loss=self.loss)

    @property
    def p(self) -> Fraction:
        """P(the report supports the value of its user): the bucket is reported as it is."""
        return self.response.p

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
        """Four bytes each for a and b, and those of the bucket."""
        return 8 + payload.width(self.g)

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
            a, b = small(PRIME, 2 * block.size, rng=rng).reshape(2, -1)
            part = fields[start : start + BLOCK]
            part["a"], part["b"] = a, b
            part["bucket"] = respond(bucket(hashes(a, b, block), g), g, p, rng=rng)
        return out

    @property
    def _layout(self) -> np.dtype[np.void]:
        return np.dtype([("a", "<u4"), ("b", "<u4"), ("bucket", "u1" if self.g <= 256 else "<u2")])

    def _fields(self, payloads: Payloads) -> npt.NDArray[np.void]:
        return np.ascontiguousarray(payloads).view(self._layout).reshape(-1)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a seed or a bucket that there is not."""
        fields = self._fields(payloads)
        return {"out of range": (fields["a"] >= PRIME) | (fields["b"] >= PRIME) | (fields["bucket"] >= self.g)}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports support each value, shape (k,).

        Raises:
            ReportRejected: a report is out of range; `faults` tells which.
        """
        fields, counts = self._fields(payloads), np.zeros(self.size, dtype=np.int64)
        if self.faults(payloads)["out of range"].any():
            raise ReportRejected("a report is out of range")
        count = _compiled()
        for start in range(0, len(fields), BLOCK):
            block = fields[start : start + BLOCK]
            steps, first = block["a"].copy(), block["b"].copy()  # the kernel overwrites `first`
            low, width = intervals(block["bucket"], self.g)
            count(counts, first, steps, low, width)
        return counts

    def supporting(self, payloads: Payloads, value: int) -> Mask:
        """Return which reports support one value: what the audit counts, as the seeds are too many to list."""
        fields = self._fields(payloads)
        held = hashes(fields["a"], fields["b"], np.full(len(fields), value, dtype=np.int32))
        return np.asarray(bucket(held, self.g) == fields["bucket"])

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,)."""
        return frequencies.counts(tally, users, self.p, self.q)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        return float(frequencies.variances(users, np.asarray(users * frequency), self.p, self.q))

    def channel(self) -> Channel:
        """Refuse: there are P^2 g reports; `given_seed` gives the channel in parts.

        Raises:
            NotSupported: always.
        """
        raise NotSupported("a channel of 2^62 seeds is too large to write down; given_seed gives it for one seed")

    def given_seed(self, *, rng: Generator) -> Channel:
        """Return the exact channel given one seed, which `rng` draws as a device does, whatever its value."""
        payload.check_channel(self.g, self.size)
        a, b = (np.repeat(small(PRIME, 1, rng=rng), self.g) for _ in range(2))
        held = bucket(hashes(a[:1], b[:1], np.arange(self.size, dtype=np.int32)), self.g)
        rows, reports = self.response.channel().probabilities, np.empty(self.g, dtype=self._layout)
        reports["a"], reports["b"], reports["bucket"] = a, b, np.arange(self.g)
        payloads = reports.view(np.uint8).reshape(self.g, self.width)
        return Channel(payloads=payloads, probabilities=tuple(rows[one] for one in held))


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


def hashes(a: Number, b: Number, codes: Values) -> Number:
    """Return (a v + b) mod P.

    x = a v + b is at most P^2 - P, so x mod 2^31 + floor(x / 2^31), which is x modulo P, is at most 2 P - 2; where
    it is below P, subtracting P wraps around to a larger number.
    """
    x = a * codes + b  # int64: unsigned and signed 32-bit numbers meet there
    folded = ((x & PRIME) + (x >> BITS)).astype(np.uint32)
    reduced: Number = np.minimum(folded, folded - np.uint32(PRIME))
    return reduced


def bucket(hashed: Number, g: int) -> Number:
    """Return floor(h g / 2^31)."""
    found = hashed.astype(np.int64) * g >> BITS
    return found.astype(np.uint32)


def intervals(reported: npt.NDArray[np.unsignedinteger[Any]], g: int) -> tuple[Number, Number]:
    """Return the smallest hash of each reported bucket y, ceil(y 2^31 / g), and how many hashes it has (or one more).

    The last bucket ends at 2^31, one beyond the largest hash.
    """
    edges = (np.arange(g + 1, dtype=np.uint64) * np.uint64(1 << BITS) + np.uint64(g - 1)) // np.uint64(g)
    low, width = edges[:-1].astype(np.uint32), np.diff(edges).astype(np.uint32)
    return low[reported], width[reported]


def supports(counts: Tally, hashed: Number, steps: Number, low: Number, width: Number) -> None:
    """Add to counts[v] how many reports have (b + v a) mod P in their interval; overwrites `hashed`, first b.

    Plain Python that numba compiles: values outside, reports inside, 32-bit lanes all the way, so that it vectorises.
    """
    prime = np.uint32(2147483647)
    for start in range(0, hashed.size, LANES):
        stop = min(start + LANES, hashed.size)
        h, a, lo, w = hashed[start:stop], steps[start:stop], low[start:stop], width[start:stop]
        for v in range(counts.size):
            found = np.uint32(0)
            for i in range(h.size):
                found = np.uint32(found + np.uint32(np.uint32(h[i] - lo[i]) < w[i]))
                moved = np.uint32(h[i] + a[i])
                wrapped = np.uint32(moved - prime)
                h[i] = min(moved, wrapped)
            counts[v] += found


@functools.cache
def _compiled() -> Callable[[Tally, Number, Number, Number, Number], None]:
    from numba import njit  # noqa: PLC0415  # a device never needs it, and it takes a second to import

    compiled: Callable[[Tally, Number, Number, Number, Number], None] = njit(cache=True, nogil=True)(supports)
    return compiled


def _serve(size: int, loss: Any) -> Olh | None:
    served = isinstance(loss, PureDP) and size <= payload.LARGEST_SIZE
    return Olh(size=size, loss=loss) if served else None


CARD = Card(
    name="olh",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Wang, Blocki, Li, Jha 2017)",
    summary="Reports a bucket of a random hash; short reports with the error of oue, but a slow collector.",
    method=Olh,
    example=lambda loss, unit: Olh(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=_serve,
)
