"""Which sums are measured for which statistics, how they share the budget, and what is refused before a charge."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, SEX, WARD, spec

from dpress import catalog, plan, publish
from dpress.attributes.numbers.attribute import Numeric
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.pure import PureDP
from dpress.kinds.statistics import plan_text


def errors(**changes: Any) -> dict[str, float]:
    planned = plan(spec(**changes))
    return plan_text.expected_errors(planned, planned.chosen)


def test_a_mean_and_a_variance_are_one_part_and_a_condition_one() -> None:
    strategy = plan(spec()).chosen.mechanism.strategy
    assert [(part.axis, part.degree, part.steps + 1) for part in strategy.moments] == [
        (2, 1, 50 * (2**20 // 50)), (3, 2, 100), (None, 1, 2),
    ]  # fmt: skip
    assert [(part.axis, part.tree.cells, part.quantiles) for part in strategy.distributions] == [
        (3, 100, (Fraction(1, 2),)), (2, 50, (Fraction(1, 10), Fraction(9, 10))),
    ]  # fmt: skip
    assert sum(strategy.shares) == 1


def test_counts_alone_are_counted_where_nothing_else_counts_every_row() -> None:
    alone = plan(spec([WARD], mean=None, variance=None, median=None, quantiles=None, share=None)).chosen.mechanism
    assert [part.degree for part in alone.strategy.moments] == [0]
    missing = [WARD, COST | {"null": "none"}]
    own = plan(spec(missing, variance=None, median=None, quantiles=None, share=None)).chosen.mechanism
    assert [part.degree for part in own.strategy.moments] == [1, 0]


def test_the_design_has_the_finest_levels_and_is_read_back() -> None:
    design = plan(spec()).design
    assert [one.size for one in design.attributes] == [3, 2, 50 * (2**20 // 50), 100]
    assert design.schema.shape == plan(spec()).choice.schema.shape


def test_an_approximate_budget_is_spent_on_the_noise_that_errs_less() -> None:
    budget = {"epsilon": 1.0, "delta": 1e-6}
    many = {"mean": ["cost", *(f"x{i}" for i in range(12))]}
    extra = [{"name": f"x{i}", "kind": "integer", "bounds": [0, 9]} for i in range(12)]
    assert isinstance(plan(spec([WARD, SEX, COST, AGE, *extra], budget, **many)).chosen.mechanism.loss, GaussianDP)
    assert isinstance(plan(spec(privacy=budget, variance=None, median=None, quantiles=None, share=None,
                                attributes=[WARD, COST])).chosen.mechanism.loss, PureDP)  # fmt: skip


def test_errors_fall_as_people_and_budget_grow() -> None:
    base = errors()
    assert errors(users=20_000)["mean cost"] == pytest.approx(base["mean cost"] / 2)
    louder = plan(spec(privacy={"epsilon": 0.5}))
    found = plan_text.expected_errors(louder, louder.chosen)
    assert found["mean cost"] == pytest.approx(2 * base["mean cost"], rel=0.01)
    assert found["count"] == pytest.approx(2 * base["count"], rel=0.01)


def test_a_precision_is_met_and_the_others_share_the_rest() -> None:
    base = errors()
    wanted = {"mean cost": base["mean cost"] * 0.7}
    found = errors(precision=wanted)
    assert found["mean cost"] == pytest.approx(wanted["mean cost"], rel=0.01)
    assert found["share sex = f"] > base["share sex = f"]


def test_where_every_precision_is_stated_no_more_is_spent() -> None:
    own: dict[str, Any] = {"variance": None, "median": None, "quantiles": None, "share": None}
    planned = plan(spec([WARD, COST], precision={"mean cost": 0.5}, **own))
    assert planned.chosen.mechanism.claim.proven.epsilon < 1
    assert plan_text.expected_errors(planned, planned.chosen)["mean cost"] == pytest.approx(0.5, rel=0.01)
    needed = planned.chosen.mechanism.claim.proven.epsilon
    with pytest.raises(
        ValueError, match=rf"alone need epsilon = {float(needed):.2g}.*, and the budget is epsilon = 0.1"
    ):
        plan(spec([WARD, COST], {"epsilon": 0.1}, precision={"mean cost": 0.5}, **own))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"mean": ["sex"]}, r"parameters.mean: sex is categorical; expected an integer or numeric attribute"),
    ({"mean": ["salary"]}, r"mean: there is no attribute 'salary'; the attributes are ward, sex, cost, age"),
    ({"by": ["ward", "age"]}, r"age is in `by`, too; an attribute either makes groups or is measured"),
    ({"by": ["ward", "ward"]}, r"by\[#2\]: ward stands there twice"),
    ({"by": ["wards"]}, r"by\[#1\]: there is no attribute 'wards'.*did you mean 'ward'"),
    ({"quantiles": {"cost": [0.0, 0.5]}}, r"quantiles.cost: expected numbers strictly between 0 and 1, got \[0, 0.5\]"),
    ({"quantiles": {"cost": []}}, r"quantiles.cost: expected numbers strictly between 0 and 1, got \[\]"),
    ({"share": ["sex = x"]}, r"share\[#1\]: sex has no value 'x'"),
    ({"share": ["ward = eyes"]}, r"share\[#1\]: ward is in `by`: within a group it is always or never so"),
    ({"share": ["age > 50"]}, r"share\[#1\]: age has a mean, a sum or a variance, and so no cells for a condition"),
    ({"share": ["total"]}, r"share\[#1\]: expected a condition that holds for some rows and not for all"),
    ({"share": None}, r"attributes: 'sex' neither makes groups nor is measured"),
    ({"precision": {"mean salary": 3.0}}, r"precision: there is no statistic 'mean salary'; there are sum cost"),
    ({"precision": {"mean cost": 0}}, r"precision: expected a table of numbers > 0"),
    ({"averages": ["cost"]}, r"unknown parameter 'averages'"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(spec(**changes))


def test_devices_other_methods_and_too_many_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown parameter 'share' for a local collection of kind 'statistics'"):
        plan(spec(privacy={"epsilon": 1.0, "model": "local"}))
    with pytest.raises(
        NotSupported, match="'dst' does not serve kind = 'statistics'; 'group_statistics' or 'quantile_cells' does"
    ):
        plan(spec(method="dst"))
    zones = {"name": "zone", "kind": "integer", "bounds": [0, (1 << 23) - 1]}
    with pytest.raises(NotSupported, match=r"by: 25,165,824 groups are more than 2\^24"):
        plan(spec([WARD, zones, SEX, COST, AGE], by=["ward", "zone"]))
    with pytest.raises(ValueError, match="a mean and quantiles of one attribute need `bins`"):
        plan(spec([WARD, SEX, {"name": "cost", "kind": "numeric", "edges": [0.0, 1.0, 5.0]}, AGE]))


def test_no_other_kind_is_offered_in_its_place() -> None:
    assert not catalog.kind("statistics").of_counts


CENTS: dict[str, Any] = {**dict.fromkeys(("variance", "median", "quantiles", "share")), "by": None, "sum": ["cost"]}


def test_a_stated_unit_is_the_lattice_of_the_sums() -> None:
    planned = plan(spec([COST], unit={"cost": 0.01}, **CENTS))
    cost = planned.choice.schema.tabular[0]
    assert isinstance(cost, Numeric)
    middles = (cost.edges_at(np.arange(100_001)) + cost.edges_at(np.arange(1, 100_002))) / 2
    assert cost.ordered == 100_001
    assert middles == pytest.approx(np.arange(100_001) / 100, abs=1e-9)
    assert (cost.edge_below(np.arange(100_001) / 100) == np.arange(100_001)).all()


@pytest.mark.parametrize(("unit", "exact"), [({"cost": 250.0}, True), (None, False)])
def test_values_on_the_lattice_are_added_up_exactly_and_else_not(unit: dict[str, float] | None, *, exact: bool) -> None:
    rows = pa.table({"cost": [0.0, 250.0, 250.0, 1000.0, 1300.0] * 1000})
    asked = spec([COST], {"epsilon": 1000.0}, unit=unit, **CENTS)
    release = publish(asked, rows, rng=rng.seeded(1))
    assert (abs(release.query("sum cost").value - 2_500_000) < 1e-3) == exact


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ({"cost": 0.03}, r"unit\.cost: expected a unit that divides the width of the bounds, 1000, got 0\.03"),
        ({"cost": 0}, r"unit\.cost: expected a number > 0, got 0"),
        ({"cost": 1e-7}, r"unit\.cost: sums over 2\^32 rows of 10,000,000,000 levels do not fit 63 bits"),
        ({"age": 5}, r"unit\.age: it has no mean"),
        ({"price": 1}, r"unit: there is no attribute 'price'"),
    ],
)
def test_a_unit_that_does_not_fit_is_refused_in_one_line(unit: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message) as found:
        plan(spec([COST, AGE], unit=unit, **CENTS))
    assert "\n" not in str(found.value)
