"""`privset`: its exact channel, its sampler, groups, and the errors that it states."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpress.attributes.sets.attribute import members, words
from dpress.audit.exact import channel_loss
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.sets.privset import Privset, best_groups, grouped
from dpress.mechanisms.sets.set_reports import SetReports
from dpress.noise.response import LEFT_OUT
from dpress.noise.whole_weights import by_weight, sets_of

ONE = PureDP(epsilon=1)
FALSE_ALARM_SIGMAS = 6.5  # of one normal figure: below 1e-10


@pytest.mark.parametrize(("values", "first", "size", "cap"), [(4, 0, 4, 2), (5, 2, 3, 2), (3, 1, 1, 3), (4, 0, 4, 4)])
def test_every_report_is_at_most_e_epsilon_times_as_likely_under_another_set(
    values: int, first: int, size: int, cap: int
) -> None:
    own = SetReports(values=values, first=first, size=size, cap=cap, loss=ONE)
    found = channel_loss([own.channel()], Fraction(1))
    assert found.kept
    assert found.loss is not None
    assert found.loss > Fraction(999, 1000)  # the whole budget is used


def test_planted_faults_of_the_channel_are_seen() -> None:
    own = SetReports(values=4, first=0, size=4, cap=2, loss=ONE)
    with pytest.raises(ValueError, match="would spend more than epsilon"):
        replace(own, meets=own.meets + Fraction(1, 1 << 20))
    more = replace(own, loss=PureDP(epsilon=Fraction(21, 20)), meets=LEFT_OUT)
    assert not channel_loss([more.channel()], Fraction(1)).kept


def test_reports_are_drawn_as_the_channel_says_and_another_set_is_told_apart() -> None:
    own, draws = SetReports(values=5, first=0, size=4, cap=2, loss=ONE, weight=2), 40_000
    channel = own.channel()

    def chi_square(drawn: int, stated: int) -> float:
        reports = own.perturb(np.full((1, draws), drawn, dtype=np.int32), rng=rng.seeded(drawn))
        seen = np.array([(reports == one).all(axis=1).sum() for one in channel.payloads])
        wanted = draws * np.array([float(one) for one in channel.probabilities[stated]])
        return float(((seen - wanted) ** 2 / wanted).sum())

    outputs = len(channel.payloads)
    limit = outputs + 10 * np.sqrt(2 * outputs)  # a false alarm below 1e-8
    assert all(chi_square(one, one) < limit for one in (0, 1, 3, 7, 16, 31))
    assert chi_square(3, 5) > limit


@pytest.mark.parametrize(("values", "cap", "groups"), [(40, 3, 1), (12, 6, 4), (6, 6, 6)])
def test_counts_and_set_sizes_are_unbiased_with_the_variance_that_is_stated(values: int, cap: int, groups: int) -> None:
    users, runs, method = 3000, 60, grouped(values, cap, ONE, groups)
    shares = np.minimum(0.95, cap / 2 / (1 + np.arange(values)) / np.sum(1 / (1 + np.arange(values))))  # skewed
    drawn = rng.seeded(1).words(users * values).reshape(users, values) < (shares * 2.0**64).astype(np.uint64)
    own = sets_of(drawn, np.minimum(drawn.sum(axis=1), cap), rng=rng.seeded(2))
    codes = np.array([words(np.flatnonzero(one), values) for one in own], dtype=np.int32).T
    assert (members(codes, values) == own).all()
    truth, errors, stated, sizes, within = own.sum(axis=0), [], [], [], []
    for run in range(runs):
        coins = rng.seeded(100 + run)
        group = (coins.words(users) % np.uint64(groups)).astype(np.int64)
        tallies = [
            one.tally(one.perturb(codes[:, group == place], rng=coins)) for place, one in enumerate(method.types)
        ]
        found, size = method.measurement(tallies), method.set_size(tallies)
        errors.append(found.answers - truth)
        stated.append(found.variance)
        sizes.append((size.mean - truth.sum() / users) / np.sqrt(size.variance))
        within.append(np.abs(errors[-1]) <= 1.96 * np.sqrt(found.variance))
    spread = np.sqrt(np.mean(stated, axis=0) / runs)
    assert (np.abs(np.mean(errors, axis=0)) < FALSE_ALARM_SIGMAS * spread).all()
    ratio = np.mean(np.square(errors)) / np.mean(stated)
    assert 0.85 < ratio < 1.15
    assert 0.93 < np.mean(within) < 0.97  # of 360 intervals and more, but for those of one run that correlate
    assert abs(np.mean(sizes)) < FALSE_ALARM_SIGMAS / np.sqrt(runs)
    assert np.std(sizes) < 1.4


def test_groups_are_chosen_by_error_and_one_value_is_randomised_response() -> None:
    for values, cap, epsilon in ((16, 16, 1), (64, 4, 1), (10, 4, 4)):
        loss = PureDP(epsilon=epsilon)
        errors = [grouped(values, cap, loss, one).mean_variance(10**6) for one in range(1, values + 1)]
        assert errors[best_groups(values, cap, loss) - 1] <= 1.0001 * min(errors)
    single = grouped(16, 16, ONE, best_groups(16, 16, ONE)).reports[3]
    assert (single.size, single.weight, single.positions) == (1, 1, 2)
    assert float(single.p) == pytest.approx(np.e / (1 + np.e))
    assert grouped(1000, 4, ONE, best_groups(1000, 4, ONE)).asks == "all 1000 values"


def test_wrong_numbers_are_refused() -> None:
    own = {"values": 4, "first": 0, "size": 4, "cap": 2, "loss": ONE}
    for wrong in ({"cap": 5}, {"first": 1}, {"size": 0}, {"weight": 5}, {"meets": Fraction(1, 3)}):
        with pytest.raises(ValueError, match=r"cap|first|size|weight|p must"):
            SetReports(**{**own, **wrong})  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="words of its values"):
        SetReports(**own).perturb(np.array([[16]]), rng=rng.seeded(1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one after the other"):
        Privset(types=grouped(4, 2, ONE, 2).types[:1])


def test_whole_weights_are_drawn_exactly_where_a_word_does_not_tell() -> None:
    class Ones:
        """Words that always meet the first partial sum of (1, 2): 2^64 / 3, then whatever follows."""

        def __init__(self, *own: int) -> None:
            self.own = list(own)

        def words(self, size: int) -> np.ndarray:
            return np.array([self.own.pop(0) for _ in range(size)], dtype=np.uint64)

    third = (1 << 64) // 3
    assert by_weight([1, 2], 1, rng=Ones(third, third - 1)).tolist() == [0]  # type: ignore[arg-type]
    assert by_weight([1, 2], 1, rng=Ones(third, third + 1)).tolist() == [1]  # type: ignore[arg-type]
    huge = [1 << 400, 3 << 400]
    assert abs(by_weight(huge, 40_000, rng=rng.seeded(1)).mean() - 0.75) < FALSE_ALARM_SIGMAS * 0.433 / 200
