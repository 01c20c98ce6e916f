"""Level-sampled reports: simulated answers are distributed as real ones, missing levels, sampling weights."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.grid import Grid, Rectangles
from dpress.core.maps.measurement import Measurement
from dpress.kinds.spatial.design import collection
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.spatial.gtr_top_down import gtr_top_down
from dpress.mechanisms.spatial.levels import Levels
from dpress.mechanisms.spatial.map_decoder import MapDecoder, node_type

FALSE_ALARM = 1e-6
USERS, RUNS = 600, 300
LOSS = PureDP(epsilon=3)


def made(weights: tuple[int, ...] = (), levels: tuple[int, ...] = (0, 1, 2), **own: object) -> Levels:
    oracles = tuple(Oue(size=4**level, loss=LOSS) if level else Krr(size=1, loss=LOSS) for level in levels)
    return Levels(grid=Grid(1 << levels[-1]), levels=levels, oracles=oracles, weights=weights, **own)  # type: ignore[arg-type]


def places() -> np.ndarray:
    return np.stack([np.arange(USERS) % 4, np.arange(USERS) % 2]).astype(np.int32)


def real(own: Levels, generator: rng.Generator) -> Measurement:
    drawn, tallies = collection(own).drawn(USERS, rng=generator), []
    for number, asked in enumerate(own.types):
        tallies.append(asked.tally(asked.perturb(places()[:, drawn == number], rng=generator)))
    return own.measurement(tallies)


@pytest.mark.parametrize("weights", [(), (1, 1, 4)])
def test_simulated_answers_have_the_mean_and_variance_of_real_ones(weights: tuple[int, ...]) -> None:
    """Node by node, and both have what is stated of the real ones."""
    own, generator = made(weights), rng.seeded(1)
    truth = own.map.apply(np.bincount(own.grid.code(*places()), minlength=16).astype(float))
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / 2 / 100)
    reports = [real(own, generator) for _ in range(RUNS)]
    stated = np.mean([one.variance for one in reports], axis=0)[1:]
    errors = np.stack([one.answers for one in reports]) - truth
    again = np.stack([own.simulated(truth[5:], USERS, rng=generator).answers for _ in range(RUNS)]) - truth
    squares, others = ((one[:, 1:] ** 2).mean(axis=0) for one in (errors, again))
    for one in (errors, again):
        assert (np.abs(one[:, 1:].mean(axis=0)) < z * np.sqrt(1.6 * stated / RUNS)).all()
    assert np.abs(squares / stated - 1).max() < 1.2 * z * math.sqrt(2 / RUNS)
    assert np.abs(np.log(others / squares)).max() < 1.2 * z * math.sqrt(2 * 2 / RUNS)
    for first, last in ((0, 4), (4, 20)):  # a level's mean is none of its nodes'
        level = slice(first, last)
        assert np.abs(squares[level] / stated[level].mean() - 1).max() > 1.2 * z * math.sqrt(2 / RUNS)


def test_lots_follow_the_weights() -> None:
    own, users = made((1, 3, 12)), 32_000
    drawn = np.bincount(collection(own).drawn(users, rng=rng.seeded(2)), minlength=3)
    wanted = users * np.array([1, 3, 12]) / 16
    z = NormalDist().inv_cdf(1 - FALSE_ALARM / 6)
    bound = z * np.sqrt(wanted * (1 - wanted / users))
    assert (np.abs(drawn - wanted) < bound).all()
    assert not (np.abs(drawn - users / 3) < bound).any()
    assert own._expected(1600) == [100, 300, 1200]


def test_more_lots_make_a_level_better_known() -> None:
    even, leaves = (made(weights).mean_variance(USERS) for weights in ((), (1, 1, 10)))
    assert leaves < even
    assert made().mean_variance(2 * USERS) == pytest.approx(2 * even, rel=0.01)


def test_a_level_that_nobody_reported_is_unknown_and_the_last_one_is_needed() -> None:
    own, generator = made(), rng.seeded(3)
    tallies = [asked.tally(asked.perturb(places(), rng=generator)) for asked in own.types]
    tallies[1] = 0 * tallies[1]
    spread = own.measurement(tallies).variance
    assert np.isinf(spread[1:5]).all()
    assert np.isfinite(spread[5:]).all()
    assert np.isfinite(own.decoded(own.measurement(tallies), USERS).counts).all()
    with pytest.raises(ValueError, match="no report is about the cells themselves, level 2"):
        own.measurement([tallies[0], tallies[0][:1].repeat(5), 0 * tallies[2]])


def test_a_known_root_is_everybody() -> None:
    own = gtr_top_down(Grid(4), LOSS)
    assert own is not None
    measured = own.simulated(np.full(16, 10.0), 160, rng=rng.seeded(4))
    assert (measured.answers[0], measured.variance[0]) == (160, 0)


def test_places_off_the_grid_are_refused_and_codes_lose_two_bits_a_level() -> None:
    own = node_type(Grid(4), 2, Krr(size=4, loss=PureDP(epsilon=40)))
    nodes = own.tally(own.perturb(places()[:, :4], rng=rng.seeded(5)))[:-1]
    assert nodes.tolist() == np.bincount(Grid(2).code(*(places()[:, :4] >> 1)), minlength=4).tolist()
    for wrong in (-1, 4):
        with pytest.raises(ValueError, match="places must lie between 0 and 3"):
            own.perturb(np.array([[0], [wrong]], dtype=np.int32), rng=rng.seeded(6))


def test_a_level_that_nobody_reported_is_passed_over_from_the_top() -> None:
    own, generator = replace(made(), reconstruction="top_down"), rng.seeded(6)
    tallies = [asked.tally(asked.perturb(places(), rng=generator)) for asked in own.types]
    quarter = Rectangles(*(np.array([end]) for end in (0.0, 2.0, 0.0, 2.0)))
    tallies[1] = 0 * tallies[1]
    found = MapDecoder(own, USERS).density(own.measurement(tallies), tallies)
    cells = Grid(4).image(own.measurement(tallies).answers[5:])
    assert found.values(quarter)[0] == pytest.approx(cells[:2, :2].sum())
    assert found.variances(quarter)[0] > 0
