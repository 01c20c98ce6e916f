"""Releases by a level of a tree of codes: the same counts on every engine, and read where the tree's file is not."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.attributes.attribute import Attribute
from dpress.attributes.hierarchy import trees
from dpress.attributes.mixed import lowest_common
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements

LEVELS = ("state", "county", "tract")
TREE = """state,county,tract,county_name
01,01001,0100101,Autauga
01,01001,0100102,Autauga
01,01003,0100301,Baldwin
25,25017,2501701,Middlesex
25,25025,2502501,Suffolk
36,,3699901,
"""
HOMES = ["0100101", "0100301", "2501701", "2502501", "2502501", "3699901", "nowhere", None] * 40


def specification(folder, **release):
    """Write the tree and a specification of persons by place and sex, and return its path."""
    (folder / "tree.csv").write_text(TREE, encoding="utf-8")
    stated = "\n".join(f"{name} = {value}" for name, value in {"kind": '"histogram"', **release}.items())
    (folder / "spec.toml").write_text(
        f"""
[[attribute]]
name = "place"
kind = "hierarchy"
column = "home"
levels = ["state", "county", "tract"]
file = "tree.csv"
other = "elsewhere"
null = "not told"
[[attribute]]
name = "sex"
kind = "categorical"
values = ["f", "m"]
[privacy]
epsilon = 500
[release]
{stated}
""",
        encoding="utf-8",
    )
    return folder / "spec.toml"


ROWS = pa.table({"home": HOMES, "sex": ["f", "m"] * 160})


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("engine", ["threads", "sql"])
@pytest.mark.parametrize("texts", [True, False])
def test_rows_are_counted_at_the_level_that_the_release_names(tmp_path, level, engine, texts):
    codes = HOMES if texts else [int(home) if home not in ("nowhere", None) else None for home in HOMES]
    rows = ROWS.set_column(0, "home", pa.array(codes))
    place = tmp_path / "rows.parquet"
    pq.write_table(rows, place)
    release = dpress.publish(specification(tmp_path, level=f'"{level}"'), place, engine=engine)
    held = {home: {"state": home[:2], "county": home[:5], "tract": home}[level] for home in HOMES[:6]}
    held["3699901"] = "36" if level == "state" else "3699901"
    counted = release.tables["place", "sex"].to_pandas().groupby("place")["count"].sum().round()
    wanted = {node: 40 * sum(held[home] == node for home in HOMES[:6]) for node in held.values()}
    beside = {"elsewhere": 40, "not told": 40} if texts else {"not told": 80}
    assert {name: count for name, count in counted.items() if count > 0.5} == wanted | beside


def test_a_release_and_a_design_are_read_where_the_file_of_the_tree_is_not(tmp_path):
    spec = specification(tmp_path, level='"county"')
    design = dpress.save_design(dpress.plan(spec).design, tmp_path / "design.json")
    dpress.publish(spec, ROWS, out=tmp_path / "release", csv=True)
    away = tmp_path / "away"
    away.mkdir()
    (tmp_path / "release").rename(away / "release")
    (tmp_path / "design.json").rename(away / "design.json")
    read = f"import dpress; print(round(dpress.load_release({str(away / 'release')!r})['place = 25025'].value))"
    assert _printed(read, away) == "80"
    with pytest.raises(subprocess.CalledProcessError) as failure:
        _printed(f"import dpress; dpress.load_design({str(away / 'design.json')!r})", away)
    assert "is not at hand; put its file beside the design" in failure.value.stderr.splitlines()[-1]
    (tmp_path / "tree.csv").rename(away / "tree.csv")
    assert _printed(f"import dpress; print(dpress.load_design({str(away / 'design.json')!r}).schema.shape)", away) == (
        "(7, 2)"
    )
    assert design.name == "design.json"


def _printed(script, folder):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    return done.stdout.strip()


def test_another_tree_in_a_release_is_refused(tmp_path, monkeypatch):
    dpress.publish(specification(tmp_path), ROWS, out=tmp_path / "release")
    place = tmp_path / "release" / "tree_1.parquet"
    table = pq.read_table(place)
    assert table.column_names == ["state", "county", "county_name", "tract"]
    monkeypatch.setattr(trees, "_TREES", {})
    assert dpress.load_release(tmp_path / "release").schema.shape == (8, 2)
    pq.write_table(table.slice(1), place)
    with pytest.raises(SchemaMismatch, match=r"tree_1.parquet differs from its checksum"):
        dpress.load_release(tmp_path / "release")


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ({"level": '"countie"'}, r"\$\.release\.level: expected one of state, county, tract, got 'countie'"),
        ({"level": '["state", "county"]'}, r"\$\.release\.level: expected one of .*, got 'county' beside another"),
        (
            {"level": '"state"', "attributes": '["sex"]'},
            r"\$\.release\.level: expected no level: none has any, got 'state'",
        ),
    ],
)
def test_a_level_that_no_attribute_has_is_refused(tmp_path, release, message):
    with pytest.raises(SchemaMismatch, match=message):
        dpress.load_spec(specification(tmp_path, **release))


def test_levels_are_called_like_no_attribute(tmp_path):
    spec = specification(tmp_path)
    spec.write_text(spec.read_text().replace('name = "sex"', 'name = "county"'))
    with pytest.raises(SchemaMismatch, match="the levels of their trees must have different names, got 'county' twice"):
        dpress.load_spec(spec)


def test_devices_hold_no_trees(tmp_path):
    spec = specification(tmp_path)
    spec.write_text(spec.read_text().replace("[privacy]", '[privacy]\nmodel = "local"'))
    with pytest.raises((NotSupported, SchemaMismatch), match="devices hold no tree of codes; list the codes of"):
        dpress.load_spec(spec)


def test_a_specification_is_as_small_as_its_text(tmp_path):
    spec = dpress.load_spec(specification(tmp_path))
    assert len(dpress.plan(spec).design.specification["attribute"][0]["tree"]) == 64
    assert len(str(dpress.plan(spec).design.specification)) < 1200


def test_periods_are_read_where_the_tree_is_not(tmp_path):
    spec = specification(tmp_path, level='"county"', attributes='["place", "day"]')
    dated = '[[attribute]]\nname = "day"\nkind = "date"\nbounds = ["2024-01-01", "2024-03-31"]\ncells = "month"\n'
    spec.write_text(f'{dated}{spec.read_text()}\n[periods]\nattribute = "day"\n')
    rows = ROWS.append_column("day", pa.array(["2024-01-05", "2024-02-05"] * 160))
    for month in ("2024-01", "2024-02"):
        dpress.publish_period(dpress.load_spec(spec), month, rows, out=tmp_path / "series")
    (tmp_path / "tree.csv").unlink()
    read = "from dpress import load_series; series = load_series('series'); "
    assert _printed(f"{read}print(round(series.query('state = 25').value))", tmp_path) == "120"
    groups = "[(result.group[0][1], round(result.value)) for result in series.results('count by state')]"
    assert _printed(f"{read}print({groups})", tmp_path) == str(
        [("01", 80), ("25", 120), ("36", 40), ("elsewhere", 40), ("not told", 40)]
    )


def test_statements_of_a_table_are_measured_at_the_level_that_they_name(tmp_path):
    sql = "select state, count(*) from t group by state; select count(*) from t where county = 'Middlesex'"
    planned = plan_statements(specification(tmp_path), sql)
    assert {part.planned.spec.schema.shape for part in planned.parts} == {(7,)}
    kept = publish_statements(planned, ROWS, out=tmp_path / "answers")
    first, second = (kept.answer(number).table.to_pylist() for number in (1, 2))
    assert [(row["state"], round(row["count"])) for row in first[:3]] == [("01", 80), ("25", 120), ("36", 40)]
    assert round(second[0]["count"]) == 40


def test_records_have_codes_that_are_near_where_regions_are():
    leaves = ["0100101", "0100102", "2501701"]
    plain = {"name": "place", "kind": "hierarchy", "levels": list(LEVELS), "prefix": [2, 5, 7], "values": leaves}
    own = msgspec.convert(plain, Attribute).with_files(Path())
    assert lowest_common(own.labels, own.levels_of_groups).tolist() == [[0, 1 / 3, 1], [1 / 3, 0, 1], [1, 1, 0]]


def test_a_check_says_at_which_level_codes_are_not_in_the_tree(tmp_path):
    homes = ["0100101"] * 5 + ["0100199"] * 4 + ["2599901"] * 3 + ["9900000"] * 2
    found = dpress.check(specification(tmp_path), pa.table({"home": homes, "sex": ["f"] * 14})).attributes[0]
    assert (found.matched, found.other) == (5, 9)
    assert found.remedy == (
        "of codes that are not in the tree 2 begin like no state, 3 begin like a state and name no county, "
        "4 begin like a county and name no tract"
    )
