"""The matrix mechanism: what it refuses, what it draws, and what the unit and the shares do to the noise."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Stack
from dpress.core.methods.mechanism import Strategy
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import Privelet
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

Centred = Callable[[np.ndarray, float], bool]
LARGE = [Identity((600,)), BinaryTree(300), Boost(300), Privelet(512), Marginals((20, 10, 5), ((0, 1), (1, 2), (0, 2)))]
SMALL = [Identity((6,)), BinaryTree(6), Boost(8), Privelet(8), Marginals((2, 3, 2), ((0, 1), (1, 2), (0,)))]
LOSSES = [PureDP(epsilon="0.2"), ZCDP(rho="0.01")]
MEASUREMENTS = 120
FALSE_ALARM = 1e-6


def names(values: Sequence[object]) -> list[str]:
    return [type(value).__name__ for value in values]


def counts_of(strategy: Strategy) -> np.ndarray:
    cells = np.arange(strategy.map.cells, dtype=np.int64) % 17
    return strategy.map.apply(cells) if hasattr(strategy.map, "parts") else cells


def drawn(mechanism: MatrixMechanism, amount: int) -> np.ndarray:
    """The noise of several measurements divided by its standard deviation, shape (amount, rows)."""
    counts, generator = counts_of(mechanism.strategy), rng.seeded(11)
    exact = counts if hasattr(mechanism.strategy.map, "parts") else mechanism.strategy.map.apply(counts)
    noise = np.array([mechanism.measure(counts, rng=generator).answers - exact for _ in range(amount)])
    return noise / np.sqrt(mechanism.variance)


@pytest.mark.parametrize("loss", LOSSES, ids=names(LOSSES))
@pytest.mark.parametrize("strategy", LARGE, ids=names(LARGE))
def test_answers_have_mean_zero_noise_of_the_stated_variance(
    centred_with: Centred, strategy: Strategy, loss: PureDP | ZCDP
) -> None:
    noise = drawn(MatrixMechanism(strategy=strategy, loss=loss), MEASUREMENTS)
    assert centred_with(noise.ravel(), 1.0)
    assert not centred_with(noise.ravel() * 0.95, 1.0)  # the control: a scale five percent too small
    assert not centred_with(noise.ravel() + 0.05, 1.0)  # the control: a bias


@pytest.mark.parametrize("loss", LOSSES, ids=names(LOSSES))
def test_noise_of_different_rows_and_measurements_is_uncorrelated(loss: PureDP | ZCDP) -> None:
    noise = drawn(MatrixMechanism(strategy=Privelet(512), loss=loss), MEASUREMENTS)
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
    for first, second in ((noise[:, 1:], noise[:, :-1]), (noise[1:], noise[:-1])):
        assert abs((first * second).mean()) < limit / np.sqrt(first.size)
        assert abs((first * first).mean()) > limit / np.sqrt(first.size)  # the control: the same noise twice


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES, ids=names(LOSSES))
@pytest.mark.parametrize("strategy", SMALL, ids=names(SMALL))
def test_answers_to_queries_are_unbiased_with_the_predicted_variance(
    centred_with: Centred, query_errors: Callable[..., np.ndarray], strategy: Strategy, loss: PureDP | ZCDP
) -> None:
    mechanism = MatrixMechanism(strategy=strategy, loss=loss)
    shape = strategy.decoder.shape
    weights = [np.ones(size) for size in shape]
    weights[0] = np.arange(shape[0]) >= 1.0
    if len(shape) > 1:
        weights[1] = np.eye(shape[1])[1]
    weights = [axis.astype(float) for axis in weights]
    errors = query_errors(mechanism, np.arange(strategy.map.cells), weights)
    variance = strategy.decoder.query_variance(mechanism.variance, weights)
    assert centred_with(errors, variance)
    assert not centred_with(errors, 2 * variance)  # the control
    assert not centred_with(errors, variance / 2)  # the control


@pytest.mark.parametrize("strategy", SMALL, ids=names(SMALL))
def test_rows_per_unit_scale_the_noise_by_k_and_k_squared(strategy: Strategy) -> None:
    for relation in list(Relation):
        one, person = Unit(relation=relation), Unit(relation=relation, column="uid", rows=5)
        laplace = [MatrixMechanism(strategy=strategy, loss=LOSSES[0], unit=unit).noises for unit in (one, person)]
        assert [noise.scale for noise in laplace[1]] == [5 * noise.scale for noise in laplace[0]], relation
        gaussian = [MatrixMechanism(strategy=strategy, loss=LOSSES[1], unit=unit).noises for unit in (one, person)]
        assert [noise.sigma2 for noise in gaussian[1]] == [25 * noise.sigma2 for noise in gaussian[0]], relation


@pytest.mark.parametrize(
    ("strategy", "relation", "first", "squared"),
    [
        (Identity((8,)), Relation.ADD_REMOVE, 1, 1),
        (Identity((8,)), Relation.REPLACE_ONE, 2, 2),
        (Boost(8), Relation.ADD_REMOVE, 4, 4),
        (Boost(8), Relation.REPLACE_ONE, 6, 6),
        (BinaryTree(5), Relation.REPLACE_ONE, 6, 6),
        (Privelet(8), Relation.ADD_REMOVE, 4, 4),
        (Privelet(8), Relation.REPLACE_ONE, 6, 8),
        (Privelet(2), Relation.REPLACE_ONE, 2, 4),
    ],
)
def test_noise_is_sensitivity_over_epsilon_and_squared_sensitivity_over_two_rho(
    strategy: Strategy, relation: Relation, first: int, squared: int
) -> None:
    unit = Unit(relation=relation)
    pure = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon="0.1"), unit=unit)
    assert pure.noises == (DiscreteLaplace(scale=Fraction(first * 10)),)
    concentrated = MatrixMechanism(strategy=strategy, loss=ZCDP(rho="0.5"), unit=unit)
    assert concentrated.noises == (DiscreteGaussian(sigma2=Fraction(squared)),)


@pytest.mark.parametrize("make", [BinaryTree, Boost, Privelet, lambda cells: Identity((cells,))])
def test_few_cells_and_sizes_that_are_no_power_work(make: Callable[[int], Strategy]) -> None:
    """Under replace-one a single cell never changes; it is noised as if it could."""
    for case in itertools.product([1, 2, 3, 5], list(Relation)):
        cells, relation = case
        for loss in LOSSES:
            mechanism = MatrixMechanism(strategy=make(cells), loss=loss, unit=Unit(relation=relation))
            counts = np.arange(7, 7 + cells)
            measured = mechanism.measure(counts, rng=rng.seeded(1))
            assert mechanism.claim.proven == loss, case
            assert (mechanism.variance > 0) is True, case
            assert mechanism.strategy.decoder.estimate(measured)[0].shape == (cells,), case
            weights = [np.ones(cells)]
            error = mechanism.strategy.decoder.answer(measured, weights) - counts.sum()
            spread = np.sqrt(mechanism.strategy.decoder.query_variance(mechanism.variance, weights))
            assert 0 < abs(error) < 20 * spread or error == 0, case


@pytest.mark.parametrize("strategy", SMALL, ids=names(SMALL))
def test_counts_of_any_integer_type_give_the_same_answers(strategy: Strategy) -> None:
    for kind in [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64]:
        counts = counts_of(strategy)
        counts[:4] = 100, 100, 0, 100
        counts = np.minimum(counts, 100)
        mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1))
        expected = mechanism.measure(counts, rng=rng.seeded(5)).answers
        got = mechanism.measure(counts.astype(kind), rng=rng.seeded(5)).answers
        assert got.dtype == np.int64, kind
        assert np.array_equal(got, expected), kind


@pytest.mark.parametrize("kind", [np.float64, np.bool_, object])
def test_counts_that_are_no_integers_are_refused(kind: type) -> None:
    mechanism = MatrixMechanism(strategy=Identity((4,)), loss=PureDP(epsilon=1))
    with pytest.raises(ValueError, match="expected counts as integers, got"):
        mechanism.measure(np.ones(4, dtype=kind), rng=rng.seeded(1))


@pytest.mark.parametrize("strategy", SMALL[:4], ids=names(SMALL[:4]))
def test_counts_of_another_number_of_cells_are_refused_in_words(strategy: Strategy) -> None:
    for off in [-1, 1, 8]:
        counts = np.zeros(strategy.map.cells + off, dtype=np.int64)
        with pytest.raises(ValueError, match=f"expected {strategy.map.cells} counts, one a cell, got {len(counts)}$"):
            MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=1)).measure(counts, rng=rng.seeded(1))


def test_a_refusal_never_shows_a_count() -> None:
    secret = 918273
    with pytest.raises(ValueError, match=r"expected 4 counts, one a cell, got 3$") as caught:
        MatrixMechanism(strategy=Identity((4,)), loss=PureDP(epsilon=1)).measure(np.full(3, secret), rng=rng.seeded(1))
    assert str(secret) not in str(caught.value)


def test_a_loss_that_no_additive_noise_is_calibrated_to_is_refused() -> None:
    with pytest.raises(NotSupported, match="additive noise is calibrated to epsilon or rho, got epsilon = 1, delta"):
        MatrixMechanism(strategy=Boost(4), loss=ApproxDP(epsilon=1, delta=1e-6))


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ((Fraction(1, 2), Fraction(1, 2)), "shares must have one number for each of the 3 parts, got 2"),
        ((Fraction(1, 2),) * 3, "add up to 1"),
        ((Fraction(1, 4),) * 3, "add up to 1"),
        ((Fraction(3, 2), Fraction(-1, 4), Fraction(-1, 4)), "must be positive"),
        ((Fraction(1), Fraction(0), Fraction(0)), "must be positive"),
    ],
)
def test_shares_that_do_not_divide_the_loss_are_refused(shares: tuple[Fraction, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatrixMechanism(strategy=replace(SMALL[-1], shares=shares), loss=PureDP(epsilon=1))


def test_the_ends_of_the_allowed_losses_work() -> None:
    for epsilon in ("1e-9", 1000):
        mechanism = MatrixMechanism(strategy=Identity((4,)), loss=PureDP(epsilon=epsilon))
        assert mechanism.claim.proven == PureDP(epsilon=epsilon)
        assert mechanism.measure(np.arange(4), rng=rng.seeded(1)).answers.shape == (4,)


@pytest.mark.parametrize("strategy", SMALL)
def test_the_exact_counts_are_left_as_they_are(strategy: Strategy) -> None:
    matrix = strategy.map
    counts = np.arange(matrix.rows if isinstance(matrix, Stack) else matrix.cells)
    MatrixMechanism(strategy=strategy, loss=ZCDP(rho=1)).measure(counts, rng=rng.seeded(1))
    assert counts.tolist() == list(range(counts.size))


def test_a_share_below_the_smallest_loss_is_refused_by_name() -> None:
    for loss in (PureDP(epsilon="1e-9"), ZCDP(rho="1e-9")):
        with pytest.raises(ValueError, match=r"the smallest share of (epsilon|rho) must lie between 1e-9 and 1000"):
            MatrixMechanism(strategy=SMALL[-1], loss=loss)
