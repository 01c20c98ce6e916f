"""An oracle over the leaves of a quadtree of uneven depth: what a device is asked where a tree grows in rounds."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim
from dpress.core.grid import Grid
from dpress.core.leaves import named
from dpress.core.measurement import Measurement
from dpress.core.oracle import Channel, Mask, Oracle, Payloads, Tally
from dpress.core.rng import Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLeaves:
    """An oracle over leaves, which hold the cells of a grid.

    Args:
        grid: of side 2^h.
        names: the leaves' paths, in the order of their cells; value i of the oracle is leaf i.
        oracle: over them.
    """

    grid: Grid
    names: tuple[str, ...]
    oracle: Oracle

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.oracle.size

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return self.oracle.width

    @property
    def claim(self) -> Claim:
        """The oracle's promise: any two leaves, so any two cells."""
        return self.oracle.claim

    def perturb(self, values: npt.NDArray[np.int32], *, rng: Generator) -> Payloads:
        """Return one report for every position; values has shape (2, users): its places across and up."""
        if values.size and (values.min() < 0 or values.max() >= self.grid.side):
            raise ValueError(f"places must lie between 0 and {self.grid.side - 1}")
        height = self.grid.side.bit_length() - 1
        leaves = named(self.names, height).values(height)
        return self.oracle.perturb(leaves[self.grid.code(*values)], rng=rng)

    def faults(self, payloads: Payloads) -> dict[str, Mask]:
        """Return by reason which reports the oracle cannot have sent."""
        return dict(self.oracle.faults(payloads))

    def tally(self, payloads: Payloads) -> Tally:
        """Return what the reports add up to."""
        return self.oracle.tally(payloads)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the counts of all leaves."""
        return self.oracle.estimate(tally, users)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the count of a leaf."""
        return self.oracle.variance(users, frequency)

    def channel(self) -> Channel:
        """Return the oracle's channel."""
        return self.oracle.channel()
