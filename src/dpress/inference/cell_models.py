"""Regressions on noisy cells, of least squares or logistic, by their score equations.

noisy counts of cells with their covariance, columns, outcome -> b that solves v(b) = 0 -> what noise and sampling hide.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.covariance import Covariance
from dpress.inference.linear_relations import FAR_FROM_ZERO, ROUNDING, TINY, Estimated, least_ratio, stretch, unknown

STEPS, LONGEST, CLOSE = 100, 2.0, 1e-9  # of Newton's method: how many, and of a step the most and the least in X b
FARTHEST = 30.0  # of X b: a share that is nearer to 0 or 1 is none that a maximum has

SINGULAR = (
    "Not told from singular: the noise hides whether the regressors, or the rows, are distinguishable from dependent "
    "ones, so that nothing is known of this."
)
RARE = "The rows with the outcome, or those without it, are not told from none, so that nothing is known of this."
NO_MAXIMUM = "No maximum of the likelihood: the outcome is all but certain in some cells, or noise hides it."


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel:
    """A regression whose rows are known by the cells that they lie in.

    Every cell k has a count n, regressors x and an outcome y; the mean of an outcome is m(x b), x b itself or 1 / (1 +
    exp(-x b)). The coefficients solve v(b) = sum over k of n x (y - m(x b)) = 0: least squares, or the largest
    likelihood.
    Error: v is linear in the counts, so that its covariance is exact at any b; with J = sum n m' x x^T the noise of b
    is J^-1 Cov(v) J^-1 to first order, and sampling J^-1 (sum n (y - m)^2 x x^T) J^-1 (Huber's), each variance taken a
    standard error of its noise higher. Both are longer by `linear_relations.stretch`.

    Args:
        counts: noisy, shape (cells,).
        covariance: of sums of cells.
        columns: shape (columns, cells).
        outcome: shape (cells,); 0 or 1 of a logistic regression.
        link: what m is.
        z: standard errors to each side of an interval.
    """

    counts: Array
    covariance: Covariance
    columns: Array
    outcome: Array
    link: Literal["identity", "logistic"]
    z: float

    @cached_property
    def lengths(self) -> Array:
        """The largest value of every column, by which it is divided, shape (columns,)."""
        return np.asarray(np.maximum(np.abs(self.columns).max(axis=1), TINY))

    @cached_property
    def scaled(self) -> Array:
        """The columns, none of them above 1."""
        return np.asarray(self.columns / self.lengths[:, None])

    def means(self, b: Array) -> tuple[Array, Array]:
        """Return m(x b) and its slope m', shape (cells,) each."""
        linear = b @ self.scaled
        if self.link == "identity":
            return linear, np.ones(linear.size)
        mean = 1 / (1 + np.exp(-np.clip(linear, -FARTHEST, FARTHEST)))
        return mean, mean * (1 - mean)

    def information(self, slopes: Array) -> Array:
        """Return J, shape (columns, columns)."""
        return np.asarray((self.scaled * (self.counts * slopes)) @ self.scaled.T)

    @cached_property
    def solution(self) -> Array | None:
        """The coefficients of scaled columns by Newton's method; None where there are none."""
        b = np.zeros(len(self.columns))
        for _ in range(STEPS):
            mean, slopes = self.means(b)
            information = self.information(slopes)
            values = np.linalg.eigvalsh(information)
            if values[0] <= ROUNDING * values[-1]:
                return None
            step = np.linalg.solve(information, self.scaled @ (self.counts * (self.outcome - mean)))
            if self.link == "identity":
                return np.asarray(step)
            largest = float(np.abs(step @ self.scaled).max())
            b = b + step * min(1.0, LONGEST / max(largest, TINY))
            if largest <= CLOSE:
                return np.asarray(b)
        return None

    @cached_property
    def distance(self) -> float:
        """How many standard errors of their noise J's eigenvalues, columns of length 1, lie above 0: the least."""
        _, slopes = self.means(np.zeros(len(self.columns)) if self.solution is None else self.solution)
        information = self.information(slopes)
        lengths = np.sqrt(np.diag(information))
        values, vectors = np.linalg.eigh(information / np.outer(lengths, lengths))
        forms = slopes * ((vectors / lengths[:, None]).T @ self.scaled) ** 2
        return least_ratio(values, self.covariance(forms))

    @cached_property
    def rarity(self) -> float:
        """How many standard errors of their noise the rows with the outcome, and those without, lie above 0."""
        if self.link == "identity":
            return math.inf
        forms = np.stack([self.outcome, 1 - self.outcome])
        return least_ratio(forms @ self.counts, self.covariance(forms))

    @property
    def refusal(self) -> str:
        """Why there are no coefficients; empty where there are."""
        if self.rarity <= FAR_FROM_ZERO * self.z:
            return RARE
        if self.solution is None:
            return SINGULAR if self.link == "identity" else NO_MAXIMUM
        return SINGULAR if self.distance <= FAR_FROM_ZERO * self.z else ""

    @cached_property
    def fitted(self) -> Estimated:
        """The coefficients of the columns with their errors; all unknown where they are refused."""
        if self.refusal or self.solution is None:
            return unknown(len(self.columns))
        mean, slopes = self.means(self.solution)
        residual = self.outcome - mean
        influence = np.linalg.solve(self.information(slopes), self.scaled) * residual
        both = np.diag(self.covariance(np.concatenate([influence, influence**2])))
        noise, beyond = np.split(both, 2)
        sampling = np.maximum(influence**2 @ self.counts, 0.0) + np.sqrt(beyond)
        longer = stretch(self.distance) if math.isfinite(self.distance) else 1.0
        value, *errors = (part / self.lengths for part in (self.solution, np.sqrt(noise), np.sqrt(sampling)))
        return Estimated(value=value, noise=longer * errors[0], sampling=longer * errors[1])
