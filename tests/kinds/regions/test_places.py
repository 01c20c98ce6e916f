"""Places off the tree, which a column of its file names: in conditions, groups, statements, and in the plan."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from tests.kinds.regions.small_country import AGE, SEX, TRACTS, people, truth

import dpress
from dpress import catalog
from dpress.core.basics.errors import SchemaMismatch
from dpress.query.boxes import products

CITY = ("port", "hill", None, "port", "hill", "hill", "")


def specification(folder: Path, **more: Any) -> dict[str, Any]:
    tree = pa.table(
        {"state": [code[0] for code in TRACTS], "county": [code[:2] for code in TRACTS], "tract": TRACTS, "city": CITY}
    )
    pyarrow.csv.write_csv(tree, folder / "tree.csv")
    place = {"name": "place", "kind": "hierarchy", "column": "tract", "levels": ["state", "county", "tract"]}
    place |= {"file": str(folder / "tree.csv"), "places": ["city"]} | more
    release = {"kind": "regions", "parameters": {"tables": [["sex"], ["sex", "age"]]}}
    return {"attribute": [place, SEX, AGE], "privacy": {"rho": 1000}, "release": release}


def test_a_place_is_the_leaves_that_name_it(tmp_path: Path) -> None:
    table = people()
    dpress.publish(specification(tmp_path), table, out=tmp_path / "release")
    (tmp_path / "tree.csv").unlink()
    release = dpress.load_release(tmp_path / "release")
    port = truth(table, tracts="1A1", sex="f") + truth(table, tracts="2C1", sex="f")
    hill = sum(truth(table, tracts=code, sex="f") for code in ("1A2", "2C2", "2C3"))
    assert release.query("city = port and sex = f").value == pytest.approx(port, abs=0.5)
    assert release.query("city in (port, hill) and sex = f").value == pytest.approx(port + hill, abs=0.5)
    by_city = release.results("count by city where sex = f")
    assert [dict(result.group)["city"] for result in by_city] == ["hill", "port"]
    assert [result.value for result in by_city] == pytest.approx([hill, port], abs=0.5)
    answers = release.sql("select city, count(*) from release where sex = 'f' group by city order by city").to_pandas()
    assert answers["city"].tolist() == ["hill", "port"]
    assert answers["count"].tolist() == pytest.approx([hill, port], abs=0.5)


def test_a_plan_shows_the_error_of_places_before_a_row_is_read(tmp_path: Path) -> None:
    plan = dpress.plan(specification(tmp_path))
    (listing,) = [row for row in catalog.room("regions").words.text(plan).remarks if not isinstance(row, str)]
    (row,) = [row for row in listing.rows if row[0] == "city"]
    schema, queries = plan.choice.schema, plan.chosen.mechanism.queries  # type: ignore[attr-defined]  # of regions
    variances = [queries.variance(products(schema, f"city = {city}")[0]) for city in ("hill", "port")]
    assert row[1:3] == ["2", f"+- {(sum(variances) / 2) ** 0.5:,.1f}"]


def test_a_plan_of_a_coarser_level_shows_that_level_and_no_places(tmp_path: Path) -> None:
    plan = dpress.plan(specification(tmp_path, level="county"))
    (listing,) = [row for row in catalog.room("regions").words.text(plan).remarks if not isinstance(row, str)]
    assert [row[:2] for row in listing.rows] == [["total", "1"], ["state", "2"], ["county", "3"]]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"places": ["town"]}, "there is no column 'town'"),
        ({"places": ["county"]}, "'county' twice"),
        ({"file": None, "prefix": [1, 2, 3], "values": [*TRACTS]}, "`places` are columns of a file"),
    ],
)
def test_what_names_no_places_is_refused_in_one_line(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    plain = specification(tmp_path, **more)
    if plain["attribute"][0]["file"] is None:
        del plain["attribute"][0]["file"]
    with pytest.raises((SchemaMismatch, ValueError), match=words):
        dpress.plan(plain)


def test_a_place_that_is_none_and_a_coarser_release_are_refused(tmp_path: Path) -> None:
    plain = specification(tmp_path)
    release = dpress.publish(plain, people())
    with pytest.raises(ValueError, match="place has no value 'sea'; it has hill, port"):
        release.query("city = sea")
    coarse = {**plain, "release": {**plain["release"], "level": "county"}}
    with pytest.raises(ValueError, match="city are places of the finest level, and place is released by county"):
        dpress.publish(coarse, people()).query("city = port")
