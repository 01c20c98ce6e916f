"""A specification of statistics, and people to publish them of."""

from typing import Any

import numpy as np
import pyarrow as pa

from dpress.data.specification.spec import Spec, from_dict

WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts", "none"]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"]}
COST = {"name": "cost", "kind": "numeric", "bounds": [0.0, 1000.0], "bins": 50}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 99]}
PARAMETERS: dict[str, Any] = {
    "by": ["ward"], "mean": ["cost"], "variance": ["age"], "median": ["age"], "quantiles": {"cost": [0.1, 0.9]},
    "share": ["sex = f"],
}  # fmt: skip


def spec(attributes: Any = (WARD, SEX, COST, AGE), privacy: Any = None, method: str = "auto", **changes: Any) -> Spec:
    parameters = {name: one for name, one in (PARAMETERS | changes).items() if one is not None}
    release = {"kind": "statistics", "method": method, "parameters": parameters}
    return from_dict({"attribute": list(attributes), "privacy": privacy or {"epsilon": 1.0}, "release": release})


def table(rows: int = 6000) -> pa.Table:
    draw = np.random.default_rng(1)  # noqa: TID251  # made-up rows
    ward = draw.choice(["eyes", "hearts"], rows)
    cost = draw.lognormal(4, 1, rows) + 100 * (ward == "hearts")
    columns = {"ward": ward, "sex": draw.choice(["f", "m"], rows, p=[0.3, 0.7]), "cost": np.minimum(cost, 1000)}
    return pa.table(columns | {"age": draw.integers(20, 70, rows), "uid": np.arange(rows) // 4})
