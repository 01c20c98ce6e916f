"""Differences of means and shares of different rows: intervals, what the noises share, and tests that count it in."""

import functools
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kinds.statistics.test_replicates import FACTORS, parameters, survey
from tests.kinds.statistics.weighted_rows import published as weighted

import dpress
from dpress.core.basics import rng
from dpress.core.maps.linear import Array
from dpress.data.specification.spec import from_dict
from dpress.inference.two_samples import LEAST
from dpress.query.release import Release
from dpress.query.schema_queries import conditions_of, query_of

LIMIT = 4.9  # standard errors; a false alarm is one in a million
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 15]}
OLD = {"name": "old", "kind": "categorical", "values": ["no", "yes"]}
RUNS = 150
MEANS = "mean age where sex = m - mean age where sex = f"
SHARES = "share old = yes where sex = m - share old = yes where sex = f"
GROUPED = {"by": ["sex"], "variance": ["age"], "share": ["old = yes"], "users": 300}


def published(kind: str, table: pa.Table, seed: int, epsilon: float = 1.0, **release: Any) -> Release:
    release |= {"kind": kind} | ({"parameters": GROUPED} if kind == "statistics" else {})
    spec = {"attribute": [{**SEX, "kind": "ordinal"}, AGE, OLD], "privacy": {"epsilon": epsilon}, "release": release}
    return dpress.publish(from_dict(spec), table, rng=rng.seeded(seed))


def rows(count: int, seed: int, shift: float = 0.0) -> pa.Table:
    """Return people of two sexes whose ages have one distribution, but for a shift of those of men."""
    draw = np.random.default_rng(seed)  # noqa: TID251  # made-up rows
    sex = draw.integers(0, 2, count)
    age = draw.binomial(15, 0.4 + shift * sex)
    old = np.where(draw.random(count) < 0.5 + shift * sex, "yes", "no")
    return pa.table({"sex": np.array(["f", "m"])[sex], "age": age, "old": old})


@functools.cache
def release(kind: str = "statistics", epsilon: float = 1.0) -> Release:
    return published(kind, rows(2000, 1), 3, epsilon)


@pytest.mark.parametrize("text", [MEANS, SHARES, f"{MEANS} by old"])
def test_a_query_is_read_and_reads_as_itself(text: str) -> None:
    query = query_of(release().schema, text)
    assert query.of == "contrast"
    assert query.text == text
    assert query_of(release().schema, query.text) == query


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("mean age where sex = m - mean age", "a row may be on both sides"),
        ("mean age - mean age where old = yes", "a row may be on both sides"),
        ("mean age where sex = m - mean age where old = yes", "a row may be on both sides"),
        ("mean age where sex = m - share old = yes where sex = f", "write `mean NAME where CONDITIONS - mean NAME"),
        ("mean age by old - mean age where sex = f", "write `mean NAME where CONDITIONS - mean NAME"),
        (f"{MEANS} - mean age where sex = f", "write `mean NAME where CONDITIONS - mean NAME"),
        ("mean sex where old = yes - mean sex where old = no", "expected an integer or numeric attribute"),
        ("mean age where sex = m - mean age where sex = x", "x"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)) as refusal:
        release("histogram").query(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("kind", ["histogram", "statistics"])
@pytest.mark.parametrize("text", [MEANS, SHARES])
def test_an_answer_is_that_of_both_sides_with_their_errors(kind: str, text: str) -> None:
    made = release(kind)
    first, second = (made[side] for side in text.split(" - "))
    answer = made[text]
    assert answer.value == pytest.approx(first.value - second.value)
    assert answer.standard_error == pytest.approx(math.hypot(first.standard_error, second.standard_error))
    (low, high), (below, above), (under, over) = answer.interval, first.interval, second.interval
    assert low == pytest.approx(answer.value - math.hypot(first.value - below, over - second.value))
    assert high == pytest.approx(answer.value + math.hypot(above - first.value, second.value - under))
    assert answer.population is not None
    assert answer.population[0] <= low < high <= answer.population[1]
    assert answer.p_value is not None


def test_groups_are_compared_one_by_one() -> None:
    answers = release("histogram").results(f"{MEANS} by old")
    assert [answer.group for answer in answers] == [(("old", "no"),), (("old", "yes"),)]
    alone = release("histogram")["mean age where sex = m and old = yes - mean age where sex = f and old = yes"]
    assert answers[1].value == alone.value
    assert answers[1].p_value == alone.p_value


def test_the_sampling_error_is_that_of_drawn_rows() -> None:
    table = rows(2000, 1)
    age, sex = table["age"].to_numpy(), table["sex"].to_numpy(zero_copy_only=False)
    expected = math.sqrt(sum(age[sex == one].var() / (sex == one).sum() for one in "fm"))
    for kind in ("histogram", "statistics"):
        assert release(kind, epsilon=500.0)[MEANS].sampling == pytest.approx(expected, rel=0.01)


def test_what_the_noises_of_a_tree_share_is_counted() -> None:
    """Of ranges, the error is that of the form in all cells, whose covariance is read off pairs of single cells."""
    made = published("ranges", rows(3000, 1), 1, attributes=["sex", "age"], method="privelet")
    cells = [conditions_of(made.schema, f"sex = {sex} and age = {age}") for sex in "fm" for age in range(16)]
    covariance = np.array([[made.answers.compared(a, b).pair.covariance for b in cells] for a in cells])
    form, sign, ages, variances = np.zeros((2, 16)), 1, np.arange(16), []
    for low, high in ((0, 4), (5, 9)):
        where, inside = f"age in {low}..{high}", (ages >= low) & (ages <= high)
        share, count = made[f"share sex = m where {where}"], made[where].unbiased or made[where].value
        form += sign * inside * np.array([[-share.value], [1 - share.value]]) / count
        variances, sign = [*variances, share.standard_error**2], -1
    answer = made["share sex = m where age in 0..4 - share sex = m where age in 5..9"]
    assert answer.standard_error == pytest.approx(math.sqrt(form.ravel() @ covariance @ form.ravel()), rel=1e-6)
    assert abs(answer.standard_error / math.sqrt(sum(variances)) - 1) > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "text"), [("histogram", MEANS), ("statistics", SHARES)])
def test_a_test_of_equal_groups_keeps_its_level_and_one_without_the_noise_does_not(kind: str, text: str) -> None:
    """At most .05 of tables of equal groups are alarms; more than that by `LIMIT` is a false alarm of this test."""
    alarms = naive = 0
    for seed in range(RUNS):
        answer = published(kind, rows(300, seed), seed, 0.15)[text]
        if answer.p_value is None or answer.sampling is None:
            continue
        alarms += answer.p_value < 0.05
        naive += abs(answer.value) > 1.96 * answer.sampling
    most = RUNS * 0.05 + LIMIT * math.sqrt(RUNS * 0.05 * 0.95)
    assert alarms <= most
    assert naive > most


def test_a_real_difference_is_told() -> None:
    for kind in ("histogram", "statistics"):
        answer = published(kind, rows(4000, 2, shift=0.2), 4)[MEANS]
        assert answer.p_value is not None
        assert answer.p_value < 1e-6
        assert answer.p_value >= LEAST
        assert "p counts noise and sampling in" in str(answer.note)


def test_of_few_rows_nothing_is_known_and_nothing_is_tested() -> None:
    answer = published("statistics", rows(5, 2), 4, 0.1)[MEANS]
    assert math.isnan(answer.value)
    assert answer.p_value is None
    assert answer.interval == (-15.0, 15.0)


def test_of_records_there_is_a_difference_and_no_error() -> None:
    answer = published("microdata", rows(2000, 1), 3)[MEANS]
    assert not math.isnan(answer.value)
    assert math.isnan(answer.standard_error)
    assert answer.p_value is None


def test_weights_alone_tell_no_test_and_replicates_do() -> None:
    text = "mean wage where region = north - mean wage where region = south"
    answer = weighted()[text]
    assert answer.p_value is None
    assert answer.population is None
    told = weighted(5, survey("jackknife")[0], {"rho": 900}, **parameters("jackknife"))
    table, replicates = survey("jackknife")
    expected = math.sqrt(FACTORS["jackknife"] * np.sum((differences(replicates) - differences(weights_of(table))) ** 2))
    assert told[text].sampling == pytest.approx(expected, rel=0.03)
    assert told[text].p_value is not None


def weights_of(table: pa.Table) -> Array:
    return np.asarray(table["pw"].to_numpy())[:, None]


def differences(weights: Array) -> Array:
    """Return the mean wage of the north less that of the south by several weights."""
    table = survey("jackknife")[0]
    wage, region = table["wage"].to_numpy(), table["region"].to_numpy(zero_copy_only=False)
    north, south = (
        (wage[place] @ weights[place]) / weights[place].sum(axis=0) for place in (region == "north", region == "south")
    )
    return np.asarray(north - south)


@pytest.mark.parametrize("text", ["share region = north", "ratio region = north / region = south"])
def test_shares_and_ratios_of_groups_have_the_error_of_their_replicates(text: str) -> None:
    table, replicates = survey("jackknife")
    told = weighted(5, table, {"rho": 900}, **parameters("jackknife"))[text]
    place = table["region"].to_numpy(zero_copy_only=False) == "north"
    every = []
    for weights in (weights_of(table), replicates):
        below = weights.sum(axis=0) if text.startswith("share") else weights[~place].sum(axis=0)
        every.append(weights[place].sum(axis=0) / below)
    expected = math.sqrt(FACTORS["jackknife"] * np.sum((every[1] - every[0]) ** 2))
    assert told.sampling == pytest.approx(expected, rel=0.03)
    assert told.population is not None
    assert told.population[0] < told.interval[0] < told.interval[1] < told.population[1]
    assert weighted()[text].sampling is None


COST = {"name": "cost", "kind": "integer", "bounds": [0, 40]}


def of_two_numbers(kind: str, epsilon: float = 1.0, seed: int = 3) -> tuple[Release, float]:
    """Return a release of two numbers that depend on each other, and the ratio of their sums among the rows."""
    table = rows(3000, 1)
    age = table["age"].to_numpy()
    table = table.append_column("cost", pa.array(np.minimum(2 * age + np.arange(3000) % 9, 40)))
    release: dict[str, Any] = {"kind": kind}
    release |= {"parameters": {"by": ["sex"], "sum": ["age", "cost"], "users": 3000}} if kind == "statistics" else {}
    spec = {"attribute": [SEX, AGE, COST], "privacy": {"epsilon": epsilon}, "release": release}
    sums = [sum(table[name].to_pylist()) for name in ("cost", "age")]
    return dpress.publish(from_dict(spec), table, rng=rng.seeded(seed)), sums[0] / sums[1]


@pytest.mark.parametrize("kind", ["statistics", "histogram"])
def test_one_sum_over_another_has_the_interval_of_both(kind: str) -> None:
    held = 0
    for seed in range(20):
        made, truth = of_two_numbers(kind, seed=seed)
        answer = made["ratio sum cost / sum age"]
        held += answer.interval[0] <= truth <= answer.interval[1]
        first, second = (made[f"sum {name}"] for name in ("cost", "age"))
        assert answer.value == pytest.approx(first.value / second.value)
        assert answer.of == "quotient"
        apart = math.hypot(first.standard_error, answer.value * second.standard_error) / second.value
        assert answer.standard_error < 0.95 * apart  # both sums have the noise of the same rows
    assert held >= 14  # of 20 that hold at .95 each, fewer are one in a million


def test_a_ratio_of_sums_reads_as_itself_by_groups_too() -> None:
    made, _ = of_two_numbers("statistics")
    for text in (
        "ratio sum cost / sum age",
        "ratio sum cost / sum age where sex = m",
        "ratio sum cost / sum age by sex",
    ):
        assert query_of(made.schema, text).text == text
    by_sex = made.results("ratio sum cost / sum age by sex")
    assert by_sex[1].value == made["ratio sum cost / sum age where sex = m"].value
    with pytest.raises(ValueError, match="there is no attribute"):
        made.query("ratio sum cost / sum nothing")


def test_of_a_sum_that_may_be_zero_nothing_is_known() -> None:
    made, _ = of_two_numbers("statistics", 0.0001)
    answer = made["ratio sum cost / sum age"]
    assert math.isnan(answer.value)
    assert "divided by is not distinguishable from zero" in str(answer.note)


def test_a_ratio_of_weighted_sums_has_the_error_of_its_replicates() -> None:
    table, replicates = survey("jackknife")
    told = weighted(5, table, {"rho": 900}, **parameters("jackknife"))
    wage, weights = table["wage"].to_numpy(), weights_of(table)
    assert told["ratio sum wage / sum pw"].value == pytest.approx(told["mean wage"].value, rel=1e-3)
    for text, below in (("ratio sum wage / sum pw", np.ones(len(table))), ("ratio sum pw / sum wage", wage)):
        above = wage if text.startswith("ratio sum wage") else np.ones(len(table))
        every = [above @ each / (below @ each) for each in (weights, replicates)]
        expected = math.sqrt(FACTORS["jackknife"] * np.sum((every[1] - every[0]) ** 2))
        assert told[text].sampling == pytest.approx(expected, rel=0.03)


def test_a_difference_of_shares_of_groups_has_the_error_of_their_replicates() -> None:
    table, replicates = survey("jackknife")
    parts = parameters("jackknife") | {"by": ["region", "employed"], "share": None, "mean": ["wage"]}
    told = weighted(5, table, {"rho": 900}, **parts)
    text = "share employed = yes where region = north - share employed = yes where region = south"
    region, employed = (table[name].to_numpy(zero_copy_only=False) for name in ("region", "employed"))
    every = []
    for weights in (weights_of(table), replicates):
        shares = [weights[(region == name) & (employed == "yes")].sum(axis=0) / weights[region == name].sum(axis=0)
                  for name in ("north", "south")]  # fmt: skip
        every.append(shares[0] - shares[1])
    expected = math.sqrt(FACTORS["jackknife"] * np.sum((every[1] - every[0]) ** 2))
    assert told[text].sampling == pytest.approx(expected, rel=0.03)
    assert told[text].p_value is not None


def test_an_explanation_names_the_groups_of_both_sides() -> None:
    text = "mean wage where region = north - mean wage where region = south"
    (source,) = weighted().answers.sources(query_of(weighted().schema, text))
    assert (source.parts, source.unit) == (2, "groups")  # of three
    assert source.sums == ("sum wage", "count")


def test_a_quotient_whose_numerator_may_be_negative_has_the_longest_interval_where_nothing_tells_the_correlation() -> (
    None
):
    """Of 20 releases whose intervals hold at .95 each, fewer than 14 that hold are one in a million."""
    x = {"name": "x", "kind": "integer", "bounds": [-10, 0]}
    y = {"name": "y", "kind": "integer", "bounds": [0, 10]}
    draw = np.random.default_rng(3)  # noqa: TID251  # made-up rows
    columns = {"x": draw.integers(-10, 1, 500), "y": draw.integers(0, 11, 500)}
    release = {"kind": "marginals", "parameters": {"ways": 1}}
    spec = from_dict({"attribute": [x, y], "privacy": {"epsilon": 0.2}, "release": release})
    truth, held = columns["x"].sum() / columns["y"].sum(), 0
    for seed in range(20):
        answer = dpress.publish(spec, pa.table(columns), rng=rng.seeded(seed))["ratio sum x / sum y"]
        held += answer.interval[0] <= truth <= answer.interval[1]
        assert answer.value < 0 or math.isnan(answer.value)
    assert held >= 14
    assert "largest that they can be" in str(answer.note)


def test_small_p_values_are_shown_with_two_digits() -> None:
    shown = [replace(release()[MEANS], p_value=p).significance for p in (0.012, 9.91e-5, 1.1e-5, 1e-9)]
    assert shown == ["0.012", "0.000100", "0.000011", "< 0.00001"]
