"""The departure of a table of two attributes from independence, with its noise: cell by cell, and as one number.

Tables, or bits that are counted in pairs -> residual over the product of the one-way tables -> standard errors.
"""

from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.consistency import Axes
from dpress.inference.joint.pair_tables import Tables
from dpress.inference.joint.shrinkage import centred, degrees_of_freedom, one_way


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The residual of a pair's table, in shares, and what independence would make of it.

    Args:
        axes: the pair.
        residual: estimated table minus the product of the one-way tables, centred both ways.
        deviations: the standard error of every cell, were the attributes independent; approximate.
        mean: of the squared residual, added up over the cells, under independence.
        variance: of that sum.
    """

    axes: Axes
    residual: Array
    deviations: Array
    mean: float
    variance: float

    @property
    def energy(self) -> float:
        """The squared residual, added up over the cells."""
        return float((self.residual**2).sum())


def contrasts(tables: Tables) -> tuple[Contrast, ...]:
    """Return the contrast of every pair that some report type holds and that can depend at all.

    Args:
        tables: consistent tables.
    """
    sizes = range(len(tables.shape))
    pairs = [(i, j) for i in sizes for j in sizes if i < j and tables.holds((i, j))]
    return tuple(
        _contrast(tables, pair) for pair in pairs if degrees_of_freedom(tuple(tables.shape[axis] for axis in pair))
    )


def _contrast(tables: Tables, pair: Axes) -> Contrast:
    """Return the contrast of one pair.

    The residual is P (noise of the table) - P (noise of the product of the one-way tables), P centring both ways; the
    first has variance v in every cell before centring, the second |P m_i|^2 v_j (n_j - 1) in total, and alike.
    """
    first, second = (one_way(tables, axis) for axis in pair)
    base = np.multiply.outer(first, second)
    spread = tables.variances(pair, base)
    squares = [(np.eye(scores.size) - 1 / scores.size) ** 2 for scores in (first, second)]
    cells = squares[0] @ spread @ squares[1]
    mean = float(spread.sum()) * (1 - 1 / first.size) * (1 - 1 / second.size)
    variance = 2 * float((spread * cells).sum())
    for scores, axis, other, side in ((first, pair[1], second, 0), (second, pair[0], first, 1)):
        lengths = (scores - scores.mean()) ** 2
        each = tables.component((axis,)) * float(lengths.sum())
        mean += each * (other.size - 1)
        variance += 2 * each**2 * (other.size - 1) + 4 * each * (other.size - 1) * float(spread.mean())
        margin = tables.component((axis,)) * (1 - 1 / other.size) * lengths
        cells = cells + np.expand_dims(margin, 1 - side)
    residual = centred(tables.table(pair) - base)
    return Contrast(axes=pair, residual=residual, deviations=np.sqrt(cells), mean=mean, variance=variance)


def covariance_contrast(axes: Axes, covariance: Array, scores: tuple[Array, Array], users: int) -> Contrast:
    """Return the contrast of two attributes whose scores, unbiased for a user's cells, are known for every user.

    The residual is the scores' covariance over the users. With independent attributes its entries have the covariance
    S_1 (x) S_2 / N, S_i that of the scores of one attribute: the coins' part, and that of users drawn at random.

    Args:
        axes: the pair.
        covariance: between the scores of the two attributes, shape of the table.
        scores: S_1 and S_2.
        users: N.
    """
    inner = [centred(matrix) for matrix in scores]
    traces, squares = [float(np.trace(matrix)) for matrix in inner], [float((matrix**2).sum()) for matrix in inner]
    deviations = np.sqrt(np.multiply.outer(*(np.maximum(np.diagonal(matrix), 0) for matrix in inner)) / users)
    return Contrast(
        axes=axes,
        residual=centred(covariance),
        deviations=deviations,
        mean=traces[0] * traces[1] / users,
        variance=2 * squares[0] * squares[1] / users**2,
    )
