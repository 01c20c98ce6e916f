"""Every kind of two tables: the release is that of their rows joined by a loop, with the same noise."""

import pyarrow.parquet as pq
import pytest
from tests.data.linked_people import (
    ABOVE,
    ATTRIBUTES,
    BELOW,
    MOST,
    counted,
    household_rows,
    households,
    table,
    tables,
)

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported

pytestmark = pytest.mark.usefixtures("one_short_fit")

LOSS = {"unit": "hhid", "epsilon": 2.0}
FEW = LOSS | {"delta": 1e-6}
REGION, AGE, SIZE, CHILDREN = (next(each for each in ATTRIBUTES if each["name"] == name) for name in (
    "region", "age", "size", "children"))  # fmt: skip
FOUND = {"name": "region", "kind": "categorical", "values": "discover", "other": "else"}
CODES = {"name": "place", "column": "region", "kind": "hierarchy", "levels": ["first", "whole"], "prefix": [1, 5],
         "values": ["north", "south"]}  # fmt: skip


def of(kind, *attributes, privacy=LOSS, method="auto", **parameters):
    names = [each["name"] for each in attributes]
    release = {"kind": kind, "attributes": names, "method": method, "parameters": parameters}
    return {"attribute": list(attributes), "privacy": privacy, "release": release}


KINDS = {
    "histogram": lambda number: of("histogram", REGION, number),
    "marginals": lambda number: of("marginals", REGION, number, ways=1),
    "ranges": lambda number: of("ranges", number),
    "queries": lambda number: of("queries", REGION, number, queries=["region = north", f"{number['name']} in 1..2"]),
    "means": lambda number: of("statistics", REGION, number, by=["region"], mean=[number["name"]]),
    "medians": lambda number: of("statistics", REGION, number, by=["region"], median=[number["name"]]),
    "relations": lambda number: of("statistics", REGION, number, relations=[f"{number['name']} ~ region"]),
    "names": lambda _: of("names", FOUND, privacy=FEW),
    "joint": lambda number: of("joint", REGION, number),
    "regions": lambda _: of("regions", CODES, REGION, tables=[["region"]]),
    "microdata": lambda number: of("microdata", REGION, number),
    "prototypes": lambda number: of("microdata", REGION, number, method="dp_prototypes"),
}


OF_HOUSEHOLDS_ALONE = {("households", "names"), ("households", "regions")}  # whatever persons they have


def joined(rows, above, below):
    """Return the rows of households, or of their persons, as a loop has them, in the order of the households."""
    if rows == "households":
        pairs = zip(above, household_rows(above, below), strict=True)
        return table([{"hhid": house["hhid"], **row} for house, row in pairs])
    regions = {house["hhid"]: house["region"] for house in above}
    kept = [row for house in above for row in counted(below, house["hhid"])]
    return table([row | {"region": regions[row["hhid"]]} for row in kept])


def files(spec, data, folder):
    """Return the tables that a release of a seed writes, by file."""
    dpress.publish(spec, data, out=folder, rng=rng.seeded(4))
    return {file.name: pq.read_table(file).to_pydict() for file in sorted(folder.glob("*.parquet"))}


@pytest.mark.parametrize("rows", ["households", "persons"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_release_is_that_of_the_rows_joined(rows, kind, tmp_path):
    above, below = households(60)
    spec = KINDS[kind](CHILDREN if rows == "households" else AGE)
    whole = spec | {"privacy": spec["privacy"] | {"rows_per_unit": 1 if rows == "households" else MOST}}
    linked = spec | {"data": {"rows": rows}, "table": [{**ABOVE}, {**BELOW}]}
    made = files(linked, tables(above, below), tmp_path / "linked")
    assert made == files(whole, joined(rows, above, below), tmp_path / "joined")
    assert dpress.plan(linked).design.claim == dpress.plan(whole).design.claim
    fewer = files(linked, tables(above, below[:10]), tmp_path / "fewer")
    assert (fewer == made) == ((rows, kind) in OF_HOUSEHOLDS_ALONE)


def test_what_devices_would_have_to_join_is_refused():
    spec = of("histogram", REGION, SIZE, privacy={"model": "local", "epsilon": 1.0})
    with pytest.raises((NotSupported, ValueError), match="table"):
        dpress.plan(spec | {"data": {"rows": "households"}, "table": [{**ABOVE}, {**BELOW}]})
