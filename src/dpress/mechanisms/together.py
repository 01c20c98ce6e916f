"""Oracles over several attributes at once: one value for every combination, or bits that are counted in pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim, PureDP
from dpress.core.measurement import Measurement
from dpress.core.oracle import Channel, Mask, Oracle, Payloads, Tally
from dpress.core.rng import Generator
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.noise.permanent import Secrets

Codes = npt.NDArray[np.int32]  # shape (attributes, users)
BLOCK = 1 << 14  # reports whose bits are multiplied at a time: sums stay exact in single precision


@dataclass(frozen=True, slots=True, kw_only=True)
class OverProduct:
    """An oracle whose values are the combinations of several attributes, row-major.

    Args:
        sizes: the number of values of every attribute.
        oracle: over the product of the sizes.
    """

    sizes: tuple[int, ...]
    oracle: Oracle

    @property
    def size(self) -> int:
        """The number of combinations."""
        return self.oracle.size

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return self.oracle.width

    @property
    def claim(self) -> Claim:
        """The oracle's promise: any two combinations."""
        return self.oracle.claim

    def perturb(self, values: Codes, *, rng: Generator) -> Payloads:
        """Return one report for every user; values has shape (attributes, users)."""
        return self.oracle.perturb(np.ravel_multi_index(list(values), self.sizes).astype(np.int32), rng=rng)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return by reason which reports the oracle cannot have sent."""
        return self.oracle.faults(payloads)

    def tally(self, payloads: Payloads) -> Tally:
        """Return what the reports add up to."""
        return self.oracle.tally(payloads)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the counts of all combinations."""
        return self.oracle.estimate(tally, users)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the count of a combination."""
        return self.oracle.variance(users, frequency)

    def channel(self) -> Channel:
        """Return the oracle's channel."""
        return self.oracle.channel()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoOccurrence:
    """`rr_ldp` over several attributes, tallied by how many reports have both of two bits set.

    Args:
        oracle: makes the reports.
    """

    oracle: RrLdp

    @property
    def bits(self) -> int:
        """The number of bits of a report."""
        return self.oracle.bits

    @property
    def lifetime(self) -> PureDP:
        """The loss of any number of reports of one record."""
        return self.oracle.lifetime

    @property
    def size(self) -> int:
        """The number of values of the oracle."""
        return self.oracle.size

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return self.oracle.width

    @property
    def claim(self) -> Claim:
        """The oracle's promise."""
        return self.oracle.claim

    def perturb(self, values: Codes, *, rng: Generator, secrets: Secrets | None = None) -> Payloads:
        """Return one report for every user; values has shape (attributes, users)."""
        return self.oracle.perturb(values, rng=rng, secrets=secrets)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return by reason which reports the oracle cannot have sent."""
        return self.oracle.faults(payloads)

    def tally(self, payloads: Payloads) -> Tally:
        """Return for every two bits how many reports have both, flat, shape (bits^2,); single bits on the diagonal."""
        total = np.zeros((self.bits, self.bits), dtype=np.int64)
        for start in range(0, len(payloads), BLOCK):
            block = self.strings(payloads[start : start + BLOCK]).astype(np.float32)
            total += np.rint(block.T @ block).astype(np.int64)
        return total.ravel()

    def strings(self, payloads: Payloads) -> npt.NDArray[np.uint8]:
        """Return the reports' bits, one an entry, shape (reports, bits)."""
        return np.unpackbits(payloads, axis=1, count=self.bits, bitorder="little")

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the oracle's own estimate, from the single bits."""
        return self.oracle.estimate(np.diagonal(tally.reshape(self.bits, self.bits)).copy(), users)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of a single value's count."""
        return self.oracle.variance(users, frequency)

    def channel(self) -> Channel:
        """Return the oracle's channel."""
        return self.oracle.channel()
