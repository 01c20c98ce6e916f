"""From the codes of some attributes to the one value that an oracle is given: what a device computes first.

Every encoder takes codes of shape (attributes, users); all but `Codes` return values of shape (users,).
"""

import math
from typing import ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from dpress.core.maps.grid import Grid
from dpress.core.maps.leaves import named
from dpress.core.reports.oracle import Values

Table = npt.NDArray[np.int32]  # codes, shape (attributes, users)


class _Encoder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="encoder"):
    """What the document of a device names under `encoder`."""

    as_they_are: ClassVar[bool] = False  # whether the value is the codes themselves


class Code(_Encoder, frozen=True, tag="code"):
    """The code of a single attribute, as it is."""

    as_they_are: ClassVar[bool] = True

    def values(self, codes: Table) -> Values:
        """Return the only row."""
        return np.asarray(codes[0])


class Codes(_Encoder, frozen=True, tag="codes"):
    """The codes of several attributes, side by side, for an oracle that takes them together."""

    as_they_are: ClassVar[bool] = True

    def values(self, codes: Table) -> Values:
        """Return all rows, shape (attributes, users)."""
        return codes


class Combination(_Encoder, frozen=True, kw_only=True, tag="combination"):
    """The place of several codes among all their combinations, the last attribute running fastest.

    Args:
        sizes: the number of cells of every attribute.
    """

    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of combinations."""
        return math.prod(self.sizes)

    def values(self, codes: Table) -> Values:
        """Return ((c_1 n_2 + c_2) n_3 + c_3) ..."""
        return np.asarray(np.ravel_multi_index(list(codes), self.sizes), dtype=np.int32)


class Run(_Encoder, frozen=True, kw_only=True, tag="run"):
    """The run of neighbouring cells that holds the code; the last one may be shorter.

    Args:
        cells: of a whole run.
    """

    cells: int

    def values(self, codes: Table) -> Values:
        """Return the number of the run, from 0."""
        return np.asarray(codes[0] // self.cells)


class Interval(_Encoder, frozen=True, kw_only=True, tag="interval"):
    """The interval of cells that holds the code; intervals may differ in width.

    Args:
        cells: of the attribute.
        starts: the first cell of every interval, rising from 0.
    """

    cells: int
    starts: tuple[int, ...]

    def values(self, codes: Table) -> Values:
        """Return the number of the interval, from 0.

        Raises:
            ValueError: a code is no cell's (it is not shown).
        """
        if codes.size and (codes.min() < 0 or codes.max() >= self.cells):
            raise ValueError(f"codes must lie below {self.cells}")
        return np.asarray(np.searchsorted(self.starts, codes[0], side="right") - 1, dtype=np.int32)


class Tile(_Encoder, frozen=True, kw_only=True, tag="tile"):
    """The tile of a grid that holds the codes, the last attribute running fastest.

    Args:
        sizes: the number of cells of every attribute.
        tiles: how many tiles each is cut into, as equal as whole cells allow.
    """

    sizes: tuple[int, ...]
    tiles: tuple[int, ...]

    def values(self, codes: Table) -> Values:
        """Return (t_1 m_2 + t_2) m_3 ..., t = floor(c m / n), m the tiles and n the cells.

        Raises:
            ValueError: a code is no cell's (it is not shown).
        """
        values = np.zeros(codes.shape[1:], dtype=np.int64)
        if codes.size and (codes.min() < 0 or (codes >= np.array(self.sizes)[:, None]).any()):
            raise ValueError(f"codes must lie below {self.sizes}")
        for axis_codes, size, tiles in zip(codes, self.sizes, self.tiles, strict=True):
            values = values * tiles + axis_codes.astype(np.int64) * tiles // size
        return np.asarray(values, dtype=np.int32)


class Node(_Encoder, frozen=True, kw_only=True, tag="node"):
    """The node of one level of a quadtree over a grid, from the places across and up.

    Args:
        side: of the grid. Its cells are numbered in Morton order where it is a power of two, the bits of the place
            across above those of the place up; else row by row, across times side plus up.
        shift: how many of the cell's last bits are left out, 2 a level; 0 for the cells themselves.
    """

    side: int
    shift: int

    def values(self, codes: Table) -> Values:
        """Return the nodes."""
        return cells(self.side, codes) >> self.shift


class Leaf(_Encoder, frozen=True, kw_only=True, tag="leaf"):
    """The leaf of a quadtree of uneven depth that holds the cell.

    Args:
        side: of the grid, 2^h.
        leaves: their paths in the order of their cells, digits from 0 to 3 to base 4 (`core.maps.leaves`).
    """

    side: int
    leaves: tuple[str, ...]

    def values(self, codes: Table) -> Values:
        """Return the number of the leaf, from 0."""
        height = self.side.bit_length() - 1
        return np.asarray(named(self.leaves, height).values(height)[cells(self.side, codes)])


Encoder = Code | Codes | Combination | Run | Interval | Tile | Node | Leaf


def cells(side: int, codes: Table) -> Values:
    """Return the cells of a grid at these places.

    Raises:
        ValueError: a place lies outside the grid (it is not shown).
    """
    if codes.size and (codes.min() < 0 or codes.max() >= side):
        raise ValueError(f"places must lie between 0 and {side - 1}")
    return Grid(side).code(*codes)
