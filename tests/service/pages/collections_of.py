"""Collections of every kind that the live page shows, with made-up people and the reports of their devices."""

from datetime import date, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from litestar import Response

from dpress.core.basics import rng
from dpress.core.reports.wire import Report, pack
from dpress.data.example_people import pickups
from dpress.data.specification.spec import from_dict
from dpress.release.devices.perturb import perturb
from dpress.release.plan.plan import design_of

LOCAL = {"model": "local", "epsilon": 2.0}
AGE = {"name": "age", "title": "Age", "kind": "integer", "bounds": [0, 84], "bins": 6}
SEX = {
    "name": "sex",
    "kind": "categorical",
    "values": ["F", "M"],
    "other": "else",
    "labels": {"F": "Female", "M": "Male"},
}
PLACE = {
    "name": "pickup",
    "title": "Pick-up",
    "kind": "location",
    "columns": ["lon", "lat"],
    "bounds": [[-74.03, -73.75], [40.58, 40.90]],
}
SPECS = {
    "tables": {"attribute": [AGE, SEX], "release": {"kind": "marginals", "title": "Who rides", "contact": "Ann"}},
    "joint": {"attribute": [AGE, SEX, {**SEX, "name": "other"}], "release": {"kind": "joint"}},
    "gaps": {"attribute": [{**AGE, "null": "unknown"}, {**SEX, "null": "unsaid"}], "release": {"kind": "marginals"}},
    "days": {
        "attribute": [
            {
                "name": "visited",
                "kind": "date",
                "bounds": ["2024-01-10", "2024-12-31"],
                "cells": "week",
                "null": "never",
            },
            {"name": "born", "title": "Born on a", "kind": "date", "cells": "weekday"},
        ],
        "release": {"kind": "marginals"},
    },
    "numbers": {
        "attribute": [SEX, {**AGE, "kind": "numeric", "unit": "years"}],
        "release": {"kind": "statistics", "parameters": {"by": ["sex"], "mean": ["age"]}},
    },
    "maps": {"attribute": [PLACE], "release": {"kind": "spatial", "parameters": {"height": 6}}},
    "rounds": {
        "attribute": [PLACE],
        "release": {"kind": "spatial", "parameters": {"users": 50000, "rounds": 3}, "method": "ahead"},
    },
}


def spec(kind):
    return from_dict({**SPECS[kind], "privacy": LOCAL})


def people(kind, users):
    if kind in {"maps", "rounds"}:
        return pickups(users)
    rows = range(users)
    if kind == "days":
        born = [date(1990, 1, 1) + timedelta(days=user * user % 366) for user in rows]
        return pa.table({"visited": [date(2024, 1, 10) + timedelta(days=user % 357) for user in rows], "born": born})
    ages, sexes = [user * user % 85 for user in rows], ["FFM"[user % 3] for user in rows]
    return pa.table({"age": ages, "sex": sexes} | ({"other": sexes[::-1]} if kind == "joint" else {}))


def packed(design, rows, folder, seed=5):
    """Return the reports of these people's devices, in an order that mixes their types."""
    path = folder / f"reports-{seed}.parquet"
    perturb(design, rows, out=path, rng=rng.seeded(seed))
    found = [pack(Report(**one)) for one in pq.read_table(path).to_pylist()]
    return sorted(found, key=lambda one: one[22:38])  # by their random ids


def refusal(_, problem):
    """Return a refusal as the service answers it, for applications of some routes alone."""
    return Response(problem.document, status_code=problem.status)


def designed(kind):
    return design_of(spec(kind))
