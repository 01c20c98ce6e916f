"""Statistics between bounds that are chosen privately: planned, published in two steps, read back, refused."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom
from tests.kinds.statistics.statistics_spec import AGE, WARD, spec, table

from dpress import catalog, check, evaluate, load_release, publish
from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded, NotSupported
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import plan_text
from dpress.release.plan.plan import plan
from dpress.release.truth.check_text import lines
from dpress.reporting.page import page

WIDE = {"name": "cost", "kind": "numeric", "bounds": [0.0, 1e9], "bins": 50}
NONE = dict.fromkeys(("variance", "median", "quantiles", "share"))


def asked(attributes: Any = (WARD, WIDE), privacy: Any = None, **changes: Any) -> Spec:
    return spec(attributes, privacy, **{**NONE, "private_bounds": ["cost"], "users": 6000, **changes})


def test_values_are_clamped_to_bounds_that_the_release_states(tmp_path: Path) -> None:
    release = publish(asked(), table(), rng=rng.seeded(3), ledger=tmp_path / "l.db", out=tmp_path / "r")
    low, high = release.schema.tabular[1].ends  # type: ignore[union-attr]
    assert 0 <= low < 30
    assert 300 < high < 2500
    found, truth = release.query("mean cost where ward = eyes"), table()["cost"].to_numpy()
    inside = truth[np.asarray(table()["ward"]) == "eyes"].clip(low, high).mean()
    assert found.interval[0] < inside < found.interval[1]
    assert str(found.note).startswith(
        f"Values outside of {low:.10g}..{high:.10g} count as these bounds, which were chosen privately; with 95 % "
    )
    (most,) = release.mechanism.outside
    assert f"at most {most.most:,} rows ({most.most / most.rows:.1%})" in str(found.note)
    assert ((truth < low) | (truth > high)).sum() <= (most.most or 0)
    assert release.query("total").note is None
    again = load_release(tmp_path / "r")
    assert again.query("mean cost where ward = eyes") == found
    assert found.note in page(again)
    assert again.answers.announced[-1] == f"cost: {found.note}"
    with pytest.raises(BudgetExceeded):
        publish(asked(), table(), ledger=tmp_path / "l.db")
    figures = evaluate(again, table())
    assert figures["mean cost: within interval"] >= 0.5
    assert figures["cost: rows outside of the bounds"] == ((truth < low) | (truth > high)).sum()
    lines = catalog.room("statistics").comparison.remarks(again).lines
    assert lines == (f"cost: {found.note} So is the truth here.",)
    with pytest.raises(NotSupported, match="the design states bounds that a release found"):
        publish(again.design, table())


def test_an_evaluation_says_how_far_clamping_moves_a_mean() -> None:
    values = np.concatenate([np.arange(3000) % 100, [-900.0] * 40, [5e8] * 3])
    wide = WIDE | {"bounds": [-1e9, 1e9]}
    release = publish(asked((wide,), by=[]), pa.table({"cost": values}), rng=rng.seeded(3))
    (low, high), figures = release.schema.tabular[0].ends, evaluate(release, pa.table({"cost": values}))  # type: ignore[union-attr]
    assert high < 1e6
    moved = values.mean() - values.clip(low, high).mean()
    assert figures["mean cost: moved by clamping"] == pytest.approx(moved, rel=1e-3)
    assert figures["mean cost: within interval"] == 1
    assert figures["mean cost: unclamped mean within interval"] == 0


def test_a_check_draws_bounds_and_counts_the_rows_outside() -> None:
    own = asked(by=[], attributes=(WIDE,))
    found = check(own, table())
    assert found.passed
    (bounds,) = found.findings["bounds"].figures
    assert 300 < bounds.ends[1] < 10_000
    assert bounds.rows == 6000
    assert bounds.outside[0] <= bounds.outside[1] < 300
    text = "\n".join(lines(found))
    assert "cost: bounds as they might be chosen, by 20 draws: " in text
    assert "would be outside and count as the bounds" in text
    few = check(own, table(100))
    assert not few.passed
    assert lines(few)[-1] == "cost: 100 rows are too few to find bounds; 214 are enough at this budget"
    assert check(plan(own).design, table()).findings["bounds"].figures[0].rows == 6000


def test_users_that_are_too_few_are_refused_by_the_specification_alone() -> None:
    with pytest.raises(
        NotSupported, match="users = 200 is too few rows to find bounds at this budget, which takes 214"
    ):
        plan(asked(users=200))
    assert plan(asked(users=214)).chosen.method == "bounds_from_outside"


RUNS, FALSE_ALARM = 60, 1e-6
HELD = int(binom.ppf(FALSE_ALARM, RUNS, 0.8))
"""Intervals that hold .8 of the time do so less often than this with a chance below `FALSE_ALARM`."""


def delays(rows: int, draw: Any) -> Any:
    """Most are a little early, some very late: median -2, mean 12.9, at most 1440."""
    late = draw.random(rows) < 0.36
    return np.where(late, draw.lognormal(3.25, 1.05, rows), draw.normal(-5, 4, rows)).round().clip(-60, 1440)


@pytest.mark.slow
def test_means_of_delays_lie_within_their_intervals() -> None:
    """Median -2, mean 12.9, between stated bounds of -60 and 1440; with the old rule the interval never held."""
    draw = np.random.default_rng(5)  # noqa: TID251  # made-up rows
    late = {"name": "cost", "kind": "numeric", "bounds": [-60.0, 1440.0], "bins": 100}
    planned = plan(asked((late,), {"epsilon": 0.5}, by=[], users=2000))
    held, squares = 0, []
    for run in range(RUNS):
        values = delays(2000, draw)
        found = publish(planned, pa.table({"cost": values}), rng=rng.seeded(run)).mean("cost")
        held += found.interval[0] <= values.mean() <= found.interval[1]
        squares.append((found.value - values.mean()) ** 2)
    assert held >= HELD
    assert np.mean(squares) < 4**2


def test_engines_choose_the_same_bounds(tmp_path: Path) -> None:
    path = tmp_path / "d.duckdb"
    with duckdb.connect(path) as base:
        rows = table()  # noqa: F841  # DuckDB finds it by its name
        base.execute("create table visits as select * from rows")
    sources = ((table(), None), (f"{path}#visits", "sql"), (f"{path}#visits", "threads"))
    found = [publish(asked(), source, engine=engine, rng=rng.seeded(5)).kept for source, engine in sources]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_wide_bounds_cost_hardly_anything() -> None:
    """By runs: squared errors between bounds that are chosen against those between stated ones, 10^6 times as wide."""
    truth = table()["cost"].to_numpy().mean()
    squares = {}
    for name, bounds in (("chosen", ["cost"]), ("stated", None)):
        own = asked(by=[], private_bounds=bounds, attributes=(WIDE,))
        errors = [publish(own, table(), rng=rng.seeded(run)).mean("cost").value - truth for run in range(8)]
        squares[name] = float(np.mean(np.square(errors)))
    assert squares["chosen"] < 1e-6 * squares["stated"]
    assert squares["chosen"] < (0.03 * truth) ** 2


def test_a_plan_states_errors_in_widths_and_people_share_their_loss() -> None:
    planned = plan(asked(privacy={"rho": 0.5, "unit": "uid", "rows_per_unit": 4}))
    assert planned.chosen.method == "bounds_from_outside"
    assert planned.chosen.mechanism.claim.proven.rho <= 0.5  # type: ignore[union-attr]
    text = plan_text.text(planned)
    assert any("The bounds of cost are chosen privately, from outside" in str(one) for one in text.remarks)
    assert plan_text.expected_errors(planned, planned.chosen)["mean cost"] < 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"private_bounds": ["age"]}, "'age' has no mean, sum, variance, median or quantiles"),
        ({"private_bounds": ["sex"], "mean": ["cost"]}, "'sex' has no mean"),
        ({"mean": ["cost", "age"], "private_bounds": ["age"], "attributes": (WARD, WIDE, AGE)},
         "expected numeric attributes with `bounds` and `bins`, which age is not"),
        ({"attributes": (WARD, WIDE | {"outside": "drop"})}, 'cost needs outside = "clamp"'),
        ({"unit": {"cost": 1000}}, "cost is in `unit`, `assume`, `totals` or a condition"),
        ({"precision": {"mean cost": 20}}, "it needs bounds that are known beforehand"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(asked(**changes))


def test_groups_are_listed() -> None:
    item = {"name": "item", "kind": "categorical", "values": "discover", "other": "rest"}
    with pytest.raises(NotSupported, match="groups that are discovered need bounds that are stated"):
        plan(asked((item, WIDE), {"epsilon": 1.0, "delta": 1e-8}, by=["item"]))
