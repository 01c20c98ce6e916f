"""A table of visits, about nobody, and a release of it whose noise is nearly nothing."""

import functools

import duckdb
import numpy as np
import pyarrow as pa

from dpress import Release, load_spec, publish
from dpress.core.basics import rng

ROWS = 2000
SPEC = {
    "attribute": [
        {"name": "age", "kind": "integer", "bounds": [0, 99]},
        {"name": "sex", "kind": "categorical", "values": ["f", "m"], "null": "unknown"},
        {"name": "ward", "kind": "categorical", "values": ["eyes", "ear", "skin"]},
        {"name": "size", "kind": "integer", "bounds": [1, 3]},
        {"name": "visited", "kind": "date", "bounds": ["2023-11-01", "2024-04-30"], "cells": "day"},
    ],
    "privacy": {"epsilon": 1000.0},
    "release": {
        "kind": "marginals",
        "parameters": {"tables": [["age", "sex", "ward"], ["ward", "size", "age"], ["visited"]]},
    },
}


@functools.cache
def visits() -> pa.Table:
    """The rows."""
    words = rng.seeded(8).words(5 * ROWS).reshape(5, ROWS)
    sexes = np.array(["f", "m", None], dtype=object)[words[1] % 3]
    days = np.datetime64("2023-11-01") + (words[4] % 182).astype("timedelta64[D]")
    return pa.table({
        "age": (words[0] % 100).astype(np.int64),
        "sex": pa.array(sexes, pa.string()),
        "ward": np.array(["eyes", "ear", "skin"])[words[2] % 3],
        "size": (words[3] % 3 + 1).astype(np.int64),
        "visited": pa.array(days.astype("datetime64[D]")),
    })  # fmt: skip


@functools.cache
def release() -> Release:
    """The release."""
    return publish(load_spec(SPEC), visits(), rng=rng.seeded(1))


def by_duckdb(statement: str) -> list[tuple]:
    """The same statement over the rows."""
    with duckdb.connect() as connection:
        connection.register("visits", visits())
        return connection.execute(statement).fetchall()
