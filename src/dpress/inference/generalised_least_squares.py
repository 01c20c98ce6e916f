"""Generalised least squares over several lists of unbiased answers, whose errors are independent from list to list.

lists of answers with their covariance -> each without correlation -> one system -> any sum of unknowns that follows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array

SMALLEST = 1e-9  # of the eigenvalues and singular values that count, as a share of the largest
NEAR = 1e-6  # of a weight that follows from what was measured


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """Unbiased answers y = A x + e of one release, Cov(e) = V.

    Args:
        matrix: A, shape (answers, unknowns).
        values: y, shape (answers,).
        covariance: V, positive on the diagonal; where answers depend on each other, so do their rows of A.
    """

    matrix: Array
    values: Array
    covariance: Array

    @property
    def uncorrelated(self) -> tuple[Array, Array]:
        """The same answers as sums of variance 1 without correlation: their matrix and values."""
        error = np.sqrt(np.diagonal(self.covariance))
        eigenvalues, vectors = np.linalg.eigh(self.covariance / np.outer(error, error))
        kept = eigenvalues > SMALLEST * eigenvalues[-1]
        turned = (vectors[:, kept] / np.sqrt(eigenvalues[kept])).T / error
        return turned @ self.matrix, turned @ self.values


@dataclass(frozen=True, kw_only=True, eq=False)
class GeneralisedLeastSquares:
    """The best linear unbiased estimates from all of some lists of answers.

    Error: of w x the variance w (sum_i A_i^T V_i^+ A_i)^+ w^T, exact where every V_i is; no unbiased sum of the answers
    has less, so that it is at most that of any single one.
    Paper: Aitken 1936; with answers that follow from others, as V_i^+ needs, Zyskind and Martin 1969.

    Args:
        lists: of answers, about the same unknowns.

    >>> first = Answers(matrix=np.array([[1.0, 1.0]]), values=np.array([90.0]), covariance=np.array([[50.0]]))
    >>> again = Answers(matrix=np.array([[1.0, 1.0]]), values=np.array([110.0]), covariance=np.array([[50.0]]))
    >>> value, variance = GeneralisedLeastSquares(lists=(first, again)).estimates(np.array([[1.0, 1.0]]))
    >>> value.round(6).tolist(), variance.round(6).tolist()
    ([100.0], [[25.0]])
    """

    lists: tuple[Answers, ...]

    @cached_property
    def _systems(self) -> tuple[tuple[Array, Array], ...]:
        return tuple(answers.uncorrelated for answers in self.lists)

    @cached_property
    def _matrix(self) -> Array:
        return np.concatenate([matrix for matrix, _ in self._systems])

    @cached_property
    def _values(self) -> Array:
        return np.concatenate([values for _, values in self._systems])

    @cached_property
    def _inverse(self) -> Array:
        """The pseudo-inverse, its unknowns brought to one scale first: counts and sums have others."""
        scale = np.linalg.norm(self._matrix, axis=0)
        scale[scale == 0] = 1.0
        return np.asarray(np.linalg.pinv(self._matrix / scale, rcond=SMALLEST) / scale[:, None])

    def determines(self, weights: Array) -> bool:
        """Return whether a sum of the unknowns, shape (unknowns,), follows from the answers."""
        return bool(np.allclose(weights @ self._inverse @ self._matrix, weights, rtol=0, atol=NEAR))

    def estimates(self, weights: Array) -> tuple[Array, Array]:
        """Return sums of the unknowns that follow, and the covariance of their errors.

        Args:
            weights: of the unknowns, shape (sums, unknowns).
        """
        gains = weights @ self._inverse
        return gains @ self._values, gains @ gains.T

    def used(self, weights: Array) -> Sequence[bool]:
        """Return of every list whether sums of the unknowns, shape (sums, unknowns), are made of it."""
        gains = np.abs(weights @ self._inverse)
        ends = np.cumsum([len(values) for _, values in self._systems])[:-1]
        return [bool(part.size and part.max() > NEAR * gains.max()) for part in np.split(gains, ends, axis=1)]
