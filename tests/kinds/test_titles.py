"""Pages of every kind show titles, units and labels; a bare name stands in code, commands and files alone."""

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from tests.kinds.conftest import BOX, POINTS, _answered, make
from tests.kinds.reading import html_of_page, text
from tests.reporting.few_months import series_of

import dpress
from dpress.query.release import Release
from dpress.reporting.series_page import series_page

BARE = re.compile(r"\bqq\w+")
AREA = {
    "kind": "categorical", "name": "qqarea", "title": "Area", "values": ["qqn", "qqs"], "other": "elsewhere",
    "labels": {"qqn": "North", "qqs": "South"},
}  # fmt: skip
SEX = {
    "kind": "categorical", "name": "qqsex", "title": "Sex", "values": ["qqf", "qqm"],
    "labels": {"qqf": "Women", "qqm": "Men"},
}  # fmt: skip
AGE = {"kind": "integer", "name": "qqage", "title": "Age", "unit": "years", "bounds": [0, 19]}
PAY = {"kind": "numeric", "name": "qqpay", "title": "Pay a day", "unit": "EUR", "bounds": [0, 100], "bins": 10}
PEOPLE = pa.table({
    "qqarea": [["qqn", "qqs", "other"][row * row % 3] for row in range(600)],
    "qqsex": [["qqf", "qqm"][row % 3 > 0] for row in range(600)],
    "qqage": [row % 20 for row in range(600)],
    "qqpay": [row % 97 + 0.5 for row in range(600)],
    "who": [row // 2 for row in range(600)],
    "tract": [["1A1", "1A2", "1B1", "2C1"][row % 4] for row in range(600)],
    "qqitem": [["tea", "milk", "rye"][row % 3] for row in range(600)],
})  # fmt: skip
SETS = PEOPLE.append_column("qqapps", pa.array([["qqn"], ["qqn", "qqs"]] * 300, pa.list_(pa.string())))
ITEM = {"kind": "categorical", "name": "qqitem", "title": "Item", "values": "discover"}
TRACTS = {
    "kind": "hierarchy", "name": "qqplace", "title": "Place", "column": "tract", "levels": ["state", "tract"],
    "prefix": [1, 3], "values": ["1A1", "1A2", "1B1", "2C1"],
}  # fmt: skip
PLACE = {"kind": "location", "name": "qqplace", "title": "Where", "columns": ["lon", "lat"], "bounds": BOX}


def devices(attributes: list[dict[str, Any]], kind: str, data: pa.Table = PEOPLE, **release: Any) -> Release:
    asked = {"kind": kind, **release}
    privacy = {"model": "local", "epsilon": 4.0}
    return _answered(msgspec.json.encode({"attribute": attributes, "privacy": privacy, "release": asked}), data)


def regions(attributes: list[dict[str, Any]], parameters: dict[str, Any]) -> Release:
    asked = {"kind": "regions", "parameters": parameters}
    return dpress.publish(dpress.load_spec({"attribute": attributes, "privacy": {"rho": 1}, "release": asked}), PEOPLE)


def of(kind: str, attributes: list[dict[str, Any]], **options: Any) -> Callable[[], Release]:
    return lambda: make(kind, attributes, data=PEOPLE, **options)


STATISTICS = {"by": ["qqarea"], "mean": ["qqpay"], "median": ["qqage"], "quantiles": {"qqage": [0.1, 0.9]}}
TITLED: dict[str, Callable[[], Release]] = {
    "histogram": of("histogram", [AREA]),
    "two-way": of("marginals", [AGE, AREA, SEX], method="marginals"),
    "sums": of("marginals", [AGE, AREA, SEX], method="identity"),
    "ranges": of("ranges", [AGE]),
    "ranges of two": of("ranges", [AGE, PAY]),
    "queries": of("queries", [AGE, SEX], parameters={"queries": ["qqage < 5", "qqsex = qqf or qqage > 12"]}),
    "statistics": of("statistics", [AREA, AGE, PAY], parameters=STATISTICS),
    "statistics of all": of("statistics", [PAY], parameters={"mean": ["qqpay"], "sum": ["qqpay"]}),
    "microdata": of("microdata", [AREA, SEX, AGE]),
    "names": of("names", [ITEM], privacy={"epsilon": 1.0, "delta": 1e-6}),
    "map": lambda: make("spatial", [PLACE], parameters={"height": 3}, method="quadtree", data=POINTS),
    "devices": lambda: devices([AREA, SEX, AGE], "marginals"),
    "devices' joint": lambda: devices([AREA, SEX], "joint"),
    "devices' map": lambda: devices([PLACE], "spatial", POINTS, parameters={"height": 3, "users": 900}),
    "devices' ranges": lambda: devices([AGE], "ranges"),
    "devices' statistics": lambda: devices(
        [AREA, PAY], "statistics", parameters={"by": ["qqarea"], "mean": ["qqpay"], "users": 600}
    ),
    "shares": of(
        "statistics", [AREA, SEX, AGE], parameters={"by": ["qqarea"], "share": ["qqsex = qqf", "qqage in 3..5"]}
    ),
    "found groups": of(
        "statistics",
        [ITEM, PAY],
        privacy={"epsilon": 4.0, "delta": 1e-6},
        parameters={"by": ["qqitem"], "mean": ["qqpay"]},
    ),
    "private bounds": of(
        "statistics", [AREA, PAY], parameters={"by": ["qqarea"], "mean": ["qqpay"], "private_bounds": ["qqpay"]}
    ),
    "persons": of(
        "statistics",
        [AREA, PAY],
        privacy={"epsilon": 4.0, "unit": "who", "rows_per_unit": 3},
        parameters={"by": ["qqarea"], "persons": True, "totals": {"qqpay": [0, 200]}},
    ),
    "devices' quantiles": lambda: devices(
        [AREA, AGE], "statistics", parameters={"by": ["qqarea"], "median": ["qqage"], "users": 600}
    ),
    "tables of three": of("joint", [AREA, SEX, AGE]),
    "regions": lambda: regions([TRACTS, SEX, AGE], {"tables": [["qqsex"], ["qqage"]]}),
    "regions' records": lambda: regions([TRACTS, SEX], {"records": True}),
    "strings": lambda: devices([{**ITEM}], "strings", parameters={"longest": 4, "kept": 4, "users": 600}),
    "graphical": of("microdata", [AREA, SEX, AGE], method="graphical"),
    "sets": lambda: devices(
        [{**AREA, "name": "qqapps", "title": "Apps", "other": "another", "labels": {"qqn": "Nine", "qqs": "Six"}}],
        "sets",
        SETS,
        parameters={"cap": 2, "users": 600},
    ),
}


def shown(html: str) -> str:
    """Return the text of a page without code, commands, and the names of files."""
    html = re.sub(r"<code.*?</code>|<td[^>]*>[\w-]+\.(?:parquet|csv)</td>", "", html, flags=re.DOTALL)
    return re.sub(r"[\w-]+\.(?:parquet|csv)", "", text(html))


@pytest.mark.parametrize("kind", TITLED)
def test_a_page_shows_titles(kind: str) -> None:
    seen = shown(html_of_page(TITLED[kind]()))
    bare = [seen[max(0, found.start() - 60) : found.end() + 40] for found in BARE.finditer(seen)]
    assert bare == []


def test_a_bare_name_is_seen() -> None:
    bare = [{name: value for name, value in AREA.items() if name not in {"title", "labels"}}]
    assert {"qqarea", "qqn"} <= {*BARE.findall(shown(html_of_page(make("histogram", bare, data=PEOPLE))))}


def cells(html: str) -> list[str]:
    return re.findall(r'<td class="number">([^<]*)</td>', html)


def test_numbers_carry_their_unit_once() -> None:
    amounts = [cell for cell in cells(html_of_page(TITLED["statistics of all"]())) if "EUR" in cell]
    assert len(amounts) == 6  # of a sum and a mean: the value, the interval, the error
    assert all(re.fullmatch(r"[\d,.]+( to [\d,.]+)? EUR", cell) for cell in amounts)
    html = shown(html_of_page(TITLED["shares"]()))
    assert re.search(r"share of Sex = Women [\d.]+ % [\d.]+ to [\d.]+ % [\d.]+ points", html)
    assert "share of Age in 3..5 years" in html
    for kind in ("statistics", "shares", "statistics of all", "persons"):
        assert not re.search(r"EUR\)? \(?EUR|% \(?%|years\)? \(?years", shown(html_of_page(TITLED[kind]())))


SERIES = {
    "counts by period": ("histogram", [AREA, SEX], {}),
    "statistics by period": (
        "statistics",
        [AREA, SEX, PAY],
        {"by": ["qqarea"], "mean": ["qqpay"], "share": ["qqsex = qqf"]},
    ),
}


@pytest.mark.parametrize("kind", SERIES)
def test_the_page_of_a_series_shows_titles(kind: str, tmp_path: Path) -> None:
    name, attributes, parameters = SERIES[kind]
    day = {"kind": "date", "name": "qqday", "title": "Day", "cells": "month", "bounds": ["2024-01-01", "2024-03-31"]}
    plain = {"attribute": [day, *attributes], "privacy": {"epsilon": 4}, "periods": {"attribute": "qqday"}}
    planned = dpress.load_spec(plain | {"release": {"kind": name, "parameters": parameters}})
    days = pa.array([dt.date(2024, row % 3 + 1, 5) for row in range(600)])
    seen = shown(series_page(series_of(tmp_path / "out", planned, PEOPLE.append_column("qqday", days))))
    assert {*BARE.findall(seen)} == set()
