"""Oracles asked about what several codes make together: a combination of attributes, a node or a leaf of a quadtree.

codes of several attributes, a row each -> one value -> oracle.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.claim import Claim
from dpress.core.grid import Grid
from dpress.core.leaves import named
from dpress.core.measurement import Measurement
from dpress.core.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.core.rng import Generator

Codes = npt.NDArray[np.int32]  # shape (attributes, users)


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """An oracle whose value is made of several codes; everything but `perturb` is the oracle's own.

    Args:
        oracle: over the values.
    """

    oracle: Oracle

    def values(self, codes: Codes) -> Values:
        """Return the oracle's value of every user."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of values."""
        return self.oracle.size

    @property
    def width(self) -> int:
        """The number of bytes of a payload."""
        return self.oracle.width

    @property
    def claim(self) -> Claim:
        """The oracle's promise: any two values."""
        return self.oracle.claim

    def perturb(self, values: Codes, *, rng: Generator) -> Payloads:
        """Return one report for every user; values has shape (attributes, users)."""
        return self.oracle.perturb(self.values(values), rng=rng)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return by reason which reports the oracle cannot have sent."""
        return self.oracle.faults(payloads)

    def tally(self, payloads: Payloads) -> Tally:
        """Return what the reports add up to."""
        return self.oracle.tally(payloads)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the counts of all values."""
        return self.oracle.estimate(tally, users)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the count of a value."""
        return self.oracle.variance(users, frequency)

    def channel(self) -> Channel:
        """Return the oracle's channel."""
        return self.oracle.channel()


@dataclass(frozen=True, slots=True, kw_only=True)
class OverProduct(Over):
    """An oracle over the combinations of several attributes, row-major.

    Args:
        sizes: the number of values of every attribute.
    """

    sizes: tuple[int, ...]

    def values(self, codes: Codes) -> Values:
        """Return the combinations."""
        return np.asarray(np.ravel_multi_index(list(codes), self.sizes), dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverNodes(Over):
    """An oracle over the nodes of one level: the cells of a grid in Morton order, without their last 2 (h - l) bits.

    Args:
        grid: of the cells; the two codes are the places across and up.
        shift: 2 (h - l); 0 for the cells themselves.
    """

    grid: Grid
    shift: int

    def values(self, codes: Codes) -> Values:
        """Return the nodes."""
        return _cells(self.grid, codes) >> self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLeaves(Over):
    """An oracle over the leaves of a quadtree of uneven depth: what a device is asked where a tree grows in rounds.

    Args:
        grid: of side 2^h; the two codes are the places across and up.
        names: the leaves' paths, in the order of their cells; value i of the oracle is leaf i.
    """

    grid: Grid
    names: tuple[str, ...]

    def values(self, codes: Codes) -> Values:
        """Return the leaves."""
        height = self.grid.side.bit_length() - 1
        return np.asarray(named(self.names, height).values(height)[_cells(self.grid, codes)])


def _cells(grid: Grid, codes: Codes) -> Values:
    if codes.size and (codes.min() < 0 or codes.max() >= grid.side):
        raise ValueError(f"places must lie between 0 and {grid.side - 1}")
    return grid.code(*codes)
