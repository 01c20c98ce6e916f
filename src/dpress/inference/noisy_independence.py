"""A chi-square test of independence of two attributes that counts the noise in, and Cramer's V, from noisy cells.

noisy table with its covariance -> residuals from independence -> the same of tables simulated under independence.
"""

import math
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.basics.rng import Generator, seeded
from dpress.core.maps.linear import Array
from dpress.inference.interval import Tail
from dpress.inference.linear_relations import FAR_FROM_ZERO, TINY, Places
from dpress.inference.normal import normal, uniform
from dpress.inference.poisson import poisson

DRAWS, AT_ONCE = 9_999, 1 << 21  # simulated tables, and cells that are drawn together
MOST_CELLS = 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """Cramer's V with its errors.

    Args:
        value: from 0 to 1; NaN where noise hides it.
        interval: that holds the value of the rows.
        population: that holds the value of a population that they are drawn from.
        noise: half the length of the first over the critical value.
        sampling: what the second has more.
    """

    value: float
    interval: tuple[float, float]
    population: tuple[float, float]
    noise: float
    sampling: float


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyIndependence:
    """A noisy table of two attributes, held against independence.

    With row sums r, column sums c and total n of the noisy table the residuals y - r c / n are L y, L = (I - p 1^T) x
    (I - q 1^T), p = r / n and q = c / n. The statistic is the sum of their squares over e + v, e = n p q the rows that
    are expected and v the variance of the residual's noise: Pearson's, where there is none.
    Its law under independence has no table: it is simulated. A simulated table has Poisson numbers with means e, sums
    below 0 taken as 0, and noise of the release's covariance, its symmetric root times Laplace or normal numbers; its
    residuals are from its own sums. The p-value is (1 + those as large) / (1 + draws), so that the level holds for any
    number of draws; the generator's seed is the table's, so that everybody gets the same.

    Args:
        counts: noisy, shape (rows, columns).
        noise: the covariance of all cells, shape (cells, cells); NaN where no error is known.
        tail: of the noise.
        z: standard errors to each side of an interval.
        draws: simulated tables.
    """

    counts: Array
    noise: Array
    tail: Tail
    z: float
    draws: int = DRAWS

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """The shares of the rows and of the columns, none below 0."""
        rows, columns = (np.maximum(self.counts.sum(axis=axis), 0.0) for axis in (1, 0))
        return rows / max(rows.sum(), TINY), columns / max(columns.sum(), TINY)

    @cached_property
    def expected(self) -> Array:
        """The rows that are expected in every cell under independence, of the table's shape."""
        return np.asarray(max(float(self.counts.sum()), 1.0) * np.outer(*self.shares))

    @cached_property
    def spread(self) -> Array:
        """The covariance of the noise of the residuals, shape (cells, cells)."""
        first, second = (np.eye(len(share)) - np.outer(share, np.ones(len(share))) for share in self.shares)
        moved = np.kron(first, second)
        return np.asarray(moved @ self.noise @ moved.T)

    @cached_property
    def scales(self) -> Array:
        """What the squared residuals are divided by, of the table's shape."""
        spread = np.nan_to_num(np.diag(self.spread).reshape(self.counts.shape))
        return np.maximum(self.expected + spread, TINY)

    @cached_property
    def statistic(self) -> float:
        """The statistic of the table."""
        return float(self._statistics(self.counts[None])[0])

    def _statistics(self, tables: Array) -> Array:
        """Return the statistic of many tables, shape (tables,)."""
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        total = np.maximum(rows.sum(axis=1), 1.0)
        residual = tables - rows[:, :, None] * columns[:, None, :] / total[:, None, None]
        return np.asarray((residual**2 / self.scales).sum(axis=(1, 2)))

    @cached_property
    def p_value(self) -> float:
        """The chance of a statistic as large as this, were the attributes independent; NaN where no error is known."""
        if np.isnan(self.noise).any():
            return math.nan
        values, vectors = np.linalg.eigh(self.noise)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        as_large, left, rng, size = 0, self.draws, seeded(self._seed), self.counts.size
        while left:
            tables = min(left, max(1, AT_ONCE // size))
            rows = poisson(np.tile(self.expected.ravel(), tables), rng=rng)
            noise = _standard(tables * size, self.tail, rng).reshape(tables, size) @ root
            simulated = (rows.reshape(tables, size) + noise).reshape(tables, *self.counts.shape)
            as_large += int((self._statistics(simulated) >= self.statistic).sum())
            left -= tables
        return (1 + as_large) / (1 + self.draws)

    @property
    def _seed(self) -> int:
        """A seed that is the table's: the same for everybody, and another for every table."""
        return zlib.crc32(np.rint(self.counts).astype(np.int64).tobytes())

    @cached_property
    def significant(self) -> tuple[Places, Places]:
        """The places of the rows and of the columns whose sums are significantly above 0, in the table that they make.

        A row whose people are in columns that are left out has none, so that both are judged again until all are.
        """
        rows, columns = map(np.arange, self.counts.shape)
        while True:
            noise = self.noise.reshape(self.counts.shape * 2)[np.ix_(rows, columns, rows, columns)]
            table = self.counts[np.ix_(rows, columns)]
            row = self._above(table.sum(axis=1), np.einsum("ijik->i", noise))
            column = self._above(table.sum(axis=0), np.einsum("ijkj->j", noise))
            if row.all() and column.all():
                return rows, columns
            rows, columns = rows[row], columns[column]

    def _above(self, sums: Array, variances: Array) -> Array:
        spread = np.sqrt(np.maximum(np.nan_to_num(variances), 0.0))
        return np.asarray((sums > FAR_FROM_ZERO * self.z * spread) & (sums > 0))

    @cached_property
    def association(self) -> Association:
        """Cramer's V of the values that occur significantly: the root of phi^2 / min(rows - 1, columns - 1).

        phi^2 = sum of P^2 / (p q) - 1 of shares, less what noise adds to it on average: its variance is that of its
        gradient, exact in the noise, and of the residuals' squares, 2 tr((W C)^2) / n^2 with W = 1 / e. With sampling
        the mean of (rows - 1) (columns - 1) / n that chance adds is taken away, too. The ends are roots of phi^2's.
        """
        places = np.ix_(*self.significant)
        if min(self.counts[places].shape) < 2:
            return Association(
                value=math.nan, interval=(0.0, 1.0), population=(0.0, 1.0), noise=math.nan, sampling=math.nan
            )
        flat = np.arange(self.counts.size).reshape(self.counts.shape)[places].ravel()
        return _cramer(self.counts[places], self.noise[np.ix_(flat, flat)], self.z)


def _cramer(counts: Array, noise: Array, z: float) -> Association:
    """Return Cramer's V of a table whose sums are all above 0; `noise` is the covariance of its cells."""
    n, degrees = float(counts.sum()), math.prod(size - 1 for size in counts.shape)
    shares = counts / n
    p, q = shares.sum(axis=1), shares.sum(axis=0)
    weights = 1 / (n * np.outer(p, q)).ravel()
    ratio = shares**2 / np.outer(p, q)
    phi = float(ratio.sum()) - 1
    slope = (2 * shares / np.outer(p, q) - (ratio.sum(axis=1) / p)[:, None] - ratio.sum(axis=0) / q).ravel() / n
    centre = [np.eye(len(share)) - np.outer(share, np.ones(len(share))) for share in (p, q)]
    residual = np.kron(*centre)
    apart = residual @ noise @ residual.T
    chance = n * np.kron(*(np.diag(share) - np.outer(share, share) for share in (p, q)))
    if math.isnan(float(noise.sum())):
        ends = (math.nan, math.nan)
        value = math.sqrt(max(phi, 0.0) / (min(counts.shape) - 1))
        return Association(value=value, interval=ends, population=ends, noise=math.nan, sampling=math.nan)
    phi -= float(weights @ np.diag(apart)) / n
    of_noise = float(slope @ noise @ slope) + _squares(weights, apart) / n**2
    of_rows = max(float(counts.ravel() @ slope**2), 0.0) + math.sqrt(float(slope**2 @ noise @ slope**2))
    of_both = float(slope @ noise @ slope) + of_rows + _squares(weights, apart + chance) / n**2
    most = min(counts.shape) - 1
    low, high = _roots(phi, z * math.sqrt(of_noise), most)
    value = math.sqrt(min(max(phi / most, 0.0), 1.0))
    lowest, highest = _roots(phi - degrees / n, z * math.sqrt(of_both), most)
    highest = max(highest, value)
    return Association(
        value=value,
        interval=(low, high),
        population=(lowest, highest),
        noise=(high - low) / (2 * z),
        sampling=math.sqrt(max(((highest - lowest) / 2) ** 2 - ((high - low) / 2) ** 2, 0.0)) / z,
    )


def _squares(weights: Array, covariance: Array) -> float:
    """Return the variance of the weighted sum of squares of normal numbers: 2 tr((W C)^2)."""
    moved = weights[:, None] * covariance
    return 2 * float(np.sum(moved * moved.T))


def _roots(phi: float, half: float, most: int) -> tuple[float, float]:
    """Return the ends of V of those of phi^2."""
    low, high = (math.sqrt(min(max(end / most, 0.0), 1.0)) for end in (phi - half, phi + half))
    return low, high


def _standard(size: int, tail: Tail, rng: Generator) -> Array:
    """Return independent numbers of mean 0 and variance 1: normal, or Laplace where noise has that tail."""
    if tail == "gaussian":
        return normal(size, rng=rng)
    apart = uniform(size, rng=rng) - 0.5
    return np.asarray(-np.sign(apart) * np.log1p(-2 * np.abs(apart)) / math.sqrt(2))
