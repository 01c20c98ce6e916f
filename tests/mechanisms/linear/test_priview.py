"""`priview`: exact variances, the claim, covers that hold every table, and how far below separate tables it is."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.workload import Marginals as Workload
from dpress.inference.lower_bound import lower_bound
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.priview import CARD, Priview
from dpress.mechanisms.linear.view_cover import best_cover, weights_of
from dpress.release.plan.linear_error import mean_variance

SHAPE, TABLES = (2, 2, 2, 3), ((0, 1), (2, 1), (3, 0))
STRATEGY = Priview(SHAPE, TABLES, ((0, 3), (2, 0, 1), (2,)), (Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)))
LOSS = PureDP(epsilon=1)
FOURTEEN = (2, 22, 5, 9, 3, 16, 7, 4, 12, 2, 6, 18, 8, 10)
FOURIER = 16_770  # of all pairs of 23 binary attributes: signed sums with shares c^(1/3)


def all_of(shape: tuple[int, ...], ways: int) -> Workload:
    return Workload(shape, tuple(itertools.combinations(range(len(shape)), ways)))


def chosen(workload: Workload) -> Priview:
    assert CARD.strategy is not None
    strategy = CARD.strategy(workload, LOSS)
    assert isinstance(strategy, Priview)
    return strategy


def error(strategy: Priview | Marginals, workload: Workload) -> float:
    return mean_variance(MatrixMechanism(strategy=strategy, loss=LOSS), workload)


def dense(strategy: Priview) -> np.ndarray:
    cells = math.prod(strategy.shape)
    return np.stack([strategy.map.apply(cell) for cell in np.eye(cells, dtype=np.int64)], axis=1)


def test_variances_are_those_of_least_squares_on_the_dense_matrix() -> None:
    mechanism, matrix = MatrixMechanism(strategy=STRATEGY, loss=LOSS), dense(STRATEGY)
    covariance = np.linalg.pinv(matrix.T @ (matrix / np.asarray(mechanism.variance)[:, None]))
    one, cells = [np.ones(size) for size in SHAPE], np.array([1.0, 0, 2])
    for weights in (
        [np.array([1.0, 0]), *one[1:]],
        [np.array([1.0, 0]), one[1], one[2], cells],
        [one[0], np.array([0, 1.0]), np.array([3.0, -1]), one[3]],
        one,
    ):
        flat = np.einsum("i,j,k,l->ijkl", *weights).ravel()
        exact = flat @ covariance @ flat
        assert mechanism.decoder.query_variance(mechanism.variance, weights) == pytest.approx(exact)
    for axes, variances in zip(TABLES, mechanism.decoder.cell_variances(mechanism.variance), strict=True):
        weights = [np.eye(1, size)[0] if axis in axes else np.ones(size) for axis, size in enumerate(SHAPE)]
        assert variances == pytest.approx(mechanism.decoder.query_variance(mechanism.variance, weights))
    with pytest.raises(NotSupported, match=r"no published table holds the axes \[1, 3\]"):
        mechanism.decoder.query_variance(1.0, [one[0], np.array([1.0, 0]), one[2], cells])


def test_tables_agree_and_are_exact_where_noise_is_tiny() -> None:
    mechanism = MatrixMechanism(strategy=STRATEGY, loss=LOSS)
    cells = np.arange(24).reshape(SHAPE) ** 2
    tables = [cells.sum(axis=(2, 3)), cells.sum(axis=(0, 3)).T, cells.sum(axis=(1, 2)).T]
    measured = mechanism.measured(STRATEGY.map.apply(cells.ravel()))
    found = mechanism.decoder.estimate(measured)
    assert all(np.allclose(table, truth.ravel()) for table, truth in zip(found, tables, strict=True))
    noisy = mechanism.noisy(STRATEGY.map.apply(cells.ravel()) + 0, rng=rng.seeded(1))
    assert not np.array_equal(noisy.answers, measured.answers)
    first, second, third = mechanism.decoder.estimate(noisy)
    assert np.allclose(first.reshape(2, 2).sum(axis=0), second.reshape(2, 2).sum(axis=0))
    assert np.allclose(first.reshape(2, 2).sum(axis=1), third.reshape(3, 2).sum(axis=0))
    assert mechanism.decoder.answer(noisy, [np.array([0, 1.0]), *map(np.ones, SHAPE[1:])]) == pytest.approx(
        first.reshape(2, 2)[1].sum()
    )


@pytest.mark.parametrize("relation", list(Relation))
def test_the_claim_is_what_the_worst_change_costs(relation: Relation) -> None:
    mechanism = MatrixMechanism(strategy=STRATEGY, loss=LOSS, unit=Unit(relation=relation))
    scales = np.repeat([float(n.scale) for n in mechanism.noises], [part.rows for part in mechanism.parts])
    columns = dense(STRATEGY).T / scales
    moves = [*columns, *(a - b for a, b in itertools.combinations(columns, 2) if relation is Relation.REPLACE_ONE)]
    assert max(np.abs(move).sum() for move in moves) == pytest.approx(1)
    assert mechanism.claim.proven == LOSS


@pytest.mark.parametrize(
    ("shape", "ways", "least"),
    [((2,) * 23, 2, 8), (FOURTEEN, 2, 1.9), ((2,) * 12, 3, 10), ((2, 3, 2, 4), 2, 1.2), ((16, 20), 1, 1)],
)
def test_it_errs_less_than_separate_tables(shape: tuple[int, ...], ways: int, least: float) -> None:
    workload = all_of(shape, ways)
    strategy = chosen(workload)
    gain = error(Marginals(shape, workload.tables), workload) / error(strategy, workload)
    assert least * 0.999 < gain < 2 * least + 20
    assert error(strategy, workload) > 2 * lower_bound(workload, Relation.ADD_REMOVE)


def test_pairs_of_binaries_are_far_below_signed_sums_of_their_own() -> None:
    workload = all_of((2,) * 23, 2)
    assert error(chosen(workload), workload) < FOURIER / 3.5


@pytest.mark.parametrize(("shape", "ways"), [((2,) * 9, 2), (FOURTEEN, 2), ((2, 3) * 4, 3), ((4, 4, 2), 1)])
def test_a_cover_tells_of_every_part_of_every_table(shape: tuple[int, ...], ways: int) -> None:
    workload = all_of(shape, ways)
    strategy, cover = chosen(workload), best_cover(shape, workload.tables)
    assert sum(strategy.shares) == 1
    for axes in weights_of(shape, workload.tables):
        assert any({*axes} <= {*view} for view in strategy.views)
    coarse = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon="0.001"))  # noise so wide that steps do not count
    assert mean_variance(coarse, workload) == pytest.approx(cover.variance * 1e6 / workload.queries, rel=1e-4)


def test_shares_are_the_best_for_their_views() -> None:
    workload = all_of((2, 3, 2, 4, 2, 5), 2)
    strategy = chosen(workload)
    least = error(strategy, workload)
    for place in range(1, len(strategy.shares)):
        for move in (Fraction(1, 50), Fraction(-1, 50)):
            step = strategy.shares[place] * move
            shares = (strategy.shares[0] - step, *strategy.shares[1:])
            moved = (*shares[:place], shares[place] + step, *shares[place + 1 :])
            other = Priview(strategy.shape, strategy.tables, strategy.views, moved)
            assert least < error(other, workload) * (1 + 1e-6)


def test_views_that_leave_something_out_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lie within views; outside: \[\(0, 1\)\]"):
        Priview((2, 2, 2), ((0, 1), (2,)), ((0, 2), (1, 2)), (Fraction(1, 2), Fraction(1, 2)))
    with pytest.raises(ValueError, match="each another"):
        Priview((2, 2), ((0, 1), (1, 0)), ((0, 1),), (Fraction(1),))


def test_it_serves_several_tables_under_epsilon() -> None:
    assert CARD.strategy is not None
    workload = Workload(SHAPE, TABLES)
    assert CARD.strategy(workload, LOSS) is not None
    assert CARD.strategy(workload, ZCDP(rho=1)) is None
    assert CARD.strategy(Workload(SHAPE, ((0, 1),)), LOSS) is None
    strategy = chosen(Workload((1, 3, 1, 4), ((0, 1), (2, 3), (0,))))
    assert strategy.views == ((0, 1, 2, 3),) or {*strategy.views} == {(0, 1, 2), (0, 2, 3)}
    assert strategy.decoder.query_variance(1.0, [np.ones(1), np.eye(3)[0], np.ones(1), np.ones(4)]) < 9
    assert CARD.strategy(Workload((2,) * 46, all_of((2,) * 46, 2).tables), LOSS) is None  # more than 1,000
