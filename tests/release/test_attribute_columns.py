"""An attribute that is read from a column of another name gives the same release, by every kind, source and engine."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import dpress
from dpress.core.basics import rng as generators
from dpress.core.basics.errors import SchemaMismatch

PLACE = np.arange(400)
ROWS = pa.table(
    {
        "delay": PLACE * 7 % 90,
        "cost": PLACE % 53 * 10.5,
        "sex": pa.array(["F", "M", None]).take(pa.array(PLACE % 3)),
        "day": pa.array(19_700 + PLACE % 60, pa.int32()).cast(pa.date32()),
        "name": pa.array(["Ann", "Bo", "Cy"]).take(pa.array(PLACE % 7 % 3)),
    }
)
OTHERWISE = {"delay": "DEP_DELAY", "cost": "Cost in $", "sex": "SEX;", "day": "DAY OF", "name": "Name 1"}
ATTRIBUTES = [
    {"name": "delay", "kind": "integer", "bounds": [0, 99], "bins": 10},
    {"name": "cost", "kind": "numeric", "bounds": [0, 600], "bins": 12},
    {"name": "sex", "kind": "categorical", "values": ["F", "M"], "other": "else"},
    {"name": "day", "kind": "date", "bounds": ["2023-12-01", "2024-02-28"], "cells": "month"},
    {"name": "name", "kind": "categorical", "values": "discover"},
]
RELEASES = {
    "tables": {"kind": "marginals", "attributes": ["delay", "cost", "sex", "day"]},
    "statistics": {
        "kind": "statistics",
        "attributes": ["sex", "cost"],
        "parameters": {"by": ["sex"], "mean": ["cost"], "median": ["cost"]},
    },
    "names": {"kind": "names", "attributes": ["name"]},
    "ranges": {"kind": "ranges", "attributes": ["day"]},
    "records": {"kind": "microdata", "attributes": ["delay", "sex", "cost"]},
    "local": {"kind": "marginals", "attributes": ["delay", "sex", "cost"]},
}


def spec(release, *, otherwise):
    columns = OTHERWISE if otherwise else {}
    attributes = [
        {**one, **({"column": columns[one["name"]]} if columns else {})}
        for one in ATTRIBUTES
        if one["name"] in RELEASES[release]["attributes"]
    ]
    privacy = {"epsilon": 2, "delta": 1e-6} if release == "names" else {"epsilon": 2}
    if release == "local":
        privacy["model"] = "local"
    return dpress.load_spec({"attribute": attributes, "privacy": privacy, "release": RELEASES[release]})


def files(release, data, folder, *, otherwise, engine=None):
    asked = spec(release, otherwise=otherwise)
    if release == "local":
        dpress.perturb(asked, data, out=folder, rng=generators.seeded(1))
        table = pq.read_table(next(folder.glob("*.parquet")) if folder.is_dir() else folder)
        return {"reports": table.select(["report_type", "payload"])}
    dpress.publish(asked, data, out=folder, rng=generators.seeded(1), engine=engine)
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


SOURCES = ("frame", "csv", "parquet threads", "parquet sql", "duckdb")
CASES = [(release, source) for release in RELEASES for source in SOURCES[: 3 if release == "local" else None]]


@pytest.mark.parametrize(("release", "source"), CASES)
def test_the_release_is_the_same(tmp_path, release, source):
    renamed = ROWS.rename_columns([OTHERWISE[name] for name in ROWS.column_names])
    made = []
    for table, otherwise in ((ROWS, False), (renamed, True)):
        data, engine = table, None
        if source == "csv":
            pyarrow.csv.write_csv(table, tmp_path / "rows.csv")
            data = tmp_path / "rows.csv"
        elif source.startswith("parquet"):
            pq.write_table(table, tmp_path / "rows.parquet")
            data, engine = tmp_path / "rows.parquet", source.split()[1]
        elif source == "duckdb":
            (tmp_path / "rows.duckdb").unlink(missing_ok=True)
            with duckdb.connect(tmp_path / "rows.duckdb") as connection:
                connection.register("given", table)
                connection.execute("CREATE TABLE visits AS SELECT * FROM given")
            data = f"{tmp_path / 'rows.duckdb'}#visits"
        made.append(files(release, data, tmp_path / f"out{otherwise}.parquet", otherwise=otherwise, engine=engine))
    assert made[0]
    assert made[0] == made[1]


def test_devices_are_asked_the_same():
    plans = [dpress.plan(spec("local", otherwise=otherwise)).design for otherwise in (False, True)]
    assert plans[0].id == plans[1].id
    assert "DEP_DELAY" not in str(plans[1].ask)
    assert plans[1].schema.columns == ("DEP_DELAY", "SEX;", "Cost in $")


def test_check_names_the_column_that_is_missing():
    with pytest.raises(SchemaMismatch, match="the data has no column 'DEP_DELAY'; near it are 'delay'"):
        dpress.check(spec("tables", otherwise=True), ROWS)
    found = dpress.check(spec("tables", otherwise=False), ROWS)
    renamed = ROWS.rename_columns([OTHERWISE[name] for name in ROWS.column_names])
    assert dpress.check(spec("tables", otherwise=True), renamed) == found


def test_one_column_may_be_two_attributes(tmp_path):
    coarse = {"name": "ten", "kind": "integer", "bounds": [0, 99], "bins": 10, "column": "delay"}
    fine = {"name": "five", "kind": "integer", "bounds": [0, 99], "bins": 20, "column": "delay"}
    plain = {"attribute": [coarse, fine], "privacy": {"epsilon": 900}, "release": {"kind": "marginals"}}
    release = dpress.publish(plain, ROWS, out=tmp_path / "out")
    assert abs(release.query("ten in 0..9").value - release.query("five in 0..9").value) < 3


def test_a_location_has_two_columns_of_its_own():
    place = {"name": "place", "kind": "location", "columns": ["x", "y"], "bounds": [[0, 1], [0, 1]], "column": "z"}
    with pytest.raises(SchemaMismatch, match="a location names two in `columns`"):
        dpress.load_spec({"attribute": [place], "privacy": {"epsilon": 1}, "release": {"kind": "spatial"}})
