"""n_gtr: OUE over all cells, no tree: a rectangle's error grows with its cells."""

import math
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.core.maps.measurement import Measurement
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.spatial.documents.n_gtr import n_gtr
from dpress.mechanisms.spatial.levels import Levels

USERS = 10_000


def made(side: int, epsilon: object = 1) -> Levels:
    found = n_gtr(Grid(side), PureDP(epsilon=epsilon))  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.parametrize("side", [3, 4])
def test_everybody_is_asked_for_the_cell_by_oue(side: int, checks: ModuleType) -> None:
    own = made(side, 2)
    assert own.oracles == (Oue(size=side**2, loss=PureDP(epsilon=2)),)
    assert own.height == 0
    assert own.map.rows == side**2
    assert checks.keeps_promise([made(2, 2).types[0].oracles[0].channel()], "2")
    assert not checks.keeps_promise([made(2, "2.1").types[0].oracles[0].channel()], "2")


def test_counts_are_those_of_oue_on_the_same_reports() -> None:
    own, tally = made(3), np.arange(9) * 100 + 3000
    measured = own.measurement([np.append(tally, USERS)])
    alone = own.oracles[0].estimate(tally, USERS).answers
    assert own.decoded(measured, USERS).counts.ravel() == pytest.approx(alone)


@pytest.mark.parametrize("side", [6, 8])
def test_a_rectangles_variance_is_that_of_a_cell_times_its_squared_shares(side: int) -> None:
    ends = ([0.0, 1.5, 2.2], [6.0, 3.25, 2.4], [0.0, 1.0, 0.2], [6.0, 2.5, 5.9])
    asked = Rectangles(*(np.array(end) for end in ends))
    own = made(side)
    cell = USERS * 4 * math.e / (math.e - 1) ** 2
    measured = Measurement(map=own.map, answers=np.zeros(side**2), variance=np.float64(cell))
    weights = np.eye(side**2).reshape(-1, side, side)
    squared = sum(sums(one, asked) ** 2 for one in weights)
    found = own.decoded(measured, USERS).variances(asked)
    assert found == pytest.approx(cell * squared)
    assert found[0] == pytest.approx(36 * cell)
    assert own.mean_variance(USERS) == pytest.approx(cell + USERS / side**2)  # + N f (1 - p - q) / (p - q) of the users


def test_another_loss_is_not_served() -> None:
    assert n_gtr(Grid(4), ZCDP(rho=1)) is None
