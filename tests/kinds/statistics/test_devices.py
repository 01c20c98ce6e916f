"""Statistics of numbers from devices: what is asked, intervals that hold, groups, refusals, the page."""

from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpress import device, evaluate, load_release, perturb, plan
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.kinds.statistics import page, plan_text
from dpress.kinds.statistics.devices.estimates import CountedNumbers, DeviceEstimates, ReportedNumbers
from dpress.mechanisms.numbers.square_wave import SquareWave
from dpress.release.devices.estimate import estimate

AGE = {"name": "age", "kind": "integer", "bounds": [0, 63]}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0.0, 100.0], "bins": 10}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
RUNS = 120
LIMIT = NormalDist().inv_cdf(1 - 1e-7)


def spec(parameters: dict[str, Any], *attributes: Any, method: str = "auto", **privacy: Any) -> Any:
    release = {"kind": "statistics", "method": method, "parameters": parameters}
    return from_dict(
        {"attribute": list(attributes), "privacy": {"model": "local", "epsilon": 1.0, **privacy}, "release": release}
    )


def estimated(levels: np.ndarray, groups: np.ndarray, epsilon: float, seed: int, z: float) -> DeviceEstimates:
    own = SquareWave(levels=64, loss=PureDP(epsilon=epsilon), groups=2)
    reports = own.tally(own.perturb((64 * groups + levels).astype(np.int32), rng=rng.seeded(seed)))
    one = ReportedNumbers(
        attribute=Integer(name="age", bounds=(0, 63)),
        degree=2,
        quantiles=(),
        oracle=own,
        reports=reports.reshape(2, -1),
        everybody=levels.size,
    )
    return DeviceEstimates(numbers=(one,), masks=np.eye(2, dtype=bool), users=levels.size, z=z)


def test_intervals_of_groups_hold_as_often_as_they_say_and_shorter_ones_do_not() -> None:
    users = 1500
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up people
    groups = (np.arange(users) % 3 == 0).astype(int)
    levels = np.clip(draw.normal(20 + 15 * groups, 8, users), 0, 63).astype(int)
    table = np.stack([np.bincount(levels[groups == one], minlength=64) for one in (0, 1)])
    exact = CountedNumbers(attribute=Integer(name="age", bounds=(0, 63)), degree=2, quantiles=(), counts=table)
    truth = DeviceEstimates(numbers=(exact,), masks=np.eye(2, dtype=bool), users=users, z=2)
    shares = {}
    for z in (1.96, 0.98):
        held = dict.fromkeys(("count", "sum age", "mean age", "variance age"), 0.0)
        for seed in range(RUNS):
            found = estimated(levels, groups, 2.0, seed, z)
            for name in held:
                one, true = found.of(name), truth.of(name).value
                held[name] += float(((one.low <= true + 1e-9) & (true <= one.high + 1e-9)).mean()) / RUNS
        shares[z] = held
    allowed = LIMIT * (0.05 * 0.95 / RUNS) ** 0.5
    assert min(shares[1.96].values()) > 0.95 - allowed
    assert min(shares[0.98].values()) < 0.95 - allowed  # the control


def test_quantiles_hold_the_truth_where_numbers_are_smooth_and_where_they_heap() -> None:
    users, runs, draw = 6000, 25, np.random.default_rng(3)  # noqa: TID251  # made-up people
    smooth = np.clip(draw.gamma(4, 5, users), 0, 63).astype(np.int32)
    heaped = np.where(draw.random(users) < 0.4, 40, smooth).astype(np.int32)
    own, age = SquareWave(levels=64, loss=PureDP(epsilon=2)), Integer(name="age", bounds=(0, 63))
    shares = tuple(PureDP(epsilon=one).epsilon / 100 for one in (10, 25, 50, 75, 90))
    whole = np.ones((1, 1), dtype=bool)
    for levels in (smooth, heaped):
        counts = np.bincount(levels, minlength=64)[None]
        exact = CountedNumbers(attribute=age, degree=0, quantiles=shares, counts=counts)
        truth = DeviceEstimates(numbers=(exact,), masks=whole, users=users, z=2)
        held, narrow = 0, 0
        for seed in range(runs):
            reports = own.tally(own.perturb(levels, rng=rng.seeded(seed)))[None]
            one = ReportedNumbers(
                attribute=age, degree=0, quantiles=shares, oracle=own, reports=reports, everybody=users
            )
            found = DeviceEstimates(numbers=(one,), masks=whole, users=users, z=1.96)
            for share in shares:
                own_one, true = found.of("age", share), float(truth.of("age", share).value[0])
                held += own_one.low[0] <= true <= own_one.high[0]
                narrow += own_one.high[0] - own_one.low[0] <= 16
        assert held >= 0.85 * runs * len(
            shares
        )  # runs of five that go together: 25 runs at 95 % fall below once in 1e6
        assert narrow >= 0.6 * runs * len(shares)


def test_a_plan_chooses_by_what_is_asked_and_by_where_numbers_are_supposed_to_lie() -> None:
    assert plan(spec({"mean": ["age"]}, AGE)).chosen.method == "piecewise"
    near = {"assume": {"age": {"mean": 5, "sd": 4}}}
    assert plan(spec({"mean": ["age"], **near}, AGE)).chosen.method == "one_bit"
    assert plan(spec({"mean": ["age"], "by": ["sex"], **near}, AGE, SEX)).chosen.method == "piecewise"
    planned = plan(spec({"median": ["age"], "mean": ["pay"]}, AGE, PAY))
    assert planned.chosen.method == "square_wave"
    assert len(planned.design.ask.report_types) == 2
    assert "each asked about one of 2 numbers" in str(plan_text.text(planned))
    errors = plan_text.expected_errors(planned, planned.chosen)
    assert set(errors) == {"count", "median age", "sum pay", "mean pay"}


def test_the_whole_path_with_groups(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)  # noqa: TID251  # made-up people
    users = 8000
    sex = draw.choice(["f", "m"], users)
    age = np.clip(draw.normal(30 + 10 * (sex == "m"), 9, users), -5, 80).round().astype(int)
    data = pa.table({"age": age, "sex": sex, "pay": draw.beta(2, 4, users) * 100})
    asked = spec(
        {"by": ["sex"], "mean": ["age", "pay"], "variance": ["age"], "quantiles": {"age": [0.1, 0.5]}, "users": users},
        AGE, PAY, SEX, epsilon=3.0,
    )  # fmt: skip
    perturb(asked, data, out=tmp_path / "reports.parquet", rng=rng.seeded(1))
    release = estimate(asked, tmp_path / "reports.parquet", out=tmp_path / "release")
    metrics = evaluate(release, data)
    assert all(one == 1 for name, one in metrics.items() if name.endswith("within interval"))
    again = load_release(tmp_path / "release")
    own = again.query("mean age where sex = m")
    assert abs(own.value - np.clip(age, 0, 63)[sex == "m"].mean()) < 4 * own.standard_error
    assert again.query("total").value == users
    assert again.query("quantile 0.9 of age").interval[0] > again.query("median age").interval[0]
    share = again.query("share age in 20..35 where sex = m")
    assert abs(share.value - ((age >= 20) & (age <= 35))[sex == "m"].mean()) < 4 * share.standard_error < 0.2
    with pytest.raises(ValueError, match=r"one attribute that has quantiles \(age\): 'share pay < 50'"):
        again.query("share pay < 50")
    assert set(again.answers.tables) == {"statistics.parquet", "distribution-age.parquet"}
    table = release.tables["sex", "age"].to_pandas()
    assert len(table) == 3 * 64
    assert np.allclose(table.groupby("sex", dropna=False)["share"].sum(), 1)
    text = page.page(again)
    assert "The distribution of age" in text
    assert "What devices were asked" in text
    with pytest.raises(ValueError, match="there is no statistic 'variance pay'"):
        again.query("variance pay")
    with pytest.raises(ValueError, match="there is no statistic 'quantile of pay'"):
        again.query("median pay")


def test_a_number_outside_its_bounds_is_clamped_on_the_device() -> None:
    own = device(plan(spec({"mean": ["age"]}, AGE)).design)
    assert own.codes({"age": 1000}) == (63,)
    assert own.codes({"age": -3}) == (0,)


@pytest.mark.parametrize(
    ("parameters", "attributes", "line"),
    [
        ({"mean": ["sex"]}, [SEX], r"mean: sex is categorical; expected an integer or numeric attribute"),
        ({"mean": ["age"]}, [AGE, SEX], r"'sex' neither makes groups nor is measured"),
        ({}, [AGE], "name a number in mean, sum, variance, median, quantiles or circular"),
        ({"mean": ["age"]}, [AGE | {"null": "?"}], "attribute age: `null` names a cell, but a device has to report"),
        ({"mean": ["age"]}, [AGE | {"outside": "drop"}], "age drops values"),
        ({"quantiles": {"age": [1.5]}}, [AGE], "strictly between 0 and 1"),
        ({"share": ["sex = f"], "mean": ["age"]}, [AGE, SEX], "unknown parameter 'share'"),
        ({"mean": ["age"], "assume": {"age": {"mean": 99, "sd": 1}}}, [AGE], "assume.age.mean: expected"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(parameters: Any, attributes: Any, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        plan(spec(parameters, *attributes))


@pytest.mark.parametrize(
    ("parameters", "method", "line"),
    [
        ({"median": ["age"]}, "one_bit", '"one_bit" collects means of all people alone'),
        ({"median": ["age"], "by": ["zone"]}, "auto", "by: 65 groups are more than 64 for quantiles"),
        ({"mean": ["age"]}, "krr", "'krr' collects no numbers; square_wave, piecewise, one_bit do"),
    ],
)
def test_methods_that_do_not_serve_are_refused(parameters: Any, method: str, line: str) -> None:
    zones = [{"name": "zone", "kind": "integer", "bounds": [0, 64]}] if "by" in parameters else []
    with pytest.raises(NotSupported, match=line):
        plan(spec(parameters, AGE, *zones, method=method))
