"""Intervals: exact coverage from the mass functions, and simulated coverage of real queries."""

import math
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Range
from dpress.core.methods.mechanism import Strategy
from dpress.inference.interval import Tail, half_width
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.haar import Haar
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import Privelet
from dpress.noise.distribution import Noise
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

CONFIDENCES = [0.95, 0.99]
EPSILONS = [0.01, 0.1, 0.5, 1, 2, 5, 10]
POINTS = 1 << 16
ROUNDING = 1e-11
"""What the transforms may be off by, far below any difference that a step of the lattice makes."""
FALSE_ALARM = 1e-6
DRAWS = 50_000


def laplace_for(epsilon: float | str, sensitivity: int = 1) -> DiscreteLaplace:
    return DiscreteLaplace.calibrate(epsilon=epsilon, l1_sensitivity=sensitivity)


def within(mass: np.ndarray, reach: int) -> float:
    """P(|X| <= reach) for a mass function on a circle of POINTS points, 0 first."""
    return float(mass[: reach + 1].sum() + mass[-reach:].sum()) if reach else float(mass[0])


@cache
def transform(noise: Noise) -> np.ndarray:
    places = np.fft.fftfreq(POINTS, 1 / POINTS)
    return np.fft.rfft(noise.pmf(places))


def coverage_of_sum(noise: Noise, terms: int, half: float) -> float:
    return within(np.fft.irfft(transform(noise) ** terms, POINTS), int(half))


def coverage_of_weighted_sum(noise: DiscreteLaplace, weights: np.ndarray, unit: int, half: float) -> float:
    """Exact, for weights that are multiples of 1/unit: product of (1-q)^2 / (1 - 2 q cos(w t) + q^2), transformed."""
    q = math.exp(-1 / noise.scale)
    angles = np.arange(POINTS // 2 + 1) * (2 * math.pi / POINTS)
    factors = ((1 - q) ** 2 / (1 - 2 * q * np.cos(weight * unit * angles) + q * q) for weight in weights if weight)
    return within(np.fft.irfft(math.prod(factors, start=np.ones(len(angles))), POINTS), int(half * unit))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sums_of_laplace_noise_are_covered_exactly(epsilon: float) -> None:
    for confidence in [0.5, 0.8, 0.9, 0.905, *CONFIDENCES, 0.999]:
        noise = laplace_for(epsilon)
        for terms in (*range(1, 17), 24, 31, 48, 63, 64):
            half = half_width(terms * noise.variance, confidence, "laplace")
            assert coverage_of_sum(noise, terms, half) >= confidence - ROUNDING, (confidence, terms)


@pytest.mark.parametrize("rho", [0.0005, 0.01, 0.5, 2, 8, 50])
def test_sums_of_gaussian_noise_are_covered_exactly(rho: float) -> None:
    for confidence in CONFIDENCES:
        noise = DiscreteGaussian.calibrate(rho=rho, l2_sensitivity_squared=1)
        for terms in range(1, 65):
            half = half_width(terms * noise.variance, confidence, "gaussian")
            assert coverage_of_sum(noise, terms, half) >= confidence - ROUNDING, (confidence, terms)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_normal_quantile_alone_would_not_cover_one_laplace_variable(confidence: float) -> None:
    """The control: coverage is told apart from the confidence."""
    noise = laplace_for(0.01)
    assert coverage_of_sum(noise, 1, half_width(noise.variance, 0.99, "gaussian")) < 0.99
    assert coverage_of_sum(noise, 1, 0.9 * half_width(noise.variance, confidence, "laplace")) < confidence


def privelet_coverage(cells: int, epsilon: float | str, ends: tuple[int, int], confidence: float) -> float:
    matrix = Haar(cells)
    weights = matrix.apply(Range(*ends).weights(cells)) / matrix.support
    noise = laplace_for(epsilon, matrix.height + 1)
    half = half_width(noise.variance * float(weights @ weights), confidence, "laplace")
    return coverage_of_weighted_sum(noise, weights, matrix.rows, half)


def test_weighted_coverage_equals_the_mass_function_for_one_term() -> None:
    noise = laplace_for(1)
    got = coverage_of_weighted_sum(noise, np.array([0.5, 0.0]), 4, 1.5)
    assert math.isclose(got, float(noise.pmf(np.arange(-3, 4)).sum()), rel_tol=1e-10)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("cells", [2, 4, 8, 16, 64])
def test_privelet_ranges_are_covered_exactly_up_to_epsilon_ten(cells: int, confidence: float) -> None:
    ends = {(1, cells), (1, 1), (1, cells - 1), (min(2, cells), cells), (1, cells // 2), (1, cells // 2 + 1)}
    for epsilon in ("0.5", "1", "2", "3", "5", "6.5", "8", "10"):
        for one in sorted(ends):
            assert privelet_coverage(cells, epsilon, one, confidence) >= confidence - ROUNDING, (epsilon, one)


@pytest.mark.parametrize(
    ("cells", "epsilon", "ends"),
    [(16, 15, (1, 9)), (32, 18, (1, 17)), (64, 24, (1, 63)), (128, 29, (2, 127)), (128, 27.5, (1, 127))],
)
def test_privelet_ranges_are_covered_exactly_at_a_large_epsilon(
    cells: int, epsilon: float, ends: tuple[int, int]
) -> None:
    assert privelet_coverage(cells, epsilon, ends, 0.99) >= 0.99


MARGINALS = Marginals((2, 3, 2), ((0, 1), (1, 2), (0,)))
QUERIES: list[tuple[Strategy, list[np.ndarray]]] = [
    (Privelet(16), [Range(1, 15).weights(16)]),
    (Privelet(11), [Range(3, 9).weights(11)]),
    (Boost(16), [Range(4, 13).weights(16)]),
    (Boost(11), [Range(5, 5).weights(11)]),
    (MARGINALS, [np.ones(2), np.eye(3)[1], np.ones(2)]),
    (MARGINALS, [np.eye(2)[0], np.eye(3)[2], np.ones(2)]),
]


def errors_of(mechanism: MatrixMechanism, weights: list[np.ndarray]) -> np.ndarray:
    """DRAWS independent errors of one query: its weight on every answer times noise of the mechanism's own kind."""
    matrix, decoder = mechanism.strategy.map, mechanism.strategy.decoder
    units = (Measurement(map=matrix, answers=unit, variance=mechanism.variance) for unit in np.eye(matrix.rows))
    per_answer = np.array([decoder.answer(unit, weights) for unit in units])
    generator = rng.seeded(17)
    columns = zip(mechanism.noises, parts_rows(mechanism), strict=True)
    noise = [law.sample(DRAWS * rows, rng=generator).reshape(DRAWS, rows) for law, rows in columns]
    return np.concatenate(noise, axis=1) @ per_answer


def parts_rows(mechanism: MatrixMechanism) -> list[int]:
    matrix = mechanism.strategy.map
    parts = getattr(matrix, "parts", (matrix,))
    return [part.rows for part in parts]


def covered(errors: np.ndarray, half: float, confidence: float) -> bool:
    """False only with chance FALSE_ALARM if the coverage is at least the confidence."""
    missed = int((np.abs(errors) > half + 1e-9).sum())
    return missed <= stats.binom.isf(FALSE_ALARM, DRAWS, 1 - confidence)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [PureDP(epsilon=e) for e in (0.1, 1, 3, 8)] + [ZCDP(rho=r) for r in (0.1, 3)], ids=str)
@pytest.mark.parametrize(("strategy", "weights"), QUERIES, ids=[type(one[0]).__name__ for one in QUERIES])
def test_simulated_errors_of_queries_are_covered(
    strategy: Strategy, weights: list[np.ndarray], loss: PureDP | ZCDP
) -> None:
    mechanism = MatrixMechanism(strategy=strategy, loss=loss)
    tail: Tail = "laplace" if isinstance(loss, PureDP) else "gaussian"
    variance = strategy.decoder.query_variance(mechanism.variance, weights)
    errors = errors_of(mechanism, weights)
    for confidence in CONFIDENCES:
        assert covered(errors, half_width(variance, confidence, tail), confidence)


@pytest.mark.slow
@pytest.mark.parametrize(("strategy", "weights"), QUERIES, ids=[type(one[0]).__name__ for one in QUERIES])
def test_a_half_width_from_a_third_of_the_variance_is_rejected(strategy: Strategy, weights: list[np.ndarray]) -> None:
    mechanism = MatrixMechanism(strategy=strategy, loss=PureDP(epsilon=0.1))
    variance = strategy.decoder.query_variance(mechanism.variance, weights)
    errors = errors_of(mechanism, weights)
    for confidence in CONFIDENCES:
        assert not covered(errors, half_width(variance / 3, confidence, "laplace"), confidence)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, math.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence must lie strictly between 0 and 1"):
        half_width(1.0, confidence, "laplace")


@pytest.mark.parametrize(("tail", "quantile"), [("laplace", math.log(20) / math.sqrt(2)), ("gaussian", 1.959964)])
def test_half_widths_are_whole_and_within_a_step_and_a_half_of_the_quantile(tail: Tail, quantile: float) -> None:
    assert half_width(0.0, 0.95, tail) == 0
    for variance in (0.01, 1, 50, 10**6):
        width = half_width(variance, 0.95, tail)
        assert width.is_integer()
        assert quantile * math.sqrt(variance) <= width <= quantile * math.sqrt(variance) + 1.5
    by_confidence = [half_width(100.0, confidence, tail) for confidence in (0.5, 0.9, 0.95, 0.99, 0.999)]
    assert by_confidence == sorted(set(by_confidence))


def test_an_answer_without_any_measurement_has_an_infinite_interval() -> None:
    assert half_width(math.inf, 0.95, "laplace") == math.inf


@pytest.mark.parametrize("tail", ["laplace", "gaussian"])
def test_many_variances_at_once_give_the_half_width_of_each(tail: Tail) -> None:
    variances = np.array([[0.0, 1e-9, 0.3, 50.0], [1e6, 1e18, math.inf, 2.0]])
    for confidence in (0.5, 0.95, 0.999):
        found = half_width(variances, confidence, tail)
        assert found.shape == variances.shape
        assert found.ravel().tolist() == [half_width(one, confidence, tail) for one in variances.ravel().tolist()]
    assert found[0, 0] == 0
    assert found[1, 2] == math.inf
    assert isinstance(half_width(50.0, 0.95, tail), float)
