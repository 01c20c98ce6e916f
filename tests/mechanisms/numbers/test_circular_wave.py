"""circular_wave: the exact channel, reports that follow it, unbiased moments, and EM that goes round the circle."""

from statistics import NormalDist
from types import ModuleType

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.reports.oracle import Channel
from dpress.inference.numbers.directions import direction
from dpress.inference.numbers.report_sums import sums
from dpress.inference.numbers.sliding_window import fitted
from dpress.mechanisms.numbers.circular_wave import CARD, CircularWave

RUNS = 400
LIMIT = NormalDist().inv_cdf(1 - 1e-7)


def wave(levels: int, epsilon: float | str = 1, groups: int = 1, window: int = 0) -> CircularWave:
    return CircularWave(levels=levels, loss=PureDP(epsilon=epsilon), groups=groups, window=window)


@pytest.mark.parametrize(
    ("levels", "epsilon", "groups", "window"), [(3, "1", 1, 2), (5, "0.5", 2, 0), (6, "3", 1, 2), (4, "1", 3, 3)]
)
def test_the_channel_costs_exactly_epsilon_and_five_percent_more_is_caught(
    checks: ModuleType, levels: int, epsilon: str, groups: int, window: int
) -> None:
    own = wave(levels, epsilon, groups, window)
    channel = own.channel()
    assert checks.rows_add_up(channel)
    assert checks.keeps_promise([channel], epsilon)
    assert checks.spends_all([channel], epsilon)
    assert own.claim.proven == own.claim.published == PureDP(epsilon=epsilon)
    planted = wave(levels, 1.05 * float(epsilon), groups, own.window).channel()
    assert not checks.keeps_promise([planted], epsilon)


def test_reports_follow_the_channel_round_the_circle_and_a_swap_is_caught(checks: ModuleType) -> None:
    own, generator = wave(5, groups=3, window=2), rng.seeded(1)
    channel = own.channel()
    assert all(checks.reports_fit(own, channel, value, 20_000, generator) for value in (0, 4, 7, 9, 14))
    swapped = Channel(payloads=channel.payloads, probabilities=channel.probabilities[::-1])
    assert not checks.reports_fit(own, swapped, 0, 20_000, generator)


def test_the_map_is_the_channel_and_its_transpose_and_scores_are_unbiased() -> None:
    own = wave(7, groups=2, window=3)
    dense = np.array([[float(p) for p in row] for row in own.channel().probabilities])
    assert np.allclose(np.stack([own.map.apply(row) for row in np.eye(14)]), dense)
    assert np.allclose(np.stack([own.map.transpose(row) for row in np.eye(14)], axis=1), dense)
    for value, chances in enumerate(dense.reshape(14, 2, 7)):
        group, level = divmod(value, 7)
        found = sums(np.round(chances * 1e9).astype(np.int64), own.scores, np.array([True, False]))
        angle = 2 * np.pi * level / 7
        assert np.allclose(found.values / 1e9, (group == 0) * np.array([1, np.cos(angle), np.sin(angle)]), atol=1e-6)


@pytest.mark.parametrize("evened", [0.0, 0.1])
def test_em_does_not_know_where_the_circle_begins(evened: float) -> None:
    own = wave(12, 3)
    truth = np.array([9, 5, 2, 1, 1, 1, 1, 1, 1, 2, 5, 12]) * 20_000.0
    seen = [own.map.seen(np.roll(truth, turn)[None]) for turn in (0, 5)]
    first, again = (fitted(own.map, one[None], evened=evened).shares[0, 0] for one in seen)
    assert np.allclose(np.roll(first, 5), again, atol=1e-9)
    assert np.abs(first - truth / truth.sum()).max() < (0.05 if evened else 0.01)


@pytest.mark.parametrize("length", [0.0, 0.1, 0.8])
def test_intervals_of_direction_and_length_hold_as_often_as_they_say(length: float) -> None:
    """Reports of users drawn at random; shorter intervals are the control, where directions are far from unknown."""
    own, angle, users = wave(24, 1), 2 * np.pi * np.arange(24) / 24, 3000
    truth = np.exp(3 * length * np.cos(angle))  # von Mises
    truth /= truth.sum()
    vector = complex(truth @ np.exp(1j * angle))
    expected, draw = own.map.seen(truth[None])[0], np.random.default_rng(4)  # noqa: TID251  # made-up reports
    held = dict.fromkeys((1.96, 0.98), np.zeros(2))
    for reports in draw.multinomial(users, expected / expected.sum(), RUNS):
        moments = sums(reports[None], own.scores, np.ones(1, dtype=bool))
        for z in held:
            found = direction(moments, z)
            value, _, low, high = found.angle
            near = value + (np.angle(vector) - value + np.pi) % (2 * np.pi) - np.pi
            inside = found.length[2] <= abs(vector) <= found.length[3]
            held[z] = held[z] + np.array([low <= near <= high or length == 0, inside]) / RUNS
    allowed = LIMIT * (0.05 * 0.95 / RUNS) ** 0.5
    assert (held[1.96] > 0.95 - allowed).all()
    assert length < 0.5 or held[0.98][0] < 0.95 - allowed


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match="window must be below the levels"):
        wave(5, window=5)
    with pytest.raises(ValueError, match="levels must be at least 3"):
        wave(2)
    with pytest.raises(NotSupported):
        CARD.example(ZCDP(rho=1), None)
