"""How wrong a list of answers can be at once: exact where answers have noise of their own, a kept union bound else."""

import math

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.set_sums import SetSums
from dpress.core.maps.workload import Predicates
from dpress.mechanisms.linear import p_identity
from dpress.mechanisms.linear.direct_queries import DirectQueries
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace
from dpress.release.plan.largest_answer import largest_answer, sum_tails
from dpress.release.plan.largest_error import Alike, union_bound

FALSE_ALARM = 1e-6
BETA = 0.05
OVERLAPPING = ((0, 1, 2, 3, 4), (1, 2, 3), (0, 5), (2, 3, 4, 5), (4,))
DEPENDENT = ((0, 1), (2, 3), (0, 1, 2, 3), (4, 5))


def asked(sets: tuple[tuple[int, ...], ...]) -> Predicates:
    return Predicates(tuple(f"query {place}" for place in range(len(sets))), SetSums(6, sets))


def over(sets: tuple[tuple[int, ...], ...], loss: Loss) -> dict[str, MatrixMechanism]:
    strategies = {"direct": DirectQueries(6, sets), "atoms": Identity((6,))}
    if isinstance(loss, PureDP):
        found = p_identity.CARD.strategy(asked(sets), loss) if p_identity.CARD.strategy else None
        strategies["searched"] = found
    return {name: MatrixMechanism(strategy=one, loss=loss) for name, one in strategies.items()}


CASES = [
    (f"{name}, {len(sets)} queries, {loss}", sets, mechanism)
    for sets in (OVERLAPPING, DEPENDENT)
    for loss in (PureDP(epsilon="0.4"), ZCDP(rho="0.3"))
    for name, mechanism in over(sets, loss).items()
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sets", "mechanism"), CASES, ids=[name for name, *_ in CASES])
def test_answers_stay_within_it_as_often_as_it_says(name: str, sets, mechanism: MatrixMechanism) -> None:
    """3,000 releases of an empty table; the control: 0.45 of the bound is passed too often."""
    workload, repeats = asked(sets), 3000
    found, generator = largest_answer(mechanism, workload, BETA), rng.seeded(11)
    zero = np.zeros(mechanism.strategy.map.rows, dtype=np.int64)
    drawn = (mechanism.noisy(zero.copy(), rng=generator) for _ in range(repeats))
    largest = [np.abs(workload.sums.matrix @ mechanism.decoder.estimate(one)[0]).max() for one in drawn]
    allowed = stats.binom.isf(FALSE_ALARM, repeats, BETA)
    assert sum(one > found.within + 1e-6 for one in largest) <= allowed
    assert sum(one > 0.45 * found.within for one in largest) > allowed, name
    assert found.exact is (name.startswith("direct, 5"))


@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-4])
def test_of_independent_answers_it_is_the_smallest_that_holds(beta: float) -> None:
    for unit in (Unit(), Unit(relation=Relation.REPLACE_ONE), Unit(column="uid", rows=3)):
        mechanism = MatrixMechanism(strategy=DirectQueries(6, OVERLAPPING), loss=PureDP(epsilon=1), unit=unit)
        found = largest_answer(mechanism, asked(OVERLAPPING), beta)
        assert found.exact
        t, noise = int(found.within), mechanism.noises[0]
        assert float(noise.pmf(np.arange(-t, t + 1)).sum()) ** 5 >= 1 - beta - 1e-9
        assert float(noise.pmf(np.arange(-t + 1, t)).sum()) ** 5 < 1 - beta
        sensitivity = mechanism.strategy.map.sensitivity(1, unit.relation) * unit.rows
        assert found.textbook == pytest.approx(math.log(5 / beta) * sensitivity)
        assert found.within <= math.ceil(found.textbook)


@pytest.mark.parametrize("noise", [DiscreteLaplace(scale=3), DiscreteLaplace(scale="1/2"), DiscreteGaussian(sigma2=9)])
@pytest.mark.parametrize("terms", [1, 2, 7])
def test_the_tails_of_a_sum_are_those_of_the_convolution(noise, terms: int) -> None:
    reach = 200
    mass = single = noise.pmf(np.arange(-reach, reach + 1))
    for _ in range(terms - 1):
        mass = np.convolve(mass, single)
    middle = len(mass) // 2
    exact = np.array([2 * mass[middle + t + 1 :].sum() for t in range(reach + 1)])
    found = sum_tails(noise, terms, reach)
    assert (found >= exact).all()
    assert found == pytest.approx(exact, abs=1e-10)
    assert found[0] == pytest.approx(1 - mass[middle], abs=1e-10)


def test_exact_tails_are_closer_than_their_bounds_and_no_smaller_bound_holds() -> None:
    mechanism, workload = over(OVERLAPPING, PureDP(epsilon=1))["atoms"], asked(OVERLAPPING)
    within = largest_answer(mechanism, workload, BETA).within
    real = float(mechanism.noises[0].real_variance)
    each = [Alike(number=1, variance=real * len(own), largest=math.sqrt(real / 2)) for own in OVERLAPPING]
    assert within < union_bound(each, "laplace", BETA)

    def beyond(t: int) -> float:
        return sum(float(sum_tails(mechanism.noises[0], len(own), 400)[t]) for own in OVERLAPPING)

    assert beyond(int(within)) <= BETA < beyond(int(within) - 1)


@pytest.mark.parametrize("loss", [PureDP(epsilon=1), ZCDP(rho="0.5")])
def test_weighted_sums_have_the_bound_of_their_weights(loss: Loss) -> None:
    """The weights from dense matrices: W (A^T A)^-1 A^T."""
    strategy = p_identity.CARD.strategy(asked(OVERLAPPING), PureDP(epsilon=1)) if p_identity.CARD.strategy else None
    assert strategy is not None
    mechanism, workload = MatrixMechanism(strategy=strategy, loss=loss), asked(OVERLAPPING)
    dense = np.stack([strategy.map.apply(cell) for cell in np.eye(6)], axis=1)
    weights = workload.sums.matrix @ np.linalg.inv(dense.T @ dense) @ dense.T
    real = float(mechanism.noises[0].real_variance)
    each = [
        Alike(number=1, variance=real * float(own @ own), largest=math.sqrt(real / 2) * float(np.abs(own).max()))
        for own in weights
    ]
    found = largest_answer(mechanism, workload, BETA)
    assert found.within == pytest.approx(union_bound(each, mechanism.tail, BETA))
    assert (found.exact, found.textbook) == (False, None)


def test_sums_too_wide_to_list_are_bounded() -> None:
    """Noise of a scale of millions: the bound grows with it, as that of smaller noise does."""
    wide, narrow = (
        largest_answer(over(OVERLAPPING, PureDP(epsilon=epsilon))["atoms"], asked(OVERLAPPING)).within
        for epsilon in ("0.0000002", "0.02")
    )
    assert 1e5 <= wide / narrow <= 1.7e5


@pytest.mark.parametrize("beta", [0, 1, -0.1, math.nan])
def test_a_chance_lies_between_0_and_1(beta: float) -> None:
    with pytest.raises(ValueError, match="beta must lie strictly between 0 and 1"):
        largest_answer(over(DEPENDENT, PureDP(epsilon=1))["atoms"], asked(DEPENDENT), beta)
