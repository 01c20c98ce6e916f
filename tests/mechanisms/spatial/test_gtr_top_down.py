"""gtr_top_down: no count below 0, everybody counted, no root asked, short reports, nearer to the truth than GT-R."""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid
from dpress.core.maps.measurement import Measurement
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.spatial.documents.gtr import gtr
from dpress.mechanisms.spatial.gtr_top_down import gtr_top_down
from dpress.mechanisms.spatial.levels import Levels

USERS = 3000


def made(side: int, epsilon: object = 1) -> Levels:
    found = gtr_top_down(Grid(side), PureDP(epsilon=epsilon))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_all_levels_but_the_root_are_asked() -> None:
    own = made(8)
    assert own.levels == (1, 2, 3)
    assert len(own.types) == 3
    assert np.isin(collection(own).drawn(1000, rng=rng.seeded(1)), (0, 1, 2)).all()


@pytest.mark.parametrize("kind", ["real", "simulated"])
def test_no_count_is_negative_and_all_add_up_to_the_users(kind: str, collected: Callable[..., Measurement]) -> None:
    own, generator = made(16), rng.seeded(2)
    places = np.stack([np.arange(USERS) % 3, np.arange(USERS) % 2]).astype(np.int32)
    counts = np.bincount(Grid(16).code(*places), minlength=256).astype(float)
    again = own.simulated(counts, USERS, rng=generator)
    measured = collected(own, places, generator) if kind == "real" else again
    found = own.decoded(measured, USERS).counts
    assert found.min() >= 0
    assert found.sum() == pytest.approx(USERS)
    linear = gtr(Grid(16), PureDP(epsilon=1))
    assert linear is not None
    raw = linear.decoded(linear.simulated(counts, USERS, rng=generator), USERS).counts
    assert raw.min() < 0
    assert ((found - Grid(16).image(counts)) ** 2).sum() < ((raw - Grid(16).image(counts)) ** 2).sum()


@pytest.mark.parametrize("epsilon", ["0.1", 1, 4])
@pytest.mark.parametrize("side", [32, 256, 1024])
def test_reports_are_short(side: int, epsilon: object) -> None:
    """65,536 cells and a million: no report has more than 128 bytes; GT-R's own would have 8192 and 131,072."""
    own = made(side, epsilon)
    assert max(one.width for one in own.types) <= 128
    document = gtr(Grid(256), PureDP(epsilon=1))
    assert document is not None
    assert document.types[-1].width == 8192


def test_any_two_positions_cost_at_most_epsilon_on_every_level(checks: ModuleType) -> None:
    channels = [own.oracles[0].channel() for own in made(2, 2).types]
    assert checks.keeps_promise(channels, "2")
    assert checks.spends_all(channels, "2")
    assert not checks.keeps_promise([own.oracles[0].channel() for own in made(2, "2.1").types], "2")
    assert made(256).claim.proven == PureDP(epsilon=1)


def test_other_grids_and_losses_are_not_served() -> None:
    assert gtr_top_down(Grid(1), PureDP(epsilon=1)) is None
    assert gtr_top_down(Grid(12), PureDP(epsilon=1)) is None
    assert gtr_top_down(Grid(4), ZCDP(rho=1)) is None
