"""square_wave: the exact channel, reports that follow it, unbiased sums, and the distribution that comes out."""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.reports.oracle import Channel
from dpress.inference.numbers.fitted_distribution import distribution
from dpress.inference.numbers.report_sums import sums
from dpress.inference.numbers.sliding_window import fitted
from dpress.mechanisms.numbers.circular_wave import CircularWave
from dpress.mechanisms.numbers.square_wave import CARD, SquareWave, informative_window


def wave(levels: int, epsilon: float | str = 1, groups: int = 1, window: int = 0) -> SquareWave:
    return SquareWave(levels=levels, loss=PureDP(epsilon=epsilon), groups=groups, window=window)


@pytest.mark.parametrize(
    ("levels", "epsilon", "groups", "window"), [(2, "1", 1, 1), (5, "0.5", 2, 0), (6, "3", 1, 2), (4, "1", 3, 4)]
)
def test_the_channel_costs_exactly_epsilon_and_five_percent_more_is_caught(
    checks: ModuleType, levels: int, epsilon: str, groups: int, window: int
) -> None:
    own = wave(levels, epsilon, groups, window)
    channel = own.channel()
    assert checks.rows_add_up(channel)
    assert checks.keeps_promise([channel], epsilon)
    assert checks.spends_all([channel], epsilon)
    assert len({tuple(sorted(row)) for row in channel.probabilities}) == 1
    assert own.claim.proven == own.claim.published == PureDP(epsilon=epsilon)
    planted = wave(levels, 1.05 * float(epsilon), groups, own.window).channel()
    assert not checks.keeps_promise([planted], epsilon)


def test_reports_follow_the_channel_and_a_swap_is_caught(checks: ModuleType) -> None:
    own, generator = wave(5, groups=2), rng.seeded(1)
    channel = own.channel()
    assert all(checks.reports_fit(own, channel, value, 20_000, generator) for value in (0, 4, 5, 9))
    swapped = Channel(payloads=channel.payloads, probabilities=channel.probabilities[::-1])
    assert not checks.reports_fit(own, swapped, 0, 20_000, generator)


@pytest.mark.parametrize("groups", [1, 3])
def test_sums_are_unbiased_for_every_value_with_exactly_the_stated_covariance(groups: int) -> None:
    own = wave(5, groups=groups)
    rows = np.array([[float(p) for p in row] for row in own.channel().probabilities]).reshape(-1, groups, own.row)
    for value, chances in enumerate(rows):
        group, level = divmod(value, 5)
        for asked in range(1, groups + 1):
            mask = np.arange(groups) < asked
            scores = np.tile(own.scores.rows[:, None], (1, groups, 1)) * mask[:, None]
            scores = scores - asked * own.scores.apart[:, None, None]
            mean = (scores * chances).sum(axis=(1, 2))
            held = float(group < asked)
            assert np.allclose(mean, [held, held * (level - 2), held * (level - 2) ** 2])
            many = np.round(chances * 1e9).astype(np.int64)
            found = sums(many, own.scores, mask, part=0.0)
            spread = np.einsum("agy,bgy,gy->ab", scores, scores, chances) - np.outer(mean, mean)
            assert np.allclose(found.values / many.sum(), mean, atol=1e-6)
            assert np.allclose(found.covariance / many.sum(), spread, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mask", [(True, False), (True, True)])
@pytest.mark.parametrize("make", [SquareWave, CircularWave])
def test_of_people_who_differ_the_covariance_is_that_of_their_noise_alone(make: Any, mask: tuple[bool, bool]) -> None:
    oracle = make(levels=7, groups=2, loss=PureDP(epsilon=3))
    rows = np.array([[float(p) for p in row] for row in oracle.channel().probabilities]).reshape(-1, 2, oracle.row)
    people, chosen = (0, 3, 6, 8), np.array(mask)
    each = [np.round(rows[value] * 1e9).astype(np.int64) for value in people]
    together = np.sum(each, axis=0)
    noise = sum(sums(reports, oracle.scores, chosen, part=0.0).covariance for reports in each)
    scale = np.abs(noise).max()
    assert np.allclose(sums(together, oracle.scores, chosen).covariance / scale, noise / scale, atol=1e-6)
    drawn = sums(together, oracle.scores, chosen, part=0.0).covariance  # with the spread of people
    assert not np.allclose(drawn / scale, noise / scale, atol=1e-2)
    half = sums(together, oracle.scores, chosen, part=0.5).covariance
    assert np.allclose(half / scale, (noise + drawn) / 2 / scale, atol=1e-6)


def test_blocks_join_wide_numbers_fit_and_what_cannot_be_is_named() -> None:
    own = wave(300, groups=3)
    assert own.width == 2
    values = np.arange(20_000, dtype=np.int32) % own.size
    payloads = own.perturb(values, rng=rng.seeded(1))
    assert not own.faults(payloads)["out of range"].any()
    tally = own.tally(payloads)
    assert tally.shape == (own.outputs,)
    assert np.array_equal(tally, own.tally(payloads[:7]) + own.tally(payloads[7:]))
    assert own.faults(np.full((1, 2), 255, np.uint8))["out of range"].all()
    with pytest.raises(ValueError, match="between 0 and 899"):
        own.perturb(np.array([900], np.int32), rng=rng.seeded(1))
    for wrong, message in (({"window": 301}, "window must be at most"), ({"levels": 1}, "levels must lie between")):
        with pytest.raises(ValueError, match=message):
            SquareWave(**{"levels": 300, "loss": PureDP(epsilon=1), **wrong})
    with pytest.raises(NotSupported):
        CARD.example(ZCDP(rho=1), None)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 5.0])
def test_without_groups_the_window_is_the_published_one(epsilon: float) -> None:
    e = math.exp(epsilon)
    half = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    assert abs(informative_window(4096, 1, epsilon) / 4096 - 2 * half) < 1e-3


def test_the_map_is_the_channel_and_its_transpose() -> None:
    own = wave(7, groups=2)
    dense = np.array([[float(p) for p in row] for row in own.channel().probabilities])
    assert np.allclose(np.stack([own.map.apply(row) for row in np.eye(14)]), dense)
    assert np.allclose(np.stack([own.map.transpose(row) for row in np.eye(own.outputs)], axis=1), dense)


def test_em_finds_the_shares_behind_expected_reports_and_never_loses_likelihood() -> None:
    own = wave(12, 3)
    truth = np.array([[1, 2, 5, 9, 5, 2, 1, 1, 1, 4, 4, 1]]) * 20_000.0
    found = fitted(own.map, own.map.seen(truth)[None], evened=0.0)
    assert np.abs(found.shares[0] - truth / truth.sum()).max() < 0.01
    far = fitted(own.map, own.map.seen(truth)[None], evened=0.1)
    assert far.log_likelihood[0] < found.log_likelihood[0]


def test_neighbours_are_evened_out_where_the_distribution_is_smooth_and_not_where_it_has_a_spike() -> None:
    own, place = wave(60, 2), np.arange(60)
    smooth = np.exp(-((place - 20) ** 2) / 200.0)
    spike = np.where(place == 20, 60.0, 1.0)
    for shares, evened in ((smooth, True), (spike, False)):
        levels = np.repeat(place, np.round(shares / shares.sum() * 20_000).astype(int)).astype(np.int32)
        tallies = [own.tally(own.perturb(levels, rng=rng.seeded(seed)))[None] for seed in range(6)]
        fits = [distribution(own.map, one) for one in tallies]
        assert sum(one.evened is evened for one in fits) >= 4  # of six, each wrong once in 41 times: 1e-4 below four
        found = fits[0]
        below, errors = found.of(np.ones(1, dtype=bool))
        truth = np.append(0, np.bincount(levels, minlength=60).cumsum()) / levels.size
        assert np.abs(below - truth).mean() < 0.015
        assert (np.abs(below - truth) <= 3 * errors + 1e-9).mean() > 0.95
