"""Answers about regions: they add up, their error is exact, and a folder gives them again."""

import itertools
import math
import shutil
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from tests.kinds.regions.small_country import people, specification, truth

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.explained import explanations

PRIVACIES = [{"rho": 1}, {"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}, {"rho": 1, "relation": "replace-one"}]
PERSONS = {"epsilon": 4, "unit": "uid", "rows_per_unit": 2}
FALSE_ALARM = 1e-6  # of all comparisons of this file
RUNS = 250


@pytest.mark.parametrize("privacy", [*PRIVACIES, PERSONS])
def test_regions_add_up_to_the_region_above_them_and_tables_agree(privacy: dict[str, Any]) -> None:
    release = dpress.publish(specification(privacy), people())
    total, states = release.query("total").value, [release.query(f"state = {code}").value for code in "12"]
    counties = [release.query(f"county = {code}").value for code in ("1A", "1B", "2C")]
    assert sum(states) == pytest.approx(total)
    assert sum(counties) == pytest.approx(total)
    for state, sex in itertools.product("12", "fm"):
        whole = release.query(f"state = {state} and sex = {sex}").value
        ages = [release.query(f"state = {state} and sex = {sex} and age = {age}").value for age in range(3)]
        assert sum(ages) == pytest.approx(whole)


def test_without_noise_to_speak_of_answers_are_the_counts() -> None:
    table = people()
    release = dpress.publish(specification({"rho": 1000}), table)
    assert release.query("county = 2C and sex = f").value == pytest.approx(truth(table, tracts="2C", sex="f"), abs=0.1)
    both = release.query("tract in (1A2, 2C1) and age in 0..1")
    expected = truth(table, tracts="1A2", ages=(0, 1)) + truth(table, tracts="2C1", ages=(0, 1))
    assert both.value == pytest.approx(expected, abs=0.1)
    assert release.query("not state = 1").value == pytest.approx(truth(table, tracts="2"), abs=0.1)
    by_county = release.results("count by county where age in 0..1")
    assert [result.value for result in by_county] == pytest.approx(
        [truth(table, tracts=code, ages=(0, 1)) for code in ("1A", "1B", "2C")], abs=0.1
    )


@pytest.mark.slow
@pytest.mark.parametrize("privacy", [*PRIVACIES, {"rho": 1, "public": "state"}])
def test_errors_are_those_that_many_releases_have(privacy: dict[str, Any]) -> None:
    """The mean of squared errors over runs, in the variances that answers state, is 1; intervals hold the counts."""
    public = {"invariants": {privacy["public"]: "rows"}} if "public" in privacy else {}
    loss = {name: value for name, value in privacy.items() if name != "public"}
    table, plan = people(), dpress.plan(specification(loss, **public))
    counts = {
        "total": truth(table),
        "state = 2 and sex = f": truth(table, tracts="2", sex="f"),
        "tract in (1A1, 2C3)": truth(table, tracts="1A1") + truth(table, tracts="2C3"),
        "county = 2C and age = 1": truth(table, tracts="2C", ages=(1,)),
        "tract = 2C4": truth(table, tracts="2C4"),
    }
    squares, inside = dict.fromkeys(counts, 0.0), dict.fromkeys(counts, 0)
    for run in range(RUNS):
        release = dpress.publish(plan, table, rng=rng.seeded(1000 + run))
        for text, count in counts.items():
            result = release.query(text)
            squares[text] += ((result.value - count) / (result.standard_error or 1)) ** 2 / RUNS
            inside[text] += result.interval[0] - 1e-9 <= count <= result.interval[1] + 1e-9
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 100)
    spread = limit * math.sqrt((5 if "epsilon" in privacy else 2) / RUNS)  # of squares of Laplace and Gaussian noise
    noisy = [text for text in counts if release.query(text).standard_error > 0]
    assert set(counts) - set(noisy) == ({"total"} if public else set())
    assert all(abs(squares[text] - 1) < spread for text in noisy), squares
    assert any(abs(2 * squares[text] - 1) > spread for text in noisy)  # half the variance is noticed
    assert min(inside.values()) / RUNS > 0.94 - limit * math.sqrt(0.94 * 0.06 / RUNS)


def test_a_folder_gives_the_same_answers(tmp_path: Path) -> None:
    release = dpress.publish(specification(), people(), out=tmp_path / "release")
    again = dpress.load_release(tmp_path / "release")
    for text in (
        "total",
        "state = 2 and sex = f",
        "tract in (1A1, 2C3) and age in 1..2",
        "count state = 1 - count county = 2C",
    ):
        first, second = release.query(text), again.query(text)
        assert (first.value, first.standard_error) == pytest.approx((second.value, second.standard_error))
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [
        "county.parquet", "measurement.parquet", "noisy_counts.parquet", "release.json", "state.parquet",
        "total.parquet", "tract.parquet", "tree_1.parquet",
    ]  # fmt: skip
    table = again.tables["county", "sex", "age"].to_pandas()
    assert table["county"].unique().tolist() == ["1A", "1B", "2C"]
    assert table["count"].sum() == pytest.approx(release.query("total").value)


def test_an_answer_says_which_cells_of_which_levels_it_adds_up() -> None:
    release = dpress.publish(specification(), people())
    (explained,) = explanations(release, "state = 1 and sex = f")
    (source,) = explained.sources
    assert (source.file, source.attributes, source.parts) == ("state.parquet", ("state", "sex", "age"), 3)
    (explained,) = explanations(release, "tract in (1A1, 1A2, 2C1) and age = 0")
    (source,) = explained.sources
    assert (source.file, source.parts) == ("county.parquet, tract.parquet", 4)
    assert explained.errors[0] == pytest.approx(release.query("tract in (1A1, 1A2, 2C1) and age = 0").standard_error)


def test_a_file_of_another_release_is_refused(tmp_path: Path) -> None:
    for name in ("one", "other"):
        dpress.publish(specification(), people(), out=tmp_path / name)
    (tmp_path / "one" / "tract.parquet").write_bytes((tmp_path / "other" / "tract.parquet").read_bytes())
    with pytest.raises(SchemaMismatch, match=r"tract\.parquet differs from its checksum"):
        dpress.load_release(tmp_path / "one").query("tract = 1A1")


def test_a_table_of_upper_levels_answers_of_their_regions_alone() -> None:
    release = dpress.publish(specification(tables=[["sex"], {"attributes": ["age"], "from": "county"}]), people())
    assert release.query("county = 2C and age = 1").standard_error > 0
    with pytest.raises(ValueError, match="no published table of these regions answers 'tract = 1A1 and age = 1'"):
        release.query("tract = 1A1 and age = 1")
    with pytest.raises(ValueError, match="no published table"):
        release.query("sex = f and age = 1")


def test_another_release_in_the_same_folder_is_read_anew(tmp_path: Path) -> None:
    for seed in (1, 2):
        release = dpress.publish(specification(), people(), out=tmp_path / "release", rng=rng.seeded(seed))
        assert dpress.load_release(tmp_path / "release").query("tract = 1A1") == release.query("tract = 1A1")
        shutil.rmtree(tmp_path / "release")


def test_nobody_is_in_no_place_and_groups_are_asked_within_a_region(tmp_path: Path) -> None:
    release = dpress.publish(specification(), people(), out=tmp_path / "release", rng=rng.seeded(5))
    for each in (release, dpress.load_release(tmp_path / "release")):
        nobody = each.query("tract = 1A1 and state = 2 and sex = f")
        assert (nobody.value, nobody.standard_error) == (0.0, 0.0)
        by_tract = each.results("count by tract where state = 1")
        assert len(by_tract) == 3
        assert all(row.value != 0.0 for row in by_tract)
