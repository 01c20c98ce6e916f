"""A survey with sampling weights: a specification, and people whose weights go with what they answer."""

from typing import Any

import numpy as np
import pyarrow as pa

import dpress
from dpress.core.basics import rng
from dpress.data.specification.spec import Spec, from_dict
from dpress.query.release import Release

REGION = {"name": "region", "kind": "categorical", "values": ["north", "south", "east"]}
EMPLOYED = {"name": "employed", "kind": "categorical", "values": ["yes", "no"]}
WAGE = {"name": "wage", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 50, "title": "Wage", "unit": "EUR"}
WEIGHT = {"name": "pw", "kind": "numeric", "bounds": [0.0, 200.0], "bins": 1}
PARAMETERS: dict[str, Any] = {
    "by": ["region"], "mean": ["wage"], "median": ["wage"], "share": ["employed = yes"], "weight": "pw", "users": 4000,
}  # fmt: skip


def spec(privacy: Any = None, attributes: Any = (REGION, EMPLOYED, WAGE, WEIGHT), **changes: Any) -> Spec:
    parameters = {name: value for name, value in (PARAMETERS | changes).items() if value is not None}
    return from_dict(
        {
            "attribute": list(attributes),
            "privacy": privacy or {"epsilon": 1.0},
            "release": {"kind": "statistics", "parameters": parameters},
        }
    )


def table(rows: int = 4000) -> pa.Table:
    draw = np.random.default_rng(6)  # noqa: TID251  # made-up rows
    region = draw.choice(["north", "south"], rows)
    employed = draw.random(rows) < 0.5
    wage = np.minimum(draw.gamma(2, 150, rows) + 100 * employed, 1000)
    weights = np.where(employed, 90, 20) + 20 * draw.random(rows)
    return pa.table({"region": region, "employed": np.where(employed, "yes", "no"), "wage": wage, "pw": weights})


def published(seed: int = 5, rows: pa.Table | None = None, privacy: Any = None, **changes: Any) -> Release:
    return dpress.publish(spec(privacy, **changes), table() if rows is None else rows, rng=rng.seeded(seed))
