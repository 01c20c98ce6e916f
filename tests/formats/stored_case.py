"""One stored case, and the attributes, budgets and queries that cases share."""

from dataclasses import dataclass
from typing import Any

USERS = 240
SEX = {"name": "sex", "kind": "categorical", "values": ["Female", "Male"]}
EDUCATION = {
    "name": "education",
    "kind": "ordinal",
    "values": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"],
}
FOUND = {"name": "region", "kind": "categorical", "values": "discover", "other": "Other"}
REGION = {"name": "region", "kind": "categorical", "values": ["North", "East", "South"], "other": "Other", "null": "?"}
CODES = {
    "name": "where",
    "kind": "hierarchy",
    "column": "region",
    "levels": ["initial", "region"],
    "prefix": [1, 5],
    "values": ["North", "East", "South"],
    "other": "drop",
}
PARTS = {
    "name": "region",
    "kind": "hierarchy",
    "levels": ["initial", "part"],
    "prefix": [1, 5],
    "values": ["East", "North", "South"],
    "other": "Other",
}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 84], "bins": 5, "null": "unknown"}
YEARS = {"name": "age", "kind": "integer", "bounds": [20, 51], "outside": "clamp"}
INCOME = {"name": "income", "kind": "numeric", "bounds": [0.0, 100000.0], "bins": 16}
CLASSES = {"name": "income", "kind": "numeric", "edges": [0.0, 9999.5, 2e4, 45000.1, 1e5]}
VISITED = {
    "name": "visited",
    "kind": "date",
    "bounds": ["2024-01-10", "2024-12-31"],
    "cells": "month",
    "outside": "drop",
    "null": "unknown",
}
HOUR = {"name": "at", "kind": "datetime", "zone": "Europe/Berlin", "cells": "hour of day"}
PLACE = {
    "name": "place",
    "kind": "location",
    "columns": ["lon", "lat"],
    "bounds": [[-74.03, -73.75], [40.58, 40.9]],
    "outside": "clamp",
}
BOX = "lon in -74.0..-73.9 and lat in 40.7..40.8"
EPSILON, RHO = {"epsilon": 1}, {"rho": 0.1}
LENGTH = {"kind": "ranges", "parameters": {"length": 4}}
PEOPLE = {"model": "local", "epsilon": 2}
QUERIES = {
    "sex": "sex = Female",
    "where": "where = North",
    "education": "education >= Bachelor",
    "region": "region = Other",
    "age": "age in 17..50",
    "income": "income in 0..25000",
    "visited": "visited in 2024-02..2024-04",
    "place": BOX,
    "at": "at in 06..21",
    "edges": "income >= 20000",
    "older": "older = 40",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is stored under one name.

    Args:
        attributes: of the specification.
        privacy: of the specification.
        release: of the specification.
        constraint: of the specification.
        table: of the specification: two tables that belong together, of which the rows are made.
        queries: to answer beside one of every attribute.
        rounds: of a collection; each is a case of its own.
        unproven: whether its method has no proof.
        spoiled: whether its reports are followed by some that must be left out.
        exact: whether its answers are linear in the kept integers; else they come from a fit that stops.
    """

    attributes: list[dict[str, Any]]
    privacy: dict[str, Any]
    release: dict[str, Any]
    constraint: tuple[dict[str, Any], ...] = ()
    table: tuple[dict[str, Any], ...] = ()
    queries: tuple[str, ...] = ()
    rounds: int = 1
    unproven: bool = False
    spoiled: bool = False
    exact: bool = True


OLDER = {"name": "older", "kind": "integer", "column": "age", "bounds": [22, 60]}
POSSIBLE = Case(
    attributes=[YEARS, SEX, EDUCATION, REGION, OLDER],
    privacy={"rho": 0.5},
    release={"kind": "microdata", "method": "graphical", "parameters": {"users": USERS}},
    constraint=(
        {"impossible": "sex = Male and region = East"},
        {"holds": "education <= Bachelor or age in 25..51"},
        {
            "determines": ["region", "sex"],
            "table": {"North": "Female", "East": "Female", "South": "Male", "Other": "Male", "?": "Male"},
        },
        {"holds": "older = age + 5"},
    ),
)
"""Records under constraints."""
LINKED = Case(
    attributes=[REGION, SEX, YEARS],
    privacy={"rho": 0.5, "unit": "house"},
    release={"kind": "microdata", "method": "graphical", "parameters": {"users": USERS}},
    constraint=(
        {"impossible": "sex = Male and age > age_1 - 4", "persons": "others"},
        {"holds": "age >= 21", "persons": "first"},
    ),
    table=(
        {"name": "homes", "key": "house"},
        {"name": "people", "of": "homes", "key": "house", "most": 3, "order": ["-age"], "attributes": ["sex", "age"]},
    ),
    queries=("sex_2 = Female and age_1 in 30..45", "people = 3"),
)
"""Records of two tables."""
