"""Which pairs of attributes depend on each other beyond the noise: one chi-square statistic each, from estimates."""

from dataclasses import dataclass

import numpy as np

from dpress.core.linear import Array
from dpress.estimate.consistency import Axes
from dpress.estimate.pair_tables import Tables
from dpress.estimate.shrinkage import centred, freedom, one_way

ALPHA = 0.05
_NO_NOISE = 1e-24


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an estimated table says against independence of its two attributes.

    Args:
        axes: the pair.
        statistic: the squared residual over its mean under independence, times `freedom`: near it by noise alone.
        freedom: effective degrees of freedom of the chi-square distribution that has the same mean and variance.
        chance: of a statistic as large as this, were the attributes independent.
        dependent: whether that is below alpha divided by the number of pairs (Bonferroni).
    """

    axes: Axes
    statistic: float
    freedom: float
    chance: float
    dependent: bool


def evidence(tables: Tables, *, alpha: float = ALPHA) -> tuple[Evidence, ...]:
    """Return the evidence for every pair that some question holds and that can depend at all.

    With chance alpha at most, about, some pair is called dependent though all attributes are independent: where no pair
    is, the fitted joint cannot be told from the product of one-way tables. The converse is no proof of independence.
    Error: the law of the statistic is approximate (normal noise, Satterthwaite's moments, estimated one-way shares).

    Args:
        tables: consistent tables.
        alpha: chance of any false alarm.
    """
    sizes = range(len(tables.shape))
    pairs = [(i, j) for i in sizes for j in sizes if i < j and tables.holds((i, j))]
    pairs = [pair for pair in pairs if freedom(tuple(tables.shape[axis] for axis in pair))]
    return tuple(_evidence(tables, pair, alpha / len(pairs)) for pair in pairs)


def _evidence(tables: Tables, pair: Axes, level: float) -> Evidence:
    from scipy.special import gammaincc  # noqa: PLC0415 - loads slowly

    first, second = (one_way(tables, axis) for axis in pair)
    base = np.multiply.outer(first, second)
    energy = float((centred(tables.table(pair) - base) ** 2).sum())
    mean, variance = _moments(tables, pair, (first, second))
    if mean < _NO_NOISE:
        certain = energy > _NO_NOISE
        return Evidence(axes=pair, statistic=energy, freedom=1.0, chance=1.0 - certain, dependent=certain)
    degrees = 2 * mean**2 / variance
    statistic = energy / mean * degrees
    chance = float(gammaincc(degrees / 2, statistic / 2))
    return Evidence(axes=pair, statistic=statistic, freedom=degrees, chance=chance, dependent=chance < level)


def _moments(tables: Tables, pair: Axes, shares: tuple[Array, Array]) -> tuple[float, float]:
    """Return mean and variance of the squared residual under independence.

    The residual is P (noise of the table) - P (noise of the product of the one-way tables), P centring both ways; the
    first has variance v in every cell before centring, the second |P m_i|^2 v_j (n_j - 1) in total, and alike.
    """
    spread = tables.variances(pair, np.multiply.outer(*shares))
    squares = [(np.eye(own.size) - 1 / own.size) ** 2 for own in shares]
    mean = float(spread.sum()) * (1 - 1 / shares[0].size) * (1 - 1 / shares[1].size)
    variance = 2 * float((spread * (squares[0] @ spread @ squares[1])).sum())
    for own, axis, other in ((shares[0], pair[1], shares[1]), (shares[1], pair[0], shares[0])):
        length = float(((own - own.mean()) ** 2).sum())
        each = tables.component((axis,)) * length
        mean += each * (other.size - 1)
        variance += 2 * each**2 * (other.size - 1) + 4 * each * (other.size - 1) * float(spread.mean())
    return mean, variance
