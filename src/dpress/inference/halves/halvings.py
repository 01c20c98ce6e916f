"""How a table is halved: along its longest axis, again and again, down to single cells.

shape, offset -> steps, each along one axis: which intervals are cut in two, and where.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpress.core.maps.ranges import Places


class Halving(NamedTuple):
    """All parts of a table cut along one axis.

    A part is a box of cells; along every axis the parts stand at consecutive intervals.

    Args:
        axis: along which parts are cut.
        blocks: cells of a whole part along every axis, before the cut.
        starts: of the intervals along every axis before the cut, each with the axis's size at the end.
        middles: where every interval of the axis is cut; its start where it stays whole, shape (intervals,).
    """

    axis: int
    blocks: tuple[int, ...]
    starts: tuple[Places, ...]
    middles: Places

    @property
    def cut(self) -> Places:
        """The places of the intervals that are cut."""
        return np.flatnonzero(self.middles > self.starts[self.axis][:-1])

    @property
    def first(self) -> Places:
        """The places of the first halves after the cut, along the axis; each second half follows its first."""
        cut = self.cut
        return cut + np.arange(cut.size)

    @property
    def halves(self) -> tuple[Places, ...]:
        """The starts along every axis after the cut."""
        ordered = self.starts[self.axis], self.middles[self.cut]
        along = np.sort(np.concatenate(ordered), kind="stable")  # which merges what is in order
        return (*self.starts[: self.axis], along, *self.starts[self.axis + 1 :])


def halvings(shape: tuple[int, ...], offset: float) -> Iterator[Halving]:
    """Yield the steps from the whole table to its cells.

    Cuts along an axis lie at whole multiples of a power of two, counted from a place before its first cell, so that
    tables of any size are halved alike, and another place makes other halves.

    Args:
        shape: cells along every axis.
        offset: from 0 to below 1: that place, in shares of the least power of two that holds the axis.

    >>> [halving.middles.tolist() for halving in halvings((4,), 0.0)]
    [[2], [1, 3]]
    >>> [halving.middles.tolist() for halving in halvings((4,), 0.25)]
    [[3], [1, 3], [0, 2, 3]]
    """
    least = [1 << (size - 1).bit_length() for size in shape]
    before = [int(offset * block) for block in least]
    blocks = [block << (size + first > block) for size, first, block in zip(shape, before, least, strict=True)]
    starts = tuple(np.array([0, size]) for size in shape)
    while max(blocks) > 1:
        axis = int(np.argmax(blocks))
        middles = _middles(starts[axis], blocks[axis] // 2, before[axis])
        halving = Halving(axis=axis, blocks=tuple(blocks), starts=starts, middles=middles)
        blocks[axis] //= 2
        if halving.cut.size:
            yield halving
            starts = halving.halves


def _middles(starts: Places, half: int, before: int) -> Places:
    """Return the multiple of `half`, less what is before the axis, within every interval; else the interval's start."""
    first, end = starts[:-1], starts[1:]
    middles = (first + before) // half * half + half - before
    return np.where(middles < end, middles, first)
