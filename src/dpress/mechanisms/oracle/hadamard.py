"""`hadamard`: the device reports one random row of a Hadamard matrix and, flipped at times, its value's sign there.

Flow: value v -> row j, sign H[j, v] = (-1)^popcount(j & v) kept with probability p -> sums by row -> fast transform.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.noise.response import LEFT_OUT, resolve_probability, truthful

BLOCK = 1 << 14
LARGEST_SIZE = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Hadamard(Oracle):
    """One sign of a Hadamard matrix with K = 2^ceil(log2 k) rows, kept with probability p.

    Promise: pure epsilon between any two values of one report, local model: the row is uniform whatever the value,
        and the sign's odds are p / (1 - p) <= e^epsilon. Proven.
    Error: a user of value v adds sign H[j, w] / (2p - 1) to the count of w. Distinct columns of H are orthogonal, so
        its mean is 1 for w = v and 0 else; its square is always 1 / (2p - 1)^2. For fixed data the variance is
        N / (2p - 1)^2 - n_w, where 1 / (2p - 1)^2 is ((e^epsilon + 1) / (e^epsilon - 1))^2.
    Paper: Bassily, Nissim, Stemmer, Thakurta 2017; Acharya, Sun, Zhang 2019 (Hadamard response with one bit).

    Args:
        size: k, up to 2^30.
        loss: epsilon.
        rows: K, a power of two >= k; 0, left out, stands for the smallest.
        p: P(the sign is the value's); left out, the largest that epsilon allows.

    >>> from dpress.core.basics import rng
    >>> oracle = Hadamard(size=3, loss=PureDP(epsilon=2))
    >>> oracle.perturb(np.array([0, 1, 2, 2]), rng=rng.seeded(1)).tolist()
    [[0], [2], [0], [2]]
    """

    size: int
    loss: PureDP
    rows: int = 0
    p: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.size, self.loss, largest=LARGEST_SIZE)
        rows = check.count("rows", self.rows, least=0) or 1 << (self.size - 1).bit_length()
        if not self.size <= rows <= LARGEST_SIZE or rows & (rows - 1):
            raise ValueError(f"rows must be a power of two from {self.size} to {LARGEST_SIZE}, got rows={rows}")
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "p", resolve_probability(self.p, self.loss.epsilon))

    @property
    def width(self) -> int:
        """The number of bytes that hold 2 K - 1."""
        return payload.width(2 * self.rows)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        basis = f"a uniform one of {self.rows} Hadamard rows, the value's sign there kept with probability {self.p}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report, 2 j + (the sign is -1), for every value.

        Raises:
            ValueError: a value is not one of 0, ..., k - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size).view(np.uint32)
        out, p = np.empty((codes.size, self.width), dtype=np.uint8), self.p
        for start in range(0, codes.size, BLOCK):
            out[start : start + BLOCK] = payload.pack(self._report(codes[start : start + BLOCK], p, rng), self.width)
        return out

    def _report(self, codes: Number, p: Fraction, rng: Generator) -> Number:
        kept = truthful(p, codes.size, rng=rng)
        rows = rng.words((codes.size + 1) // 2).view(np.uint32)[: codes.size] & np.uint32(self.rows - 1)
        negative = np.bitwise_count(rows & codes) & 1
        negative ^= ~kept
        rows += rows
        rows |= negative
        return rows

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports name no row."""
        return {"out of range": payload.unpack(payloads) >= 2 * self.rows}

    def tally(self, payloads: Payloads) -> Tally:
        """Return the sum of the signs of every row, shape (K,)."""
        counts = payload.histogram(payloads, 2 * self.rows)
        return counts[::2] - counts[1::2]

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased count of every value with its variance, shape (k,).

        The estimate less two standard errors stands in for n_v: the variance falls with n_v, and where the estimate is
        high by chance it would be too small.
        """
        counts = transform(tally)[: self.size] / float(2 * self.p - 1)
        largest = users * self._square
        variance = largest - np.clip(counts - 2 * math.sqrt(largest), 0, users)
        return Measurement(map=Identity(self.size), answers=counts, variance=variance)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the exact variance of the count of a value that a share of the users holds, in counts squared."""
        return users * (self._square - frequency)

    @property
    def _square(self) -> float:
        return float(1 / (2 * self.p - 1) ** 2)

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        reports = 2 * self.rows
        payload.check_channel(reports, self.size)
        kept, flipped = self.p / self.rows, (1 - self.p) / self.rows
        rows = tuple(
            tuple(kept if (report >> 1 & v).bit_count() % 2 == report % 2 else flipped for report in range(reports))
            for v in range(self.size)
        )
        return Channel(payloads=payload.pack(np.arange(reports, dtype=np.uint32), self.width), probabilities=rows)


def transform(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return H x, the Walsh-Hadamard transform of a vector whose length is a power of two, exactly.

    >>> transform(np.array([1, 2, 3, 4])).tolist()
    [10, -2, -4, 0]
    """
    out, half = sums.copy(), 1
    while half < out.size:
        pairs = out.reshape(-1, 2, half)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        half *= 2
    return out


CARD = Card(
    name="hadamard",
    family="oracle",
    model="local",
    paper="local: frequency oracles (Acharya, Sun, Zhang 2019)",
    summary="Reports one sign of a Hadamard matrix; smallest reports and fastest collector for many values.",
    method=Hadamard,
    example=lambda loss, unit: Hadamard(size=5, loss=loss),  # noqa: ARG005  # a local claim has its own unit
    oracle=payload.serving(Hadamard, LARGEST_SIZE),
)
