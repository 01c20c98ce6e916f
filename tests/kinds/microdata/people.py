"""Specifications of records, and rows for them."""

from typing import Any

import pyarrow as pa

from dpress.data.specification.spec import Spec, from_dict

TREE = [["F", "x", "*"], ["M", "x", "*"], ["N", "y", "*"]]
ATTRIBUTES: list[dict[str, Any]] = [
    {"name": "age", "kind": "integer", "bounds": [0, 9]},
    {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 4},
    {"name": "sex", "kind": "categorical", "values": ["F", "M", "N"], "hierarchy": TREE},
]


def spec(
    method: str = "dp_prototypes",
    privacy: dict[str, Any] | None = None,
    attributes: list[dict[str, Any]] = ATTRIBUTES,
    **parameters: Any,
) -> Spec:
    release = {"kind": "microdata", "method": method, "parameters": parameters}
    return from_dict({"attribute": attributes, "privacy": privacy or {"epsilon": 1.0}, "release": release})


def table(count: int = 300) -> pa.Table:
    i = range(count)
    ages = [k * 7 % 10 for k in i]
    return pa.table({"age": ages, "size": [a * 0.8 for a in ages], "sex": ["FMN"[a // 4] for a in ages]})
