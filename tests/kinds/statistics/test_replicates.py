"""Replicate weights: the error of sampling beside that of the noise, and both together."""

import functools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.kinds.reading import html_of_page, text
from tests.kinds.statistics.weighted_rows import EMPLOYED, REGION, WAGE, WEIGHT, published, spec, table

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array
from dpress.kinds.statistics import plan_text
from dpress.query.release import Release
from dpress.release.truth.check_text import lines

SIZE = 32
NAMES = [f"rw{number}" for number in range(1, SIZE + 1)]
SAMPLED = ("sum pw", "sum wage", "mean wage", "share employed = yes")
FACTORS = {"jackknife": (SIZE - 1) / SIZE, "brr": 1 / SIZE, "fay": 4 / SIZE, "successive differences": 4 / SIZE}


def hadamard(size: int) -> Array:
    rows = np.ones((1, 1))
    while len(rows) < size:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows


@functools.cache
def survey(method: str) -> tuple[pa.Table, Array]:
    """Return people in 200 clusters whose wages are alike, and their replicate weights, shape (rows, replicates)."""
    draw = np.random.default_rng(2)  # noqa: TID251  # made-up rows
    rows = table()
    cluster = np.arange(len(rows)) % 200
    wage = np.clip(rows["wage"].to_numpy() + draw.normal(0, 120, 200)[cluster], 0, 1000)
    signs = hadamard(SIZE)
    stratum, half = cluster // 2 % (SIZE - 1) + 1, 2 * (cluster % 2) - 1
    if method == "jackknife":
        factors = np.where(cluster[:, None] % SIZE == np.arange(SIZE), 0, SIZE / (SIZE - 1))
    elif method == "successive differences":
        factors = 1 + (signs[stratum] - signs[cluster % (SIZE - 2) + 1]) / 2**1.5
    else:
        factors = 1 + (0.5 if method == "fay" else 1.0) * half[:, None] * signs[stratum]
    replicates = rows["pw"].to_numpy()[:, None] * factors
    rows = rows.set_column(2, "wage", pa.array(wage))
    for name, column in zip(NAMES, replicates.T, strict=True):
        rows = rows.append_column(name, pa.array(column))
    return rows, replicates


def parameters(method: str) -> dict[str, Any]:
    by_name = {"replicate_method": "brr", "fay": 0.5} if method == "fay" else {"replicate_method": method}
    return {"replicates": NAMES, "median": None} | by_name


@functools.cache
def release(method: str = "brr", budget: str = "rho", amount: float = 0.5) -> Release:
    return published(5, survey(method)[0], {budget: amount}, **parameters(method))


def textbook(method: str) -> dict[str, float]:
    """Return the error of sampling without noise: sqrt(c sum (theta_r - theta)^2)."""
    rows, replicates = survey(method)
    weights, wage = rows["pw"].to_numpy(), rows["wage"].to_numpy()
    employed = rows["employed"].to_numpy(zero_copy_only=False) == "yes"
    made = {
        "sum pw": (weights.sum(), replicates.sum(axis=0)),
        "sum wage": (weights @ wage, wage @ replicates),
        "mean wage": (np.average(wage, weights=weights), wage @ replicates / replicates.sum(axis=0)),
        "share employed = yes": (
            np.average(employed, weights=weights),
            employed @ replicates / replicates.sum(axis=0),
        ),
    }
    return {name: math.sqrt(FACTORS[method] * ((every - value) ** 2).sum()) for name, (value, every) in made.items()}


@pytest.mark.parametrize("budget", ["epsilon", "rho"])
@pytest.mark.parametrize("method", FACTORS)
def test_with_hardly_any_noise_the_error_is_that_of_the_textbook(method: str, budget: str) -> None:
    for name, error in textbook(method).items():
        told = release(method, budget, 900)[name].sampling
        assert told == pytest.approx(error, rel=0.03), name


@pytest.mark.parametrize("name", SAMPLED)
def test_an_answer_states_noise_sampling_and_both(name: str) -> None:
    answer = release()[name]
    assert answer.sampling is not None
    assert answer.population is not None
    low, high = answer.population
    assert low <= answer.interval[0] <= answer.interval[1] <= high
    assert high - low >= 2 * 1.96 * math.hypot(answer.standard_error, answer.sampling) * 0.99
    assert answer.note is not None
    assert answer.note.startswith("Weighted by pw. The interval holds the noise; that with sampling holds also by how")
    assert answer.sampling == pytest.approx(textbook("brr")[name], rel=0.5)


def test_the_sum_of_weights_errs_as_all_rows_do_where_a_number_is_missing_in_most() -> None:
    rows, replicates = survey("jackknife")
    some = np.arange(len(rows)) % 40 == 0
    wage = np.where(some, rows["wage"].to_numpy(), np.nan)
    rows = rows.set_column(2, "wage", pa.array(wage, from_pandas=True))
    uneven = np.arange(len(rows)) % SIZE < SIZE // 2 - np.arange(len(rows)) % 3 * 4
    made = published(
        5,
        rows.filter(pa.array(uneven)),
        {"rho": 900},
        attributes=(REGION, EMPLOYED, WAGE | {"null": "none"}, WEIGHT),
        **parameters("jackknife"),
    )
    weights, every = rows["pw"].to_numpy()[uneven], replicates[uneven]
    error = math.sqrt(FACTORS["jackknife"] * ((every.sum(axis=0) - weights.sum()) ** 2).sum())
    answer = made["sum pw"]
    assert answer.sampling == pytest.approx(error, rel=0.03)
    assert answer.population is not None
    assert answer.population[1] - answer.population[0] > 2 * 1.96 * error


@pytest.mark.parametrize("method", ["jackknife", "brr"])
@pytest.mark.parametrize(
    ("weight", "changes"),
    [(WEIGHT | {"bounds": [0.0, 60.0]}, {}), (WEIGHT, {"unit": {"pw": 40}})],
)
def test_replicates_of_weights_that_are_clamped_or_rounded_are_moved_alike(
    method: str, weight: dict[str, Any], changes: dict[str, Any]
) -> None:
    rows, replicates = survey(method)
    made = published(5, rows, {"rho": 900}, attributes=(REGION, EMPLOYED, WAGE, weight), **parameters(method) | changes)
    read = rows["pw"].to_numpy()
    counted = 40 * np.rint(read / 40) if changes else np.minimum(read, weight["bounds"][1])
    every = replicates * (counted / read)[:, None]
    wage = rows["wage"].to_numpy()
    errors = {
        "sum pw": every.sum(axis=0) - counted.sum(),
        "mean wage": wage @ every / every.sum(axis=0) - np.average(wage, weights=counted),
    }
    for name, apart in errors.items():
        error = math.sqrt(FACTORS[method] * (apart**2).sum())
        assert made[name].sampling == pytest.approx(error, rel=0.03), name


def test_without_replicates_the_interval_says_that_it_holds_no_sampling() -> None:
    for query in ("total", "variance wage"):
        answer = release()[query]
        assert answer.population is None
        assert "sampling holds" not in str(answer.note)


def test_the_design_effect_compares_with_rows_drawn_one_by_one() -> None:
    answer = release("brr", "epsilon", 900)["mean wage where region = south"]
    rows, _ = survey("brr")
    south = rows["region"].to_numpy(zero_copy_only=False) == "south"
    wage, weights = rows["wage"].to_numpy()[south], rows["pw"].to_numpy()[south]
    alone = np.cov(wage, aweights=weights, ddof=0) / south.sum()
    assert answer.sampling is not None
    assert answer.design_effect == pytest.approx(answer.sampling**2 / alone, rel=0.02)


def test_with_hardly_any_noise_the_interval_of_both_is_student_s_whatever_the_noise() -> None:
    for budget in ("epsilon", "rho"):
        answer = release("brr", budget, 900)["mean wage"]
        assert answer.sampling is not None
        assert answer.population is not None
        half = (answer.population[1] - answer.population[0]) / 2
        assert half == pytest.approx(2.04 * answer.sampling, rel=0.01)  # of 31 degrees


def test_where_noise_hides_the_error_the_interval_allows_for_it() -> None:
    noisy = release("brr", "epsilon", 1.0)
    queries = [f"{name} where region = {region}" for name in SAMPLED for region in ("north", "south")]
    answer = next(answer for answer in map(noisy.__getitem__, queries) if answer.sampling == 0)
    assert "The noise hides the error of sampling" in str(answer.note)
    assert answer.population is not None
    assert answer.design_effect is None
    assert answer.population[1] - answer.population[0] > 1.5 * (answer.interval[1] - answer.interval[0])


def test_files_and_page_have_both_errors(tmp_path: Path) -> None:
    rows = survey("brr")[0]
    dpress.publish(spec({"rho": 0.5}, **parameters("brr")), rows, out=tmp_path / "out", rng=rng.seeded(5))
    loaded = pq.read_table(tmp_path / "out" / "statistics.parquet").to_pylist()
    mean = next(row for row in loaded if row["region"] == "south" and row["statistic"] == "mean wage")
    answer = dpress.load_release(tmp_path / "out")["mean wage where region = south"]
    stored = (mean["sampling_error"], mean["population_low"], mean["population_high"], mean["design_effect"])
    assert stored == pytest.approx((answer.sampling, *(answer.population or ()), answer.design_effect))
    assert next(row for row in loaded if row["statistic"] == "count")["sampling_error"] is None
    words = text(html_of_page(release()))
    assert "Noise and sampling" in words
    assert "Standard errors of noise and of sampling statistic value noise sampling" in words
    assert "the interval with sampling" in words or "that with sampling" in words
    announced = " ".join(release().answers.announced)
    assert "that with sampling holds also by how much the sample differs" in announced
    assert "95 % interval of both" in words


def test_sql_has_both_errors_of_every_number_that_states_them() -> None:
    noisy = release()
    numbers = "count(*), round(-2 * sum(wage), 1) as x, avg(wage)"
    table = noisy.sql(f"select region, {numbers} from survey group by region order by region").table
    suffixes = ("", "_error", "_low", "_high", "_sampling_error", "_population_low", "_population_high")
    named = [name + suffix for name in ("x", "avg") for suffix in suffixes]
    assert table.column_names == ["region", "count", "count_error", "count_low", "count_high", *named]
    row = next(row for row in table.to_pylist() if row["region"] == "south")
    total, mean = noisy["sum wage where region = south"], noisy["mean wage where region = south"]
    assert (total.population, mean.population, total.sampling) != (None, None, None)
    assert row["x_sampling_error"] == pytest.approx(2 * total.sampling, abs=0.1)
    assert row["x_population_low"] == pytest.approx(-2 * total.population[1], abs=0.1)
    both = (row["avg_sampling_error"], row["avg_population_low"], row["avg_population_high"])
    assert both == (mean.sampling, *mean.population)
    assert row["x_population_low"] <= -2 * total.population[1] <= -2 * total.population[0] <= row["x_population_high"]
    kept = "select region, avg(wage) from survey group by region having avg_population_low = "
    assert noisy.sql(f"{kept}{mean.population[0]!r}").table["region"].to_pylist() == ["south"]


def test_a_plan_says_how_much_the_noise_hides() -> None:
    planned = dpress.plan(spec({"rho": 0.5}, **parameters("brr")))
    words = plan_text.text(planned)
    assert words.candidates.header == ("statistic", "typical error", "hides of sampling")
    assert f"{SIZE} replicate weights tell the error of sampling" in str(words.remarks)
    costly = plan_text.text(dpress.plan(spec({"epsilon": 1.0}, **parameters("brr"))))
    widths = [
        float(str(row[2]).replace(",", "").split()[-1]) for row in (words.candidates.rows[3], costly.candidates.rows[3])
    ]
    assert widths[1] > 5 * widths[0]  # L1 pays for every replicate, L2 for the root of their number


def test_a_scale_of_the_handbook_stands_for_the_method_s() -> None:
    scaled = published(5, survey("brr")[0], {"rho": 900}, **parameters("brr"), replicate_scale=4 / SIZE)
    plain = release("brr", "rho", 900)
    assert scaled["mean wage"].sampling == pytest.approx(2 * float(plain["mean wage"].sampling or 0), rel=0.01)


def test_a_check_reads_the_replicates() -> None:
    rows = survey("brr")[0]
    specification = spec({"rho": 0.5}, **parameters("brr"))
    fine = dpress.check(specification, rows)
    assert fine.passed
    assert [each.name for each in fine.attributes][-SIZE:] == NAMES
    assert fine.findings["replicates"].figures.shrunk == 0
    with pytest.raises(SchemaMismatch, match="the data has no column 'rw3'"):
        dpress.check(specification, rows.drop_columns(["rw3"]))
    for wrong in (None, "no", "-1"):
        place = rows.column_names.index("rw3")
        column = pa.array([wrong] * 900 + ["1"] * (len(rows) - 900))
        checked = dpress.check(specification, rows.set_column(place, "rw3", column))
        assert "rw3" in (checked.suspicious if wrong == "-1" else checked.refused), wrong
        assert any(line.startswith("rw3: ") for line in lines(checked))


def test_a_check_counts_the_rows_whose_error_of_sampling_is_understated() -> None:
    rows, replicates = survey("jackknife")
    adjusted = replicates * np.where(np.arange(len(rows)) % 2, 1.0, 1.5)[:, None]
    for name, column in zip(NAMES, adjusted.T, strict=True):
        rows = rows.set_column(rows.column_names.index(name), name, pa.array(column))
    attributes = (REGION, EMPLOYED, WAGE, WEIGHT | {"bounds": [0.0, 110.0]})
    shrunk = {}
    for budget in ("epsilon", "rho"):
        checked = dpress.check(spec({budget: 1.0}, attributes, **parameters("jackknife")), rows)
        shrunk[budget] = checked.findings["replicates"].figures.shrunk
        assert not checked.passed
        assert "the error of sampling would be understated" in lines(checked)[-1]
    weights = rows["pw"].to_numpy()
    apart = np.abs(adjusted - weights[:, None]).sum(axis=1) / 110
    assert shrunk["epsilon"] == pytest.approx((apart > 2.003).sum(), abs=3)
    assert shrunk["rho"] < shrunk["epsilon"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": None, "attributes": (REGION, EMPLOYED, WAGE)}, "replicates stand beside a weight"),
        ({"replicate_method": None}, 'expected "jackknife", "brr" or "successive differences"'),
        ({"replicates": ["rw1", "wage"]}, "wage is an attribute, too; leave that out"),
        ({"replicates": ["rw1", "rw1"]}, "rw1 stands there twice"),
        ({"replicate_method": "jackknife", "fay": 0.3}, 'it is of replicate_method = "brr" alone'),
        ({"replicate_scale": math.inf}, "replicate_scale: expected a finite number > 0"),
        ({"fay": 1.0}, "expected a number >= 0 and < 1"),
        ({"replicates": [f"r{number}" for number in range(201)]}, "expected a list of 2 to 200 columns"),
        ({"replicates": None}, "it is of replicate weights; name them in `replicates`"),
        (
            {"attributes": (REGION, EMPLOYED, WAGE, WEIGHT | {"kind": "ordinal", "values": [1, 2], "bounds": None})},
            "pw has a list of values; replicates need a weight with `bounds`",
        ),
    ],
)
def test_what_are_no_replicates_is_refused(changes: dict[str, Any], message: str) -> None:
    attributes = [
        {
            key: value
            for key, value in attribute.items()
            if value is not None and not ("values" in attribute and key == "bins")
        }
        for attribute in changes.pop("attributes", (REGION, EMPLOYED, WAGE, WEIGHT))
    ]
    with pytest.raises(ValueError, match=message):
        dpress.plan(spec({"rho": 0.5}, attributes, **(parameters("brr") | changes)))
