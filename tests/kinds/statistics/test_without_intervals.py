"""Quantiles without intervals: when a plan chooses them, what is published, and what is refused."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, SEX, WARD, spec, table

from dpress import evaluate, load_release, plan, publish, report
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.kinds.statistics import plan_text
from dpress.mechanisms.statistics.group_quantiles import GroupQuantiles

NINE = [place / 10 for place in range(1, 10)]
ALONE: dict[str, Any] = {"mean": None, "variance": None, "median": ["age"], "quantiles": None, "share": None}
WIDE = {"name": "cost", "kind": "integer", "bounds": [0, 10**9]}


def chosen(attributes: Any = (WARD, AGE), **changes: Any) -> Any:
    return plan(spec(attributes, **(ALONE | {"intervals": False} | changes))).chosen.mechanism


def test_a_plan_chooses_where_that_errs_less_and_keeps_the_tree_elsewhere() -> None:
    one = plan(spec([WARD, AGE, COST], **(ALONE | {"quantiles": {"cost": NINE}, "intervals": False})))
    mechanism: Any = one.chosen.mechanism
    assert one.chosen.method == "group_quantiles"
    assert [own.axis for own in mechanism.chosen] == [1]
    assert [part.axis for part in mechanism.groups.strategy.distributions] == [2]
    said = "\n".join(map(str, plan_text.text(one).remarks))
    assert "Chosen, without an interval: median age; known of one group each." in said
    assert "Counted by a tree, with intervals: quantile 0.1 cost, " in said
    assert isinstance(chosen(users=600), GroupQuantiles)
    few = chosen([WARD, COST], median=None, quantiles={"cost": NINE}, users=60)
    assert not isinstance(few, GroupQuantiles)
    with_intervals = plan(spec([WARD, AGE], **ALONE)).chosen
    assert with_intervals.method == "group_statistics"


def test_a_stated_method_is_kept_and_choices_alone_need_no_sums() -> None:
    nine = {"median": None, "quantiles": {"cost": NINE}}
    assert chosen([WARD, COST], method="group_quantiles", **nine).groups is None
    assert not isinstance(chosen([WARD, AGE], method="group_statistics"), GroupQuantiles)
    with pytest.raises(NotSupported, match=r"'group_quantiles' does not serve kind = 'statistics'; 'group_statistics'"):
        plan(spec([WARD, AGE], method="group_quantiles", **ALONE))


def test_wide_bounds_have_a_million_levels_and_too_many_are_refused() -> None:
    own = chosen([WARD, WIDE], median=["cost"]).chosen[0]
    assert (own.levels, own.cells) == (10**9 + 1, 1 << 20)
    groups = {"name": "g", "kind": "integer", "bounds": [1, 1000]}
    assert chosen([groups, WIDE], by=["g"], median=["cost"]).chosen[0].cells == (1 << 24) // 1000
    fine = COST | {"bins": 1 << 20}
    with pytest.raises(NotSupported, match="1,000 groups take 1,048,576,000 cells, more than 2\\^24; set fewer `bins`"):
        chosen([groups, fine], by=["g"], median=["cost"])
    with pytest.raises(NotSupported, match="among at most 2\\^20 cells, got 2,097,152; set fewer `bins`"):
        chosen([WARD, COST | {"bins": 1 << 21}], median=["cost"])


@pytest.fixture(scope="module")
def released() -> Any:
    own = spec([WARD, AGE, COST], **(ALONE | {"mean": ["cost"], "intervals": False}))
    return publish(plan(own).design, table(), rng=rng.seeded(1))


def test_a_value_has_no_interval_and_says_so(released: Any) -> None:
    found = released.query("median age where ward = eyes")
    assert 40 < found.value < 50
    assert all(map(math.isnan, (found.standard_error, *found.interval)))
    assert "It was chosen among 100 cells, and has no interval; of a group of few rows, or of nobody" in found.note
    assert "With a probability of at least 95 %" in found.note
    assert not math.isnan(released.query("mean cost where ward in (eyes, hearts)").standard_error)
    for query, words in (
        ("median age", "median age: it was chosen in every group, and is known of one group; name its ward"),
        ("median age where ward in (eyes, hearts)", "known of one group"),
        ("quantile 0.25 of age where ward = eyes", "chosen were median age; another quantile is known where intervals"),
        (
            "variance age",
            "there is no statistic 'variance age'; this release has count, sum cost, mean cost, median age",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            released.query(query)


def test_the_table_has_values_alone_and_the_folder_is_read_back(released: Any, tmp_path: Any) -> None:
    released.write(tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    own = [row for row in rows if row["statistic"] == "median age"]
    assert [row["ward"] for row in own] == ["eyes", "hearts", "none"]
    assert all(row["value"] is not None and row["low"] is row["high"] is row["standard_error"] is None for row in own)
    again = load_release(tmp_path / "out")
    assert np.array_equal(again.kept, released.kept)
    assert again.query("median age where ward = eyes").value == own[0]["value"]
    page, *scripts = report(again, tmp_path / "page.html").read_text().split("<script")
    assert '"measured":{"value":' in scripts[0]
    assert "1 without an interval" in page
    assert "thin lines below" not in page
    assert "NaN" not in page
    assert ">nan<" not in page


def test_with_hardly_any_noise_values_are_those_of_the_rows() -> None:
    rows = table(3000)
    own = spec([WARD, AGE], {"epsilon": 900}, **(ALONE | {"quantiles": {"age": [0.25]}, "intervals": False}),
               method="group_quantiles")  # fmt: skip
    release = publish(plan(own).design, rows, rng=rng.seeded(2))
    metrics = evaluate(release, rows)
    assert metrics["groups with rows"] == 2
    assert {name: one for name, one in metrics.items() if "squared" in name or "published" in name} == {
        f"{name}: {what}": 0 for name in ("quantile 0.25 age", "median age")
        for what in ("root mean squared error", "not published")
    }  # fmt: skip
    moved = rows.set_column(3, "age", pa.array(np.minimum(rows["age"].to_numpy() + 7, 99)))
    assert evaluate(release, moved)["median age: root mean squared error"] == 7


def test_persons_bound_their_rows_and_totals_stand_beside(tmp_path: Any) -> None:
    privacy = {"epsilon": 1.0, "unit": "uid", "rows_per_unit": 2}
    own = spec([WARD, AGE, COST], privacy, **(ALONE | {"totals": {"cost": [0, 500]}, "intervals": False}))
    release = publish(plan(own).design, table(), rng=rng.seeded(3))
    assert release.mechanism.chosen[0].choice.moved == 2
    assert release.charged == plan(own).chosen.mechanism.claim.proven
    assert release.query("persons where ward = eyes").value > 0
    assert 30 < release.query("median age where ward = eyes").value < 60
    release.write(tmp_path / "out")
    assert load_release(tmp_path / "out").query("persons").value == release.query("persons").value


def test_one_group_of_all_rows_has_its_quantile() -> None:
    own = spec([AGE, SEX], **(ALONE | {"by": None, "share": ["sex = f"], "intervals": False}))
    release = publish(plan(own).design, table(), rng=rng.seeded(4))
    assert release.query("median age").value == release.answers.together().of("median age").value[0]
