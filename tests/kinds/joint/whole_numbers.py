"""Specifications of a joint distribution of small whole numbers, and people who have them."""

from typing import Any

import pyarrow as pa

from dpress.data.specification.spec import Spec, from_dict


def spec(
    *sizes: int, privacy: dict[str, Any] | None = None, method: str = "auto", kind: str = "joint", **parameters: Any
) -> Spec:
    attributes = [{"name": f"a{i}", "kind": "integer", "bounds": [0, size - 1]} for i, size in enumerate(sizes)]
    promise = privacy or {"model": "local", "epsilon": 2.0}
    release = {"kind": kind, "method": method, "parameters": parameters}
    return from_dict({"attribute": attributes, "privacy": promise, "release": release})


def people(*sizes: int, users: int = 400) -> pa.Table:
    return pa.table({f"a{i}": [user * (user + i) % size for user in range(users)] for i, size in enumerate(sizes)})
