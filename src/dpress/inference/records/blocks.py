"""Square arrays over the cells of all attributes, one attribute after the other: sums and means of every pair's block.

sizes of attributes -> where each begins -> sums over the table of each pair, and back.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The tables of all pairs in one array of shape (cells, cells).

    Args:
        sizes: the number of cells of every attribute.
    """

    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """The place of every attribute's first cell."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)

    @property
    def slices(self) -> list[slice]:
        """The cells of every attribute."""
        return [slice(start, start + size) for start, size in zip(self.starts, self.sizes, strict=True)]

    def sums(self, pairs: Array) -> Array:
        """Return sums over the table of every pair, shape (attributes, attributes)."""
        return np.asarray(np.add.reduceat(np.add.reduceat(pairs, self.starts, axis=0), self.starts, axis=1))

    def per_cell(self, of_attributes: Array) -> Array:
        """Return a number of every attribute for each of its cells."""
        return np.repeat(of_attributes, self.sizes)

    def spread(self, of_pairs: Array) -> Array:
        """Return one number for every table as one for each of its cells."""
        return np.repeat(np.repeat(of_pairs, self.sizes, axis=0), self.sizes, axis=1)

    def centred(self, pairs: Array) -> Array:
        """Return all tables less their row and column means."""
        number = np.array(self.sizes)[:, None]
        rows = np.repeat(np.add.reduceat(pairs, self.starts, axis=0) / number, self.sizes, axis=0)
        left = pairs - rows
        columns = np.repeat(np.add.reduceat(left, self.starts, axis=1) / number.T, self.sizes, axis=1)
        return np.asarray(left - columns)
