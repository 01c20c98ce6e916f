"""Covariances of product queries from variances of product queries: equal to those of the dense matrix."""

import numpy as np
import pytest

from dpress.core.maps.kron import Kron
from dpress.core.maps.linear import Array, Identity, Marginal, Stack
from dpress.core.maps.sine import Sine
from dpress.core.maps.tree import Tree
from dpress.core.methods.mechanism import Decoder
from dpress.inference.consistency import ConsistentTables
from dpress.inference.covariance import differing, product_covariance
from dpress.inference.least_squares import LeastSquares

UNEVEN = np.linspace(0.5, 3.0, 12)
DECODERS = {
    "cells": (LeastSquares(Identity(12), (4, 3)), 2.0),
    "uneven cells": (LeastSquares(Identity(12), (4, 3)), UNEVEN),
    "product": (LeastSquares(Kron((Tree(4, 2), Tree(3, 2))), (4, 3)), 2.0),
    "sines": (LeastSquares(Sine((4, 3)), (4, 3)), 2.0),
    "marginals": (
        ConsistentTables(Stack((Marginal((4, 3), (0, 1)), Marginal((4, 3), (0,)), Marginal((4, 3), (1,))))),
        np.repeat([2.0, 5.0, 0.7], [12, 4, 3]),
    ),
}


def dense(decoder: Decoder, variance: float | Array) -> Array:
    """The covariance of all cells, by the variances of sums of two: cells are products along one axis at a time."""
    cells = [(row, column) for row in np.eye(4) for column in np.eye(3)]
    out = np.empty((12, 12))
    for i, one in enumerate(cells):
        for j, other in enumerate(cells):
            out[i, j] = product_covariance(lambda own: decoder.query_variance(variance, own), one, other)
    return out


@pytest.mark.parametrize("name", DECODERS)
def test_the_matrix_of_all_covariances_gives_every_query_s_variance(name):
    """No covariance is given: if all that are read off are right, they give variances of queries that are no cells."""
    decoder, variance = DECODERS[name]
    matrix = dense(decoder, variance)
    for own, other in (([1, 1, 0, 0], [1, 0, 1]), ([0.5, -2, 1, 3], [1, 2, -1]), ([1, 1, 1, 1], [0, 1, 0])):
        weights = [np.array(own, dtype=float), np.array(other, dtype=float)]
        query = np.multiply.outer(*weights).ravel()
        assert query @ matrix @ query == pytest.approx(decoder.query_variance(variance, weights))


def test_least_squares_agrees_with_its_own_dense_covariance():
    decoder, variance = DECODERS["product"]
    exact = np.stack([decoder.map.covariance(cell, variance) for cell in np.eye(12)])
    assert dense(decoder, variance) == pytest.approx(exact)


def test_axes_with_equal_weights_do_not_differ():
    ones = np.ones(3)
    assert differing([ones, ones], [ones, np.array([1.0, 0, 1])]) == (1,)
    assert differing([ones], [ones]) == ()
