"""Two states of three counties and seven tracts, and 600 people in them, for the tests of regions."""

from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.basics import rng

TRACTS = ("1A1", "1A2", "1B1", "2C1", "2C2", "2C3", "2C4")
PLACE = {
    "name": "place",
    "kind": "hierarchy",
    "column": "tract",
    "levels": ["state", "county", "tract"],
    "prefix": [1, 2, 3],
    "values": [*TRACTS],
}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 2]}
TABLES = [["sex"], ["age"], ["sex", "age"]]


def specification(
    privacy: dict[str, Any] | None = None, tables: list[Any] | None = None, **parameters: Any
) -> dict[str, Any]:
    """Return a specification as plain objects."""
    return {
        "attribute": [PLACE, SEX, AGE],
        "privacy": privacy or {"rho": 1},
        "release": {"kind": "regions", "parameters": {"tables": tables or TABLES, **parameters}},
    }


def people(rows: int = 600) -> pa.Table:
    """Return made-up people; the last tract is nearly empty."""
    source = rng.seeded(7)
    tract = (source.words(rows) % np.uint64(61)).astype(int) % 7
    tract[tract == 6] = 5
    tract[:2] = 6
    sex, age = ((source.words(rows) % np.uint64(size)).astype(int) for size in (2, 3))
    return pa.table(
        {
            "tract": pa.array(TRACTS).take(pa.array(tract)),
            "sex": pa.array(["f", "m"]).take(pa.array(sex)),
            "age": age,
            "uid": np.arange(rows) // 2,
        }
    )


def truth(table: pa.Table, *, tracts: str = "", sex: str = "", ages: tuple[int, ...] = (0, 1, 2)) -> int:
    """Return how many people there are in tracts that begin with a text, of a sex and of some ages."""
    columns = zip(*(table[name].to_pylist() for name in ("tract", "sex", "age")), strict=True)
    return sum(1 for where, who, old in columns if where.startswith(tracts) and sex in {"", who} and old in ages)
