"""Different values by group: published on every engine, asked, planned, shown, and what is refused."""

import datetime as dt
import html
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.statistics.statistics_spec import COST, SEX, WARD, spec

from dpress import NotSupported, evaluate, load_release, load_series, plan, publish, publish_period, report
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics import plan_text
from dpress.kinds.statistics.curator.estimates import group_estimates

PRODUCT = {"name": "product", "kind": "categorical", "values": [f"p{n}" for n in range(40)], "other": "other"}
NONE = dict.fromkeys(("mean", "variance", "median", "quantiles", "share"))
KINDS = {"eyes": 30, "hearts": 12, "none": 0}


def table():
    """Return 900 rows of two wards: 30 and 12 of the listed products, some in both, and one that is not listed."""
    wards = [ward for ward, number in KINDS.items() for _ in range(15 * number)]
    products = [f"p{n % number}" for number in KINDS.values() for n in range(15 * number)]
    size = len(wards)
    products[:3] = ["unlisted"] * 3
    columns = {"ward": wards, "product": products, "cost": [5.0] * size, "sex": ["f"] * size}
    return pa.table(columns | {"uid": [n // 3 for n in range(size)]})


def asked(attributes=(WARD, PRODUCT), privacy=None, **changes):
    return spec(attributes, privacy or {"epsilon": 400.0}, **(NONE | {"distinct": ["product"]} | changes))


@pytest.mark.parametrize("engine", ["threads", "sql"])
@pytest.mark.parametrize("privacy", [{"epsilon": 400.0}, {"epsilon": 400.0, "unit": "uid", "rows_per_unit": 3}])
def test_with_hardly_any_noise_they_are_those_of_the_rows_on_every_engine(tmp_path, engine, privacy):
    pq.write_table(table(), tmp_path / "rows.parquet")
    persons = "unit" in privacy
    release = publish(
        asked(privacy=privacy, persons=persons or None), tmp_path / "rows.parquet", engine=engine, rng=rng.seeded(1)
    )
    for ward, number in KINDS.items():
        assert release.query(f"distinct product where ward = {ward}").value == pytest.approx(number, abs=0.5)
    assert release.query("distinct product").value == pytest.approx(30, abs=0.5)
    assert [result.value for result in release.results("distinct product by ward")] == pytest.approx([30, 12, 0], abs=1)
    if persons:
        assert release.query("persons").value == pytest.approx(210, abs=1)


def test_two_groups_are_no_sum_and_refused():
    release = publish(asked(), table(), rng=rng.seeded(1))
    with pytest.raises(ValueError, match="a value may be in several; got 'ward in \\(eyes, hearts\\)'"):
        release.query("distinct product where ward in (eyes, hearts)")
    with pytest.raises(ValueError, match="there is no statistic 'distinct ward'"):
        release.query("distinct ward")
    histogram = {"attribute": [WARD], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}}
    with pytest.raises(ValueError, match=r'answers no distinct; .*kind = "statistics" measures it'):
        publish(histogram, table()).query("distinct ward")


def test_plan_page_folder_and_evaluation_know_them(tmp_path):
    planned = plan(asked((WARD, PRODUCT, COST), {"epsilon": 1.0}, mean=["cost"]))
    errors = plan_text.expected_errors(planned, planned.chosen)
    assert "distinct product" in str(plan_text.WORDS.text(planned).candidates)
    release = publish(planned, table(), out=tmp_path / "out", csv=True, rng=rng.seeded(3))
    again = load_release(tmp_path / "out")
    for text in ("distinct product", "distinct product where ward = eyes"):
        assert again.query(text) == release.query(text)
        assert release.query(text).standard_error == pytest.approx(errors["distinct product"])
    assert "distinct product" in (tmp_path / "out" / "statistics.csv").read_text()
    shown = html.unescape(report(release, tmp_path / "page.html").read_text())
    assert "different values of product by group" in shown
    assert "product: different values" in shown
    metrics = evaluate(release, table())
    assert metrics["distinct product: root mean squared error"] < 5 * errors["distinct product"]


@pytest.mark.parametrize(("epsilon", "target"), [(1.0, 5.0), (8.0, 2.0), (8.0, 1.0)])
def test_a_stated_precision_of_different_values_is_met(epsilon, target):
    """Also where noise is so few steps wide that errors do not fall as shares say."""
    planned = plan(asked(privacy={"epsilon": epsilon}, precision={"distinct product": target}))
    errors = plan_text.expected_errors(planned, planned.chosen)
    assert errors["distinct product"] == pytest.approx(target, rel=0.02)


def test_intervals_hold_as_often_as_they_say_and_shorter_ones_do_not():
    """300 runs of new noise on the same sums; 95 % less 5 standard errors of a share; false alarms below 1e-6."""
    from dpress.data.table_rows import TableRows

    release = publish(asked(privacy={"epsilon": 1.0}), table(), rng=rng.seeded(1))
    made, schema, runs = release.mechanism, release.schema, 300
    exact = made.counted(TableRows(schema=schema, source=table(), unit=release.claim.unit))
    for factor, holds in ((1.0, True), (0.5, False)):
        inside = 0
        for run in range(runs):
            noisy = made.noisy(exact.copy(), rng=rng.seeded(run))
            values = group_estimates(made.strategy, schema, noisy, z=1.96 * factor).of("distinct product")
            inside += bool(values.low[0] <= 30 <= values.high[0])
        assert (inside >= runs * 0.95 - 5 * math.sqrt(runs * 0.05 * 0.95)) is holds


@pytest.mark.parametrize(
    ("attributes", "changes", "message"),
    [
        ((WARD,), {"distinct": ["product"]}, r"parameters\.distinct: there is no attribute 'product'"),
        (
            (WARD,),
            {"distinct": ["ward"]},
            r"distinct: ward makes groups or is measured, too; read its column once",
        ),
        ((WARD, COST), {"distinct": ["cost"], "mean": ["cost"]}, r"distinct: cost makes groups or is measured"),
        ((WARD, PRODUCT, SEX), {}, "'sex' neither makes groups nor is measured; .*totals, distinct, weight"),
        ((WARD, PRODUCT, COST), {"weight": "cost"}, "weight: `distinct` is not weighted"),
        ((WARD | {"values": "discover"}, PRODUCT), {}, "different values are counted in groups that are listed"),
        (({"name": "ward", "kind": "integer", "bounds": [1, 200_000]}, PRODUCT), {}, "8,000,000 pairs of a group and"),
        ((WARD, PRODUCT), {"distinct": []}, "distinct"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(attributes, changes, message):
    privacy = {"epsilon": 1.0, "delta": 1e-6} if attributes[0].get("values") == "discover" else {"epsilon": 1.0}
    with pytest.raises((ValueError, NotSupported), match=message) as refused:
        plan(asked(attributes, privacy, **changes))
    assert "\n" not in str(refused.value)


def test_every_period_has_a_number_of_its_own(tmp_path):
    day = {"name": "day", "kind": "date", "bounds": ["2024-01-01", "2024-03-31"], "cells": "month"}
    plain = {
        "attribute": [PRODUCT, day],
        "privacy": {"epsilon": 400.0},
        "release": {"kind": "statistics", "parameters": {"distinct": ["product"]}},
        "periods": {"attribute": "day"},
    }
    days = [dt.date(2024, 1, 5) if ward == "eyes" else dt.date(2024, 2, 5) for ward in table()["ward"].to_pylist()]
    rows = table().append_column("day", pa.array(days))
    for period in ("2024-01", "2024-02"):
        publish_period(from_dict(plain), period, rows, out=tmp_path / "out")
    answers = load_series(tmp_path / "out").by_period("distinct product")
    assert [each.value for each in answers.values()] == pytest.approx([30, 12], abs=1)


def test_cells_of_several_values_are_counted_as_such_and_the_answer_says_so():
    made = publish(asked((WARD, COST), distinct=["cost"]), table(), rng=rng.seeded(1))
    assert "Different cells are counted" in str(made["distinct cost"].note)
    assert "Different cells" not in str(publish(asked(), table(), rng=rng.seeded(1))["distinct product"].note)
