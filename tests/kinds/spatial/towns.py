"""Collections of a map of three towns, and the people in them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpress.core.basics import rng
from dpress.data.specification.spec import Spec, from_dict
from dpress.inference.normal import normal

USERS = 4000
PLACE = {"name": "place", "kind": "location", "columns": ["lon", "lat"], "bounds": [[0, 8], [0, 4]]}


def spec(method: str = "gtr_top_down", height: int = 4, **more: Any) -> Spec:
    release = {"kind": "spatial", "method": method, "parameters": {"users": USERS, "height": height, **more}}
    return from_dict({"attribute": [PLACE], "privacy": {"model": "local", "epsilon": 2.0}, "release": release})


def places(seed: int = 1) -> npt.NDArray[np.float64]:
    """Three towns, and people in between, shape (2, users)."""
    generator = rng.seeded(seed)
    town = (generator.words(USERS) % 4).astype(int)
    middle = np.array([[2.0, 5.5, 6.5, 4.0], [1.0, 3.0, 2.5, 2.0]])[:, town]
    spread = np.array([0.3, 0.5, 0.2, 2.0])[town]
    points = middle + spread * normal(2 * USERS, rng=generator).reshape(2, -1)
    return np.clip(points, 0.001, np.array([[7.999], [3.999]]))


def table(points: npt.NDArray[np.float64]) -> pa.Table:
    return pa.table({"lon": points[0], "lat": points[1]})
