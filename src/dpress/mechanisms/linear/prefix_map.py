"""All prefix sums of the cells, by what the matrix does."""

from dataclasses import dataclass

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Relation
from dpress.core.maps.linear import Array, Invertible, Numbers, Variance


@dataclass(frozen=True, slots=True)
class Prefix(Invertible):
    """Row i counts the cells up to i; a range is the difference of two rows.

    Args:
        cells: the number of cells.
    """

    cells: int

    def __post_init__(self) -> None:
        check.count("cells", self.cells)

    def apply(self, cells: Numbers) -> Numbers:
        """Return the running sums."""
        return np.cumsum(cells)

    def transpose(self, answers: Array) -> Array:
        """Return for every cell the sum of the answers from it on."""
        return np.asarray(np.cumsum(answers[::-1])[::-1])

    def sensitivity(self, order: int, relation: Relation) -> int:
        """Return n, the rows that count the first cell; n - 1 where a row moves from the first to the last."""
        del order
        return self.cells if relation is Relation.ADD_REMOVE else self.cells - 1

    def reconstruct(self, answers: Array, variance: Variance) -> Array:
        """Return the differences of neighbouring answers: A is square."""
        del variance
        return np.diff(answers, prepend=0.0)

    def covariance(self, weights: Array, variance: Variance) -> Array:
        """Return A^-1 V A^-T w."""
        return np.asarray(np.diff((weights - np.append(weights[1:], 0.0)) * variance, prepend=0.0))

    def cell_variances(self, variance: Variance) -> Array:
        """Return the sum of two neighbouring answers' variances."""
        variances = np.broadcast_to(np.asarray(variance, dtype=np.float64), (self.rows,))
        return np.asarray(variances + np.append(0.0, variances[:-1]))
