"""One test for every row of the table in papers/foundations.md, and the two facts that stand above it."""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import ROW, Relation, Unit
from dpress.core.basics.losses.any_loss import composed
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.linear import Identity as IdentityMap
from dpress.core.maps.linear import LinearMap, Marginal, Stack
from dpress.ledger import compose
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.bernoulli import bernoulli
from dpress.noise.laplace import DiscreteLaplace
from papers import lattice

FALSE_ALARM = 1e-6
LIMIT = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
LATTICE = 5e-4
"""The lattice's rounding is counted in the sensitivity: at most 0.05 % more variance (`papers/lattice.py`)."""
MOVED = Unit(relation=Relation.REPLACE_ONE)
EPSILON = Fraction(7, 10)


def variance_fits(errors: np.ndarray, variance: float) -> bool:
    """Independent Laplace errors: the fourth moment is 6 variance^2, so squares have variance 5 variance^2."""
    return abs(float((errors**2).mean()) - variance) < LIMIT * variance * math.sqrt(5.5 / len(errors))


def log_ratio(first: np.ndarray, second: np.ndarray) -> float:
    """The largest log ratio of two distributions over the same outputs."""
    return float(np.abs(np.log(first) - np.log(second)).max())


def pmf_near(centre: int, noise: DiscreteLaplace, reach: int = 60) -> np.ndarray:
    return noise.pmf(np.arange(-reach, reach + 1) - centre)


@pytest.mark.parametrize("bits", [np.zeros(40), np.arange(40) % 2, np.ones(1000)])
def test_mean_of_n_bits_has_sensitivity_1_over_n_and_variance_2_over_epsilon_n_squared(bits: np.ndarray) -> None:
    n = len(bits)
    flipped = np.repeat(bits[None, :], n, axis=0)
    flipped[np.arange(n), np.arange(n)] = 1 - bits
    assert np.abs(flipped.mean(axis=1) - bits.mean()).max() == pytest.approx(1 / n, rel=1e-12)
    released = lattice.laplace(
        np.array([bits.mean()]), epsilon=EPSILON, l1_sensitivity=Fraction(1, n), rng=rng.seeded(1)
    )
    assert released.loss == PureDP(epsilon=EPSILON)
    assert 1 <= released.variance / (2 / (float(EPSILON) * n) ** 2) < 1 + LATTICE


def test_errors_of_the_mean_have_that_variance() -> None:
    n, generator = 50, rng.seeded(2)
    released = (
        lattice.laplace(np.array([0.5]), epsilon=EPSILON, l1_sensitivity=Fraction(1, n), rng=generator)
        for _ in range(4000)
    )
    errors = np.array([one.answers[0] - 0.5 for one in released])
    variance = 2 / (float(EPSILON) * n) ** 2
    assert variance_fits(errors, variance)
    assert not variance_fits(errors, 2 * variance)  # the control: a noise scale of sqrt(2) too much


def test_one_count_has_sensitivity_1_and_an_error_independent_of_n() -> None:
    one = MatrixMechanism(strategy=Identity((1,)), loss=PureDP(epsilon=EPSILON))
    assert one.strategy.map.sensitivity(1, Relation.ADD_REMOVE) == 1
    assert one.noises == (DiscreteLaplace(scale=1 / EPSILON),)
    errors = [one.measure(np.array([n]), rng=rng.seeded(1)).answers[0] - n for n in (0, 10, 10**9)]
    assert len(set(errors)) == 1


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_k_counting_queries_fixed_in_advance_have_sensitivity_k_and_noise_k_over_epsilon(k: int) -> None:
    """k yes-or-no attributes, one table each: a row is in one cell of every table."""
    queries = Stack((IdentityMap(1),) * k)
    assert queries.sensitivity(1, Relation.ADD_REMOVE) == k
    tables = Marginals((2,) * k, tuple((axis,) for axis in range(k)))
    mechanism = MatrixMechanism(strategy=tables, loss=PureDP(epsilon=EPSILON))
    assert [noise.scale for noise in mechanism.noises] == [k / EPSILON] * k
    assert mechanism.claim.proven == PureDP(epsilon=EPSILON)


def brute_histogram_sensitivity(implicit: LinearMap, relation: Relation) -> int:
    columns = np.array([implicit.apply(cell) for cell in np.eye(implicit.cells, dtype=np.int64)])
    moves = columns[:, None] - columns[None] if relation is Relation.REPLACE_ONE else columns
    return int(np.abs(moves).sum(axis=-1).max())


@pytest.mark.parametrize(("unit", "sensitivity"), [(MOVED, 2), (ROW, 1)])
@pytest.mark.parametrize("buckets", [2, 3, 10])
def test_a_histogram_has_sensitivity_2_under_replace_one_and_1_under_add_remove(
    unit: Unit, sensitivity: int, buckets: int
) -> None:
    mechanism = MatrixMechanism(strategy=Identity((buckets,)), loss=PureDP(epsilon=EPSILON), unit=unit)
    for implicit in (mechanism.strategy.map, Marginal((buckets, 3), (0,))):
        assert implicit.sensitivity(1, unit.relation) == sensitivity
        assert brute_histogram_sensitivity(implicit, unit.relation) == sensitivity
    assert mechanism.noises[0].scale == sensitivity / EPSILON


@pytest.mark.parametrize("buckets", [2, 16, 100])
def test_every_bucket_is_within_2_ln_k_over_beta_over_epsilon_with_probability_1_minus_beta(buckets: int) -> None:
    beta, repeats = 0.05, 4000
    mechanism = MatrixMechanism(strategy=Identity((buckets,)), loss=PureDP(epsilon="0.1"), unit=MOVED)
    noise = mechanism.noises[0].sample(repeats * buckets, rng=rng.seeded(3)).reshape(repeats, buckets)
    bound = 2 * math.log(buckets / beta) / 0.1
    allowed = stats.binom.isf(FALSE_ALARM, repeats, beta)
    largest = np.abs(noise).max(axis=1)
    assert (largest > bound).sum() <= allowed
    assert (largest > bound / 2).sum() > allowed  # the control: what the scale of add-remove would promise
    whole = math.ceil(bound)  # on the lattice the bound is exact once it is rounded up to a whole count
    tail = float(1 - mechanism.noises[0].pmf(np.arange(-whole, whole + 1)).sum())
    assert 1 - (1 - tail) ** buckets <= beta


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10), Fraction(200)])
def test_the_laplace_tail_beyond_t_scales_is_exp_minus_t(scale: Fraction) -> None:
    """On the lattice P(|X| >= x) = 2 q^x / (1 + q): exp(-t) times at most 2 / (1 + q) and at least 1."""
    noise = DiscreteLaplace(scale=scale)
    for t in (1, 2, 5):
        x = math.ceil(t * scale)
        tail = 1 - float(noise.pmf(np.arange(-x + 1, x)).sum())
        factor = 2 / (1 + math.exp(-1 / scale))
        assert tail == pytest.approx(math.exp(-x / scale) * factor, rel=1e-8)
        assert math.exp(-t) <= tail * (1 + 1e-9) or x > t * scale
        assert tail <= math.exp(-t) * (1 + 0.5 / scale)
    draws = np.abs(noise.sample(200_000, rng=rng.seeded(4)))
    for t in (1, 2):
        x = math.ceil(t * scale)
        expected = 2 * math.exp(-x / scale) / (1 + math.exp(-1 / scale))
        spread = math.sqrt(expected * (1 - expected) / draws.size)
        assert abs((draws >= x).mean() - expected) < LIMIT * spread
        assert abs((draws >= x).mean() - 1.05 * expected) > LIMIT * spread  # the control


def test_post_processing_keeps_epsilon() -> None:
    """Theorem 6, exactly: push an output distribution through functions and random channels."""
    noise = DiscreteLaplace.calibrate(epsilon=EPSILON, l1_sensitivity=1)
    first, second = pmf_near(0, noise), pmf_near(1, noise)
    assert log_ratio(first, second) == pytest.approx(float(EPSILON), rel=1e-12)
    outputs = np.arange(len(first))
    for function in (outputs % 7, outputs // 10, np.abs(outputs - 60), np.minimum(outputs, 55), outputs > 60):
        pushed = [np.bincount(function.astype(int), weights=mass) for mass in (first, second)]
        kept = pushed[0] > 0
        assert log_ratio(pushed[0][kept], pushed[1][kept]) <= float(EPSILON) + 1e-12
    for seed in range(10):
        channel = (rng.seeded(seed).words(len(first) * 5) / 2.0**64).reshape(len(first), 5) ** 8
        channel /= channel.sum(axis=1, keepdims=True)
        assert log_ratio(first @ channel, second @ channel) <= float(EPSILON)


def test_looking_at_the_data_again_is_no_post_processing() -> None:
    """The control: a function that knows which table it came from exceeds epsilon."""
    noise = DiscreteLaplace.calibrate(epsilon=EPSILON, l1_sensitivity=1)
    pushed = [pmf_near(0, noise), pmf_near(2, noise)]
    assert log_ratio(*pushed) > float(EPSILON) + 0.1


@pytest.mark.parametrize("distance", [1, 2, 3, 10])
def test_group_privacy_is_distance_times_epsilon(distance: int) -> None:
    """Theorem 7, exactly on the mass function, in the ledger's price and in the noise for a person."""
    noise = DiscreteLaplace.calibrate(epsilon=EPSILON, l1_sensitivity=1)
    assert log_ratio(pmf_near(0, noise), pmf_near(distance, noise)) == pytest.approx(
        float(distance * EPSILON), rel=1e-12
    )
    assert compose.group(PureDP(epsilon=EPSILON), distance) == PureDP(epsilon=distance * EPSILON)
    person = Unit(column="uid", rows=distance)
    protected = MatrixMechanism(strategy=Identity((4,)), loss=PureDP(epsilon=EPSILON), unit=person).noises[0]
    assert protected.scale == distance / EPSILON


@pytest.mark.parametrize("epsilons", [["0.1"], ["0.1", "0.2"], ["0.5", "0.25", "0.125"], ["0.3"] * 3])
def test_basic_composition_adds_epsilons(epsilons: list[str]) -> None:
    """Exactly on product distributions, in claims and in the ledger; k epsilon where all are equal."""
    noises = [DiscreteLaplace.calibrate(epsilon=epsilon, l1_sensitivity=1) for epsilon in epsilons]
    joint = [np.ones(1), np.ones(1)]
    for noise in noises:
        joint = [np.kron(mass, pmf_near(table, noise, 8)) for table, mass in enumerate(joint)]
    total = sum((Fraction(epsilon) for epsilon in epsilons), Fraction(0))
    assert log_ratio(*joint) == pytest.approx(float(total), rel=1e-12)
    losses = [PureDP(epsilon=epsilon) for epsilon in epsilons]
    assert composed(losses) == PureDP(epsilon=total)
    charges = [compose.Charge(loss=loss) for loss in losses]
    assert compose.total(charges, PureDP(epsilon=1), ROW) == {"epsilon": total}


def test_composition_holds_when_the_second_epsilon_is_chosen_after_the_first_answer() -> None:
    """The adaptive case, exactly: the second query and its noise depend on the first answer, within its budget."""
    first = DiscreteLaplace.calibrate(epsilon="0.2", l1_sensitivity=1)
    second = DiscreteLaplace.calibrate(epsilon="0.4", l1_sensitivity=1)
    worst = 0.0
    for answer in range(-10, 11):
        step = 1 if answer > 0 else -1  # which count is asked for next
        ones = [first.pmf(answer - table) * second.pmf(np.arange(-20, 21) - step * table) for table in (0, 1)]
        worst = max(worst, log_ratio(*ones))
    assert worst == pytest.approx(0.6, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_randomised_response_keeps_with_e_to_epsilon_over_1_plus_it(epsilon: str) -> None:
    """The odds p / (1 - p) are e^epsilon, rounded down to a rational that an exact coin can have."""
    ratio = Fraction(math.floor(math.exp(float(epsilon)) * 2**40), 2**40)
    keep = ratio / (1 + ratio)
    assert math.isclose(math.log(keep / (1 - keep)), float(epsilon), rel_tol=1e-10)
    assert math.log(keep / (1 - keep)) <= float(epsilon)
    channel = np.array([[keep, 1 - keep], [1 - keep, keep]], dtype=float)
    assert (
        max(log_ratio(channel[a], channel[b]) for a, b in itertools.product((0, 1), repeat=2)) <= float(epsilon) + 1e-12
    )
    draws, size = bernoulli(keep, 200_000, rng=rng.seeded(5)), 200_000
    spread = math.sqrt(keep * (1 - keep) / size)
    assert abs(draws.mean() - float(keep)) < LIMIT * spread
    assert abs(draws.mean() - float(1 - keep)) > LIMIT * spread  # the control: p and q swapped


@pytest.mark.parametrize("epsilon", ["0.5", "1"])
def test_the_mean_by_randomised_response_errs_by_one_over_root_n_and_laplace_by_one_over_n(epsilon: str) -> None:
    """Exact variances: p (1 - p) / (n (2 p - 1)^2) of the debiased mean against 2 / (epsilon n)^2."""
    p = math.exp(float(epsilon)) / (1 + math.exp(float(epsilon)))
    for n in (100, 10_000):
        response = p * (1 - p) / (n * (2 * p - 1) ** 2)
        released = lattice.laplace(np.array([0.5]), epsilon=epsilon, l1_sensitivity=Fraction(1, n), rng=rng.seeded(1))
        assert response / released.variance == pytest.approx(
            n * float(epsilon) ** 2 / 2 * p * (1 - p) / (2 * p - 1) ** 2, rel=LATTICE
        )
        assert response > released.variance
