"""One ordered attribute cut into tiles, coarse ones that each hold as many fine ones: what a query weighs there.

weights of the cells -> mean weight of every fine tile -> `TileWeights`: the sums that the variance of an answer needs.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.ranges import Ranges

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TileWeights:
    """What queries weigh, of every query one number.

    With a the mean weight of the cells of every coarse tile, g that of every fine tile, c the mean of g over the fine
    tiles of a coarse one, and everything that follows centred over the coarse tiles:

    Args:
        coarse: sum of a^2.
        fine: sum of c^2.
        both: sum of a c.
        inner: sum over the fine tiles of (g - c)^2.
        even: the mean of a, every coarse tile counting the same.
        mean: the mean weight of the cells.
    """

    coarse: Array
    fine: Array
    both: Array
    inner: Array
    even: Array
    mean: Array

    def at(self, places: object) -> "TileWeights":
        """Return these queries alone, or in another order or shape."""
        parts: dict[str, Array] = {name: getattr(self, name)[places] for name in self.__slots__}
        return TileWeights(**parts)


@dataclass(frozen=True, kw_only=True)
class AxisTiles:
    """An attribute's tiles, as `encoders.Tile` numbers them: as equal as whole cells allow.

    Args:
        cells: of the attribute.
        coarse: how many coarse tiles, C.
        fine: how many fine tiles, a multiple of C, at most `cells`.
    """

    cells: int
    coarse: int
    fine: int

    def __post_init__(self) -> None:
        if not 1 <= self.coarse <= self.fine <= self.cells or self.fine % self.coarse:
            raise ValueError(f"{self.cells} cells have no {self.fine} fine tiles in {self.coarse} coarse ones")

    @property
    def each(self) -> int:
        """How many fine tiles a coarse one holds."""
        return self.fine // self.coarse

    @cached_property
    def starts(self) -> Places:
        """The first cell of every fine tile, and after them the number of cells."""
        starts: Places = -(-np.arange(self.fine + 1) * self.cells // self.fine)
        return starts

    @property
    def coarse_starts(self) -> Places:
        """The first cell of every coarse tile, and after them the number of cells."""
        return self.starts[:: self.each]

    @cached_property
    def widths(self) -> Places:
        """The cells of every fine tile."""
        widths: Places = np.diff(self.starts)
        return widths

    @cached_property
    def coarse_widths(self) -> Places:
        """The cells of every coarse tile."""
        widths: Places = self.families(self.widths).sum(axis=1)
        return widths

    @cached_property
    def fine_of(self) -> Places:
        """The fine tile of every cell."""
        return np.repeat(np.arange(self.fine), self.widths)

    @cached_property
    def coarse_of(self) -> Places:
        """The coarse tile of every cell."""
        return np.repeat(np.arange(self.coarse), self.coarse_widths)

    def fine_means(self, weights: Array) -> Array:
        """Return the mean weight of the cells of every fine tile, shape (F,)."""
        return np.asarray(np.add.reduceat(weights, self.starts[:-1]) / self.widths)

    def of_ranges(self, ranges: Ranges) -> Array:
        """Return the same for many ranges, shape (m, F)."""
        first, last = ranges.left[:, None] - 1, ranges.right[:, None]
        held = np.minimum(last, self.starts[1:]) - np.maximum(first, self.starts[:-1])
        return np.asarray(np.maximum(held, 0) / self.widths)

    def coarse_means(self, fine: Array) -> Array:
        """Return the mean weight of the cells of every coarse tile, from that of the fine ones, shape (..., C)."""
        return np.asarray((self.families(fine * self.widths)).sum(axis=-1) / self.coarse_widths)

    def family_means(self, fine: Array) -> Array:
        """Return the mean over the fine tiles of every coarse one, each counting the same, shape (..., C)."""
        return np.asarray(self.families(fine).mean(axis=-1))

    def weighed(self, fine: Array) -> TileWeights:
        """Return what queries weigh, from the mean weights of the fine tiles, shape (m, F)."""
        a, c = self.coarse_means(fine), self.family_means(fine)
        even, of_family = a.mean(axis=-1), c.mean(axis=-1)
        a_centred, c_centred = a - even[:, None], c - of_family[:, None]
        inner = self.families(fine) - c[..., None]
        return TileWeights(
            coarse=(a_centred**2).sum(axis=-1),
            fine=(c_centred**2).sum(axis=-1),
            both=(a_centred * c_centred).sum(axis=-1),
            inner=(inner**2).sum(axis=(-1, -2)),
            even=even,
            mean=np.asarray((fine * self.widths).sum(axis=-1) / self.cells),
        )

    @cached_property
    def cell_weights(self) -> TileWeights:
        """What the query for every single cell weighs."""
        return self.weighed(np.diag(1.0 / self.widths)).at(self.fine_of)

    @cached_property
    def tile_weights(self) -> TileWeights:
        """What the query for every single coarse tile weighs."""
        return self.weighed(np.repeat(np.eye(self.coarse), self.each, axis=1))

    def families(self, fine: Numbers) -> Numbers:
        """Return what belongs to fine tiles by their coarse ones, shape (..., C, fine tiles of each)."""
        return fine.reshape(*fine.shape[:-1], self.coarse, self.each)
