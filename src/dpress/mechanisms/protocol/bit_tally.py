"""Several attributes in one report: one value for every combination, or bits that are counted together."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.reports.oracle import Payloads, Tally
from dpress.inference.joint.likelihood import Floats, Split, khatri_rao

BLOCK = 1 << 14  # reports whose bits are multiplied at a time: sums stay exact in single precision
LARGEST_BLOCK = 1 << 25  # numbers of both factors of a product
MOST_CROSSED, LARGEST_CROSSED = 5, 1 << 20  # attributes, and counts of all their bits together


@dataclass(frozen=True, slots=True, kw_only=True)
class BitTally:
    """Reports with a string of bits for every attribute, counted by the bits that they have set together.

    Up to five attributes: for every combination of one bit, or no condition, on each attribute how many reports have
    all these bits, where that is at most 2^20 numbers; shape (m_1 + 1, ..., m_d + 1). Else: the same for every two
    bits, shape (1 + sum m_j, 1 + sum m_j). No condition comes first, so that the first number is that of the reports.
    Counts are exact, and add up over reports.

    Args:
        starts: where every attribute's string begins in a payload, in bits.
        sizes: of the strings, m_j.
    """

    starts: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def crossed(self) -> bool:
        """Whether all attributes are counted together, and not pairs of bits."""
        return len(self.sizes) <= MOST_CROSSED and math.prod(self._sides) <= LARGEST_CROSSED

    @property
    def _sides(self) -> tuple[int, ...]:
        return tuple(size + 1 for size in self.sizes)

    def strings(self, payloads: Payloads) -> list[npt.NDArray[np.uint8]]:
        """Return every attribute's bits, one an entry, shape (reports, m_j)."""
        bits = np.unpackbits(payloads, axis=1, bitorder="little")
        return [bits[:, start : start + size] for start, size in zip(self.starts, self.sizes, strict=True)]

    def tally(self, payloads: Payloads) -> Tally:
        """Return the counts, flat."""
        split = Split(self._sides) if self.crossed else None
        width = sum(self.sizes) + 1
        total = np.zeros((width, width) if split is None else split.shape, dtype=np.int64)
        step = max(1, min(BLOCK, LARGEST_BLOCK // sum(total.shape)))
        for start in range(0, len(payloads), step):
            left, right = self._factors(payloads[start : start + step], split)
            total += np.rint(left.T @ right).astype(np.int64)
        return total.ravel() if split is None else split.table(total)

    def _factors(self, payloads: Payloads, split: Split | None) -> tuple[Floats, Floats]:
        strings, rows = self.strings(payloads), len(payloads)
        ones = np.ones((rows, 1), dtype=np.float32)
        if split is None:
            both = np.concatenate([ones, *strings], axis=1, dtype=np.float32)
            return both, both
        parts = [np.concatenate([ones, bits], axis=1, dtype=np.float32) for bits in strings]
        first, second = (khatri_rao([parts[axis] for axis in axes], rows) for axes in (split.left, split.right))
        return first, second

    def block(self, tally: Tally, axes: tuple[int, ...]) -> Tally:
        """Return how many reports have a bit of each of some attributes, no condition first.

        Args:
            tally: of `tally`, flat.
            axes: the attributes, rising; one or two unless all are counted together.
        """
        if self.crossed:
            chosen = tuple(slice(None) if axis in axes else 0 for axis in range(len(self.sizes)))
            return np.asarray(tally.reshape(self._sides)[chosen])
        square = tally.reshape(sum(self.sizes) + 1, -1)
        before = np.cumsum((1, *self.sizes))
        places = [np.append(0, np.arange(before[axis], before[axis + 1])) for axis in axes]
        return np.asarray(square[0, places[0]] if len(places) == 1 else square[np.ix_(*places)])
