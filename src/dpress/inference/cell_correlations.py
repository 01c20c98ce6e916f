"""Covariances and correlations of two attributes from noisy cells: of their numbers, or of their ranks.

noisy table with its covariance, scores -> value and its gradient in the counts -> what noise and sampling hide.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.covariance import Covariance
from dpress.inference.linear_relations import FAR_FROM_ZERO, least_ratio, stretch

Number = tuple[float, float, float]
"""A value, the standard error of its noise, and that of the rows as a sample; NaN where they are not known."""
Gradient = tuple[float, Array]
NONE: Number = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCorrelation:
    """How two attributes with scores go together, by the cells of their table.

    Scores are numbers, or where there are none midranks: the share of the rows in lower cells and half of that in the
    same (Spearman's correlation with ties). Every statistic is a smooth function of the counts. By the delta method
    the variance of its noise is g Cov(counts) g, g the gradient, exact in the noise; that of the rows as a sample is
    the sum of n g^2, taken a standard error of its noise higher. Both errors are longer by `linear_relations.stretch`,
    by how far the count and the variances lie above 0.

    Args:
        counts: noisy, shape (cells of the first, cells of the second).
        covariance: of sums of cells.
        scores: of the cells of both; None for midranks.
        z: standard errors to each side of an interval.
    """

    counts: Array
    covariance: Covariance
    scores: tuple[Array, Array] | None
    z: float

    @cached_property
    def _shares(self) -> Array:
        return np.asarray(self.counts / self.counts.sum())

    @cached_property
    def _margins(self) -> tuple[Array, Array]:
        return self._shares.sum(axis=1), self._shares.sum(axis=0)

    @cached_property
    def _centred(self) -> tuple[Array, Array]:
        """The scores less their means."""
        scores = self.scores or tuple(np.cumsum(share) - share / 2 for share in self._margins)
        first, second = (score - share @ score for score, share in zip(scores, self._margins, strict=True))
        return first, second

    def _moved(self, place: int, slopes: Array) -> Array:
        """Return what a row more adds to a statistic by moving midranks, for every cell of an attribute.

        Args:
            place: of the attribute.
            slopes: of the statistic by every score, shape (cells,).
        """
        if self.scores is not None:
            return np.zeros(len(slopes))
        ranks = np.cumsum(self._margins[place]) - self._margins[place] / 2
        below = slopes.sum() - np.cumsum(slopes)
        return np.asarray(below + slopes / 2 - float(slopes @ ranks))

    @cached_property
    def _together(self) -> Gradient:
        """The covariance of the scores, and n times its gradient."""
        first, second = self._centred
        value = float(first @ self._shares @ second)
        by_first, by_second = self._shares @ second, first @ self._shares
        moved = self._moved(0, by_first)[:, None] + self._moved(1, by_second)
        return value, np.outer(first, second) - value + moved

    def _alone(self, place: int) -> Gradient:
        """Return the variance of one attribute's scores, and n times its gradient."""
        score, share = self._centred[place], self._margins[place]
        value = float(share @ score**2)
        slope = score**2 - value + self._moved(place, 2 * share * score)
        along = slope[:, None] if place == 0 else slope
        return value, np.broadcast_to(along, self.counts.shape)

    def _number(self, value: Callable[[], Gradient], divisors: list[Gradient]) -> Number:
        """Return a statistic with its errors; unknown where a divisor is not `FAR_FROM_ZERO`."""
        total = float(self.counts.sum())
        if total <= 0:
            return NONE
        forms = np.stack([np.ones(self.counts.shape), *(slope / total for _, slope in divisors)])
        distance = least_ratio(np.array([total, *(size for size, _ in divisors)]), self.covariance(forms))
        if distance <= FAR_FROM_ZERO * self.z:
            return NONE
        estimate, slope = value()
        slope = slope / total
        noise, beyond = np.diag(self.covariance(np.stack([slope, slope**2])))
        longer = stretch(distance) if math.isfinite(distance) else 1.0
        sampling = max(float(np.sum(self.counts * slope**2)), 0.0) + math.sqrt(beyond)
        return estimate, longer * math.sqrt(noise), longer * math.sqrt(sampling)

    @cached_property
    def covariance_of_scores(self) -> Number:
        """The covariance of the scores."""
        return self._number(lambda: self._together, [])

    @cached_property
    def correlation(self) -> Number:
        """Pearson's correlation of the numbers, or Spearman's of the ranks."""
        if self.counts.sum() <= 0:
            return NONE
        alone = [self._alone(0), self._alone(1)]

        def value() -> Gradient:
            (shared, by_shared), (first, by_first), (second, by_second) = self._together, *alone
            root = math.sqrt(first * second)
            r = shared / root
            return min(max(r, -1.0), 1.0), by_shared / root - r / 2 * (by_first / first + by_second / second)

        return self._number(value, alone)
