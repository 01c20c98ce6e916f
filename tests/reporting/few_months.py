"""Series of a few months for tests of their page."""

import datetime as dt

import pyarrow as pa

from dpress.core.basics.rng import seeded
from dpress.data.specification.spec import from_dict
from dpress.release.periods.calendar import Calendar
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series

VISITED = {"name": "visited", "title": "Day of the visit", "kind": "date", "cells": "month"}
WARD = {"name": "ward", "title": "Ward", "kind": "categorical", "values": ["eyes", "hearts", "bones"]}
SEX = {"name": "sex", "kind": "categorical", "values": ["f", "m"], "labels": {"f": "Women", "m": "Men"}}
COST = {"name": "cost", "title": "Cost of a visit", "unit": "EUR", "kind": "numeric", "bounds": [0.0, 90.0], "bins": 9}
STATISTICS = {"by": ["ward"], "mean": ["cost"], "share": ["sex = m"]}


def spec(attributes, months=3, kind="histogram", parameters=None, epsilon=4.0, **periods):
    """Return the specification of so many months."""
    bounds = [dt.date(2024, 1, 1), dt.date(2024 + (months - 1) // 12, (months - 1) % 12 + 1, 28)]
    return from_dict(
        {
            "attribute": [VISITED | {"bounds": bounds}, *attributes],
            "privacy": {"epsilon": epsilon},
            "release": {"kind": kind, "parameters": parameters or {}},
            "periods": {"attribute": "visited", **periods},
        }
    )


def table(*months):
    """Return rows of months, each a list of counts by ward; a visit costs 10 more by ward, and by month."""
    rows = [
        (dt.date(2024 + month // 12, month % 12 + 1, 3), ward, row % 2, 10.0 * (ward + month) + 5)
        for month, wards in enumerate(months)
        for ward, size in enumerate(wards)
        for row in range(size)
    ]
    days, wards, sexes, costs = zip(*rows, strict=True)
    named = [WARD["values"][ward] for ward in wards]
    return pa.table({"visited": days, "ward": named, "sex": ["fm"[sex] for sex in sexes], "cost": costs})


RISING = table((400, 300, 20), (400, 300, 20), (400, 600, 20))


def series_of(folder, plan, rows):
    """Publish all periods of a specification."""
    for place, month in enumerate(Calendar(plan).names):
        publish_period(plan, month, rows, out=folder, rng=seeded(place))
    return load_series(folder)
