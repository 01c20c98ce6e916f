"""Weighted statistics: planned, published, asked and compared, and what is refused.

Coverage: 1,200 groups of one release; a share of intervals below .94 is compared under its own standard error, with
a false alarm at 1e-6.
"""

import functools
import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import html_of_page, text
from tests.kinds.statistics.weighted_rows import EMPLOYED, REGION, WAGE, WEIGHT, published, spec, table

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.kinds.statistics import plan_text
from dpress.kinds.statistics.curator.plan_text import expected_errors
from dpress.query.release import Release

FALSE_ALARM = 1e-6
GROUPS = 1200
SURE = {"epsilon": 1000}


@functools.cache
def plain_release() -> Release:
    return published()


def truth(region: str | None = None) -> dict[str, float]:
    frame = table().to_pandas()
    frame = frame[frame.region == region] if region else frame
    weights, order = frame.pw, np.argsort(frame.wage.to_numpy())
    below = np.cumsum(weights.to_numpy()[order])
    median = frame.wage.to_numpy()[order][np.searchsorted(below, below[-1] / 2)]
    return {
        "total": len(frame),
        "sum pw": weights.sum(),
        "mean wage": np.average(frame.wage, weights=weights),
        "sum wage": (weights * frame.wage).sum(),
        "variance wage": np.cov(frame.wage, aweights=weights, ddof=0),
        "share employed = yes": np.average(frame.employed == "yes", weights=weights),
        "median wage": median,
    }


@pytest.mark.parametrize("privacy", [SURE, {"rho": 900}, SURE | {"relation": "replace-one"}])
@pytest.mark.parametrize("region", [None, "south"])
def test_with_hardly_any_noise_they_are_those_of_the_textbook(privacy: Any, region: str | None) -> None:
    release = published(privacy=privacy, variance=["wage"])
    where = f" where region = {region}" if region else ""
    for name, value in truth(region).items():
        query = f"region = {region}" if name == "total" and region else f"{name}{where}"
        answer = release[query]
        assert answer.value == pytest.approx(value, rel=0.01 if name.startswith("median") else 3e-3), name
        assert answer.interval[0] <= answer.value <= answer.interval[1]


def test_weights_are_what_makes_the_difference() -> None:
    share = published(privacy=SURE)["share employed = yes"].value
    plain = published(privacy=SURE, weight=None, attributes=(REGION, EMPLOYED, WAGE))["share employed = yes"].value
    assert (share, plain) == (pytest.approx(0.78, abs=0.02), pytest.approx(0.50, abs=0.02))


@pytest.mark.parametrize("query", ["total", "sum pw", "mean wage", "share region = north", "median wage"])
def test_every_answer_says_whether_it_is_weighted_and_what_its_interval_holds(query: str) -> None:
    answer = plain_release()[query]
    if query == "total":
        assert answer.note == "These are rows; `sum pw` has their weights."
        return
    assert answer.note is not None
    assert answer.note.startswith("Weighted by pw. The interval holds the noise, not ")


def test_shares_and_ratios_of_groups_are_of_weights() -> None:
    release, frame = published(privacy=SURE), table().to_pandas()
    north, south = (frame.pw[frame.region == region].sum() for region in ("north", "south"))
    assert release["share region = north"].value == pytest.approx(north / (north + south), rel=1e-3)
    assert release["ratio region = north / region = south"].value == pytest.approx(north / south, rel=1e-3)


def test_a_difference_of_counts_is_of_rows_as_each_count_is() -> None:
    release, frame = published(privacy=SURE), table().to_pandas()
    north, south = ((frame.region == region).sum() for region in ("north", "south"))
    answer = release["count region = north - count region = south"]
    assert answer.value == pytest.approx(north - south, abs=2)
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    assert answer.note == "These are rows; `sum pw` has their weights."
    counts = [f"count(*) filter (where region = '{region}')" for region in ("north", "south")]
    in_sql = release.sql(f"select {' - '.join(counts)} as n from survey").to_arrow()
    assert in_sql["n"].to_pylist() == [answer.value]


def covered(*, shorter: float = 1.0) -> dict[str, float]:
    """Return the share of groups whose intervals hold the weighted truth, by statistic, intervals made shorter."""
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    group = np.repeat(np.arange(GROUPS), 60)
    wage, weights = 1000 * draw.beta(0.5, 2, group.size), 200 * draw.random(group.size) ** 6
    rows = pa.table({"region": group, "wage": wage, "pw": weights})
    attributes = ({"name": "region", "kind": "integer", "bounds": [0, GROUPS - 1]}, WAGE, WEIGHT)
    release = published(9, rows, {"epsilon": 3}, attributes=attributes, share=None, variance=["wage"], median=None)
    results = release.answers.groups()
    weight = np.bincount(group, weights)
    mean = np.bincount(group, weights * wage) / weight
    true = {
        "count": np.bincount(group).astype(float),
        "sum pw": weight,
        "sum wage": mean * weight,
        "mean wage": mean,
        "variance wage": np.bincount(group, weights * (wage - mean[group]) ** 2) / weight,
    }
    shares = {}
    for name, value in true.items():
        estimates = results.of(name)
        middle, half = (estimates.high + estimates.low) / 2, shorter * (estimates.high - estimates.low) / 2
        shares[name] = float(np.mean(np.abs(value - middle) <= half + 1e-9))
    return shares


def too_few(share: float) -> bool:
    spread = math.sqrt(0.94 * 0.06 / GROUPS)
    return share < 0.94 - NormalDist().inv_cdf(1 - FALSE_ALARM / 5) * spread


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    assert not {name: share for name, share in covered().items() if too_few(share)}
    assert any(too_few(share) for share in covered(shorter=0.75).values())


def test_a_sum_of_weights_is_unbiased() -> None:
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    group = np.repeat(np.arange(GROUPS), 5)
    weights = 200 * draw.random(group.size) ** 6
    rows = pa.table({"region": group, "wage": weights, "pw": weights})
    attributes = ({"name": "region", "kind": "integer", "bounds": [0, GROUPS - 1]}, WAGE, WEIGHT)
    release = published(9, rows, attributes=attributes, share=None, median=None)
    for name, values in (("sum pw", weights), ("sum wage", weights**2)):
        estimates = release.answers.groups().of(name)
        error = estimates.value - np.bincount(group, values)
        z = error.mean() / (estimates.standard_error[0] / math.sqrt(GROUPS))
        assert abs(z) < NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
        spread = error.std() / estimates.standard_error[0]
        assert spread == pytest.approx(1, abs=0.15)


def test_weights_may_be_a_public_list() -> None:
    listed = {"name": "pw", "kind": "ordinal", "values": [1, 4, 10]}
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    rows = table().set_column(3, "pw", pa.array(draw.choice([1, 4, 10], 4000)))
    release = published(5, rows, SURE, attributes=(REGION, EMPLOYED, WAGE, listed), median=None)
    weights = rows["pw"].to_numpy()
    assert release["sum pw"].value == pytest.approx(weights.sum(), rel=1e-3)
    assert release["mean wage"].value == pytest.approx(np.average(rows["wage"].to_numpy(), weights=weights), rel=1e-3)


def test_a_row_without_a_weight_counts_in_nothing() -> None:
    missing = WEIGHT | {"null": "none"}
    rows = table()
    weights = rows["pw"].to_pylist()
    weights[:1000] = [None] * 1000
    rows = rows.set_column(3, "pw", pa.array(weights))
    release = published(5, rows, SURE, attributes=(REGION, EMPLOYED, WAGE, missing), median=None)
    assert "count" not in release.answers.groups().names
    assert release["mean wage"].value == pytest.approx(
        np.average(rows["wage"].to_numpy()[1000:], weights=weights[1000:]), rel=1e-3
    )


LISTED = {"name": "pw", "kind": "ordinal", "values": [1, 4, 10], "other": "rest"}


@pytest.mark.parametrize("weight", [WEIGHT | {"null": "none"}, LISTED])
def test_rows_without_a_weight_are_left_out_of_every_answer_and_file(weight: Any, tmp_path: Path) -> None:
    weights = np.resize([1.0, 4.0, 10.0, np.nan], 4000)
    here = ~np.isnan(weights)
    written = weights if weight is not LISTED else np.where(here, weights, 7).astype(int)
    rows = table().set_column(3, "pw", pa.array(written, from_pandas=True))
    specification = spec(SURE, (REGION, EMPLOYED, WAGE | {"null": "none"}, weight), median=None)
    planned = dpress.plan(specification)
    assert "sum pw" in expected_errors(planned, planned.chosen)
    release = dpress.publish(specification, rows, out=tmp_path / "out", rng=rng.seeded(5))
    frame = table().to_pandas()[here].assign(pw=weights[here])
    wage = np.average(frame.wage, weights=frame.pw)
    north = frame.pw[frame.region == "north"].sum() / frame.pw.sum()
    assert north != pytest.approx((frame.region == "north").mean(), rel=0.001)
    truths = {"sum pw": frame.pw.sum(), "mean wage": wage, "share region = north": north}
    for query, value in truths.items():
        assert release[query].value == pytest.approx(value, rel=3e-3), query
    assert text(html_of_page(release))
    names = set(pq.read_table(tmp_path / "out" / "statistics.parquet")["statistic"].to_pylist())
    assert "sum pw" in names
    assert "count" not in names


@pytest.mark.parametrize("engine", ["threads", "sql"])
def test_engines_count_the_same(engine: str, tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet")
    release = dpress.publish(spec(), tmp_path / "rows.parquet", rng=rng.seeded(5), engine=engine)
    for name in plain_release().answers.groups().names:
        same = [each.answers.groups().of(name).value for each in (release, plain_release())]
        assert np.array_equal(*same, equal_nan=True), name


def test_persons_cost_as_many_rows_as_they_may_have() -> None:
    rows = table().append_column("uid", pa.array(np.arange(4000) // 2))
    person = {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}
    errors = [published(5, rows, privacy)["sum pw"].standard_error for privacy in (None, person)]
    assert errors[1] == pytest.approx(2 * errors[0], rel=1e-3)


@pytest.mark.parametrize(
    ("number", "query"),
    [
        ("sum(pw)", "sum pw"),
        ("sum(pw * wage)", "sum wage"),
        ("sum(wage * pw) / sum(pw)", "mean wage"),
        ("avg(wage)", "mean wage"),
        ("sum(pw * case when region = 'north' then 1 else 0 end)", "sum pw where region = north"),
        ("sum(pw * (region = 'north'))", "sum pw where region = north"),
        ("sum(pw * (region = 'north')) / sum(pw)", "share region = north"),
        ("sum(case when region = 'north' then pw * wage end)", "sum wage where region = north"),
        ("sum(case when region = 'north' then wage * pw else 0 end)", "sum wage where region = north"),
        ("sum(case when employed = 'yes' then pw end) / sum(pw)", "share employed = yes"),
        ("sum(case when region = 'north' then pw end) / sum(pw)", "share region = north"),
        ("count(*)", "total"),
        ("count(*) filter (where employed = 'yes') / count(*)", "share employed = yes"),
    ],
)
def test_sql_reads_weighted_sums(number: str, query: str) -> None:
    table_of = plain_release().sql(f"select {number} as n from survey")
    assert table_of.to_arrow()["n"].to_pylist() == pytest.approx([plain_release()[query].value])


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("sum(wage) / count(*)", r"rows are weighted: divide by sum\(pw\) and not by a count of rows"),
        ("avg(pw * wage)", "cannot add up 'pw \\* wage'"),
        ("sum(wage * wage)", "cannot add up 'wage \\* wage'"),
        ("sum(pw * pw)", "cannot add up products of pw with itself"),
        ("sum(pw * pw) / sum(pw)", "cannot add up products of pw with itself"),
        ("sum(pw * case when region = 'north' then pw end)", "cannot add up products of pw with itself"),
        ("sum(case when region = 'north' then pw * pw end)", "cannot add up products of pw with itself"),
        ("sum(pw * case when region = 'north' then pw * wage end)", "here `then` has a column or 1"),
        ("sum(pw) / sum(pw)", "divides a weighted sum, or the weights, of the same rows"),
    ],
)
def test_sql_of_other_sums_is_refused(number: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain_release().sql(f"select {number} as n from survey")


def test_sql_divides_by_the_weights_of_the_rows_that_are_added_up() -> None:
    wage = pa.array(np.where(np.arange(4000) % 2, table()["wage"].to_numpy(), np.nan), from_pandas=True)
    rows = table().set_column(2, "wage", wage)
    release = published(5, rows, attributes=(REGION, EMPLOYED, WAGE | {"null": "none"}, WEIGHT), median=None)
    with pytest.raises(ValueError, match=r"sum\(pw\) has weights of rows without wage, too; write avg\(wage\)"):
        release.sql("select sum(pw * wage) / sum(pw) as n from survey")
    for number in ("avg(wage)", "sum(pw * wage) / sum(case when wage is not null then pw end)"):
        answer = release.sql(f"select {number} as n from survey")
        assert answer.to_arrow()["n"].to_pylist() == [release["mean wage"].value], number


def test_a_plan_tells_the_errors_and_what_the_weights_cost() -> None:
    stated = {"pw": {"mean": 65, "sd": 36}, "wage": {"mean": 350, "sd": 200}}
    planned = dpress.plan(spec(assume=stated))
    errors = expected_errors(planned, planned.chosen)
    release = plain_release()
    for name in ("sum pw", "mean wage", "share employed = yes"):
        published_error = release[f"{name} where region = south"].standard_error
        assert errors[name] == pytest.approx(published_error * math.sqrt(3 / 2) ** (name != "sum pw"), rel=0.4), name
    effective = 4000 / 3 / (1 + (36 / 65) ** 2)
    assert f"{effective:,.0f} tell without (Kish's effective sample size, a guess)" in str(
        plan_text.text(planned).remarks[1]
    )


def test_the_page_says_what_is_weighted(tmp_path: Path) -> None:
    dpress.publish(spec(), table(), out=tmp_path / "out", rng=rng.seeded(5))
    words = text(html_of_page(plain_release()))
    assert "weighted by pw" in words
    names = set(pq.read_table(tmp_path / "out" / "statistics.parquet")["statistic"].to_pylist())
    assert {"count", "sum pw", "mean wage"} <= names


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"weight": "wage"}, ValueError, "wage makes groups or is measured, too; read its column once more"),
        ({"weight": "wages"}, ValueError, "there is no attribute 'wages'"),
        ({"weight": "employed", "share": None}, ValueError, "employed has values that are no numbers"),
        *(
            (
                {"attributes": (REGION, EMPLOYED, WAGE, LISTED | {"values": ["1", text]})},
                ValueError,
                "pw has values that are no numbers",
            )
            for text in ("nan", "inf", "1_000")
        ),
        (
            {"attributes": (REGION, EMPLOYED, WAGE, WEIGHT | {"bounds": [-1.0, 5.0]})},
            ValueError,
            "expected bounds or values of pw from 0 to",
        ),
        ({"private_bounds": ["wage"]}, NotSupported, "`private_bounds` is not weighted"),
        ({"weight": None}, ValueError, "'pw' neither makes groups nor is measured"),
    ],
)
def test_what_is_no_weight_is_refused(changes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dpress.plan(spec(**changes))
