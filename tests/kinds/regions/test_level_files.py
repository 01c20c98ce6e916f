"""Levels whose files or columns would hide others of a release are refused, before anything is charged."""

from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.kinds.regions.small_country import PLACE, SEX, people

import dpress


def named(levels: list[str], **changed: Any) -> dict[str, Any]:
    """Return a specification of other names."""
    place = {**PLACE, "levels": levels, "prefix": [1, 3] if len(levels) == 2 else [1, 2, 3]}
    release = {"kind": "regions", "parameters": {"records": True, **changed.pop("parameters", {})}}
    return {"attribute": [place, {**SEX, **changed}], "privacy": {"rho": 1}, "release": release}


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        (["total", "leaf"], "two files total.parquet; rename the level 'total'"),
        (["records", "leaf"], "two files records.parquet"),
        (["a b", "a_b"], "two files a_b.parquet; rename the level 'a b'"),
        (["A", "a"], "two files a.parquet"),
        (["measurement", "leaf"], "two files measurement.parquet"),
        (["tree_1", "leaf"], "two files tree_1.parquet"),
        (["count", "leaf"], "two columns 'count'"),
    ],
)
def test_names_of_levels_that_would_hide_something_are_refused(levels: list[str], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        dpress.plan(dpress.load_spec(named(levels)))
    assert "\n" not in str(refusal.value)


def test_an_attribute_called_as_a_column_of_whole_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="two columns 'adjusted'"):
        dpress.plan(dpress.load_spec(named(["top", "leaf"], name="adjusted")))


def test_public_totals_leave_something_to_measure() -> None:
    place = {"attribute": [PLACE], "privacy": {"rho": 1}}
    for level, words in (
        ("tract", "nothing is left to measure"),
        ("total", "expected levels of the tree, got 'total'"),
    ):
        release = {"kind": "regions", "parameters": {"invariants": {level: "rows"}}}
        with pytest.raises(ValueError, match=words):
            dpress.plan(dpress.load_spec(place | {"release": release}))


def test_places_alone_are_answered_from_a_folder(tmp_path) -> None:
    release = {"kind": "regions", "parameters": {"records": True}}
    spec = dpress.load_spec({"attribute": [PLACE], "privacy": {"rho": 1}, "release": release})
    published = dpress.publish(spec, people(), out=tmp_path / "out")
    again = dpress.load_release(tmp_path / "out")
    for text in ("total", "state = 2", "tract = 1A1"):
        assert published.query(text) == again.query(text)
    assert again.answers.whole()[0][()].tolist() == [again.answers.whole()[1][()][:].sum()]


@pytest.mark.parametrize("rows", [1, 4])
def test_a_large_budget_and_few_people_make_the_records_of_these(rows: int, tmp_path) -> None:
    spec = named(["state", "county", "tract"])
    spec = spec | {"privacy": {"epsilon": 100}}
    spec["attribute"][0] = PLACE
    few = people().slice(10, rows)
    dpress.publish(dpress.load_spec(spec), few, out=tmp_path / "out")
    records = pq.read_table(tmp_path / "out" / "records.parquet")
    counted = sorted(zip(few["tract"].to_pylist(), few["sex"].to_pylist(), strict=True))
    assert sorted(zip(records["place"].to_pylist(), records["sex"].to_pylist(), strict=True)) == counted
