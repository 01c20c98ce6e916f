"""gtr: the document's examples, levels drawn uniformly, unbiased counts, exact errors of rectangles."""

import math
from collections.abc import Callable
from statistics import NormalDist
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.tree import Tree
from dpress.core.reports.oracle import Tally
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.spatial.documents.gtr import gtr
from dpress.mechanisms.spatial.levels import Levels

FALSE_ALARM = 1e-6
SOME = Rectangles(*(np.array(end) for end in ([0.0, 0.5, 1.0], [4.0, 3.25, 2.0], [0.0, 1.0, 0.2], [4.0, 2.5, 3.9])))


def z(tests: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * tests))


def made(side: int, epsilon: object = 1) -> Levels:
    found = gtr(Grid(side), PureDP(epsilon=epsilon))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_the_documents_worked_example_is_refined_by_least_squares() -> None:
    """Root 5, children 2, 1, 1, 2; the document's root of 3.9 over unchanged children would not even add up."""
    own, tree = made(2), Tree(4, 4)
    found = own.decoded(Measurement(map=tree, answers=np.array([5.0, 2, 1, 1, 2]), variance=np.ones(5)), 5)
    cells = Grid(2).flat(found.counts)
    assert cells == pytest.approx([1.8, 0.8, 0.8, 1.8])
    assert found.values(Rectangles(*(np.array([end]) for end in (0.0, 2.0, 0.0, 2.0)))) == pytest.approx([5.2])


def test_the_documents_position_sends_the_nodes_on_its_path() -> None:
    """(28, 12) lies in the leaf [24, 32] x [8, 16] of a box of 32 x 32 and in its right lower quarter.

    The document counts the lower left quarter first and the lower right second; here the upper left comes second.
    """
    own = made(4, 40)  # an epsilon at which only the own bit is ever 1, every second time
    place = np.array([[28 // 8], [12 // 8]], dtype=np.int32)
    assert (3 * 8, 1 * 8) == (24, 8)
    places = np.repeat(place, 64, axis=1)
    root, quarters, leaves = own.types
    found = [np.flatnonzero(one.tally(one.perturb(places, rng=rng.seeded(1)))[:-1]) for one in (root, quarters, leaves)]
    assert [one.tolist() for one in found] == [[0], [2], [int(Grid(4).code(*place)[0])]]
    assert Grid(2).code(np.array([1]), np.array([0])).tolist() == [2]
    across, up = np.nonzero(Grid(4).image(np.arange(16) == found[2][0]))
    assert (across.tolist(), up.tolist()) == ([3], [1])


def test_every_level_from_the_root_has_the_same_lot() -> None:
    own, users = made(8), 40_000
    assert own.levels == (0, 1, 2, 3)
    assert [one.size for one in own.oracles] == [1, 4, 16, 64]
    drawn = np.bincount(collection(own).drawn(users, rng=rng.seeded(2)), minlength=4)
    bound = z(8) * math.sqrt(users * 0.25 * 0.75)
    assert (np.abs(drawn - users / 4) < bound).all()
    assert not (np.abs(drawn - users / 3) < bound).all()


def test_any_two_positions_cost_exactly_epsilon_on_every_level(checks: ModuleType) -> None:
    channels = [own.oracles[0].channel() for own in made(2, 2).types]
    assert checks.keeps_promise(channels, "2")
    assert checks.spends_all(channels[1:], "2")
    assert not checks.keeps_promise([own.oracles[0].channel() for own in made(2, "2.1").types], "2")
    assert made(4, 2).claim.proven == PureDP(epsilon=2)


def test_the_nodes_of_a_level_have_the_documents_variance() -> None:
    """4 e^epsilon / (e^epsilon - 1)^2 for each user of the level who is not in the node, times (n / n_l)^2."""
    own, users = made(256), 90_000
    level = own._expected(users)[-1]
    variances = own._variances(own.oracles[-1], np.zeros(4**8), level, users)
    assert variances == pytest.approx(level * 4 * math.e / (math.e - 1) ** 2 * (users / level) ** 2)
    assert level == users / 9


def test_rectangles_are_unbiased_with_the_stated_variance(reported: Callable[..., list[Tally]]) -> None:
    """Seven tenths in one cell; were every node of a level as noisy as its mean, the full one would tell."""
    own, users, runs, generator = made(4, 4), 900, 300, rng.seeded(3)
    places = np.stack([np.arange(users) % 4, np.arange(users) % 2]).astype(np.int32)
    places[:, : users * 7 // 10] = [[1], [2]]
    image = np.zeros((4, 4))
    np.add.at(image, tuple(places), 1)
    asked = Rectangles(*np.array([*zip(SOME.left, SOME.right, SOME.bottom, SOME.top, strict=True), (1, 2, 2, 3)]).T)
    truth = own.decoded(Measurement(map=own.map, answers=own.map.apply(Grid(4).flat(image)), variance=np.ones(21)), 0)
    values, stated, averaged = [], [], []
    for _ in range(runs):
        tallies = reported(own, places, generator)
        measured = own.measurement(tallies)
        values.append(own.decoded(measured, users).values(asked))
        stated.append(own.noise(tallies).variances(asked))
        averaged.append(own.weighed_by(measured).variances(asked))
    errors, variance = np.stack(values) - truth.values(asked), np.mean(stated, axis=0)
    assert (np.abs(errors.mean(axis=0)) < z(16) * np.sqrt(1.3 * variance / runs)).all()
    ratio = (errors**2).mean(axis=0) / variance
    assert (ratio < 1 + z(16) * math.sqrt(2 / runs)).all()
    assert (ratio > 0.6).all()  # of few people it is stated with some to spare
    assert ((errors**2).mean(axis=0) / np.mean(averaged, axis=0)).max() > 3
    assert (np.abs((errors + 150).mean(axis=0)) > z(16) * np.sqrt(1.3 * variance / runs)).any()


def test_other_grids_and_losses_are_not_served() -> None:
    assert gtr(Grid(12), PureDP(epsilon=1)) is None
    assert gtr(Grid(4), ZCDP(rho=1)) is None
