"""The Haar wavelet of the cells, by what the matrix does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance


@dataclass(frozen=True, slots=True)
class Haar(Invertible):
    """The unnormalised Haar wavelet: the total, then for every inner node left sum minus right sum (Xiao et al. 2010).

    Rows: the total, the root's difference, then the differences level by level, n' rows for n' = 2^h >= cells;
    cells beyond `cells` are empty by definition and reconstruct to nothing. A row of the table touches h + 1 rows.

    Args:
        cells: the number of cells.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    @property
    def height(self) -> int:
        """The number of levels of inner nodes, h."""
        return (self.cells - 1).bit_length()

    @property
    def rows(self) -> int:
        """The number of rows, 2^h."""
        return 1 << self.height

    @property
    def support(self) -> Array:
        """The number of padded cells that every row touches, which is its squared L2 norm; shape (rows,)."""
        levels = [np.full(1 << level, 1 << (self.height - level)) for level in range(self.height)]
        return np.concatenate([np.array([self.rows]), *levels]).astype(np.float64)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the total and all differences."""
        sums = np.pad(cells, (0, self.rows - self.cells))
        levels = []
        for _ in range(self.height):
            pairs = sums.reshape(-1, 2)
            levels.append(pairs[:, 0] - pairs[:, 1])
            sums = pairs[:, 0] + pairs[:, 1]
        return np.concatenate([sums, *reversed(levels)])

    def transpose(self, answers: Array) -> Array:
        """Return A^T y."""
        total = answers[:1]
        for level in range(self.height):
            difference = answers[1 << level : 2 << level]
            total = np.stack([total + difference, total - difference], axis=1).ravel()
        return total[: self.cells]

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return h + 1; where a row moves 2 h (order 1) or 2 h + 2 (order 2).

        A move between the halves of a node of height k changes its difference by two, and one difference by one on
        each side at each of the k - 1 levels below; nothing above changes.
        """
        if relation is Relation.ADD_REMOVE:
            return self.height + 1
        return 2 * self.height if order == 1 else min(2 * self.height + 2, 4 * self.height)

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return A^-1 y = A^T D^-1 y, D the squared row norms: the rows are orthogonal."""
        del variance  # A is square
        return self.transpose(answers / self.support)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return A^-1 V A^-T w."""
        return self.transpose(self.apply(weights) * (variance / self.support**2))

    def covariance_form(self, variance: Variance) -> Mapping[str, Any] | None:
        """Return the name alone, where all noise is equal."""
        return None if np.ndim(variance) else {"linear": "haar"}

    def cell_variances(self, variance: Variance) -> Array:
        """Return the sum of the variances of a cell's h + 1 rows, each divided by its squared support, O(n)."""
        spread = np.broadcast_to(variance, (self.rows,)) / self.support**2
        total = spread[:1]
        for level in range(self.height):
            total = np.repeat(total + spread[1 << level : 2 << level], 2)
        return total[: self.cells]
