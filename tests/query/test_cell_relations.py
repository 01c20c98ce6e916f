"""Relations from the cells of releases: exact errors, every kind that has cells, and what is refused."""

import functools
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from tests.kinds.conftest import KINDS, REGION, make
from tests.query.test_unions import DENSE, dense, holds

import dpress
from dpress.core.basics import rng
from dpress.mechanisms.joint import pair_spread
from dpress.query import boxes, cell_relations
from dpress.query.cell_relations import MIDDLES, OF_SAMPLE, SIMULATED
from dpress.query.explained import explanations
from dpress.query.release import Release
from dpress.query.sql.sql_refusal import SqlRefusal

AGE = {"name": "age", "kind": "integer", "bounds": [20, 79]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
GRADE = {"name": "grade", "kind": "ordinal", "values": [1, 2, 3], "null": "none"}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0.0, 60.0], "bins": 30}
ILL = {"name": "ill", "kind": "categorical", "values": ["no", "yes"], "null": "unknown"}
WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts", "bones"]}


@functools.cache
def table(rows: int = 20_000) -> pa.Table:
    draw = np.random.default_rng(4)  # noqa: TID251  # made-up rows
    age, sex = draw.integers(20, 80, rows), draw.choice(["f", "m"], rows)
    grade = draw.integers(1, 4, rows)
    pay = np.clip(10 + 0.3 * age + 4 * (sex == "m") + draw.normal(0, 5, rows), 0, 60)
    ill = np.where(draw.random(rows) < 1 / (1 + np.exp(3 - 0.05 * age - 0.4 * grade)), "yes", "no")
    ward = np.where(draw.random(rows) < age / 150, "hearts", draw.choice(["eyes", "bones"], rows))
    missing, unknown = draw.random(rows) < 0.03, age == 79
    columns = {"age": age, "sex": sex, "pay": pay, "ward": ward}
    return pa.table(columns | {"grade": pa.array(grade, mask=missing), "ill": pa.array(ill, mask=unknown)})


@functools.cache
def released(kind: str, *attributes: int, epsilon: float = 1.0, ways: int = 0) -> Release:
    listed = [(AGE, SEX, GRADE, PAY, ILL, WARD)[place] for place in attributes]
    release = {"kind": kind, "parameters": {"ways": ways} if ways else {}}
    spec = {"attribute": listed, "privacy": {"epsilon": epsilon}, "release": release}
    return dpress.publish(dpress.load_spec(spec), table(), rng=rng.seeded(9))


@pytest.mark.parametrize("name", DENSE)
def test_the_covariance_of_any_sums_is_that_of_the_dense_form(name: str) -> None:
    release = DENSE[name]()
    shape = release.schema.shape
    cells, covariance = dense(release)
    for axes in release.answers.decoder.tables:
        names = [release.schema.names[axis] for axis in sorted(axes)]
        part = release.answers.cell_table(names)
        forms = (rng.seeded(5).words(3 * part.counts.size) / 2.0**64 - 0.5).reshape(3, *part.counts.shape)
        kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
        whole = np.array([np.broadcast_to(form.reshape(kept), shape).ravel() for form in forms])
        others = tuple(axis for axis in range(len(shape)) if axis not in axes)
        assert part.counts == pytest.approx(cells.reshape(shape).sum(axis=others), abs=1e-6)
        assert part.covariance(forms) == pytest.approx(whole @ covariance @ whole.T, rel=1e-6, abs=1e-6)


def test_the_cells_of_a_condition_are_those_that_it_holds_of() -> None:
    release = DENSE["histogram"]()
    cells, covariance = dense(release)
    whole = release.answers.cell_table(release.schema.names)
    inside = holds(release.schema, boxes.read(release.schema, "sex = Male or region = X")).reshape(whole.counts.shape)
    part = whole.among(["age"], inside)
    assert part.counts == pytest.approx((cells.reshape(inside.shape) * inside).sum(axis=(1, 2)))
    ages = np.indices(inside.shape)[0] * inside
    (variance,) = np.diag(part.covariance(np.arange(6.0)[None]))
    assert variance == pytest.approx(float(ages.ravel() @ covariance @ ages.ravel()))


@pytest.mark.parametrize(
    ("kind", "attributes", "privacy", "method"),
    [
        ("marginals", [AGE, REGION, SEX | {"values": ["Female", "Male"]}], {"rho": 1.0}, "residual_marginals"),
        ("ranges", [AGE, PAY], None, "binary_tree"),
    ],
)
def test_the_covariance_of_products_is_that_of_product_queries(
    kind: str, attributes: Any, privacy: Any, method: str
) -> None:
    release = make(kind, attributes, privacy, method=method)
    decoder, spread = release.answers.decoder, release.answers.measurement.variance
    axes = decoder.tables[0]
    part = release.answers.cell_table([release.schema.names[axis] for axis in axes])
    cells = np.eye(part.counts.size).reshape(-1, *part.counts.shape)
    covariance = part.covariance(cells)
    assert np.diag(covariance) == pytest.approx(decoder.cell_variances(spread)[0])
    assert part.counts.ravel() == pytest.approx(decoder.estimate(release.answers.measurement)[0])
    if method == "residual_marginals":  # a tree answers sums by its nodes, cells by its leaves
        weights = [np.ones(size) for size in release.schema.shape]
        for axis in axes:
            weights[axis] = np.arange(1.0, release.schema.shape[axis] + 1)
        form = np.multiply.outer(*(weights[axis] for axis in axes))[None]
        assert part.covariance(form)[0, 0] == pytest.approx(decoder.query_variance(spread, weights))


def test_an_answer_is_explained_by_the_table_that_gives_it() -> None:
    release = released("marginals", 0, 1, 5, ways=2)
    explained = explanations(release, "independence age ward")
    assert len(explained) == 3
    assert all({"age", "ward"} <= {*each.sources[0].attributes} for each in explained)


def test_sql_has_the_relations_of_two_numbers() -> None:
    release = released("histogram", 0, 1, 3)
    made = release.sql("select sex, corr(age, pay), regr_slope(pay, age) as slope from x where age < 60 group by sex")
    row = made.table.to_pylist()[0]
    slope = release["coefficient age in pay ~ age where age < 60 and sex = f"]
    assert (row["slope"], row["slope_error"]) == pytest.approx((slope.value, slope.standard_error))
    assert row["corr"] == pytest.approx(release["correlation age pay where sex = f and age < 60"].value)
    with pytest.raises(SqlRefusal, match="name two columns"):
        release.sql("select corr(age, 3) from x")


def logistic(columns: Any, outcome: Any) -> Any:
    """Return the coefficients of rows by Newton's method."""
    b = np.zeros(columns.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-columns @ b))
        b += np.linalg.solve((columns.T * chance * (1 - chance)) @ columns, columns.T @ (outcome - chance))
    return b


@pytest.mark.parametrize("kind", ["histogram", "marginals"])
def test_logistic_coefficients_are_those_of_the_rows_within_noise(kind: str) -> None:
    release = released(kind, 0, 2, 4, ways=3 * (kind == "marginals"))
    frame = table().to_pandas().dropna(subset=["grade", "ill"])
    columns = np.stack([np.ones(len(frame)), frame.age, frame.grade], axis=1).astype(float)
    exact = logistic(columns, (frame.ill == "yes").to_numpy(float))
    results = release.results("logistic ill = yes ~ age + grade")
    assert [dict(each.group)["coefficient"] for each in results] == ["intercept", "age", "grade"]
    for each, b in zip(results, exact, strict=True):
        assert each.interval[0] <= b <= each.interval[1]
        assert each.population is not None
        assert each.sampling is not None
        assert each.sampling > 0
        assert str(each.note).startswith(OF_SAMPLE)
        assert "Rows without a listed value of grade, ill are left out." in str(each.note)
    one = release["coefficient age in logistic ill ~ age + grade"]
    assert (one.value, one.standard_error) == (results[1].value, results[1].standard_error)


@pytest.mark.parametrize(
    ("text", "model", "numbers"),
    [
        ("logistic ill = yes ~ age + grade", "CellModel", 3),
        ("pay ~ age by sex", "CellModel", 2 * 2),
        ("independence sex ill by grade", "NoisyIndependence", 4 * 3),
    ],
)
def test_one_model_serves_all_numbers_of_the_same_rows(
    text: str, model: str, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, made = released("histogram", 0, 1, 2, 3, 4), list[Any]()
    counted = getattr(cell_relations, model)
    monkeypatch.setattr(cell_relations, model, lambda **fields: made.append(fields) or counted(**fields))
    results = release.results(text)
    assert len(results) == numbers
    groups = {tuple(pair for pair in each.group if pair[0] not in ("coefficient", "number")) for each in results}
    assert len(made) == len(groups)
    wider = release.results(text, confidence=0.99)  # other intervals: another model
    assert len(made) == 2 * len(groups)
    assert all(a.interval[1] <= b.interval[1] or math.isnan(a.interval[1]) for a, b in zip(results, wider, strict=True))


def test_a_collection_of_pairs_knows_the_covariance_of_all_sums_in_a_pair() -> None:
    release = KINDS["local joint"]()
    estimator = release.collection.estimator
    tallies, shape = release.collection.tallies_in(release.kept), release.schema.shape
    variance = estimator.query_variances(tallies)
    for axes in ((0, 1), (0, 2), (1, 2), (0,), (2,)):
        names = [release.schema.names[axis] for axis in axes]
        part = release.answers.cell_table(names[::-1])  # the order of the names is none of the cells
        weights = [
            [np.arange(float(size)) ** power if axis in axes else np.ones(size) for axis, size in enumerate(shape)]
            for power in (1, 2)
        ]
        products = [functools.reduce(np.multiply.outer, [each[axis] for axis in axes]) for each in weights]
        covariance = part.covariance(np.array([*products, products[0] + products[1], np.ones(part.counts.shape)]))
        assert part.counts.shape == products[0].shape
        assert np.diag(covariance)[:2] == pytest.approx([variance(each) for each in weights])
        assert 2 * covariance[0, 1] == pytest.approx(covariance[2, 2] - covariance[0, 0] - covariance[1, 1])
        assert covariance[3] == pytest.approx(np.zeros(4), abs=1e-6)  # how many took part is known
        if len(axes) == 2:
            cells = np.diag(part.covariance(np.eye(part.counts.size).reshape(-1, *part.counts.shape)))
            table = [*release.answers.decoder.tables].index(axes)
            exact = release.answers.decoder.cell_variances(release.answers.measurement.variance)[table]
            assert cells == pytest.approx(exact)


def test_a_test_of_a_collection_asks_for_the_covariance_of_all_cells_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    release, calls = KINDS["local joint"](), list[int]()
    sampling = pair_spread._sampling
    monkeypatch.setattr(pair_spread, "_sampling", lambda *given: calls.append(1) or sampling(*given))
    results = release.results("independence score age")
    assert len(results) == 3
    assert 0 < len(calls) <= 1 + len(release.collection.estimator.sets)  # of users, and of each of their tables


def test_a_regression_from_cells_is_least_squares_within_noise() -> None:
    release = released("histogram", 0, 1, 3)
    frame = table().to_pandas()
    man = (frame.sex == "m").to_numpy(float)
    middles = np.floor(frame.pay / 2) * 2 + 1
    columns = np.stack([np.ones(len(frame)), frame.age, man, frame.age * man], axis=1).astype(float)
    exact = np.linalg.lstsq(columns, middles, rcond=None)[0]
    results = release.results("pay ~ age * sex")
    names = ["intercept", "age", "sex = m", "age * sex = m"]
    assert [dict(each.group)["coefficient"] for each in results] == names
    assert all(each.interval[0] <= b <= each.interval[1] for each, b in zip(results, exact, strict=True))
    assert MIDDLES in str(results[0].note)
    groups = release.results("pay ~ age by sex")
    assert [dict(each.group) for each in groups][1] == {"sex": "f", "coefficient": "age"}
    assert groups[1].value == pytest.approx(release["coefficient age in pay ~ age where sex = f"].value)


def test_fitted_joints_and_records_answer_and_say_what_is_not_known() -> None:
    fit = KINDS["local joint"]()
    slope = fit["coefficient score in age ~ score + sex"]
    assert 0 < slope.standard_error < 1
    assert "fitted" in str(slope.note)
    pair = fit["coefficient score in age ~ score"]
    assert pair.interval[0] < 1 < pair.interval[1]
    assert "fitted" not in str(pair.note)
    records = make("microdata", [AGE | {"bounds": [0, 19]}, SEX | {"values": ["Female", "Male"]}])
    chance = records["coefficient age in logistic sex = Male ~ age"]
    assert math.isfinite(chance.value)
    assert math.isnan(chance.standard_error)
    assert chance.population is None
    assert "no error is known" in str(chance.note)
    assert math.isnan(records["p-value in independence age sex"].value)
    assert 0 <= records["cramer v in independence age sex"].value <= 1
    assert fit["rank correlation age score"].interval[1] > 0.9


def test_correlations_of_numbers_and_of_ranks_are_those_of_the_rows_within_noise() -> None:
    release, frame = released("histogram", 0, 2, 3), table().to_pandas()
    middles = np.minimum(np.floor(frame.pay / 2), 29) * 2 + 1
    young = frame[frame.age < 50].dropna(subset=["grade"])
    exact = {
        "correlation pay age": np.corrcoef(frame.age, middles)[0, 1],
        "covariance age pay": np.cov(frame.age, middles, bias=True)[0, 1],
        "rank correlation age pay": stats.spearmanr(frame.age, middles)[0],
        "rank correlation grade age where age < 50": stats.spearmanr(young.age, young.grade)[0],
    }
    for text, value in exact.items():
        answer = release[text]
        assert answer.interval[0] <= value <= answer.interval[1], text
        assert answer.population is not None
        assert answer.population[0] <= answer.interval[0]
    assert MIDDLES in str(release["correlation pay age"].note)
    assert MIDDLES not in str(release["rank correlation pay age"].note)


def test_a_test_of_independence_has_its_numbers() -> None:
    release = released("histogram", 1, 4, 5)
    chi, p_value, cramer = release.results("independence ward sex")
    assert [dict(each.group)["number"] for each in (chi, p_value, cramer)] == ["chi-square", "p-value", "cramer v"]
    assert 0.01 < p_value.value <= 1
    assert math.isnan(p_value.interval[0])
    assert SIMULATED in str(p_value.note)
    assert cramer.interval[0] <= cramer.value <= cramer.interval[1]
    assert released("histogram", 0, 5)["p-value in independence age ward"].value == 1e-4
    assert release["cramer v in independence ward sex where ill = no"].value < 0.1
    groups = release.results("independence ward sex by ill")
    assert len(groups) == 3 * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("correlation age ward", "ward holds no numbers; `rank correlation NAME NAME` is of ordered attributes"),
        ("rank correlation age ward", "ward has no order; `independence NAME NAME` is of any two"),
        ("independence age height", "no attribute 'height'"),
        ("logistic ward ~ age", "ward has 3 values: say whose chance it is"),
        ("logistic ward in (eyes, hearts, bones) ~ age", "of all listed values"),
        ("ward ~ age", "ward holds no numbers; the chance of one of its values is `logistic NAME = VALUE"),
        ("coefficient shoe in logistic ward = eyes ~ age", "has a coefficient for each of intercept, age"),
        ("logistic ward = ears ~ age", "ears"),
        ("logistic ward = eyes ~ height", "there is no attribute 'height'"),
        ("logistic ward = eyes and age = 20 ~ age", "about one attribute"),
        ("logistic ward = eyes", "`logistic NAME = VALUE ~ NAME"),
    ],
)
def test_what_is_no_relation_of_cells_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        released("histogram", 0, 5).results(text)


def test_attributes_in_no_table_together_are_refused() -> None:
    release = released("marginals", 0, 1, 5, ways=1)
    with pytest.raises(ValueError, match="no published table answers 'age x ward'"):
        release.results("logistic ward = eyes ~ age")


def test_noise_that_hides_a_relation_leaves_no_numbers() -> None:
    release = released("histogram", 0, 5, epsilon=0.001)
    results = release.results("logistic ward = eyes ~ age")
    assert all(math.isnan(each.value) and math.isnan(each.interval[0]) and each.population is None for each in results)
    assert all(str(each.note) for each in results)
