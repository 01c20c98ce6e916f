"""pgr: fields and points against the definitions, the collector's sums against the dense matrix, error and length."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.reports import projective
from dpress.inference.incidence import hyperplane_sums
from dpress.mechanisms.oracle.pgr import Pgr, best_order
from dpress.mechanisms.oracle.subset_selection import SubsetSelection

SPACES = [(2, 1), (2, 2), (2, 5), (3, 4), (4, 4), (8, 3), (5, 3), (7, 2)]


def oracle_of(size, epsilon="1", **stated):
    return Pgr(size=size, loss=PureDP(epsilon=epsilon), **stated)


def incident(order, dimension):
    """Which pairs of points have the product 0, shape (points, points)."""
    vectors, _ = projective.coordinates(np.arange(projective.points(order, dimension)), order, dimension)
    total = np.zeros((vectors.shape[1],) * 2, dtype=np.int64)
    for row in vectors:
        pairs = np.meshgrid(row, row, indexing="ij")
        total = projective.plus(total, projective.times(*pairs, order), order)
    return total == 0


@pytest.mark.parametrize("order", [2, 4, 7, 8])
def test_a_field_has_inverses_and_distributes(order):
    x, y, z = (each.ravel() for each in np.meshgrid(*[np.arange(order)] * 3))
    left = projective.times(x, projective.plus(y, z, order), order)
    right = projective.plus(projective.times(x, y, order), projective.times(x, z, order), order)
    assert np.array_equal(left, right)
    assert not projective.plus(x, projective.minus(x, order), order).any()
    others = np.arange(1, order)
    assert (projective.times(others, projective.inverses(order)[1:], order) == 1).all()
    assert np.array_equal(projective.times(x, y, order) == 0, (x == 0) | (y == 0))  # 6 would have 2 * 3 = 0


@pytest.mark.parametrize(("order", "dimension"), SPACES)
def test_every_multiple_of_a_point_has_its_number(order, dimension):
    numbers = np.arange(projective.points(order, dimension))
    vectors, lead = projective.coordinates(numbers, order, dimension)
    assert np.array_equal(lead, (vectors != 0).argmax(axis=0))
    for scale in range(1, order):
        multiple = projective.times(vectors, np.full_like(vectors, scale), order)
        assert np.array_equal(projective.numbers(multiple, order), numbers)


@pytest.mark.parametrize(("order", "dimension"), SPACES)
def test_sums_over_hyperplanes_are_the_dense_matrix(order, dimension):
    dense = incident(order, dimension)
    counts = np.arange(len(dense)) ** 2 % 101
    assert np.array_equal(hyperplane_sums(counts, order), dense @ counts)
    assert (dense.sum(axis=0) == projective.points(order, dimension - 1)).all()
    both = dense.astype(int) @ dense
    assert (both[~np.eye(len(dense), dtype=bool)] == projective.points(order, max(dimension - 2, 0))).all()


@pytest.mark.parametrize(("size", "epsilon", "share"), [(1024, "1", 1.004), (1024, "2", 1.005), (65536, "4", 1.001)])
def test_the_error_is_that_of_the_optimum_in_a_few_bytes(size, epsilon, share):
    own, best = oracle_of(size, epsilon), SubsetSelection(size=size, loss=PureDP(epsilon=epsilon))
    assert 1 <= own.variance(1, 1 / size) / best.variance(1, 1 / size) < share
    assert own.width == (2 if size == 1024 else 3)


def test_few_values_are_randomised_response():
    own = oracle_of(6, "3")
    assert (own.order, own.dimension, own.points) == (5, 2, 6)
    assert float(own.q * 5 / (1 - own.p)) == pytest.approx(1)


@pytest.mark.parametrize(("size", "order", "dimension"), [(40, 3, 4), (60, 4, 4), (7, 7, 2)])
def test_the_variance_of_a_weighted_sum_is_exact(size, order, dimension):
    own = oracle_of(size, order=order)
    assert own.dimension == dimension
    held, weights = np.arange(size) % 3, np.cos(np.arange(size))
    rows = np.array([[float(one) for one in row] for row in own.channel().probabilities])
    reports = incident(order, dimension)[:, :size] @ weights / float(own.p - own.q)
    exact = float(held @ (rows @ reports**2 - (rows @ reports) ** 2))
    single = float(weights**2 @ [own.variance(1, 1.0) * h + own.variance(1) * (held.sum() - h) for h in held])
    assert own.covariances(held, int(held.sum()))(weights) == pytest.approx(exact - single, rel=1e-9)
    assert own.covariances(held[::-1], int(held.sum()))(weights) != pytest.approx(exact - single, rel=1e-3)


def test_a_wrong_p_is_found_by_the_exact_loss():
    own = oracle_of(40)
    with pytest.raises(ValueError, match="reports would spend more than epsilon = 1"):
        dataclasses.replace(own, p=own.p + Fraction(1, 2**40))


@pytest.mark.parametrize(
    ("size", "order", "error", "message"),
    [
        (40, 6, ValueError, "order must be a prime up to 1021, 4 or 8, got order=6"),
        (40, 16, ValueError, "order must be a prime up to 1021, 4 or 8, got order=16"),
        (2**20, 1021, NotSupported, "order = 1021 makes too many points of 1048576 values; leave out order"),
        (2**26, 0, NotSupported, "size must be at most 67108863, got size=67108864"),
    ],
)
def test_what_is_refused(size, order, error, message):
    with pytest.raises(error, match=message):
        oracle_of(size, order=order)


def test_a_point_that_there_is_not_is_a_fault():
    own = oracle_of(70)
    reports = np.array([[own.points - 1], [own.points]], dtype=np.uint8)
    assert own.faults(reports)["out of range"].tolist() == [False, True]


def test_the_largest_domain_has_an_order():
    assert best_order(2**26 - 1, Fraction(1)) == 2
    own = oracle_of(2**26 - 1)
    assert own.perturb(np.array([0, own.size - 1], dtype=np.int32), rng=rng.seeded(1)).shape == (2, 4)
