"""Statistics between bounds that are chosen privately: planned, published in two steps, read back, refused."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.kinds.statistics.statistics_spec import AGE, WARD, spec, table

from dpress import evaluate, load_release, publish
from dpress.core import rng
from dpress.core.errors import BudgetExceeded, NotSupported
from dpress.data.specification.spec import Spec
from dpress.kinds.statistics import plan_text
from dpress.release.plan import plan
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
    assert (
        found.note == f"Values outside of {low:.10g}..{high:.10g} count as these bounds, which were chosen privately."
    )
    assert release.query("total").note is None
    again = load_release(tmp_path / "r")
    assert again.query("mean cost where ward = eyes") == found
    assert found.note in page(again)
    assert again.answers.announced[-1] == f"cost: {found.note}"
    with pytest.raises(BudgetExceeded):
        publish(asked(), table(), ledger=tmp_path / "l.db")
    assert evaluate(again, table())["mean cost: within interval"] >= 0.5


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
    assert planned.chosen.method == "private_bounds"
    assert planned.chosen.mechanism.claim.proven.rho <= 0.5  # type: ignore[union-attr]
    text = plan_text.text(planned)
    assert any("The bounds of cost are chosen privately, where a step" in str(one) for one in text.remarks)
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
