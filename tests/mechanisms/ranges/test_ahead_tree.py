"""A tree that grows in rounds: right on average with the stated variance, halved where people are, exact privacy."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import seeded
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.mechanisms.ranges.ahead_tree import ahead_tree, halves
from dpress.mechanisms.ranges.bell_shares import bell, hidden
from dpress.noise.uniform import below

EPSILON = PureDP(epsilon=3)
RUNS, USERS = 300, 600
FALSE_ALARM = "a mean of 300 squared deviations is outside 1 +- .35 once in 10^5 times"
CODES = np.repeat(np.arange(12), [250, 20, 0, 5, 150, 0, 75, 0, 0, 0, 0, 100]).astype(np.int32)


def grown(first, codes, seed):
    """The last round and its tally, of everybody's reports."""
    own, tally, rng, rounds = first, None, seeded(seed), len(first.levels)
    group = below(rounds, codes.size, rng=rng)
    for number in range(rounds):
        (one,) = own.types
        tally = one.tally(one.perturb(codes[None, group == number], rng=rng))
        own = own.following([tally]) or own
    return own, [tally]


@pytest.fixture(scope="module")
def runs():
    """Sums and their stated variances over many runs, and the truth."""
    first, weights = (
        ahead_tree(12, EPSILON, rounds=2),
        np.array([[1] * 12, [1] * 3 + [0] * 9, [0] * 6 + [1] * 6, [2, 2, 2, -1, -1, -1] + [0] * 6]),
    )
    found = []
    for seed in range(RUNS):
        last, tallies = grown(first, CODES, seed)
        (cells,) = last.decoder(USERS).estimate(last.measurement(tallies))
        spread = last.query_variances(tallies)
        found.append((weights @ cells, [spread([own.astype(float)]) for own in weights]))
    estimates, variances = map(np.array, zip(*found, strict=True))
    return estimates, variances, weights @ np.bincount(CODES, minlength=12)


def test_sums_of_first_intervals_are_right_on_average_and_vary_as_they_say(runs):
    estimates, variances, truth = runs
    error = (estimates - truth)[:, 1:] / np.sqrt(variances[:, 1:])
    assert np.abs(error.mean(axis=0)).max() < 4.9 / np.sqrt(RUNS)
    assert np.abs((error**2).mean(axis=0) - 1).max() < 0.35, FALSE_ALARM
    assert np.abs(estimates[:, 0] - USERS).max() < 0.1
    assert variances[:, 0].max() == 0


def test_half_of_the_variance_would_be_seen(runs):
    estimates, variances, truth = runs
    error = (estimates - truth)[:, 1:] / np.sqrt(variances[:, 1:] / 2)
    assert np.abs((error**2).mean(axis=0) - 1).max() > 0.35


def test_confidence_intervals_hold_on_heaps_though_the_same_answers_chose_what_is_asked():
    first, users = ahead_tree(64, PureDP(epsilon=1), rounds=3), 3000
    codes = np.repeat([0, 3, 17, 40, 63], [1800, 900, 120, 60, 120]).astype(np.int32)
    asked = np.array([np.arange(64) <= 3, np.arange(64) > 3, np.arange(64) >= 32], dtype=float)
    errors = []
    for seed in range(RUNS):
        last, tallies = grown(first, codes, seed)
        (cells,) = last.decoder(users).estimate(last.measurement(tallies))
        spread = last.query_variances(tallies)
        truth = asked @ np.bincount(codes, minlength=64)
        errors.append(
            [float(one) / np.sqrt(spread([own])) for one, own in zip(asked @ cells - truth, asked, strict=True)]
        )
    assert (np.abs(errors) <= 1.96).mean() > 0.92  # below it once in 10^3 times, were it .95 of 300 whose three agree
    assert (np.abs(errors) <= 1.96 / 2).mean() < 0.8


def test_intervals_are_halved_where_people_are_and_nowhere_else():
    codes = np.repeat([3, 900], [30_000, 10_000]).astype(np.int32)
    last, tallies = grown(ahead_tree(1024, EPSILON), codes, 1)
    widths = np.diff([*last.starts, 1024])
    place = np.searchsorted(last.starts, [3, 500, 900], side="right") - 1
    assert [widths[place[0]], widths[place[2]]] == [1, 1]
    assert widths[place[1]] >= 64
    assert len(last.starts) < 50
    (cells,) = last.decoder(codes.size).estimate(last.measurement(tallies))
    assert cells[[3, 900]] == pytest.approx([30_000, 10_000], abs=2500)


def test_later_rounds_promise_what_the_first_does_for_every_pair_of_cells():
    last, _ = grown(ahead_tree(12, EPSILON, rounds=2), CODES, 4)
    (part,) = last.types[0].parts
    values = part.encoder.values(np.arange(12, dtype=np.int32)[None])
    rows = [part.oracle.channel().probabilities[value] for value in values]
    worst = max(max(a / b for a, b in zip(one, other, strict=True)) for one in rows for other in rows)
    assert 20 < worst <= Fraction("20.08553692318766774093")  # e^3, rounded up


def in_a_bell(cells: int, users: int):
    return np.searchsorted(bell(cells).cumsum(), (np.arange(users) + 0.5) / users).astype(np.int32)


def ratio(epsilon: float, users: int) -> float:
    """Return the root mean squared error of ranges of people in a bell over the predicted one."""
    first, draw = ahead_tree(128, PureDP(epsilon=epsilon)), np.random.default_rng(1)  # noqa: TID251  # ranges
    ends = np.sort(draw.integers(0, 128, (60, 2)), axis=1) + 1
    ranges, codes, squares = Ranges(128, ends[:, 0], ends[:, 1]), in_a_bell(128, users), []
    sums = np.append(0, np.bincount(codes, minlength=128).cumsum())
    for seed in range(160):
        last, tallies = grown(first, codes, seed)
        (cells,) = last.decoder(users).estimate(last.measurement(tallies))
        off = np.append(0, cells.cumsum()) - sums
        squares.append(float(((off[ranges.right] - off[ranges.left - 1]) ** 2).mean()))
    return float((np.mean(squares) / first.range_error(users, ranges)) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "users"), [(0.1, 60_000), (1, 4000), (8, 4000)])
def test_people_in_a_bell_err_as_predicted(epsilon: float, users: int) -> None:
    """Of 160 mean squares, each of two independent ones at least, the root has a standard deviation of 4 %: 1e-6."""
    assert 0.8 < ratio(epsilon, users) < 1.25


@pytest.mark.slow
def test_what_intervals_hide_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seventh of the mean square, here; three times as much in the prediction is found out."""

    def thrice(edges: Array, shares: Array, ranges: Ranges) -> Array:
        return 3 * hidden(edges, shares, ranges)

    monkeypatch.setattr("dpress.mechanisms.ranges.ahead_tree.hidden", thrice)
    assert ratio(0.1, 5_000) < 0.8


def test_heaps_err_less_than_is_predicted() -> None:
    first, users = ahead_tree(256, PureDP(epsilon=1)), 20_000
    ranges = Ranges(256, np.array([10, 1, 60]), np.array([99, 128, 200]))
    last, tallies = grown(first, np.repeat([7, 200], users // 2).astype(np.int32), 1)
    spread = last.query_variances(tallies)
    stated = np.mean([spread([ranges.weights(place)]) for place in range(ranges.size)])
    assert stated < first.range_error(users, ranges)
    assert [len(own.starts) for own in (next(first.simulated(users)), next(first.ended().simulated(users)))] == [5, 1]


def test_cells_are_halved_until_each_is_alone():
    assert halves(5, 3).tolist() == [0, 1, 2, 3, 4]
    for cells in (1, 2, 3, 1000, 1025):
        tree = ahead_tree(cells, EPSILON)
        assert halves(cells, tree.levels[-1]).size == cells
        assert len(tree.levels) <= 5
        assert tree.mean_variance(1000) >= 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shape": (12, 2)}, "over one attribute"),
        ({"levels": (2, 2)}, "rising"),
        ({"levels": ()}, "earlier"),
        ({"starts": (0, 3, 6, 12)}, "starts: expected first cells from 0 up to 11, rising"),
        ({"starts": (1, 3, 6, 9)}, "starts"),
        ({"starts": (0, 6)}, "oracle: expected one value for every interval"),
        ({"loss": PureDP(epsilon=1)}, "the stated loss"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(ahead_tree(12, EPSILON, rounds=2), **change)


def test_a_round_that_nobody_answered_is_named():
    first = ahead_tree(12, EPSILON, rounds=2)
    with pytest.raises(ValueError, match="nobody reported in round 0"):
        first.measurement([first.types[0].tally(first.types[0].nothing)])
    with pytest.raises(ValueError, match=r"rounds: expected at most 4, how often the cells are halved, got 5"):
        ahead_tree(12, EPSILON, rounds=5)
    with pytest.raises(ValueError, match=r"rounds: expected at least 2, as the first asks about all intervals, got 1"):
        ahead_tree(2**17, EPSILON, rounds=1)
    assert len(ahead_tree(2**16, EPSILON, rounds=1).starts) == 2**16
