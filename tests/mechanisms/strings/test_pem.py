"""pem: exact channels, what is asked next, counts by hand, false positives and intervals, each with a planted fault."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
import oracle_checks as checks

from dpress import catalog
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.text.attribute import padded
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain, read
from dpress.inference.interval import critical
from dpress.mechanisms.protocol.report_type import per_user
from dpress.mechanisms.protocol.short_reports import short_oracle
from dpress.mechanisms.strings.growing_prefixes import Grown, grown
from dpress.mechanisms.strings.pem import CARD, STEPS, Pem, extension_rounds, pem
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM, StringCounts, alarm, pooled

CHANCE = 1e-6  # of a false alarm of a statistical test
WORD = Categorical(name="w", values="discover")


def counting(strings, epsilon="2", earlier=1) -> Pem:
    """Return a last round that counts these strings of up to two bytes."""
    first = pem(2, 16, PureDP(epsilon=epsilon))
    nothing = StringCounts(strings=(), counts=(), users=0, by=first.oracle)
    oracle = short_oracle(len(strings) + 1, first.loss, STEPS)
    own = {"known": 16, "bits": 0, "prefixes": (), "strings": tuple(strings)}
    return replace(first, oracle=oracle, earlier=(nothing,) * earlier, **own)


def collected(own, words, generator):
    """Run the rounds over real reports; yield every round's estimator and its tallies."""
    rows = padded([one.encode() for one in words], own.longest)
    groups = (generator.words(len(words)) % np.uint64(len(own.rounds))).astype(int)
    while own is not None:
        (asked,), (candidates,) = own.types, own.coded((WORD,))
        codes = candidates.cells(rows[groups == own.round])
        tallies = [asked.tally(asked.perturb(codes[None], rng=generator))]
        yield own, tallies
        own = own.following(tallies)


def test_rounds_follow_from_the_longest_string():
    assert [extension_rounds(*own) for own in ((1, 4), (2, 1024), (4, 16), (16, 128), (32, 128))] == [1, 1, 2, 10, 20]
    assert pem(4, 16, PureDP(epsilon=1)).rounds == (1, 1, 1)
    for wrong, fault in (({"kept": 0}, "kept must be"), ({"kept": 1025}, "kept: expected 1 to 1024")):
        with pytest.raises(ValueError, match=fault):
            replace(pem(1, 4, PureDP(epsilon=1)), **wrong)
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        CARD.example(ZCDP(rho=1), None)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_no_report_of_any_round_costs_more_than_epsilon_and_five_percent_more_is_caught(epsilon):
    few = ("a", "b", "c")
    for own in (counting(few, epsilon), counting((), epsilon)):
        assert own.claim.proven == own.claim.published == PureDP(epsilon=epsilon)
        assert checks.rows_add_up(own.oracle.channel())
        assert checks.keeps_promise([own.oracle.channel()], epsilon)
    more = PureDP(epsilon=Fraction(epsilon) * Fraction(21, 20))
    with pytest.raises(ValueError, match="the stated loss"):
        replace(counting(few, epsilon), loss=more)
    assert not checks.keeps_promise([counting(few, more.epsilon).oracle.channel()], epsilon)


def test_prefixes_go_on_strings_end_and_what_is_no_text_is_passed_over():
    numbers = [0xC3A961, 0xFF0000, 0x610062, 0x610000, 0x000000, 0xE697A5, 0x626364, 0xC36162]
    assert grown(numbers, 24, 4, 9) == Grown(prefixes=("626364", "c3a961", "e697a5"), strings=("a",))
    assert grown(numbers, 24, 3, 9) == Grown(prefixes=(), strings=("a", "bcd", "éa", "日"))
    assert grown(numbers, 24, 4, 2) == Grown(prefixes=("c3a961",), strings=("a",))
    assert grown([0b0110], 4, 1, 9) == Grown(prefixes=("60",), strings=())


def test_what_many_hold_is_found_and_counted_and_nobody_is_asked_twice():
    words = ["tea"] * 12000 + ["té"] * 10000 + ["to"] * 8000 + [f"{number:03d}"[:3] for number in range(1000)] * 5
    rounds = list(collected(pem(3, 16, PureDP(epsilon=2)), words, rng.seeded(11)))
    assert [own.round for own, _ in rounds] == [0, 1, 2]
    assert {len(own.strings) for own, _ in rounds[:1]} == {0}
    own, tallies = rounds[-1]
    assert own.following(tallies) is None
    found = own.found(tallies)
    assert sum(int(one[0][-1]) for _, one in rounds) == len(words) == own.before + int(tallies[0][-1])
    assert [one for one, shown in zip(found.strings, found.released, strict=True) if shown] == ["tea", "to", "té"]
    for text, count in (("tea", 12000), ("té", 10000), ("to", 8000)):
        place = found.strings.index(text)
        far = NormalDist().inv_cdf(1 - CHANCE / 6) * math.sqrt(found.variances[place])
        assert abs(found.counts[place] - count) < far
        assert abs(found.counts[place] - 2 * count) > far  # twice as many would be told apart
    again = read(object, plain(own), find=catalog.find)
    assert again == own


def test_where_nothing_stands_out_no_round_follows():
    own = pem(2, 1, PureDP(epsilon=1))
    quiet = np.zeros(own.types[0].tally(own.types[0].nothing).size, dtype=np.int64)
    assert own.following([quiet]) is None
    quiet[-1] = 100
    assert own.following([quiet]) is None
    assert own.found([quiet]).strings == ()


def test_counts_of_several_rounds_are_the_weighted_mean_with_the_variance_by_hand():
    own = counting(("a", "b"))
    other = short_oracle(30, own.loss, STEPS)
    first = StringCounts(strings=("b",), counts=(90,), users=300, by=other)
    second = StringCounts(strings=("a", "b"), counts=(5, 30), users=200, by=own.oracle)
    found = pooled([StringCounts(strings=(), counts=(), users=500, by=other), first, second], 1000)
    weight = [300 / per_user(other, 0.0), 200 / per_user(own.oracle, 0.0)]
    w = [one / sum(weight) for one in weight]
    f = w[0] * 0.3 + w[1] * 0.15
    assert found.counts.tolist() == pytest.approx([25.0, 1000 * f])
    likely = (1000 * f + 2) / 1004
    noise = w[0] ** 2 * per_user(other, likely) / 300 + w[1] ** 2 * per_user(own.oracle, likely) / 200
    drawing = likely * (1 - likely) * 1000 / 999 * (w[0] ** 2 / 300 + w[1] ** 2 / 200 - 1 / 1000)
    assert found.variances[1] == pytest.approx(1e6 * (noise + drawing))
    alone = [math.sqrt(per_user(own.oracle, 0.0) / 200), math.sqrt(1 / sum(weight))]
    assert found.alone.tolist() == pytest.approx([1000 * one for one in alone])
    nobody = pooled([StringCounts(strings=("a",), counts=(0,), users=0, by=other)], 10)
    assert not nobody.released.any()


def test_sums_of_correlated_counts_vary_as_they_do_and_not_as_if_they_were_apart():
    names, users = tuple(chr(65 + one) for one in range(26)), 100_000
    oracle = short_oracle(70_001, PureDP(epsilon=4), STEPS)
    held = np.zeros(oracle.size)
    held[-27:-1], held[-1] = users / 52, users / 2
    found = pooled([StringCounts(strings=names, counts=(users // 52,) * 26, users=users, by=oracle)], users)
    apart = 26 * oracle.variance(users, 1 / 52)
    exact = apart + oracle.covariances(held, users)((held == users / 52).astype(float))
    assert found.variances.sum() == pytest.approx(apart, rel=0.01)
    assert found.sum_variance(np.ones(26)) == pytest.approx(exact, rel=0.02)
    assert exact > 2 * apart
    assert found.sum_variance(np.eye(26)[0]) == pytest.approx(found.variances[0])


@pytest.mark.slow
def test_strings_of_nobody_are_seldom_released_and_a_test_of_each_alone_is_caught():
    """Of 300 collections of which none holds any of 40 strings, binomially few release one: a chance of 1e-6."""
    own, times, users = counting([chr(65 + one) for one in range(40)]), 300, 400
    generator, false, alone = rng.seeded(5), 0, 0
    payloads = own.oracle.perturb(np.full(times * users, 40, dtype=np.int32), rng=generator)
    for part in np.split(payloads, times):
        found = own.found([own.types[0].tally(part)])
        false += bool(found.released.any())
        alone += bool((found.counts > alarm(1) * found.alone).any())
    far = NormalDist().inv_cdf(1 - CHANCE) * math.sqrt(times * FALSE_ALARM * (1 - FALSE_ALARM))
    assert false <= times * FALSE_ALARM + far
    assert alone > times * FALSE_ALARM + far  # 40 tests at 5 % each


@pytest.mark.slow
def test_of_released_intervals_few_miss_and_those_of_single_strings_are_caught():
    """Ten strings that are seldom released, 2000 times: the mean share of misses, by the normal law but for 1e-6."""
    own, times, users = counting([chr(65 + one) for one in range(10)]), 2000, 200
    held = np.minimum(np.arange(times * users, dtype=np.int32) % 20, 10)  # half of the people hold none
    payloads = own.oracle.perturb(held, rng=rng.seeded(6))
    missed, single = np.zeros(times), np.zeros(times)
    for run, part in enumerate(np.split(payloads, times)):
        found = own.found([own.types[0].tally(part)])
        shown = found.released
        far = abs(found.counts - users / 20)[shown] / np.sqrt(found.variances[shown])
        if shown.any():
            missed[run] = (far > critical(1 - 0.05 * shown.sum() / 10, "gaussian")).mean()
            single[run] = (far > critical(0.95, "gaussian")).mean()
    z = NormalDist().inv_cdf(1 - CHANCE)
    assert missed.mean() - z * missed.std() / math.sqrt(times) <= 0.05
    assert single.mean() - z * single.std() / math.sqrt(times) > 0.05
