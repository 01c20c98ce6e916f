"""Statistics of what is released: their values, what cells leave open, groups that may be empty, and every kind."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from tests.release.statistics_truth import (
    AGE,
    ASKED,
    QUANTILES,
    SEX,
    WARD,
    codes_of,
    collected,
    people,
    spec,
    table,
    truth,
)

from dpress import plan, publish
from dpress.cli.query import command
from dpress.core.basics import rng
from dpress.query.linear_forms import UNKNOWN
from dpress.query.statistics import EMPTY, MOST_CELLS
from dpress.query.table_answers import UNBIASED

PEOPLE = people(3000)
EXACT = {"epsilon": 200}  # hardly any noise: a cell differs with odds of e^-200
EVERY = {"kind": "histogram", "attributes": ["age", "sex", "ward"], "method": "identity"}


@pytest.fixture(scope="module")
def exact():
    three = (AGE, SEX, WARD)
    return publish(spec(EVERY, EXACT, three), table(PEOPLE, three), rng=rng.seeded(1))


@pytest.mark.parametrize(
    "text", [*ASKED, *QUANTILES, "mean age where sex = f and ward = eyes", "quantile 0.999 of age"]
)
def test_without_noise_every_statistic_is_that_of_the_people(exact, text):
    found, known = exact.query(text), truth(PEOPLE, text)
    assert found.value == pytest.approx(known)
    assert found.interval[0] <= known + 1e-9
    assert known <= found.interval[1] + 1e-9
    assert found.note == UNBIASED
    assert (found.within is None) == (found.of in ("share", "ratio", "difference"))
    assert not found.bin_width


def test_python_asks_what_texts_ask(exact):
    pairs = {
        "mean age where sex = f": exact.mean("age", where="sex = f"),
        "sum age": exact.sum("age"),
        "quantile 0.9 of age": exact.quantile("age", 0.9),
        "median age where ward = skin": exact.median("age", where="ward = skin"),
        "share sex = f where ward = eyes": exact.share("sex = f", where="ward = eyes"),
        "ratio sex = f / sex = m": exact.ratio("sex = f", "sex = m"),
        "count sex = f - count sex = m": exact.difference("sex = f", "sex = m"),
    }
    for text, found in pairs.items():
        assert found == exact.query(text)
        assert found.query == text
    assert exact.mean("age", confidence=0.5).confidence == 0.5


def test_a_difference_is_that_of_two_counts_with_its_own_error():
    """Independent cells: of 24 x 2 cells each, none in common; where all are in common nothing is left."""
    noisy = publish(spec(EVERY, {"rho": 0.01}, (AGE, SEX, WARD)), table(PEOPLE, (AGE, SEX, WARD)), rng=rng.seeded(2))
    first, second = noisy.query("sex = f"), noisy.query("sex = m")
    found = noisy.difference("sex = f", "sex = m")
    assert found.value == pytest.approx(first.unbiased - second.unbiased)
    assert found.standard_error == pytest.approx(math.hypot(first.standard_error, second.standard_error))
    assert noisy.difference("sex = f", "sex = f").standard_error == 0
    across = noisy.difference("sex = f", "ward = eyes")  # cells in common cancel: 24 x (2 + 1) are left
    each = noisy.query("age = 0 and sex = f and ward = eyes").standard_error
    assert across.standard_error == pytest.approx(each * math.sqrt(72))
    assert across.note == UNBIASED


def test_the_standard_error_of_a_mean_is_that_of_its_own_linear_form():
    """By hand: sqrt(sum (v - r)^2 sigma^2) / n over 24 cells of one noise."""
    release = publish(
        spec({"kind": "histogram", "attributes": ["age"], "method": "identity"}, {"rho": 0.01}, (AGE,)),
        table(PEOPLE, (AGE,)),
        rng=rng.seeded(2),
    )
    counts = np.asarray(release.tables["age"].to_pandas()["count"])
    ages, sigma = np.arange(24.0), release.query("age = 3").standard_error
    mean = counts @ ages / counts.sum()
    error = sigma * math.sqrt(((ages - mean) ** 2).sum()) / counts.sum()
    found = release.mean("age")
    assert (found.value, found.standard_error) == pytest.approx((mean, error))
    one_row = 23 / counts.sum()  # a step of the noise, from one end of the ages to the other
    assert found.interval[1] - found.interval[0] == pytest.approx(2 * (1.96 * error + one_row), rel=0.01)


def test_wide_cells_leave_open_what_their_ends_say():
    wide = {"name": "age", "kind": "integer", "bounds": [0, 23], "bins": 4}
    release = publish(spec({"kind": "histogram"}, EXACT, (wide,)), table(PEOPLE, (AGE,)), rng=rng.seeded(1))
    ages = PEOPLE["age"]
    found = release.mean("age")
    low, high = found.within
    assert (low, high) == pytest.approx(((ages // 6 * 6).mean(), (ages // 6 * 6 + 5).mean()))
    assert found.bin_width == pytest.approx(5)
    assert found.interval[0] <= low <= ages.mean() <= high <= found.interval[1]
    assert found.standard_error < 0.01  # of the noise alone
    assert release.sum("age").within == pytest.approx((low * ages.size, high * ages.size))
    median = release.median("age")
    assert median.within == median.interval == (0.0, 5.0)
    assert median.value == 2.5


def test_missing_values_are_no_numbers_and_the_answer_says_so():
    own = AGE | {"null": "unknown"}
    ages = pa.array([1, 2, 3, None, None] * 50, type=pa.int64())
    release = publish(spec({"kind": "histogram"}, EXACT, (own,)), pa.table({"age": ages}), rng=rng.seeded(1))
    for found in (release.mean("age"), release.median("age")):
        assert found.value == pytest.approx(2)
        assert found.note == f"Rows whose age is 'unknown' are left out. {UNBIASED}"
    assert release.share("age = unknown").value == pytest.approx(0.4)
    assert release.mean("age", where="age <= 2").note == UNBIASED
    with pytest.raises(ValueError, match="the conditions after `where` leave no number of age"):
        release.mean("age", where="age = unknown")


def test_a_group_that_may_be_empty_has_no_mean_and_the_interval_is_all_that_there_is():
    release = publish(
        spec(EVERY, {"rho": 0.001}, (AGE, SEX, WARD)), table(people(20), (AGE, SEX, WARD)), rng=rng.seeded(3)
    )
    for text, bounds in (
        ("mean age where sex = x", (0, 23)),
        ("mean age where age in 4..9 and sex = x", (4, 9)),
        ("median age where sex = x", (0, 23)),
        ("share age < 3 where sex = x", (0, 1)),
        ("ratio sex = f / sex = x", (0, math.inf)),
    ):
        found = release.query(text)
        assert math.isnan(found.value)
        assert math.isnan(found.standard_error)
        assert found.interval == bounds
        assert found.note == f"{EMPTY} {UNBIASED}"
        assert "not known" in repr(found)


def test_tables_without_a_common_one_bound_the_error_of_two_counts():
    """Least squares over two tables: their counts of sexes and wards are known to depend in no more than the total."""
    release = publish(
        spec(
            {"kind": "marginals", "method": "marginals", "parameters": {"tables": [["sex"], ["ward"]]}},
            {"rho": 0.1},
            (AGE, SEX, WARD),
        ),
        table(PEOPLE, (AGE, SEX, WARD)),
        rng=rng.seeded(1),
    )
    found = release.difference("sex = f", "ward = eyes")
    own = [release.query(text).standard_error for text in ("sex = f", "ward = eyes")]
    assert found.standard_error == pytest.approx(sum(own))
    assert found.note == f"{UNKNOWN} {UNBIASED}"
    with pytest.raises(ValueError, match="no published table answers 'age'; the tables are sex, ward"):
        release.mean("age")
    with pytest.raises(ValueError, match="no published table answers 'ward = eyes and sex = f"):
        release.share("sex = f", where="ward = eyes")


def test_very_many_cells_are_taken_together_by_a_quantile():
    own = {"name": "age", "kind": "integer", "bounds": [0, 3 * MOST_CELLS - 1]}
    rows = pa.table({"age": np.arange(3 * MOST_CELLS).repeat(2)})
    release = publish(spec({"kind": "ranges", "method": "privelet"}, EXACT, (own,)), rows, rng=rng.seeded(1))
    found = release.quantile("age", 0.5)
    assert found.within == (3 * (MOST_CELLS // 2 - 1), 3 * (MOST_CELLS // 2) - 1)
    assert release.mean("age").value == pytest.approx(np.mean(rows["age"]))


def test_shares_of_one_attribute_add_up_to_one_where_everybody_is_counted():
    """Also of bits that are reported each by itself, whose counts do not: how many took part is known."""
    own = spec({"kind": "marginals", "method": "oue"}, {"model": "local", "epsilon": 2.0})
    release = collected(plan(own), codes_of(PEOPLE, (AGE, SEX)), 1)
    shares = [release.share(f"sex = {value}") for value in SEX["values"]]
    assert sum(one.value for one in shares) == pytest.approx(1)
    for text in ("mean age", "sum age", "share sex = m", "mean age where age in 4..15"):
        found = release.query(text)
        assert abs(found.value - truth(PEOPLE, text)) < 4 * found.standard_error
    counts = [release.query(f"sex = {value}").value for value in SEX["values"]]
    assert sum(counts) != pytest.approx(3000, abs=0.5)
    with pytest.raises(ValueError, match="no published table answers 'age where sex = f'"):
        release.mean("age", where="sex = f")


def test_records_have_statistics_without_an_error():
    two = (AGE, SEX)
    release = publish(spec({"kind": "microdata", "method": "graphical"}, {"epsilon": 5}, two), table(PEOPLE, two))
    records = release.tables["age", "sex"].to_pandas()
    group = records[records["sex"] == "f"]["age"]
    found = release.mean("age", where="sex = f")
    assert found.value == pytest.approx(group.mean())
    assert release.sum("age").value == records["age"].sum()
    assert release.median("age", where="sex = f").value == np.sort(group)[math.ceil(group.size / 2) - 1]
    assert release.share("sex = f and age < 3").value == pytest.approx(
        ((records["sex"] == "f") & (records["age"] < 3)).mean()
    )
    for one in (
        found,
        release.median("age"),
        release.ratio("sex = x", "age < 3"),
        release.difference("sex = f", "age < 3"),
    ):
        assert math.isnan(one.standard_error)
        assert math.isnan(one.interval[0])
        assert "no error is known" in one.note


def test_a_fitted_joint_answers_what_no_table_holds():
    three = (AGE | {"bounds": [0, 5]}, SEX, WARD)
    columns = PEOPLE | {"age": np.minimum(PEOPLE["age"], 5)}
    own = spec(
        {"kind": "joint", "method": "pairs", "parameters": {"ways": 2}}, {"model": "local", "epsilon": 4.0}, three
    )
    release = collected(plan(own), codes_of(columns, three), 1, fitted=True)
    found = release.mean("age", where="sex = f and ward = eyes")
    assert "fitted joint" in found.note
    assert release.mean("age", where="sex = f").note is None
    low, high = found.interval
    assert low <= truth(columns, "mean age where sex = f and ward = eyes") <= high


def test_counts_of_kept_rows_say_so():
    rows = table(PEOPLE).append_column("uid", pa.array(np.arange(3000) // 3))
    own = spec({"kind": "histogram"}, {"epsilon": 1, "unit": "uid", "rows_per_unit": 2})
    note = publish(own, rows, rng=rng.seeded(1)).mean("age").note
    assert note == f"{UNBIASED} Counts are of at most 2 rows for each uid."


def test_the_command_shows_values_and_what_cells_leave_open(tmp_path):
    wide = (AGE | {"bins": 4}, SEX)
    publish(spec({"kind": "histogram"}, {"rho": 0.01}, wide), table(PEOPLE), rng=rng.seeded(1)).write(tmp_path / "out")
    texts = ["mean age where sex = f", "sex = f", "ratio sex = f / age in 18..23 ", "share sex = f"]

    def run(*told: str) -> str:
        done = CliRunner().invoke(command, [str(tmp_path / "out"), *told])
        assert done.exit_code == 0, done.output
        return done.output

    shown = run(*texts)
    assert shown.splitlines()[0].split("  ")[0] == "query"
    assert all(word in shown for word in ("value", "cells leave open", "standard error"))
    first, count, _, share = json.loads(run(*texts, "--json"))
    assert set(first) == {"query", "value", "standard_error", "interval", "confidence", "within", "bin_width", "note"}
    assert first["within"][1] - first["within"][0] == pytest.approx(first["bin_width"]) == 5
    assert set(count) == {"query", "value", "unbiased", "standard_error", "interval", "confidence"}
    assert set(share) == {"query", "value", "standard_error", "interval", "confidence", "note"}
    (empty,) = json.loads(run("ratio sex = f / sex = x and age in 18..23", "--json", "--confidence", "0.999999999"))
    assert (empty["value"], empty["standard_error"], empty["interval"]) == (None, None, [0.0, None])
