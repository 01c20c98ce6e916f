"""How much a row counts: its sampling weight over the largest that there is, from 0 to 1, by a level of an axis.

levels -> relative weights; shares of rows -> whole numbers of a public scale.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes

SCALE = 1 << 30  # of a row that is shared out: 2^32 rows fit 63 bits, and 2^22 of them a float


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWeight:
    """The weight u of a row, 0 <= u <= 1, in parts of the largest weight.

    Args:
        axis: whose code is the level of the weight; codes above the highest level are none.
        steps: the highest level, at least 1.
        lightest: u of level 0; u rises evenly up to 1 at the highest.
        listed: u of every level instead, where weights are a public list.
    """

    axis: int
    steps: int
    lightest: float
    listed: tuple[float, ...] = ()
    added_later: ClassVar[tuple[str, ...]] = ("listed",)

    def __post_init__(self) -> None:
        levels = self.listed or (self.lightest,)
        if self.axis < 0 or self.steps < 1 or not all(0 <= level <= 1 for level in levels):
            raise ValueError("a weight needs an axis, at least two levels, and parts of the largest between 0 and 1")
        if self.listed and len(self.listed) != self.steps + 1:
            raise ValueError(f"{self.steps + 1} levels need as many weights, got {len(self.listed)}")

    @property
    def even_mean(self) -> float:
        """The mean of u where every level is as frequent as any other."""
        return sum(self.listed) / len(self.listed) if self.listed else (1 + self.lightest) / 2

    def of(self, codes: Codes) -> Array:
        """Return u of rows, NaN where a row has no weight, shape (rows,).

        Args:
            codes: shape (axes, rows).
        """
        levels = codes[self.axis].astype(np.int64)
        there = (levels >= 0) & (levels <= self.steps)
        levels = np.where(there, levels, 0)
        if self.listed:
            parts = np.asarray(self.listed)[levels]
        else:
            parts = self.lightest + (1 - self.lightest) * levels / self.steps
        return np.where(there, np.clip(parts, 0, 1), np.nan)


def whole_shares(shares: Array, scale: int) -> Array:
    """Return whole numbers nearly scale times the shares that add up to the scale; the largest share takes the rest.

    Args:
        shares: at least 0, adding up to 1, shape (shares, rows).
        scale: at least twice the square of their number, so that none is below 0.
    """
    whole = np.rint(scale * shares)
    largest = np.argmax(whole, axis=0), np.arange(shares.shape[1])
    whole[largest] += scale - whole.sum(axis=0)
    return whole
