"""Covariances, correlations and linear regressions from noisy moments, with what noise and what sampling hides.

Features of cells (n, sums of t, t^2, t_i t_j) with their covariance -> moment matrices -> estimates in units of t.
Whatever is estimated solves v(b) = 0 for forms v that are linear in the features, whose covariance is exact at any b.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array

Places = npt.NDArray[np.int64]
FAR_FROM_ZERO = 3.0
"""By how many critical values, in standard errors, what is divided by must exceed 0."""
TINY = 1e-300
ROUNDING = 1e-13
"""Of the largest eigenvalue, or of a value: a smaller one, or a smaller standard error, is that of rounding."""


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Noisy moments of the rows of some cells.

    Args:
        features: of every cell, shape (cells, features).
        covariance: of the features of a single group's cell, shape (features, features).
        merged: how many groups were added up in every cell, shape (cells,).
        places: which feature the sum of z_a z_b is, z = (1, t_1, ..., t_p), shape (p + 1, p + 1).
        z: standard errors to each side of an interval.
    """

    features: Array
    covariance: Array
    merged: Array
    places: Places
    z: float

    @cached_property
    def together(self) -> "Moments":
        """The moments of all cells added up, as one cell."""
        features, merged = self.features.sum(axis=0, keepdims=True), np.array([self.merged.sum()])
        return Moments(features=features, covariance=self.covariance, merged=merged, places=self.places, z=self.z)

    def sums(self, cell: int) -> Array:
        """Return the sums of all z_a z_b of a cell, shape (p + 1, p + 1)."""
        return np.asarray(self.features[cell][self.places])

    def deviation(self, forms: Array, cell: int = 0) -> Array:
        """Return the covariance of forms in the features of a cell, shape (forms, forms)."""
        return np.asarray(self.merged[cell] * (forms @ self.covariance @ forms.T))

    def form(self, weights: Array) -> Array:
        """Return the form in the features that the sum of weights_ab z_a z_b is, shape (features,)."""
        form = np.zeros(self.features.shape[1])
        np.add.at(form, self.places.ravel(), weights.ravel())
        return form


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """Numbers that were estimated from moments.

    Args:
        value: NaN where noise hides what is divided by.
        noise: standard errors of the noise alone: how far the value is from that of the rows.
        sampling: standard errors of the rows, as a sample of a population; NaN where they are not stated.
    """

    value: Array
    noise: Array
    sampling: Array


def unknown(size: int) -> Estimated:
    """Return that so many numbers are not known."""
    none = np.full(size, math.nan)
    return Estimated(value=none, noise=none, sampling=none)


def stretch(distance: float) -> float:
    """Return how much longer errors are where what is divided by is so many of its standard errors away from 0.

    To first order they are those at the true divisor; it may be two standard errors nearer to 0.

    >>> stretch(6.0), stretch(102.0)
    (1.5, 1.02)
    """
    return distance / (distance - 2)


def least_ratio(values: Array, covariance: Array) -> float:
    """Return the least ratio of values to the standard errors of their noise.

    0 where a value is not above 0; infinite where all are and no error is known.
    """
    spread = np.sqrt(np.diag(covariance))
    if values.min() <= 0:
        return 0.0
    return math.inf if np.isnan(spread).any() else float(np.min(values / np.maximum(spread, ROUNDING * values)))


def covariance(moments: Moments, i: int, j: int) -> tuple[float, float]:
    """Return the covariance of two numbers in all cells together, or of a number with itself, and its noise's error.

    The form is that of the sum of (t_i - m_i) (t_j - m_j) - C, the means m and C estimated: to first order n times the
    error of C. NaN where the count is not `FAR_FROM_ZERO`.
    """
    if (pair := _covariances(moments.together, ((i, j),))) is None:
        return math.nan, math.nan
    return float(pair[0][0]), math.sqrt(float(pair[1][0, 0]))


def _covariances(moments: Moments, pairs: tuple[tuple[int, int], ...]) -> tuple[Array, Array] | None:
    """Return covariances of numbers and the covariance of their noise; None where the count may be 0."""
    sums, size = moments.sums(0), len(moments.places)
    n, unit = float(sums[0, 0]), np.eye(size)
    spread = math.sqrt(float(moments.deviation(moments.form(np.outer(unit[0], unit[0]))[np.newaxis])[0, 0]))
    if n <= FAR_FROM_ZERO * moments.z * spread:
        return None
    means = sums[0] / n
    values, forms = [], []
    for i, j in pairs:
        value = float(sums[i + 1, j + 1] / n - means[i + 1] * means[j + 1])
        left, right = unit[i + 1] - means[i + 1] * unit[0], unit[j + 1] - means[j + 1] * unit[0]
        values.append(value)
        forms.append(moments.form(np.outer(left, right) - value * np.outer(unit[0], unit[0])) / n)
    return np.array(values), moments.deviation(np.array(forms))


def correlation(moments: Moments, i: int, j: int) -> tuple[float, float]:
    """Return the correlation of two numbers in all cells together, and its noise's error.

    Error: by the delta method, times `stretch`. NaN where a variance or the count is not `FAR_FROM_ZERO`.
    """
    if (every := _covariances(moments.together, ((i, j), (i, i), (j, j)))) is None:
        return math.nan, math.nan
    (c, first, second), noise = every
    distance = float(np.min(np.array([first, second]) / np.maximum(np.sqrt(np.diag(noise)[1:]), TINY)))
    if distance <= FAR_FROM_ZERO * moments.z:
        return math.nan, math.nan
    r = float(c / math.sqrt(first * second))
    slope = np.array([1 / math.sqrt(first * second), -r / (2 * first), -r / (2 * second)])
    return min(max(r, -1.0), 1.0), stretch(distance) * math.sqrt(float(slope @ noise @ slope))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a regression: a number, or 1, in some cells, and 0 in all others.

    Args:
        cells: 0 or 1 for every cell, shape (cells,).
        number: whose t it is, from 1; 0 for 1.
    """

    cells: Array
    number: int


@dataclass(frozen=True, kw_only=True)
class Regression:
    """A regression of t_y on columns, by least squares.

    Args:
        moments: of the rows that it is about.
        outcome: the number y, from 1.
        columns: at least one.
    """

    moments: Moments
    outcome: int
    columns: tuple[Column, ...]

    @cached_property
    def gram(self) -> Array:
        """The sums of products of columns, those with the outcome last, shape (columns + 1, columns + 1)."""
        every = (*self.columns, Column(cells=np.ones(len(self.moments.merged)), number=self.outcome))
        sums = np.array([self.moments.sums(cell) for cell in range(len(self.moments.merged))])
        return np.array([[(a.cells * b.cells) @ sums[:, a.number, b.number] for b in every] for a in every])

    def residual(self, cell: int, b: Array) -> Array:
        """Return how the residual of a row in a cell is made of z, shape (p + 1,)."""
        weights = np.zeros(len(self.moments.places))
        weights[self.outcome] = 1.0
        for column, coefficient in zip(self.columns, b, strict=True):
            weights[column.number] -= column.cells[cell] * coefficient
        return weights

    def noise_of_forms(self, b: Array) -> tuple[Array, float]:
        """Return the covariance of v = X'(y - X b), and the variance of (y - X b)'(y - X b), at any b: exact."""
        size, total, squares = len(self.columns), np.zeros((len(self.columns),) * 2), 0.0
        for cell in range(len(self.moments.merged)):
            weights = self.residual(cell, b)
            forms = np.zeros((size + 1, self.moments.features.shape[1]))
            for place, column in enumerate(self.columns):
                if column.cells[cell]:
                    np.add.at(forms[place], self.moments.places[column.number], weights)
            forms[size] = self.moments.form(np.outer(weights, weights))
            noise = self.moments.deviation(forms, cell)
            total += noise[:size, :size]
            squares += float(noise[size, size])
        return total, squares

    @cached_property
    def distance(self) -> float:
        """How many standard errors of its noise the Gram matrix is from a singular one.

        Of the Gram matrix with columns of length 1 every eigenvector is a form of the features, whose value is the
        eigenvalue: the smallest ratio of one to the standard error of its noise; 0 where a column has no length.
        """
        size = len(self.columns)
        gram = self.gram[:size, :size]
        if (np.diag(gram) <= 0).any():
            return 0.0
        lengths = np.sqrt(np.diag(gram))
        values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
        ratios = (
            value / max(math.sqrt(self._noise_along(vector / lengths)), TINY)
            for value, vector in zip(values, vectors.T, strict=True)
        )
        return float(min(ratios))

    def _noise_along(self, direction: Array) -> float:
        """Return the variance of the sum of (X direction)^2."""
        variance = 0.0
        for cell in range(len(self.moments.merged)):
            weights = np.zeros(len(self.moments.places))
            for column, amount in zip(self.columns, direction, strict=True):
                weights[column.number] += column.cells[cell] * amount
            variance += float(self.moments.deviation(self.moments.form(np.outer(weights, weights))[None], cell)[0, 0])
        return variance

    @cached_property
    def fitted(self) -> tuple[Array, Array, Array] | None:
        """The coefficients with the covariances of noise and of sampling; None where they are not determined.

        With the rows' coefficients beta, b - beta = S^-1 v(beta) exactly, S the noisy Gram matrix, v linear in the
        noise; its covariance is taken at b. Sampling: sigma^2 S^-1, rows independent with residuals of one variance
        sigma^2, estimated by (v'v of the residuals + tr(S^-1 Cov v)) / (n - columns), and taken a standard error of its
        noise higher, so that intervals do not rest on an estimate that is too small by chance. Both errors are longer
        by `stretch`.
        """
        size = len(self.columns)
        if self.distance <= FAR_FROM_ZERO * self.moments.z:
            return None
        gram, products = self.gram[:size, :size], self.gram[:size, size]
        inverse = np.linalg.inv(gram)
        b = inverse @ products
        noise, squares = self.noise_of_forms(b)
        residual = float(self.gram[size, size] - b @ products) + float(np.sum(inverse * noise))
        count = float(self.moments.features[:, 0].sum())
        spread = max(residual, 0.0) + math.sqrt(squares)
        longer: float = stretch(self.distance) ** 2
        of_rows = np.asarray(inverse * (longer * spread / max(count - size, 1.0)))
        return b, np.asarray(longer * inverse @ noise @ inverse), of_rows

    def coefficients(self, transform: Array, shift: Array) -> Estimated:
        """Return transform b + shift."""
        if self.fitted is None:
            return unknown(len(transform))
        b, noise, sampling = self.fitted
        errors = [np.sqrt(np.einsum("ij,jk,ik->i", transform, part, transform)) for part in (noise, sampling)]
        return Estimated(value=transform @ b + shift, noise=errors[0], sampling=errors[1])
