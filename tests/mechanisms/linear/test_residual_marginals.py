"""`residual_marginals`: exact sensitivities, the optimum, exact variances, tables that agree."""

import itertools
import math

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Identity
from dpress.core.maps.residuals import Residual
from dpress.core.maps.workload import Marginals as MarginalWorkload
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.residual_marginals import CARD, ResidualMarginals
from dpress.release.plan.linear_error import mean_variance

SHAPE, TABLES = (2, 3, 4), ((0, 1), (2, 1), (2,))
LOSS = ZCDP(rho="0.5")


def dense(shape: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    return np.stack([Residual(shape, axes).apply(one) for one in np.eye(math.prod(shape), dtype=np.int64)], axis=1)


@pytest.mark.parametrize("axes", [(), (0,), (1,), (2, 1), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("order", [1, 2])
def test_sensitivities_are_those_of_the_matrix(axes: tuple[int, ...], order: int) -> None:
    matrix = dense(SHAPE, axes)
    one = (np.abs(matrix) ** order).sum(axis=0)
    two = max((np.abs(a - b) ** order).sum() for a, b in itertools.combinations(matrix.T, 2))
    part = Residual(SHAPE, axes)
    assert part.sensitivity(order, Relation.ADD_REMOVE) == one.max() == one.min()
    assert part.sensitivity(order, Relation.REPLACE_ONE) == two
    answers = np.arange(part.rows, dtype=float)
    assert np.allclose(part.transpose(answers), matrix.T @ answers)


def test_variances_are_those_of_least_squares_on_the_dense_matrix() -> None:
    mechanism = MatrixMechanism(strategy=ResidualMarginals(SHAPE, TABLES), loss=LOSS)
    matrix = np.concatenate([dense(SHAPE, part.axes) for part in mechanism.strategy.map.parts])
    covariance = np.linalg.pinv(matrix.T @ (matrix / mechanism.variance[:, None]))
    rng_ = np.arange(1.0, 5.0)
    for weights in (
        [np.ones(2), np.array([1.0, 0, 1]), rng_],
        [np.array([1.0, 0]), np.array([0, 2.0, -1]), np.ones(4)],
    ):
        flat = np.einsum("i,j,k->ijk", *weights).ravel()
        assert mechanism.decoder.query_variance(mechanism.variance, weights) == pytest.approx(flat @ covariance @ flat)


@pytest.mark.parametrize(
    ("shape", "tables"),
    [(SHAPE, TABLES), ((2,) * 14, tuple(itertools.combinations(range(14), 2))), ((5, 3), ((0,), (1,)))],
)
def test_the_mean_variance_is_the_bound_and_never_above_independent_tables(
    shape: tuple[int, ...], tables: tuple[tuple[int, ...], ...]
) -> None:
    workload = MarginalWorkload(shape, tables)
    own = mean_variance(MatrixMechanism(strategy=ResidualMarginals(shape, tables), loss=LOSS), workload)
    assert own == pytest.approx(lower_bound(workload, Relation.ADD_REMOVE), rel=0.01)  # noise of variance 1
    assert own < mean_variance(MatrixMechanism(strategy=Marginals(shape, tables), loss=LOSS), workload)


def test_tables_agree_and_are_exact_where_noise_is_tiny() -> None:
    mechanism = MatrixMechanism(strategy=ResidualMarginals(SHAPE, TABLES), loss=ZCDP(rho=1000))
    cells = np.arange(24).reshape(SHAPE)
    tables = [cells.sum(axis=2).ravel(), cells.sum(axis=0).T.ravel(), cells.sum(axis=(0, 1))]
    measured = mechanism.measure(mechanism.of_tables(np.concatenate(tables)), rng=rng.seeded(1))
    found = mechanism.decoder.estimate(measured)
    assert all(np.allclose(own, true, atol=0.5) for own, true in zip(found, tables, strict=True))
    assert np.allclose(found[0].reshape(2, 3).sum(axis=0), found[1].reshape(4, 3).sum(axis=0))
    assert np.allclose(found[1].reshape(4, 3).sum(axis=1), found[2])


def test_the_claim_is_rho_and_counts_a_residual_by_its_own_sensitivity() -> None:
    mechanism = MatrixMechanism(strategy=ResidualMarginals(SHAPE, TABLES), loss=LOSS, unit=ROW)
    assert mechanism.claim.proven == LOSS
    assert (
        Residual((5,), (0,)).sensitivity(2, Relation.ADD_REMOVE) == 20 > Identity(5).sensitivity(2, Relation.ADD_REMOVE)
    )


def test_it_serves_several_tables_under_rho() -> None:
    assert CARD.strategy is not None
    assert CARD.strategy(MarginalWorkload(SHAPE, TABLES), LOSS) == ResidualMarginals(SHAPE, TABLES)
    assert CARD.strategy(MarginalWorkload(SHAPE, TABLES), PureDP(epsilon=1)) is None
    assert CARD.strategy(MarginalWorkload((1, 3), ((0,), (1,))), LOSS) is None
    with pytest.raises(ValueError, match="each over a different set of axes"):
        ResidualMarginals(SHAPE, ((0,), (0,)))
