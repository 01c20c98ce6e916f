"""qt_rappor: raw counts of nodes by basic one-time RAPPOR (SUE), queried from the top, each node once."""

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
from dpress.inference.maps.density import Nodes
from dpress.mechanisms.oracle.sue import Sue
from dpress.mechanisms.spatial.documents.qt_rappor import qt_rappor
from dpress.mechanisms.spatial.levels import Levels

FALSE_ALARM = 1e-6


def made(side: int, epsilon: object = 1) -> Levels:
    found = qt_rappor(Grid(side), PureDP(epsilon=epsilon))  # type: ignore[arg-type]
    assert found is not None
    return found


def every_whole(side: int) -> Rectangles:
    """All rectangles of whole cells, and some that cut cells."""
    ends = [(a, b) for a in range(side) for b in range(a + 1, side + 1)] + [(0.25, 3.5), (1.2, 1.4), (0.0, 2.75)]
    pairs = np.array([(*across, *up) for across in ends for up in ends], dtype=float)
    return Rectangles(*pairs.T)


@pytest.mark.parametrize("side", [4, 8])
def test_queries_are_answered_from_the_top_and_every_node_counts_once(
    side: int, from_the_top: Callable[..., float]
) -> None:
    own, height = made(side), side.bit_length() - 1
    sizes = [4**level for level in range(height + 1)]
    answers = (rng.seeded(1).words(sum(sizes)) % 1000).astype(float)  # consistent with nothing
    variances = tuple(float(10**level) for level in range(height + 1))
    measured = Measurement(map=own.map, answers=answers, variance=np.repeat(variances, sizes))
    density = own.decoded(measured, 0)
    assert isinstance(density, Nodes)
    asked = every_whole(side)
    images = [np.asarray(image) for image in density.images]
    rows = list(zip(asked.left, asked.right, asked.bottom, asked.top, strict=True))
    assert density.values(asked) == pytest.approx([from_the_top(images, row) for row in rows])
    wholly = rows[: (side * (side + 1) // 2)]
    own_variances = [np.full_like(image, v) for image, v in zip(images, variances, strict=True)]
    stated = [from_the_top(own_variances, row) for row in wholly]
    assert density.variances(Rectangles(*np.array(wholly).T)) == pytest.approx(stated)
    assert density.values(asked)[0] != pytest.approx(images[0][0, 0])


def test_a_cut_cell_adds_its_squared_share_to_the_variance() -> None:
    own = made(2)
    measured = Measurement(map=own.map, answers=np.zeros(5), variance=np.array([1.0, 8, 8, 8, 8]))
    asked = Rectangles(*(np.array([end]) for end in (0.0, 1.5, 0.0, 1.0)))
    assert own.decoded(measured, 0).variances(asked) == pytest.approx([8 + 8 * 0.25])


def test_nodes_are_unbiased_with_the_stated_variance(collected: Callable[..., Measurement]) -> None:
    own, users, runs, generator = made(4, 3), 600, 300, rng.seeded(2)
    places = np.stack([np.arange(users) % 4, np.arange(users) % 2]).astype(np.int32)
    truth = own.map.apply(np.bincount(Grid(4).code(*places), minlength=16).astype(float))
    found = [collected(own, places, generator) for _ in range(runs)]
    errors = np.stack([one.answers for one in found]) - truth
    variance = np.mean([one.variance for one in found], axis=0)[1:]
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / 60)
    assert np.abs(errors[:, 0]).max() > 1  # one node: its only bit is noisy too, though everybody is in it
    assert (np.abs(errors[:, 1:].mean(axis=0)) < z * np.sqrt(1.5 * variance / runs)).all()
    ratio = (errors[:, 1:] ** 2).mean(axis=0) / variance
    assert np.abs(ratio - 1).max() < z * math.sqrt(2 / runs)
    assert np.abs(2 * ratio - 1).max() > z * math.sqrt(2 / runs)
    assert (np.abs((errors[:, 1:] + 100).mean(axis=0)) > z * np.sqrt(1.5 * variance / runs)).any()


def test_reports_keep_the_promise_and_other_grids_and_losses_are_not_served(checks: ModuleType) -> None:
    own = made(2, 2)
    assert own.oracles == tuple(Sue(size=4**level, loss=PureDP(epsilon=2)) for level in (0, 1))
    assert checks.keeps_promise([own.types[1].oracles[0].channel()], "2")
    assert not checks.keeps_promise([made(2, "2.1").types[1].oracles[0].channel()], "2")
    assert qt_rappor(Grid(6), PureDP(epsilon=1)) is None
    assert qt_rappor(Grid(4), ZCDP(rho=1)) is None
