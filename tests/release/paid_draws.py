"""What is published in `paid_once.py`, what was seen of it, and the loss of whoever is in the worst of it."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from dpress.data.specification.spec import from_dict
from dpress.ledger.store import store_at
from dpress.release.plan.plan import plan

MONTHS = [f"2024-0{month}" for month in range(1, 5)]
DAY = {"name": "day", "kind": "date", "bounds": [dt.date(2024, 1, 1), dt.date(2024, 4, 30)], "cells": "month"}
WARD = {"name": "ward", "kind": "categorical", "values": ["eyes", "hearts"]}
ITEM = {"name": "item", "kind": "categorical", "values": "discover", "other": "rest"}
COST = {"name": "cost", "kind": "numeric", "bounds": [0.0, 1e6], "bins": 100}
ROWS = pa.table(
    {
        "day": [dt.date(2024, 1 + row % 4, 1) for row in range(48)],
        "ward": ["eyes", "hearts"] * 24,
        "item": ["bread"] * 48,
        "cost": [float(row) for row in range(48)],
        "uid": [row // 6 for row in range(48)],
    }
)
KINDS = {
    "histogram": ([WARD], {}, {}),
    "names": ([ITEM], {"delta": 1e-3}, {"users": 50}),
    "groups": ([ITEM, COST], {"delta": 1e-3}, {"by": ["item"], "mean": ["cost"], "users": 50}),
    "bounds": ([COST], {}, {"mean": ["cost"], "private_bounds": ["cost"], "users": 1000}),
}
PERSON = {"unit": "uid", "rows_per_unit": 1}
SHARES = 2  # periods in which a person counts


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Noise that somebody has seen.

    Args:
        series: that the release is of; empty for one of all rows.
        months: whose rows it is of.
        epsilon: that it cost.
    """

    series: str
    months: frozenset[str]
    epsilon: Fraction


def worst(draws, person):
    """Return the largest loss of a unit by what was seen: of a row, or of a person who counts in two periods."""
    found, months = Fraction(0), defaultdict(Fraction)
    for own in draws:
        if not own.series:
            found += own.epsilon
        for month in own.months:
            months[own.series if person else "", month] += own.epsilon
    rows = max(months.values(), default=Fraction(0))
    series = {name for name, _ in months}
    persons = sum(sum(sorted((months[one, m] for m in MONTHS), reverse=True)[:SHARES]) for one in series)
    return found + (persons if person else rows)


def chain(book):
    return [row.hash for row in store_at(book).rows()]


def planned(spec):
    """Return the plan of a specification, made once for all tests."""
    if spec.hash not in PLANS:
        PLANS[spec.hash] = plan(spec)
    return PLANS[spec.hash]


PLANS: dict = {}


def single(kind, *, person):
    """Return the plan of a release of all rows."""
    attributes, privacy, parameters = KINDS[kind]
    release = {"kind": {"groups": "statistics", "bounds": "statistics"}.get(kind, kind), "parameters": parameters}
    privacy = {"epsilon": 0.5, **privacy, **(PERSON if person else {})}
    return planned(from_dict({"attribute": attributes, "privacy": privacy, "release": release}))


def by_months(counter, *, person):
    """Return the specification of a series."""
    privacy, counts = ({"epsilon": 1.0, **PERSON}, {"per_unit": SHARES}) if person else ({"epsilon": 1.0}, {})
    own = {"attribute": "day", **(counts or {"counter": counter})}
    release = {"kind": "histogram"}
    return from_dict({"attribute": [DAY, WARD], "privacy": privacy, "release": release, "periods": own})
