"""Planted faults: the checks that real mechanisms pass must reject each of these, all of them at once."""

import dataclasses
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics.claim import Claim, Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.measurement import Measurement
from dpress.mechanisms.choice.exponential import Exponential
from dpress.mechanisms.linear.boost import Boost
from dpress.mechanisms.linear.direct_queries import DirectQueries
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import Privelet
from dpress.noise.distribution import Noise
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

EPSILON, RHO = PureDP(epsilon="0.7"), ZCDP(rho="0.3")
LOSSES = [EPSILON, RHO]
MOVED = Unit(relation=Relation.REPLACE_ONE)
PERSON = Unit(column="uid", rows=3)
TABLES = Marginals((2, 3, 2), ((0, 1), (1, 2), (0,)))
OVERLAPPING = DirectQueries(8, ((0, 1, 2, 3), (2, 3, 4), (4, 5), (0, 5, 6)))


def stretched(noise: Noise, factor: Fraction) -> Noise:
    """The same noise with `factor` times the standard deviation."""
    if isinstance(noise, DiscreteLaplace):
        return DiscreteLaplace(scale=noise.scale * factor)
    return DiscreteGaussian(sigma2=noise.sigma2 * factor**2)


def with_noise(checks: ModuleType, claimed: MatrixMechanism, drawn: tuple[Noise, ...]) -> Any:
    """A mechanism that claims like one and draws like another."""

    def measure(counts: np.ndarray, *, rng: Generator) -> Measurement:
        honest = dataclasses.replace(claimed).measure(counts, rng=rng)
        exact = counts if hasattr(honest.map, "parts") else honest.map.apply(counts)
        noise = [law.sample(part.rows, rng=rng) for law, part in zip(drawn, parts_of(honest.map), strict=True)]
        return Measurement(map=honest.map, answers=exact + np.concatenate(noise), variance=1.0)

    return dataclasses.replace(checks.seen(claimed), noises=drawn, measure=measure)


def parts_of(matrix: Any) -> tuple[Any, ...]:
    return getattr(matrix, "parts", (matrix,))


def mechanism(strategy: Any, loss: PureDP | ZCDP, unit: Unit | None = None) -> MatrixMechanism:
    return MatrixMechanism(strategy=strategy, loss=loss, unit=unit or Unit())


def too_little_noise(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    honest = mechanism(Privelet(8), loss)
    return honest, tuple(stretched(noise, Fraction(95, 100)) for noise in honest.noises)


def wrong_relation(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    return mechanism(Identity((8,)), loss, MOVED), mechanism(Identity((8,)), loss).noises


def one_level_short(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    return mechanism(Boost(8), loss), mechanism(Boost(4), loss).noises


def rows_forgotten(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    return mechanism(Privelet(8), loss, PERSON), mechanism(Privelet(8), loss).noises


def shares_above_one(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    half = MatrixMechanism(strategy=Marginals((2, 3, 2), ((0, 1), (1, 2))), loss=loss)
    return mechanism(TABLES, loss), (half.noises[0],) * 3


def swapped_parameters(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    honest = mechanism(Boost(8), loss)
    if isinstance(loss, PureDP):
        return honest, (DiscreteLaplace(scale=loss.epsilon / 4),)
    return honest, (DiscreteGaussian(sigma2=2 * loss.rho / 4),)


def overlap_forgotten(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    return mechanism(OVERLAPPING, loss), mechanism(DirectQueries(8, ((0, 1), (2, 3))), loss).noises


def distance_of_rows_forgotten(loss: PureDP | ZCDP) -> tuple[MatrixMechanism, tuple[Noise, ...]]:
    return mechanism(OVERLAPPING, loss, MOVED), mechanism(OVERLAPPING, loss).noises


FAULTS = [
    *(too_little_noise, wrong_relation, one_level_short, rows_forgotten, shares_above_one, swapped_parameters),
    *(overlap_forgotten, distance_of_rows_forgotten),
]
Fault = Callable[[PureDP | ZCDP], tuple[MatrixMechanism, tuple[Noise, ...]]]


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_fails_every_check_that_its_honest_twin_passes(
    checks: ModuleType, fault: Fault, loss: PureDP | ZCDP
) -> None:
    honest, drawn = fault(loss)
    for one, expected in ((checks.seen(honest), True), (with_noise(checks, honest, drawn), False)):
        assert checks.claim_is_derived(one) is expected
        assert checks.pmf_keeps_promise(one) is expected
        assert checks.replay_keeps_promise(one, checks.neighbours_of(one, 20)) is expected


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_noise_that_depends_on_the_data_fails_the_replay(checks: ModuleType, loss: PureDP | ZCDP) -> None:
    honest = mechanism(Boost(8), loss)

    def measure(counts: np.ndarray, *, rng: Generator) -> Measurement:
        rng.words(int(counts[0]) % 2)
        return honest.measure(counts, rng=rng)

    one = dataclasses.replace(checks.seen(honest), measure=measure)
    assert not checks.replay_keeps_promise(one, checks.neighbours_of(one, 20))


@pytest.mark.parametrize("loss", LOSSES, ids=["epsilon", "rho"])
def test_too_much_noise_fails_the_exact_checks_too(checks: ModuleType, loss: PureDP | ZCDP) -> None:
    honest = mechanism(Privelet(8), loss)
    one = with_noise(checks, honest, tuple(stretched(noise, Fraction(105, 100)) for noise in honest.noises))
    assert not checks.claim_is_derived(one)
    assert not checks.pmf_keeps_promise(one)


def claim_of(unit: Unit) -> Claim:
    return Exponential(loss=EPSILON, unit=unit).claim


@pytest.mark.parametrize(
    ("planted", "unit"),
    [
        (Exponential(loss=PureDP(epsilon=EPSILON.epsilon * Fraction(105, 100))), Unit()),
        (Exponential(loss=PureDP(epsilon=2 * EPSILON.epsilon)), Unit()),
        (Exponential(loss=EPSILON), PERSON),
        (Exponential(loss=PureDP(epsilon=1 / EPSILON.epsilon)), Unit()),
    ],
    ids=["five percent", "factor two left out", "rows forgotten", "swapped"],
)
def test_a_planted_fault_in_a_choice_fails(checks: ModuleType, planted: Exponential, unit: Unit) -> None:
    assert not checks.choice_keeps_promise(planted.probabilities, unit.rows, claim_of(unit))
    honest = Exponential(loss=EPSILON, unit=unit)
    assert checks.choice_keeps_promise(honest.probabilities, unit.rows, claim_of(unit))
