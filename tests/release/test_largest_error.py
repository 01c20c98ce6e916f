"""How wrong all counts can be at once: the exact quantile of the largest of k draws, and a union bound that is kept."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.workload import Marginals as MarginalWorkload
from dpress.mechanisms.linear.identity import Identity
from dpress.mechanisms.linear.marginals import Marginals
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.residual_marginals import ResidualMarginals
from dpress.noise.laplace import DiscreteLaplace
from dpress.release.plan.largest_error import Alike, largest_error, tail_bound, union_bound
from dpress.release.plan.linear_error import table_variances

FALSE_ALARM = 1e-6
MOVED = Unit(relation=Relation.REPLACE_ONE)
LOSSES = [PureDP(epsilon=1), PureDP(epsilon="0.1"), ZCDP(rho="0.1"), ZCDP(rho=2)]


def histogram(cells: int, loss: Any, unit: Unit = MOVED) -> tuple[MatrixMechanism, MarginalWorkload]:
    mechanism = MatrixMechanism(strategy=Identity((cells,)), loss=loss, unit=unit)
    return mechanism, MarginalWorkload((cells,), ((0,),))


def all_within(mechanism: MatrixMechanism, cells: int, t: int) -> float:
    """The chance that no cell of a histogram is further off than t, from the mass function."""
    return float(mechanism.noises[0].pmf(np.arange(-t, t + 1)).sum()) ** cells


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("beta", [0.5, 0.05, 1e-3])
@pytest.mark.parametrize("cells", [1, 2, 40, 1000])
def test_the_bound_of_a_histogram_is_the_smallest_that_holds(cells: int, beta: float, loss: Any) -> None:
    mechanism, workload = histogram(cells, loss)
    found = largest_error(mechanism, workload, beta)
    t = int(found.within)
    assert (found.within, found.exact, found.cells) == (t, True, cells)
    assert all_within(mechanism, cells, t) >= 1 - beta - 1e-9
    assert t == 0 or all_within(mechanism, cells, t - 1) < 1 - beta


@pytest.mark.parametrize(("unit", "sensitivity"), [(MOVED, 2), (Unit(), 1), (Unit(column="uid", rows=3), 3)])
def test_the_textbook_says_sensitivity_ln_k_over_beta_over_epsilon_and_is_never_better(
    unit: Unit, sensitivity: int
) -> None:
    for cells in (2, 7, 300):
        for epsilon in ("0.05", "1", "4"):
            found = largest_error(*histogram(cells, PureDP(epsilon=epsilon), unit), 0.05)
            assert found.textbook == pytest.approx(sensitivity * math.log(cells / 0.05) / float(epsilon))
            assert found.within <= math.ceil(found.textbook)
    assert largest_error(*histogram(7, ZCDP(rho=1), unit)).textbook is None


def test_draws_are_within_it_as_often_as_it_says() -> None:
    cells, repeats, beta = 30, 4000, 0.05
    mechanism, workload = histogram(cells, PureDP(epsilon="0.2"))
    largest = np.abs(mechanism.noises[0].sample(repeats * cells, rng=rng.seeded(5)).reshape(repeats, cells)).max(axis=1)
    within = largest_error(mechanism, workload, beta).within
    allowed = stats.binom.isf(FALSE_ALARM, repeats, beta)
    assert (largest > within).sum() <= allowed
    assert (largest > 0.8 * within).sum() > allowed  # the control: a fifth less would not do


TABLES = ((0,), (1,), (1, 2))
UNEQUAL = (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))
STRATEGIES = (Identity((4, 3, 2)), Marginals((4, 3, 2), TABLES), Marginals((4, 3, 2), TABLES, UNEQUAL))
SUMS = [
    MatrixMechanism(strategy=strategy, loss=loss)
    for loss in (PureDP(epsilon=1), ZCDP(rho="0.5"))
    for strategy in STRATEGIES
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SUMS, ids=lambda one: f"{type(one.strategy).__name__} {one.loss}")
def test_counts_that_share_noise_stay_within_the_union_bound(mechanism: MatrixMechanism) -> None:
    """Every cell of every table over measurements of an empty one; half the bound is passed too often."""
    workload, beta, repeats = MarginalWorkload((4, 3, 2), TABLES), 0.05, 1500
    found = largest_error(mechanism, workload, beta)
    assert (found.exact, found.textbook, found.cells) == (False, None, 13)
    generator, largest = rng.seeded(6), []
    zero = np.zeros(mechanism.strategy.map.rows, dtype=np.int64)
    for _ in range(repeats):
        noisy = mechanism.noisy(zero.copy(), rng=generator)
        tables = mechanism.decoder.estimate(noisy)
        if len(tables) == 1:
            cube = tables[0].reshape(4, 3, 2)
            tables = (cube.sum(axis=(1, 2)), cube.sum(axis=(0, 2)), cube.sum(axis=0).ravel())
        largest.append(max(float(np.abs(own).max()) for own in tables))
    allowed = stats.binom.isf(FALSE_ALARM, repeats, beta)
    assert sum(one > found.within for one in largest) <= allowed
    assert sum(one > found.within / 2 for one in largest) > allowed


@pytest.mark.parametrize("number", [1, 2, 10])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_the_tail_of_a_sum_is_below_its_bound(number: int, scale: Fraction) -> None:
    """Against the convolution of the mass functions."""
    noise = DiscreteLaplace(scale=scale)
    reach = 40 * math.ceil(scale)
    mass = single = noise.pmf(np.arange(-reach, reach + 1))
    for _ in range(number - 1):
        mass = np.convolve(mass, single)
    values = np.abs(np.arange(len(mass)) - len(mass) // 2)
    one = Alike(number=1, variance=float(2 * number * scale**2), largest=float(scale))
    for deviations in (1, 2, 4, 6):
        t = deviations * math.sqrt(one.variance)
        exact = float(mass[values >= t].sum())
        assert exact <= tail_bound(one, t, "laplace")
    t = 5 * math.sqrt(one.variance)
    assert float(mass[values >= t].sum()) > tail_bound(one, 2 * t, "laplace")  # the control


@pytest.mark.parametrize(
    "mechanism",
    [
        MatrixMechanism(strategy=Marginals((4, 3, 2), TABLES, UNEQUAL), loss=PureDP(epsilon=1)),
        MatrixMechanism(strategy=ResidualMarginals((4, 3, 2), TABLES), loss=ZCDP(rho="0.5")),
    ],
    ids=["marginals", "residuals"],
)
def test_variances_of_tables_at_once_are_those_of_their_first_cells(mechanism: MatrixMechanism) -> None:
    workload, decoder = MarginalWorkload((4, 3, 2), TABLES), mechanism.decoder
    together = table_variances(decoder, workload, mechanism.variance)
    single = [
        decoder.query_variance(
            mechanism.variance, [np.eye(1, k)[0] if axis in table else np.ones(k) for axis, k in enumerate((4, 3, 2))]
        )
        for table in TABLES
    ]
    assert together == pytest.approx(single)
    assert len({round(each, 6) for each in together}) > 1
    wrong = [each * 1.01 for each in single]
    assert together != pytest.approx(wrong)


def test_gaussian_tails_and_the_cells_that_do_not_vary() -> None:
    one = Alike(number=3, variance=4.0, largest=math.sqrt(2))
    t = union_bound([one], "gaussian", 0.05)
    assert t == pytest.approx(math.sqrt(2 * 4 * math.log(2 * 3 / 0.05)))
    assert tail_bound(Alike(number=1, variance=0.0, largest=0.0), 1.0, "laplace") == 0
    assert 3 * 2 * stats.norm.sf(t / 2) <= 0.05


@pytest.mark.parametrize("beta", [0, 1, -0.1, math.nan])
def test_a_chance_lies_between_0_and_1(beta: float) -> None:
    with pytest.raises(ValueError, match="beta must lie strictly between 0 and 1"):
        largest_error(*histogram(3, PureDP(epsilon=1)), beta)


def test_the_textbook_must_be_rounded_up_on_the_lattice() -> None:
    """The counter-example of the documentation: scale 1, one count, beta = 0.14."""
    found = largest_error(*histogram(1, PureDP(epsilon=1), Unit()), 0.14)
    mechanism, _ = histogram(1, PureDP(epsilon=1), Unit())
    assert found.textbook == pytest.approx(1.966, abs=1e-3)
    assert 1 - all_within(mechanism, 1, math.floor(found.textbook)) == pytest.approx(0.198, abs=1e-3)
    assert 1 - all_within(mechanism, 1, math.ceil(found.textbook)) <= 0.14
    assert found.within == math.ceil(found.textbook)
