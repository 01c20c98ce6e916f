"""Collections of two attributes, and five hundred people."""

from typing import Any

import pyarrow as pa

from dpress.data.specification.spec import Spec, from_dict

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"], "other": "reject"}
PEOPLE = pa.table({"age": [k * k % 10 for k in range(500)], "sex": ["FM"[k % 3 == 0] for k in range(500)]})


def spec(*attributes: dict[str, Any], epsilon: float = 2.0, method: str = "auto", **parameters: Any) -> Spec:
    release = {"kind": "marginals", "method": method, "parameters": parameters}
    privacy = {"model": "local", "epsilon": epsilon}
    return from_dict({"attribute": list(attributes or (AGE, SEX)), "privacy": privacy, "release": release})
