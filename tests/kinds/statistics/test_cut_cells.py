"""Quantiles by cells that are cut near them: when a plan does so, how far ranks are off, and that intervals hold.

False alarms: 1e-6 for each statistical test, which runs over seeds.
"""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, WARD, spec, table

from dpress import evaluate, load_release, plan, publish, report
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.kinds.statistics import plan_text
from dpress.kinds.statistics.curator import cut_cells
from dpress.kinds.statistics.curator.cells_near import CellsNear

NINE = [place / 10 for place in range(1, 10)]
WIDE = {"name": "cost", "kind": "numeric", "bounds": [-300.0, 300.0], "bins": 200}
ALONE: dict[str, Any] = dict.fromkeys(("by", "mean", "variance", "median", "share"))
ROWS, RUNS = 2000, 24


def asked(attribute: Any = WIDE, privacy: Any = None, method: str = "auto", **changes: Any) -> Any:
    terms = ALONE | {"quantiles": {attribute["name"]: NINE}, "users": ROWS} | changes
    return plan(spec([attribute], privacy, method, **terms))


def values(seed: int = 1, *, ties: bool = False) -> np.ndarray:
    draw = np.random.default_rng(seed)  # noqa: TID251  # made-up rows
    return np.where(draw.random(ROWS) < 0.35, 0.0, draw.lognormal(0, 0.8, ROWS)) if ties else draw.normal(0, 1, ROWS)


def test_wide_bounds_are_cut_and_what_is_exact_or_in_groups_keeps_the_tree() -> None:
    assert asked().chosen.method == "quantile_cells"
    assert asked(WIDE | {"bins": 50_000}).chosen.method == "quantile_cells"
    assert asked(AGE).chosen.method == "group_statistics"
    assert asked({"name": "x", "kind": "integer", "bounds": [0, 10**9]}).chosen.method == "quantile_cells"
    assert asked(method="group_statistics").chosen.method == "group_statistics"
    edges = {"name": "cost", "kind": "numeric", "edges": [-300.0, -1.0, 0.0, 1.0, 300.0]}
    assert asked(edges).chosen.method == "group_statistics"
    terms = {"mean": None, "variance": None, "median": None, "share": None, "quantiles": {"cost": NINE}}
    grouped = spec([WARD, WIDE], users=ROWS, **terms)
    assert plan(grouped).chosen.method == "group_statistics"
    cut = plan(spec([WARD, WIDE], None, "quantile_cells", users=ROWS, **terms)).chosen.mechanism
    assert cut.groups.strategy.by == (0,)
    with pytest.raises(NotSupported, match="'group_quantiles' does not serve kind = 'statistics'; 'group_statistics'"):
        asked(method="group_quantiles")


def test_where_no_interval_is_needed_cells_are_cut_if_they_err_less_than_a_choice() -> None:
    assert asked(intervals=False).chosen.method == "quantile_cells"
    assert asked(WIDE | {"bins": 1 << 16}, intervals=False).chosen.method == "group_quantiles"


def test_a_plan_shares_the_budget_and_says_what_is_cut() -> None:
    planned = plan(spec([WIDE, AGE], **(ALONE | {"quantiles": {"cost": NINE}, "median": ["age"], "mean": ["cost"]})))
    mechanism: Any = planned.chosen.mechanism
    assert mechanism.axes == (0,)
    assert planned.chosen.mechanism.claim.proven.epsilon <= 1
    assert planned.chosen.mechanism.claim.proven.epsilon > 0.999999
    trees = mechanism.groups.strategy.distributions
    assert sorted((tree.axis, tree.tree.cells) for tree in trees) == [(0, 28), (1, 100)]
    remarks = "\n".join(map(str, plan_text.text(planned).remarks))
    assert "The cells of cost are cut near the quantiles that are asked for" in remarks


def ranks_off(exact: np.ndarray, quantiles: np.ndarray) -> float:
    ordered = np.sort(exact)
    below, up_to = (np.searchsorted(ordered, quantiles, side) for side in ("left", "right"))
    ranks = np.array(NINE) * exact.size
    return float(np.maximum(np.maximum(below - ranks, ranks - up_to), 0).mean())


def answers(release: Any) -> tuple[np.ndarray, np.ndarray]:
    results = [release.query(f"quantile {q} of cost") for q in NINE]
    return np.array([result.value for result in results]), np.array([result.interval for result in results])


@pytest.mark.slow
@pytest.mark.parametrize("privacy", [{"epsilon": 1.0}, {"rho": 0.125}], ids=str)
def test_nine_quantiles_of_wide_bounds_are_few_ranks_off_and_their_intervals_hold(privacy: Any) -> None:
    design, off, held = asked(privacy=privacy).design, [], []
    for seed in range(RUNS):
        exact = values(seed)
        release = publish(design, pa.table({"cost": exact}), rng=rng.seeded(seed))
        found, intervals = answers(release)
        off.append(ranks_off(exact, found))
        truth = np.quantile(exact, NINE, method="inverted_cdf")
        held.append(((intervals[:, 0] <= truth) & (truth <= intervals[:, 1])).mean())
    assert np.mean(off) + 5 * np.std(off) / math.sqrt(RUNS) < 19  # what nine exponential mechanisms are off
    assert np.mean(held) > 0.94 - 5 * math.sqrt(0.94 * 0.06 / RUNS)


@pytest.mark.slow
def test_intervals_a_tenth_as_long_and_uncut_cells_are_found() -> None:
    design, held, off = asked().design, [], []
    for seed in range(RUNS):
        exact = values(seed)
        found, intervals = answers(publish(design, pa.table({"cost": exact}), rng=rng.seeded(seed)))
        truth = np.quantile(exact, NINE, method="inverted_cdf")
        held.append((np.abs(truth - found) <= 0.05 * (intervals[:, 1] - intervals[:, 0])).mean())
        uncut, _ = answers(publish(asked(method="group_statistics").design, pa.table({"cost": exact}),
                                   rng=rng.seeded(seed)))  # fmt: skip
        off.append(ranks_off(exact, uncut))
    assert np.mean(held) < 0.94 - 5 * math.sqrt(0.94 * 0.06 / RUNS)
    assert np.mean(off) > 19


def test_a_value_that_many_rows_share_is_a_cell_of_its_own() -> None:
    exact = values(ties=True)
    release = publish(asked(privacy={"epsilon": 50.0}).design, pa.table({"cost": exact}), rng=rng.seeded(3))
    result = release.query("quantile 0.2 of cost")
    assert result.interval == pytest.approx((0.0, 600 / 65536), abs=600 / 65536)
    assert 0 <= result.value <= 600 / 65536


def test_counts_other_quantiles_pages_and_the_folder_follow_from_the_cells(tmp_path: Any) -> None:
    rows = pa.table({"cost": values()})
    release = publish(asked().design, rows, rng=rng.seeded(4), out=tmp_path / "out")
    assert release.query("count").value == pytest.approx(ROWS, abs=150)
    between = release.query("quantile 0.25 of cost")
    assert between.interval[0] < np.quantile(rows["cost"].to_numpy(), 0.25) < between.interval[1]
    again = load_release(tmp_path / "out")
    assert again.query("median cost") == release.query("median cost")
    assert "<html" in report(again, tmp_path / "page.html").read_text()
    metrics = evaluate(again, rows)
    assert metrics["median cost: root mean squared error"] < 0.2
    with pytest.raises(NotSupported, match="the design states cells that a release chose"):
        publish(again.design, rows, rng=rng.seeded(5))


def test_a_truth_is_of_the_levels_and_not_of_the_cells() -> None:
    exact = np.r_[np.full(900, -200.0), np.full(1100, 200.0)]
    rows = pa.table({"cost": exact})
    release = publish(asked().design, rows, rng=rng.seeded(6))
    error = evaluate(release, rows)["median cost: root mean squared error"]
    assert error == pytest.approx(abs(release.query("median cost").value - 200), abs=600 / 65536)


def test_integers_between_wide_bounds_are_whole() -> None:
    wide = {"name": "cost", "kind": "integer", "bounds": [-30_000, 30_000]}
    exact = np.round(values() * 100).astype(int)
    release = publish(asked(wide).design, pa.table({"cost": exact}), rng=rng.seeded(7))
    found, intervals = answers(release)
    assert (found == np.round(found)).all()
    assert (intervals == np.round(intervals)).all()
    assert ranks_off(exact, found) < 40
    assert ((intervals[:, 0] <= found) & (found <= intervals[:, 1])).all()


def test_cells_in_groups_are_common_and_sets_of_groups_are_answered() -> None:
    terms = {"mean": None, "variance": None, "median": ["cost"], "share": None, "quantiles": None, "users": 6000}
    made = plan(spec([WARD, COST | {"bounds": [0.0, 1e6]}], {"epsilon": 8.0}, "quantile_cells", **terms)).design
    rows = table()
    release = publish(made, rows, rng=rng.seeded(8))
    costs, wards = rows["cost"].to_numpy(), rows["ward"].to_numpy()
    for where, mask in (("where ward = eyes", wards == "eyes"), ("", wards != "")):
        result = release.query(f"median cost {where}".strip())
        assert result.interval[0] <= np.median(costs[mask]) <= result.interval[1]


def test_points_stay_within_the_rows_and_a_prediction_grows_as_rows_become_few() -> None:
    design: Any = asked().chosen.mechanism
    (choice,) = design.choices
    near = {
        rows: CellsNear(quantiles=design.cut[0].quantiles, loss=choice.loss, unit=choice.unit, rows=rows)
        for rows in (10, 100, 1000, 100_000, 10**8, 10**10)
    }
    assert [len(near[rows].points) for rows in (100_000, 10**8, 10**10)] == [27, 27, 27]
    for cells in near.values():
        assert 9 <= len(cells.points) <= 27
        assert all(0 < point < 1 for point in cells.points)
    errors = [cells.rank_variance for cells in near.values()]
    assert errors == sorted(errors, reverse=True)
    assert cut_cells.MOST_PARTS << 4 == 1 << 20
