"""A specification by months, rows for it, and what they are."""

import datetime as dt

import pyarrow as pa

from dpress.core.basics.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series

VISITED = {"name": "visited", "kind": "date", "bounds": [dt.date(2024, 1, 10), dt.date(2024, 6, 20)], "cells": "month"}
WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts"]}
ROWS = pa.table(
    {
        "visited": [dt.date(2024, 1, 1) + dt.timedelta(days=7 * row % 190) for row in range(600)],
        "ward": ["eyes" if row % 3 else "hearts" for row in range(600)],
        "uid": [row // 5 for row in range(600)],
        "cost": [float(row % 90) for row in range(600)],
    }
)
MONTHS = [f"2024-0{month}" for month in range(1, 7)]


def spec(counter="separate", kind="histogram", privacy=None, parameters=None, attributes=(VISITED, WARD), **periods):
    return from_dict(
        {
            "attribute": list(attributes),
            "privacy": privacy or {"epsilon": 2.0},
            "release": {"kind": kind, "parameters": parameters or {}},
            "periods": {"attribute": "visited", "counter": counter, **periods},
        }
    )


def truth(months, ward=None):
    days = zip(ROWS["visited"].to_pylist(), ROWS["ward"].to_pylist(), strict=True)
    inside = [(day, own) for day, own in days if VISITED["bounds"][0] <= day <= VISITED["bounds"][1]]
    return sum(f"{day:%Y-%m}" in months and own in (ward or own) for day, own in inside)


def published(folder, own, months, **options):
    for place, month in enumerate(months):
        publish_period(own, month, ROWS, out=folder, rng=seeded(place), **options)
    return load_series(folder)
