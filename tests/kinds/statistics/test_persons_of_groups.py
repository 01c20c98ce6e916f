"""Distinct persons and their clipped totals: published, asked, compared with the rows, and what is refused."""

import html
import math
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.statistics.statistics_spec import COST, WARD, spec, table

from dpress import evaluate, load_release, plan, publish, report
from dpress.attributes.domain import Schema
from dpress.core.basics import rng
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import plan_text
from dpress.kinds.statistics.curator.estimates import group_estimates
from dpress.release.truth.data_check import check
from dpress.reporting.statistic_titles import titled

PERSON = {"unit": "uid", "rows_per_unit": 4}
TOTALS: dict[str, Any] = {"persons": True, "totals": {"cost": [0, 600]}}
NAMES = ("persons", "total cost", "total cost per person")


def asked(privacy: Any = None, **changes: Any) -> Spec:
    none: Any = dict.fromkeys(("mean", "variance", "median", "quantiles", "share"))
    own = {"epsilon": 500.0} | PERSON if privacy is None else privacy
    return spec([WARD, COST], own, **(none | TOTALS | changes))


def truth(where: str | None = None) -> tuple[float, float, float]:
    rows = table().to_pandas()
    totals = rows[rows.ward == where] if where else rows
    own = totals.groupby("uid").cost.sum().clip(0, 600)
    return len(own), own.sum(), own.mean()


@pytest.mark.parametrize("changes", [{"mean": ["cost"]}, {"totals": {"cost": [0, 600]}, "persons": None}, {}])
def test_with_hardly_any_noise_they_are_those_of_the_rows(changes: Any) -> None:
    release = publish(asked(**changes), table(), rng=rng.seeded(1))
    for ward in (None, "eyes", "hearts"):
        own = f" where ward = {ward}" if ward else ""
        for name, known in zip(NAMES, truth(ward), strict=True):
            assert release.query(name + own).value == pytest.approx(known, rel=1e-3)
    assert math.isnan(release.query("total cost per person where ward = none").value)
    assert release.query("total").value == pytest.approx(6000, abs=1)


def test_persons_of_two_groups_are_no_sum_and_refused() -> None:
    release = publish(asked(), table(), rng=rng.seeded(1))
    assert release.query("persons").value == pytest.approx(1500, abs=1)
    with pytest.raises(ValueError, match="a person may be in several; got 'ward in \\(eyes, hearts\\)'"):
        release.query("persons where ward in (eyes, hearts)")


@pytest.mark.parametrize("engine", ["threads", "sql"])
def test_a_file_gives_the_same_on_every_engine_and_a_cap_is_kept(tmp_path: Path, engine: str) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table(), tmp_path / "rows.parquet")
    release = publish(asked(), tmp_path / "rows.parquet", engine=engine, rng=rng.seeded(1))
    assert release.query("persons").value == pytest.approx(1500, abs=1)
    own = asked({"epsilon": 500.0, "unit": "uid", "rows_per_unit": 1}, totals=None, mean=["cost"])
    capped = publish(own, tmp_path / "rows.parquet", engine=engine, rng=rng.seeded(1))
    both = [capped.query(f"persons where ward = {ward}").value for ward in ("eyes", "hearts")]
    assert sum(both) == pytest.approx(1500, abs=1)  # one row, so one group


def test_plan_page_folder_and_evaluation_know_them(tmp_path: Path) -> None:
    planned = plan(asked({"epsilon": 1.0} | PERSON))
    errors = plan_text.expected_errors(planned, planned.chosen)
    assert set(NAMES) < set(errors)
    release = publish(planned, table(), out=tmp_path / "out", rng=rng.seeded(3))
    again = load_release(tmp_path / "out")
    assert again.query("persons where ward = eyes") == release.query("persons where ward = eyes")
    text = report(release, tmp_path / "page.html").read_text()
    assert all(f"{titled(name, release.schema).caption} by group" in text for name in NAMES)
    found = evaluate(release, table())
    for name in ("persons", "total cost"):
        assert found[f"{name}: root mean squared error"] < 4 * errors[name]
    assert release.query("persons where ward = eyes").standard_error == pytest.approx(errors["persons"])


def test_a_page_of_counts_alone_asks_for_a_count(tmp_path: Path) -> None:
    none = dict.fromkeys(("mean", "variance", "median", "quantiles", "share"))
    release = publish(spec([WARD], **none), table(), rng=rng.seeded(3))
    assert "dpress query FOLDER 'ward = eyes'" in html.unescape(report(release, tmp_path / "page.html").read_text())


@pytest.mark.parametrize(
    ("changes", "privacy", "message"),
    [
        ({}, {"epsilon": 1.0}, r"parameters\.persons: .*unit = 'row'"),
        ({"persons": None}, {"epsilon": 1.0}, r"parameters\.totals: .*unit = 'row'"),
        ({"totals": {"cost": [600, 0]}}, None, r"totals\.cost: expected the lower number first, got \[600, 0\]"),
        ({"totals": {"cost": [5000, 6000]}}, None, r"totals\.cost: no total of 4 rows lies in \[5000, 6000\]"),
        ({"totals": {"cost": [5]}}, None, r"totals"),
        ({"totals": {"ward": [0, 5]}}, None, r"totals: ward is categorical"),
        ({"totals": {"price": [0, 5]}}, None, r"totals: there is no attribute 'price'"),
        ({}, {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 1 << 60}, r"do not fit 63 bits"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(changes: Any, privacy: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as found:
        plan(asked(privacy, **changes))
    assert "\n" not in str(found.value)


def test_intervals_hold_as_often_as_they_say_and_shorter_ones_do_not() -> None:
    """300 runs of new noise on the same sums; 95 % less 5 standard errors of a share; false alarms below 1e-6."""
    planned = plan(asked({"epsilon": 1.0} | PERSON))
    release = publish(planned, table(), rng=rng.seeded(1))
    made: Any = release.mechanism
    from dpress.data.table_rows import TableRows

    schema: Schema = release.schema
    exact = made.counted(TableRows(schema=schema, source=table(), unit=release.claim.unit))
    runs, z = 300, 1.96
    for factor, holds in ((1.0, True), (0.7, False)):
        inside = dict.fromkeys(NAMES, 0)
        for run in range(runs):
            found = group_estimates(made.strategy, schema, made.noisy(exact.copy(), rng=rng.seeded(run)), z=z * factor)
            for name, known in zip(NAMES, truth("eyes"), strict=True):
                one = found.of(name)
                inside[name] += bool(one.low[0] <= known <= one.high[0])
        low = runs * 0.95 - 5 * math.sqrt(runs * 0.05 * 0.95)
        assert all(count >= low for count in inside.values()) is holds


@pytest.mark.parametrize(("low", "high"), [(0, 600), (200, 10_000)])
def test_a_check_counts_the_totals_that_the_bounds_cut(low: int, high: int) -> None:
    rows = table().to_pandas()
    totals = [*rows.groupby("uid").cost.sum(), *rows.groupby(["uid", "ward"]).cost.sum()]
    (found,) = check(asked(totals={"cost": [low, high]}), table()).findings["totals"].figures
    known = (len(totals), sum(one < low for one in totals), sum(one > high for one in totals))
    assert (found.totals, found.low, found.high) == pytest.approx(known, abs=2)  # levels are 0.001 wide
    assert found.low + found.high > 100
