"""A table of visits behind a budget, about nobody, and statements over it."""

import numpy as np
import pyarrow as pa

from dpress import load_spec
from dpress.core.basics import rng

ROWS = 4000
BASE = {
    "attribute": [
        {"name": "age", "kind": "integer", "bounds": [0, 99]},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"], "null": "unknown"},
        {"name": "ward", "kind": "categorical", "values": ["eyes", "ear", "skin"]},
        {"name": "cost", "kind": "numeric", "bounds": [0, 1000], "bins": 100},
        {"name": "visited", "kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "cells": "day"},
        {"name": "drug", "kind": "categorical", "values": "discover"},
    ],
    "privacy": {"epsilon": 1.0, "delta": 1e-6},
}
PURE = {**BASE, "attribute": BASE["attribute"][:-1], "privacy": {"epsilon": 1.0}}


def spec(plain=PURE):
    """The specification, without `[release]`."""
    return load_spec(plain, release={"kind": "queries"})


def visits() -> pa.Table:
    """The rows."""
    words = rng.seeded(8).words(6 * ROWS).reshape(6, ROWS)
    days = np.datetime64("2024-01-01") + (words[4] % 366).astype("timedelta64[D]")
    return pa.table({
        "age": (words[0] % 100).astype(np.int64),
        "sex": pa.array(np.array(["f", "m", None], dtype=object)[words[1] % 3], pa.string()),
        "ward": np.array(["eyes", "ear", "skin"])[words[2] % 3],
        "cost": (words[3] % 1000).astype(float),
        "visited": pa.array(days.astype("datetime64[D]")),
        "drug": np.array(["aspirin", "ibuprofen"])[words[5] % 2],
    })  # fmt: skip
