"""n_psda: PCEP on the grid alone: exactly epsilon between any two positions, counts and errors of PCEP."""

import math
from fractions import Fraction
from statistics import NormalDist
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid
from dpress.mechanisms.spatial.documents.n_psda import n_psda
from dpress.mechanisms.spatial.levels import Levels

FALSE_ALARM = 1e-6


def made(side: int, epsilon: object = 1) -> Levels:
    found = n_psda(Grid(side), PureDP(epsilon=epsilon))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_any_two_positions_cost_exactly_epsilon_and_five_percent_more_is_caught(checks: ModuleType) -> None:
    assert checks.keeps_promise([made(3, 2).oracles[0].channel()], "2")
    assert checks.spends_all([made(3, 2).oracles[0].channel()], "2")
    assert not checks.keeps_promise([made(3, Fraction(21, 10)).oracles[0].channel()], "2")
    assert made(3, 2).claim.proven == PureDP(epsilon=2)


def counted(own: Levels, places: np.ndarray, generator: rng.Generator) -> np.ndarray:
    (asked,) = own.types
    payloads = asked.perturb(places, rng=generator)
    measurement = own.measurement([asked.tally(payloads)])
    return own.decoded(measurement, len(payloads)).counts


@pytest.mark.parametrize("side", [3, 4])
def test_counts_are_unbiased_with_the_stated_variance_real_and_simulated(side: int) -> None:
    own, users, runs, generator = made(side, 2), 900, 200, rng.seeded(1)
    places = np.stack([np.arange(users) % side, np.arange(users) % 2]).astype(np.int32)
    truth = np.zeros((side, side))
    np.add.at(truth, tuple(places), 1)
    real = np.stack([counted(own, places, generator) for _ in range(runs)])
    flat = Grid(side).flat(truth)
    again = np.stack([own.decoded(own.simulated(flat, users, rng=generator), users).counts for _ in range(runs)])
    variance = own.mean_variance(users)
    bound = z(4 * truth.size) * math.sqrt(1.3 * variance / runs)
    squares = [((found - truth) ** 2).mean() for found in (real, again)]
    for found in (real, again):
        assert (np.abs((found - truth).mean(axis=0)) < bound).all()
    assert abs(squares[0] / variance - 1) < z(4) * math.sqrt(2 / runs / 4) + 0.03
    assert abs(math.log(squares[0] / squares[1])) < z(4) * math.sqrt(2 * 2 / runs / 4) + 0.03
    assert (np.abs((real - truth[::-1, ::-1]).mean(axis=0)) > bound).any()


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def test_too_fine_a_grid_or_another_loss_is_not_served() -> None:
    assert n_psda(Grid(33), PureDP(epsilon=1)) is None
    assert n_psda(Grid(4), ZCDP(rho=1)) is None
