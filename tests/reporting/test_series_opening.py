"""What a series opens with: the latest period, the one before and the trend, never more than the noise allows."""

import re
from fractions import Fraction
from functools import cached_property, partial

import pyarrow as pa
import pytest
from scipy import stats
from tests.kinds.reading import text
from tests.reporting.few_months import COST, RISING, SEX, STATISTICS, WARD, series_of, spec, table

from dpress.core.basics.rng import seeded
from dpress.noise.laplace import DiscreteLaplace
from dpress.query.query_tree import Query
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.period_numbers import counts, group_weights
from dpress.release.periods.series import Series
from dpress.reporting.series_opening import groups_sentence, opening
from dpress.reporting.series_page import series_page
from dpress.reporting.series_parts import Part, parts
from dpress.reporting.statistic_titles import Titled

FALSE_ALARM = 1e-6
RUNS = 1200
NOISE, SOURCE = DiscreteLaplace(scale=Fraction(4)), seeded(11)
HIDDEN = (
    "The noise hides whether that is more or {less} than in 2024-02. "
    "From 2024-01 to 2024-03 the noise hides whether it rises or falls."
)


def opened(series):
    return " ".join(opening(parts(series).shown, series.periods))


@pytest.mark.parametrize("counter", ["separate", "tree"])
def test_a_series_opens_with_the_latest_period_the_one_before_and_the_trend(tmp_path, counter):
    told = opened(series_of(tmp_path / "out", spec([WARD], counter=counter), RISING))
    pattern = r"In 2024-03: 1,0\d\d rows, give or take \d+\. That is (\d+) more than in 2024-02 \((\d+) to (\d+)\)\. "
    found = re.fullmatch(pattern + r"From 2024-01 to 2024-03 it rises by (\d+) \((\d+) to (\d+)\)\.", told)
    assert found is not None, told
    assert int(found[2]) <= 300 <= int(found[3])
    assert int(found[5]) <= 300 <= int(found[6])


def test_a_series_that_falls_says_so(tmp_path):
    told = opened(series_of(tmp_path / "out", spec([WARD]), table((400, 600, 20), (400, 300, 20), (400, 100, 20))))
    assert re.search(r"That is 2\d\d fewer than in 2024-02 \(.*\)\. From 2024-01 to 2024-03 it falls by 5\d\d \(", told)


@pytest.mark.parametrize("last", [720, 723, 717])
def test_a_near_tie_of_periods_is_no_rise_and_no_fall(tmp_path, last):
    rows = table((400, 300, 20), (400, 300, 20), (400, last - 420, 20))
    assert opened(series_of(tmp_path / "out", spec([WARD], epsilon=1.0), rows)).endswith(HIDDEN.format(less="fewer"))


def test_two_periods_are_compared_once_and_one_is_only_counted(tmp_path):
    two = opened(series_of(tmp_path / "two", spec([WARD], 2), table((400, 300, 20), (400, 500, 20))))
    assert re.fullmatch(r"In 2024-02: 9\d\d rows, give or take \d+\. That is \d+ more than in 2024-01 \(.*\)\.", two)
    one = opened(series_of(tmp_path / "one", spec([WARD], 1), table((400, 300, 20))))
    assert re.fullmatch(r"In 2024-01: 7\d\d rows, give or take \d+\.", one)


def test_a_series_of_statistics_opens_with_the_chief_one_in_its_unit(tmp_path):
    plan = spec([WARD, SEX, COST], kind="statistics", parameters=STATISTICS)
    told = opened(series_of(tmp_path / "out", plan, table(*[(4000, 3000, 2000)] * 3)))
    number = r"\d+\.\d+ EUR"
    pattern = (
        rf"In 2024-03: \d,\d\d\d rows, give or take \d+\. The mean of Cost of a visit in 2024-03 is {number} \(.*\)\. "
        rf"That is {number} more than in 2024-02 \(.*\)\. From 2024-01 to 2024-03 it rises by {number} \(.*\)\."
    )
    assert re.fullmatch(pattern, told), told


def test_statistics_that_are_alike_are_neither_more_nor_less(tmp_path):
    costs = pa.array([float(row % 90) for row in range(2160)])
    rows = table(*[(400, 300, 20)] * 3).set_column(3, "cost", costs)
    plan = spec([WARD, SEX, COST], kind="statistics", parameters=STATISTICS)
    assert opened(series_of(tmp_path / "out", plan, rows)).endswith(HIDDEN.format(less="less"))


def test_a_sentence_on_groups_names_few_of_each_direction(tmp_path):
    series = series_of(tmp_path / "out", spec([WARD | {"values": [*"abcdefgh"]}], 2), lettered())
    _, letters = parts(series).shown
    told = groups_sentence(letters, letters.numbers.change(0, 1, 0.99), "2024-01")
    hidden = "; in 1 of 8 groups the noise hides whether it does."
    assert told == f"Since 2024-01 the count rises in a, b, c and 3 more and falls in h{hidden}"


def lettered():
    """Return two months, of which the second has more of six letters, fewer of one, and as many of one."""
    sizes = [(300, 900 - 50 * place) for place in range(6)] + [(400, 400), (900, 100)]
    pairs = zip("abcdefgh", sizes, strict=True)
    rows = [(month, letter) for letter, both in pairs for month in (0, 1) for _ in range(both[month])]
    days = [f"2024-0{month + 1}-05" for month, _ in rows]
    return pa.table({"visited": days, "ward": [letter for _, letter in rows]})


class Redrawn(Series):
    """A series of equal periods whose noise is drawn by the sampler of its releases: nothing is published."""

    spans = property(lambda self: self.calendar.spans)
    periods = property(lambda self: self.calendar.names)
    tail = "laplace"

    @cached_property
    def cells(self):
        return {span: 50 * (span[1] + 1 - span[0]) + NOISE.sample(3, rng=SOURCE) for span in self.spans}

    def span_count(self, span, local, text=""):
        assert not text
        return float(local[1] @ self.cells[span]), float(local[1] @ local[1]) * NOISE.variance


@pytest.mark.slow
@pytest.mark.parametrize(("counter", "months"), [("separate", 3), ("separate", 24), ("tree", 8)])
def test_many_equal_periods_are_seldom_told_apart(tmp_path, counter, months):
    """Openings and sentences of groups name a rise or a fall where there is none with a chance of at most 5 % each."""
    calendar = Calendar(spec([WARD], months, counter=counter))
    ward, count = calendar.spec.schema.tabular[1:], Titled(name="count", unit="rows")
    openings = groups = careless = 0
    for _ in range(RUNS):
        series = Redrawn(folder=tmp_path, calendar=calendar, id="")
        whole, wards = (counts(series, group_weights(series, by)) for by in ((), ("ward",)))
        part = Part(statistic=count, query=Query(of="count"), axes=(), labels=((),), numbers=whole, shown=whole)
        _, latest, trend = opening([part], series.periods)
        openings += not (latest.startswith("The noise hides") and "the noise hides" in trend)
        change = partial(wards.change, months - 2, months - 1)
        query = Query(of="count", by=("ward",))
        part = Part(statistic=count, query=query, axes=ward, labels=(*map(tuple, "abc"),), numbers=wards, shown=wards)
        groups += not groups_sentence(part, change(1 - 0.05 / 3), "before").endswith("in any of 3 groups.")
        careless += bool(change(0.7).significant.any())
    most = stats.binom.ppf(1 - FALSE_ALARM, RUNS, 0.05)
    assert max(openings, groups) <= most
    assert careless > most  # the negative control: 70 % each, and no Bonferroni


def test_quantiles_without_intervals_are_told_without_a_rise_or_a_fall(tmp_path):
    parameters = {"by": ["ward"], "quantiles": {"cost": [0.5]}, "intervals": False}
    series = series_of(tmp_path / "out", spec([WARD, COST], kind="statistics", parameters=parameters), RISING)
    told = "The median of Cost of a visit of 3 groups in 3 periods; no error of all rows together is known."
    assert opened(series) == told
    assert "rises" not in text(series_page(series))


def test_shares_are_in_percent_and_their_changes_in_points(tmp_path):
    wards = table((400, 300, 20), (400, 300, 20), (400, 300, 20))
    sexes = pa.array(["m" if row % 10 < 4 + row // 720 else "f" for row in range(2160)])
    plan = spec([WARD, SEX], kind="statistics", parameters={"by": ["ward"], "share": ["sex = m"]})
    told = opened(series_of(tmp_path / "out", plan, wards.set_column(2, "sex", sexes)))
    change = r"\d+(\.\d)? points"
    assert re.search(r"The share of sex = Men in 2024-03 is [56]\d\.\d+ % \(5\d.* to 6\d.*\)\. ", told), told
    assert re.search(rf"That is {change} more than in 2024-02 \(.*\)\. From .* it rises by {change} \(", told), told
