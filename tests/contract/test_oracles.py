"""Every frequency oracle: privacy and estimates exactly from its channel, the sampler tied to that by chi-square."""

import importlib.util
import itertools
import re
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Channel, Oracle

SAMPLES = 20_000


def load(name: str) -> ModuleType:
    """Import the checks beside this file; test folders are no packages."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


check = load("oracle_checks")
every_case = pytest.mark.parametrize("case", check.cases(), ids=str)
enumerable = pytest.mark.parametrize("case", [c for c in check.cases() if c.card.name not in check.TOO_LONG], ids=str)
every_card = pytest.mark.parametrize("own", check.cards(), ids=lambda card: card.name)
five = pytest.mark.parametrize(
    "case", [c for c in check.cases() if c.size == 5 and c.card.name not in check.TOO_LONG], ids=str
)
OVERSPEND = Fraction(105, 100)


@enumerable
def test_no_report_tells_more_than_epsilon_and_rows_are_distributions(case: Any) -> None:
    found = list(check.channels(case.make()))
    assert all(check.rows_add_up(one) for one in found)
    assert check.keeps_promise(found, case.epsilon)


@five
def test_the_whole_of_epsilon_is_used_and_five_percent_more_is_found(case: Any) -> None:
    assert check.spends_all(list(check.channels(case.make())), case.epsilon)
    more = list(check.channels(case.make(loss=PureDP(epsilon=case.loss.epsilon * OVERSPEND))))
    assert not check.keeps_promise(more, case.epsilon)


@enumerable
def test_estimates_are_unbiased_with_exactly_the_stated_variance(case: Any) -> None:
    oracle = case.make()
    whole = check.channel(oracle)
    if whole is not None:
        assert check.estimates_are_right(oracle, whole)
        return
    generator = rng.seeded(7)
    for value in range(case.size):
        assert check.sampled_estimates_fit(oracle, oracle, value, SAMPLES, generator)


@five
def test_swapped_rows_and_a_wrong_loss_fail_the_estimates(case: Any) -> None:
    oracle, other = case.make(), case.make(loss=PureDP(epsilon=case.loss.epsilon * OVERSPEND))
    whole = check.channel(oracle)
    if whole is None:
        assert not check.sampled_estimates_fit(oracle, case.make(loss=PureDP(epsilon=8)), 1, SAMPLES, rng.seeded(7))
        return
    swapped = Channel(payloads=whole.payloads, probabilities=whole.probabilities[1:] + whole.probabilities[:1])
    assert not check.estimates_are_right(oracle, swapped)
    assert not check.estimates_are_right(other, whole)


@every_case
def test_reports_have_the_distribution_of_the_channel(case: Any) -> None:
    oracle, generator = case.make(), rng.seeded(11)
    whole = check.channel(oracle)
    if whole is None:
        pytest.skip("the channel is too large; estimates and seeds are sampled instead")
    for value in range(case.size):
        assert check.reports_fit(oracle, whole, value, SAMPLES, generator)


@five
def test_reports_of_a_smaller_loss_or_another_value_fail_the_chi_square(case: Any) -> None:
    oracle = case.make()
    whole = check.channel(oracle)
    if whole is None:
        pytest.skip("the channel is too large; estimates and seeds are sampled instead")
    moved = Channel(payloads=whole.payloads, probabilities=whole.probabilities[1:] + whole.probabilities[:1])
    assert not check.reports_fit(oracle, moved, 0, SAMPLES, rng.seeded(11))
    weaker = case.make(loss=PureDP(epsilon=case.loss.epsilon / 2))
    assert not check.reports_fit(weaker, whole, 0, 4 * SAMPLES, rng.seeded(11))


@every_case
def test_tallies_and_estimates_of_disjoint_users_add_up(case: Any) -> None:
    oracle = case.make()
    values = (np.arange(1001) % case.size).astype(np.int32)
    reports = oracle.perturb(values, rng=rng.seeded(3))
    parts = [reports[:0], reports[:1], reports[1:400], reports[400:]]
    tallies = [oracle.tally(part) for part in parts]
    assert all(tally.dtype == np.int64 for tally in tallies)
    assert np.array_equal(sum(tallies), oracle.tally(reports))
    assert np.array_equal(oracle.tally(reports[::-1]), oracle.tally(reports))
    added = sum(oracle.estimate(tally, len(part)).answers for tally, part in zip(tallies, parts, strict=True))
    assert np.allclose(added, oracle.estimate(oracle.tally(reports), 1001).answers, rtol=1e-9, atol=1e-6)


@every_case
def test_a_tally_leaves_its_reports_alone_even_a_single_one(case: Any) -> None:
    oracle = case.make()
    reports = oracle.perturb((np.arange(50) % case.size).astype(np.int32), rng=rng.seeded(6))
    before = reports.copy()
    wide = np.concatenate([reports, reports], axis=1)[:, : oracle.width]  # rows that are not next to each other
    singles = sum(oracle.tally(reports[row : row + 1]) for row in range(50))
    assert np.array_equal(oracle.tally(wide), singles)
    oracle.faults(reports)
    assert np.array_equal(reports, before)


@every_case
def test_honest_reports_have_no_fault_and_impossible_ones_do(case: Any) -> None:
    oracle = case.make()
    reports = oracle.perturb((np.arange(200) % case.size).astype(np.int32), rng=rng.seeded(4))
    assert not any(mask.any() for mask in oracle.faults(reports).values())
    assert all(mask.shape == (200,) and mask.dtype == np.bool_ for mask in oracle.faults(reports).values())
    whole = check.channel(oracle)
    if whole is None or oracle.width > 2:
        return
    every = np.array(list(itertools.product(range(256), repeat=oracle.width)), dtype=np.uint8)
    found = np.any(list(oracle.faults(every).values()), axis=0)
    possible = {bytes(row) for row in whole.payloads}
    assert [not fault for fault in found] == [bytes(row) in possible for row in every]


@every_case
def test_values_out_of_range_are_refused_without_showing_them(case: Any) -> None:
    oracle = case.make()
    outside = [np.array([0, 77777], dtype=np.int32), np.array([-77777, 0], dtype=np.int32)]
    for values in [*outside, np.array([case.size], dtype=np.int32), np.array([2**32], dtype=np.int64)]:
        with pytest.raises(ValueError, match="values must ") as refusal:
            oracle.perturb(values, rng=rng.seeded(1))
        assert "7777" not in str(refusal.value)


@enumerable
def test_the_claim_is_local_and_names_the_numbers_it_rests_on(case: Any) -> None:
    oracle = case.make()
    assert isinstance(oracle, Oracle)
    assert oracle.claim.unit == Unit(relation=Relation.REPLACE_ONE)
    assert oracle.claim.published == oracle.claim.proven == case.loss
    names = [one.name for one in fields(oracle)]
    numbers = [value for name in names if isinstance(value := getattr(oracle, name), Fraction)]
    fractions = [str(value) for value in numbers]
    if fractions:
        assert any(value in oracle.claim.basis for value in fractions)
    else:  # an oracle with several losses has its probabilities in methods
        assert re.search(r"\d+/\d+", oracle.claim.basis)


@every_case
def test_nobody_and_single_users_work(case: Any) -> None:
    oracle = case.make()
    nothing = oracle.perturb(np.empty(0, dtype=np.int32), rng=rng.seeded(1))
    assert nothing.shape == (0, oracle.width)
    assert nothing.dtype == np.uint8
    measured = oracle.estimate(oracle.tally(nothing), 0)
    assert measured.answers.shape == (case.size,)
    assert np.shape(measured.variance) == (case.size,)
    assert not measured.answers.any()
    assert not np.any(measured.variance)
    assert oracle.perturb(np.array([case.size - 1], dtype=np.int32), rng=rng.seeded(1)).shape == (1, oracle.width)


@every_case
def test_variance_grows_with_the_users_and_is_linear_in_the_frequency(case: Any) -> None:
    oracle = case.make()
    rare, sure = oracle.variance(1000), oracle.variance(1000, 1.0)
    assert np.isclose(oracle.variance(1000, 0.25), 0.75 * rare + 0.25 * sure, rtol=1e-12)
    assert np.isclose(oracle.variance(3000), 3 * rare, rtol=1e-12)


@every_case
def test_the_same_seed_gives_the_same_reports_and_values_are_left_alone(case: Any) -> None:
    oracle = case.make()
    values = (np.arange(400) % case.size).astype(np.int32)
    before = values.copy()
    first, second = (oracle.perturb(values, rng=rng.seeded(9)) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(values, before)


@every_card
def test_a_loss_that_is_not_pure_and_an_empty_domain_are_refused(own: Card) -> None:
    with pytest.raises(NotSupported):
        own.example(ZCDP(rho=1), Unit())
    assert own.oracle is not None
    with pytest.raises(ValueError, match="size must be an integer >= 1"):
        own.oracle(0, PureDP(epsilon=1))
    assert own.oracle(4, ZCDP(rho=1)) is None
