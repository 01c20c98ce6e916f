"""The covariance of two product queries, from exact variances of product queries alone."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from dpress.core.maps.linear import Array

Weights = Sequence[Array]
Covariance = Callable[[Array], Array]
"""From the weights of sums of cells, shape (sums, *cells), to the covariance of their errors, shape (sums, sums)."""


def differing(first: Weights, second: Weights) -> tuple[int, ...]:
    """Return the axes along which two product queries have other weights."""
    pairs = enumerate(zip(first, second, strict=True))
    return tuple(axis for axis, (left, right) in pairs if not np.array_equal(left, right))


def product_covariance(variance: Callable[[Weights], float], first: Weights, second: Weights) -> float:
    """Return the covariance of the answers to two product queries.

    Where the covariance of the cells is a sum of products M_1 x ... x M_k of symmetric matrices, one for every axis,
    the variance Q is a quadratic form along each axis by itself, and M(p, q) = (M(p + q, p + q) - M(p - q, p - q)) / 4
    on every axis where the two differ. That is so of independent noise on cells, of products of strategies, and of
    consistent marginals; along one axis it is so of every linear estimate.
    Formula: 4^-d sum over signs s of (prod s_i) Q(p_i + s_i q_i along the d axes where they differ). Exact.

    Args:
        variance: Q, of the answer to a product query.
        first: weights along every axis.
        second: of the same shapes.
    """
    axes, terms = differing(first, second), []
    for signs in itertools.product((1.0, -1.0), repeat=len(axes)):
        combined = [*first]
        for sign, axis in zip(signs, axes, strict=True):
            combined[axis] = first[axis] + sign * second[axis]
        terms.append(math.prod(signs) * variance(combined))
    return math.fsum(terms) * 0.25 ** len(axes)
