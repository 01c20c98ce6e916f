"""Relations in groups: planned, published, asked and compared, and what is refused."""

import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import html_of_page, text

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.kinds.statistics.relations.plan_text import expected_errors
from dpress.query.release import Release

WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts"]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m", "x"], "null": "missing"}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 99]}
COST = {
    "name": "cost",
    "kind": "numeric",
    "bounds": [0.0, 1000.0],
    "bins": 10,
    "title": "Cost of a visit",
    "unit": "EUR",
}
RELATIONS = ["cost ~ age * sex", "correlation age cost", "covariance age cost"]
SLOPE = "coefficient age in cost ~ age * sex"


def spec(
    relations: Any = RELATIONS, privacy: Any = None, attributes: Any = (WARD, SEX, AGE, COST), **parameters: Any
) -> Any:
    release = {"kind": "statistics", "parameters": {"by": ["ward"], "relations": relations, "users": 8000} | parameters}
    return {"attribute": list(attributes), "privacy": privacy or {"epsilon": 1}, "release": release}


def table(rows: int = 8000) -> pa.Table:
    draw = np.random.default_rng(4)  # noqa: TID251  # made-up rows
    ward, age = draw.choice(["eyes", "hearts"], rows), draw.integers(20, 80, rows)
    sex = draw.choice(["f", "m", "x"], rows, p=[0.5, 0.4, 0.1])
    cost = (
        100 + 4 * age + 60 * (sex == "m") + 2 * age * (sex == "x") + 50 * (ward == "hearts") + draw.normal(0, 40, rows)
    )
    missing = draw.random(rows) < 0.02
    columns = {"ward": ward, "sex": pa.array(sex, mask=missing), "age": age, "cost": np.clip(cost, 0, 1000)}
    return pa.table(columns)


def published(**options: Any) -> Release:
    return dpress.publish(dpress.load_spec(spec(**options)), table(), rng=rng.seeded(5))


@functools.cache
def plain_release() -> Release:
    return published()


def least_squares(ward: str | None = None) -> Any:
    """Return the coefficients of `cost ~ age * sex` among the rows with a sex."""
    frame = table().to_pandas().dropna()
    frame = frame[frame.ward == ward] if ward else frame
    steps = [(frame.sex == value).to_numpy(float) for value in ("m", "x")]
    age = frame.age.to_numpy(float)
    columns = np.stack([np.ones(len(age)), age, *steps, *(age * step for step in steps)], axis=1)
    return np.linalg.lstsq(columns, frame.cost.to_numpy(), rcond=None)[0]


@pytest.mark.parametrize("privacy", [{"epsilon": 400}, {"rho": 900}, {"epsilon": 400, "relation": "replace-one"}])
@pytest.mark.parametrize("ward", [None, "hearts"])
def test_with_hardly_any_noise_it_is_least_squares(privacy: Any, ward: str | None) -> None:
    release = published(privacy=privacy)
    where = f" where ward = {ward}" if ward else ""
    found = release.results(f"cost ~ age * sex{where}")
    names = [dict(result.group)["coefficient"] for result in found]
    assert names == ["intercept", "age", "sex = m", "sex = x", "age * sex = m", "age * sex = x"]
    assert [result.value for result in found] == pytest.approx(least_squares(ward), rel=0.03, abs=2.0)
    assert all(
        result.interval[0] <= b <= result.interval[1] for result, b in zip(found, least_squares(ward), strict=True)
    )


def test_a_coefficient_says_what_noise_and_what_sampling_hide() -> None:
    slope = plain_release()[SLOPE]
    assert slope.sampling is not None
    assert slope.population is not None
    half = (slope.interval[1] - slope.interval[0]) / 2
    both = (slope.population[1] - slope.population[0]) / 2
    assert both == pytest.approx(half * math.hypot(slope.standard_error, slope.sampling) / slope.standard_error)
    assert "population" in str(slope.note)
    assert plain_release()["correlation age cost"].population is None


def test_any_relation_of_what_was_measured_is_answered() -> None:
    release = plain_release()
    assert len(release.results("age ~ cost + sex by ward")) == 2 * 4
    exact = np.corrcoef(table()["age"].to_numpy(), table()["cost"].to_numpy())[0, 1]
    low, high = release["correlation cost age"].interval
    assert low <= exact <= high
    assert release["covariance cost age"].value == pytest.approx(release["covariance age cost"].value)


def test_counts_means_and_variances_follow() -> None:
    release = plain_release()
    assert release["total"].interval[0] <= 8000 <= release["total"].interval[1]
    rows = table()["cost"].to_numpy()
    for name, value in (("mean cost", rows.mean()), ("variance cost", rows.var())):
        low, high = release[name].interval
        assert low <= value <= high


def test_the_table_has_the_errors_of_noise_and_sampling(tmp_path: Path) -> None:
    dpress.publish(dpress.load_spec(spec()), table(), out=tmp_path / "out", rng=rng.seeded(5))
    rows = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    slope = next(row for row in rows if row["ward"] == "eyes" and row["statistic"] == SLOPE)
    answer = dpress.load_release(tmp_path / "out")[f"{SLOPE} where ward = eyes"]
    assert (slope["value"], slope["sampling_error"]) == (answer.value, answer.sampling)
    assert (slope["population_low"], slope["population_high"]) == answer.population
    assert next(row for row in rows if row["statistic"] == "mean age")["sampling_error"] is None


def test_what_is_not_told_from_singular_has_no_numbers() -> None:
    few = dpress.publish(dpress.load_spec(spec()), table(60), rng=rng.seeded(5))
    found = few.results("cost ~ age * sex")
    assert all(math.isnan(result.value) and math.isnan(result.interval[0]) for result in found)
    assert {result.note for result in found} == {found[0].note}
    assert str(found[0].note).startswith("Not told from singular")
    page = text(html_of_page(few))
    assert "not told from singular" in page
    assert "where the noise hides whether the regressors, or the rows, are told from dependent ones" in page
    assert "cannot be told from empty" not in page
    assert "design effect" not in text(html_of_page(plain_release()))
    figures = dpress.evaluate(few, table(60))
    coefficients = [
        value for name, value in figures.items() if " in cost ~ " in name and name.endswith("within interval")
    ]
    assert all(math.isnan(value) for value in coefficients)  # none was told, so that none missed


def test_intervals_hold_as_often_as_they_say_against_the_rows() -> None:
    release = plain_release()
    metrics = dpress.evaluate(release, table())
    held = [value for name, value in metrics.items() if name.endswith(": within interval")]
    assert len(held) == 5 + 6 + 2
    assert np.mean(held) > 0.7  # 26 intervals of 95 %, which depend: fewer than 19 have a chance below 1e-9


def test_a_plan_predicts_the_errors() -> None:
    assume = {"age": {"mean": 50, "sd": 17}, "cost": {"mean": 400, "sd": 110}}
    planned = dpress.plan(dpress.load_spec(spec(assume=assume)))
    errors = expected_errors(planned, planned.chosen)
    release = plain_release()
    for name in ("mean cost", "covariance age cost", "correlation age cost"):
        answer = release[f"{name} where ward = eyes"]
        assert errors[name] == pytest.approx(answer.standard_error, rel=0.6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relations": ["cost ~ agee"]}, r"relations\[#1\]: there is no attribute 'agee'"),
        ({"relations": ["correlation age sex"]}, "sex is categorical; expected an integer or numeric"),
        ({"relations": ["sex ~ age"]}, "sex is categorical"),
        ({"relations": ["cost ~ ward"]}, "ward is in `by`, too"),
        ({"relations": ["age ~ cost", "intercept in cost ~ age"]}, r"relations\[#2\]: name the regression"),
        ({"mean": ["cost"]}, "`relations` share one measurement"),
        ({"weight": "cost"}, "`relations` are of rows and take no weight"),
        ({"relations": ["cost ~ sex"]}, "'age' neither makes groups nor is measured"),
        ({"unit": {"cost": 0.3}}, "divides the width"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dpress.plan(dpress.load_spec(spec(**changes)))


def test_a_product_of_two_numbers_is_refused() -> None:
    third = {"name": "stays", "kind": "integer", "bounds": [0, 9]}
    attributes = (WARD, AGE, COST, third)
    with pytest.raises(ValueError, match="the product of two numbers"):
        dpress.plan(dpress.load_spec(spec(["cost ~ age * stays"], attributes=attributes)))
    with pytest.raises(NotSupported, match="'group_statistics' measures no `relations`"):
        dpress.plan(dpress.load_spec(spec(["cost ~ age"], attributes=(WARD, AGE, COST)) | {"release": {
            "kind": "statistics", "method": "group_statistics",
            "parameters": {"by": ["ward"], "relations": ["cost ~ age"]},
        }}))  # fmt: skip


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("cost ~ ward", "there is no statistic 'cost ~ ward'"),
        ("age ~ age", "on both sides"),
        ("cost ~ age where sex = f", "sex makes no groups"),
        ("median cost", "there is no statistic"),
        ("share ward = eyes", "there is no statistic"),
        ("coefficient cost in cost ~ age", "there is no statistic 'coefficient cost in cost ~ age'"),
    ],
)
def test_a_query_of_what_was_not_measured_is_refused(query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain_release().results(query)
    with pytest.raises(ValueError, match="an answer for every coefficient"):
        plain_release().query("cost ~ age")


def test_the_page_has_titles_and_every_coefficient() -> None:
    page = text(html_of_page(plain_release()))
    assert "coefficient of age * sex = m" in page
    assert "Cost of a visit ~ age * sex" in page
    assert "95 % interval with sampling" in page
    assert "correlation of age and Cost of a visit" in page
    assert "Each coefficient beside the intercept, with the interval of 95 % that holds noise and sampling." in page


def test_a_regression_on_one_number_is_drawn_as_a_line_whose_errors_are_those_of_its_coefficients() -> None:
    release = published(relations=["cost ~ age"], by=[], attributes=(AGE, COST))
    assert "The fitted line, with two bands of 95 % at each point" in text(html_of_page(release))
    whole = release.answers.estimates(np.ones(1, dtype=bool), 0.95)
    (stated,) = whole.relations
    line = whole.line(stated, np.array([0.0, 50.0, 1e9]))
    intercept, slope = release.query("intercept in cost ~ age"), release.query("coefficient age in cost ~ age")
    assert line.value[:2] == pytest.approx([intercept.value, intercept.value + 50 * slope.value])
    assert line.standard_error[[0, 2]] == pytest.approx(
        [intercept.standard_error, 1e9 * slope.standard_error], rel=1e-6
    )
    assert line.sampling[[0, 2]] == pytest.approx([intercept.sampling, 1e9 * slope.sampling], rel=1e-6)
    assert line.standard_error[1] < min(line.standard_error[0], 50 * slope.standard_error)  # errors of both cancel


@pytest.mark.parametrize(("numbers", "degree"), [(2, 2), (3, 2), (6, 1), (13, 0)])
def test_the_form_that_errs_least_is_measured(numbers: int, degree: int) -> None:
    attributes = [{"name": f"x{number}", "kind": "integer", "bounds": [0, 9]} for number in range(numbers)]
    relation = f"x0 ~ {' + '.join(f'x{number}' for number in range(1, numbers))}"
    chosen = dpress.plan(dpress.load_spec(spec([relation], attributes=attributes, by=[]))).chosen
    assert chosen.mechanism.strategy.degree == degree
    gaussian = dpress.plan(dpress.load_spec(spec([relation], {"rho": 1}, attributes, by=[]))).chosen
    assert gaussian.mechanism.strategy.degree == 0


@pytest.mark.parametrize("text", ["logistic sex = m ~ age", "rank correlation age cost", "independence sex ward"])
def test_what_moments_do_not_tell_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="follows from no moments; a histogram of its attributes answers it"):
        plain_release().results(text)
    with pytest.raises(ValueError, match="is measured by no relation; a histogram answers it"):
        dpress.plan(dpress.load_spec(spec(relations=[text])))


@pytest.mark.parametrize("by", [["ward"], ["sex"]])
def test_what_nobody_lists_is_no_group_and_no_regressor(by: Any) -> None:
    attributes = ({"name": "ward", "kind": "categorical", "values": "discover"}, SEX, AGE, COST)
    related = "cost ~ age * sex" if by == ["ward"] else "cost ~ age * ward"
    with pytest.raises(NotSupported, match=r"\.relations: they are of groups and regressors that are listed; list w"):
        dpress.plan(dpress.load_spec(spec([related], {"epsilon": 1, "delta": 1e-6}, attributes, by=by)))
