"""Everything that is written of some rows, as bytes, with the noise and the clock fixed; and rows in every container.

values -> a column `x` of a library, a file or a database, beside two that stay -> the files, the bundle, the record.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import xlsxwriter

from dpress.attributes import policy
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.numbers.attribute import number_of
from dpress.attributes.value import EXACT as LOST
from dpress.attributes.value import read, text_of, written
from dpress.core.basics import rng
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.specification.spec import from_dict
from dpress.release.curator.publish import publish
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import Plan, plan
from dpress.reporting import registry
from dpress.reporting.bundle import write_bundle

DROPPED = {"other": "drop", "null": "drop"}
OUTSIDE = {"outside": "drop", "null": "drop"}
LISTED = {"name": "x", "kind": "categorical", "values": ["1", "2", "true", "false", "a"], **DROPPED}
NAMES = {"name": "x", "kind": "categorical", "values": "discover"}
WHOLE = {"name": "x", "kind": "integer", "bounds": [0, 9], **OUTSIDE}
NUMBER = {"name": "x", "kind": "numeric", "bounds": [0.0, 10.0], "bins": 10, **OUTSIDE}
DAY = {"name": "x", "kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "cells": "month", **OUTSIDE}
KEPT = {"outside": "clamp", "null": "none"}
NAMED_CELLS = {"other": "else", "null": "none"}
PLACE = {"name": "place", "kind": "location", "columns": ["x", "pay"], "bounds": [[0.0, 10.0], [0.0, 10.0]],
         "outside": "drop"}  # fmt: skip
SIDE = {"name": "side", "kind": "categorical", "values": ["f", "m"]}
PAY = {"name": "pay", "kind": "numeric", "bounds": [0.0, 10.0], "bins": 10}
EXACT, NAMED = {"epsilon": 1.0}, {"epsilon": 2.0, "delta": 1e-4}
DEVICES = {"epsilon": 1.0, "model": "local"}
FEW = {"users": 1000}


def asked(attributes, privacy, kind, method="auto", **parameters):
    return {"attribute": attributes, "privacy": privacy, "release": {"kind": kind, "method": method,
            "attributes": [one["name"] for one in attributes], "parameters": parameters}}  # fmt: skip


CENTRAL = {
    "tables": asked([LISTED, SIDE], EXACT, "marginals"),
    "tables of integers": asked([WHOLE, SIDE], EXACT, "histogram"),
    "ranges": asked([NUMBER], EXACT, "ranges", "privelet"),
    "map": asked([PLACE], EXACT, "spatial", "uniform_grid"),
    "joint": asked([LISTED, SIDE], EXACT, "joint"),
    "queries": asked([LISTED, SIDE], EXACT, "queries", queries=["x = a or side = f", "x in (1, 2)"]),
    "microdata": asked([LISTED, SIDE], EXACT, "microdata", "dp_prototypes"),
    "names": asked([NAMES], NAMED, "names", **FEW),
    "groups": asked([NAMES, PAY], NAMED, "statistics", by=["x"], mean=["pay"], **FEW),
    "statistics": asked([WHOLE, SIDE], EXACT, "statistics", by=["side"], mean=["x"], median=["x"]),
    "bounds": asked([{**NUMBER, **KEPT}], EXACT, "statistics", mean=["x"], private_bounds=["x"]),
    "persons": asked([SIDE], {**EXACT, "unit": "x", "rows_per_unit": 1}, "histogram"),
}
LOCAL = {
    "devices' tables": asked([{**LISTED, **NAMED_CELLS}], DEVICES, "marginals"),
    "devices' numbers": asked([{**NUMBER, "outside": "clamp", "null": "reject"}], DEVICES, "statistics", mean=["x"]),
    "devices' sets": asked([{**LISTED, **NAMED_CELLS}], DEVICES, "sets", cap=2, **FEW),
    "devices' strings": asked([NAMES], DEVICES, "strings", **FEW),
}
KINDS = CENTRAL | LOCAL


@functools.cache
def planned(kind: str) -> Plan:
    return plan(from_dict(KINDS[kind]))


def everything(
    kind: str, data: Any, folder: Path, *, bundle: bool = False, engine: str | None = None
) -> dict[str, bytes]:
    """Return what is written of rows, by the names of the files; of devices their reports."""
    place = folder / f"{len(list(folder.iterdir()))}"
    if kind in LOCAL:
        perturb(planned(kind).design, data, out=place, rng=rng.seeded(5))
        return {"reports": place.read_bytes()}
    release = publish(planned(kind), data, out=place, csv=True, engine=engine, rng=rng.seeded(5))
    found = {path.name: path.read_bytes() for path in place.iterdir()}
    if bundle:
        found["bundle"] = write_bundle(release, place, place.with_suffix(".zip")).read_bytes()
        found["record"] = registry.as_yaml(registry.record(dataclasses.replace(release, private=True))).encode()
    return found


def equal(kind: str, value: Any) -> str | list[str] | None:
    """Return the text, or None, that is coded as a value is, by the definition alone."""
    found = read(value)
    if found is not None and isinstance(found.content, str) and not found.content.isprintable():
        found = None  # surrogates, which UTF-8 has not
    if kind == "persons":
        return None if found is None else written(found)
    attribute = planned(kind).spec.schema.attributes[0]
    if isinstance(attribute, Categorical) and attribute.discovered:
        return None if found is None else text_of(found)
    if kind == "devices' sets" and isinstance(value, list):
        return ";".join(equal(kind, one) or "" for one in value)
    if isinstance(attribute, Categorical):
        cell = attribute.cell(value)
        return None if cell == policy.MISSING else "zz" if cell == policy.OUTSIDE else attribute.labels[cell]
    number = None if found is None else number_of(found)
    if number is None:
        return None
    return str(number) if number.is_finite() else f"{math.copysign(1e300, number)}"


def in_pandas(value: Any) -> Any:
    """Return a value as pandas holds it where it must: an integer of 2^53 and more is a float beside a missing one."""
    large = isinstance(value, (int, np.integer)) and abs(int(value)) >= LOST and -(2**63) <= int(value) < 2**64
    return float(value) if large else value


def beside(values: list[Any]) -> dict[str, Any]:
    """Return the columns that stay the same in every container; the last row is like the first."""
    rows = [*range(len(values) - 1), 0]
    return {"side": ["fm"[one % 2] for one in rows], "pay": [float(one % 7) for one in rows]}


def reference(kind: str, values: list[Any]) -> pa.Table:
    """Return rows whose values are all texts, or missing."""
    return pa.table({"x": pa.array([equal(kind, one) for one in values], pa.string()), **beside(values)})


def arrow(values: list[Any], _: Path) -> pa.Table:
    return pa.table({"x": pa.array(values), **beside(values)})


def pandas(values: list[Any], _: Path, **how: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(values, **how), **beside(values)})


def objects(values: list[Any], place: Path) -> pd.DataFrame:
    return pandas(values, place, dtype=object)


def categories(values: list[Any], place: Path) -> pd.DataFrame:
    return pandas(values, place).astype({"x": "category"})


def polars(values: list[Any], _: Path) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series(values), **beside(values)})


def dictionary(values: list[Any], place: Path) -> pa.Table:
    own = arrow(values, place)
    return own.set_column(0, "x", own["x"].combine_chunks().dictionary_encode())


def parquet(values: list[Any], place: Path) -> Path:
    pq.write_table(arrow(values, place), place / "rows.parquet")
    return place / "rows.parquet"


def feather(values: list[Any], place: Path) -> Path:
    pyarrow.feather.write_feather(arrow(values, place), place / "rows.feather")
    return place / "rows.feather"


def csv(values: list[Any], place: Path) -> Path:
    pyarrow.csv.write_csv(arrow(values, place), place / "rows.csv")
    return place / "rows.csv"


def relation(values: list[Any], place: Path) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(arrow(values, place))


def database(values: list[Any], place: Path) -> str:
    held = arrow(values, place)  # noqa: F841  # DuckDB finds it by its name
    with duckdb.connect(str(place / "rows.duckdb")) as connection:
        connection.execute("CREATE OR REPLACE TABLE people AS FROM held")
    return f"{place / 'rows.duckdb'}#people"


def workbook(values: list[Any], place: Path) -> Path:
    with xlsxwriter.Workbook(place / "rows.xlsx", {"strings_to_numbers": False}) as book:
        sheet = book.add_worksheet()
        for column, (name, own) in enumerate({"x": values, **beside(values)}.items()):
            sheet.write(0, column, name)
            for row, value in enumerate(own):
                if value is not None:
                    {str: sheet.write_string, bool: sheet.write_boolean}.get(type(value), sheet.write_number)(
                        row + 1, column, value
                    )
    return place / "rows.xlsx"


INFERRING = (pandas, objects, categories)
DECLARING = (arrow, dictionary, polars, parquet, feather, relation, database)
FILES = (csv, workbook)
Make = Callable[[list[Any], Path], Any]


def holds(make: Make, values: list[Any], place: Path) -> Any:
    """Return the container, or None where its library does not take these values, or makes others of them."""
    if make in FILES:
        known = {csv: (str, type(None)), workbook: (str, type(None), bool, int, float)}[make]
        return make(values, place) if all(type(one) in known and _fits(one) for one in values) else None
    reading = in_pandas if make in INFERRING else lambda value: value
    try:
        data = make(values, place)
        table = list(data["x"]) if make in (*INFERRING, polars) else arrow(values, place)["x"].to_pylist()
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  # whatever a library does not take
        return None
    return data if [read(reading(one)) for one in table] == [read(reading(one)) for one in values] else None


def _fits(value: Any) -> bool:
    """Return whether a file can hold a value; an empty text is a missing value there."""
    return value is None or (value.isprintable() and value != "" if isinstance(value, str) else abs(value) < LOST)


def refused(error: SchemaMismatch, make: Make, values: list[Any]) -> bool:
    """Return whether a table is refused by the type that its library declares, or as persons may have been merged."""
    if "may stand for several persons" in str(error):
        return make not in FILES and any(_is_large(one) for one in values)
    return make in DECLARING and "of type" in str(error)


def _is_large(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) >= LOST
