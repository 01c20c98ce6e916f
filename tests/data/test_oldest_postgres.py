"""Tables of the oldest PostgreSQL that is supported are counted there, by default, to the last row."""

import psycopg
import pytest
from sqlglot import exp

from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.data.sql import coded_rows
from dpress.ledger.ledger import Ledger
from dpress.release.curator.publish import publish

pytestmark = pytest.mark.slow
ROWS = """
CREATE TABLE visits AS SELECT place / 3 AS uid, (ARRAY['a', 'b', 'c'])[1 + place % 3] AS ward, place % 90 AS age,
  timestamp '2024-01-01' + (place || ' hours')::interval AS day, place * 0.1 AS cost
FROM generate_series(1, 3000) AS place
"""
WARD = {"name": "ward", "kind": "categorical", "values": ["a", "b", "c"]}
FOUND = {**WARD, "values": "discover"}
AGE = {"name": "age", "kind": "integer", "bounds": [0, 89]}
COST = {"name": "cost", "kind": "numeric", "bounds": [0, 300], "bins": 10}
DAY = {"name": "day", "kind": "datetime", "bounds": ["2024-01-01", "2024-12-31"], "cells": "day", "zone": "UTC"}
SURE, SOME = {"epsilon": 50.0}, {"epsilon": 5.0, "delta": 1e-6}
PERSONS = {"unit": "uid", "rows_per_unit": 2}
TABLES = {"tables": [["ward", "age"], ["cost"], ["day"]]}
MEANS = {"by": ["ward"], "mean": ["age", "cost"], "median": ["age"]}
CASES = {
    "tables": (
        [WARD, AGE, COST, DAY],
        SURE,
        {"kind": "marginals", "parameters": {"tables": [["ward", "age"], ["day"]]}},
    ),
    "persons": ([WARD, AGE], {**SURE, **PERSONS}, {"kind": "histogram"}),
    "names": ([FOUND], SOME, {"kind": "names"}),
    "names of persons": ([FOUND], {**SOME, **PERSONS}, {"kind": "names"}),
    "statistics": ([WARD, AGE, COST], SURE, {"kind": "statistics", "parameters": MEANS}),
    "discovered": ([FOUND, AGE], SOME, {"kind": "statistics", "parameters": {"by": ["ward"], "mean": ["age"]}}),
    "queries": ([WARD, AGE], SURE, {"kind": "queries", "parameters": {"queries": ["ward = a and age in 3..9"]}}),
}


@pytest.fixture(scope="module")
def visits(oldest_postgres):
    """The URL of a table of that server."""
    with psycopg.connect(oldest_postgres, autocommit=True) as connection:
        connection.execute(ROWS)
    return f"{oldest_postgres}#visits"


def answers(spec, source, engine):
    return publish(from_dict(spec), source, engine=engine, rng=rng.seeded(1)).kept


@pytest.mark.parametrize("case", CASES)
def test_rows_are_counted_where_they_are(visits, case):
    attributes, privacy, release = CASES[case]
    spec = {"attribute": attributes, "privacy": privacy, "release": release}
    default, threads = (answers(spec, visits, engine) for engine in (None, "threads"))
    if "unit" not in privacy:  # which rows of a person stay is drawn in each engine's own order
        assert default.tolist() == threads.tolist()
    assert default.size == threads.size


def test_a_subquery_without_a_name_says_what_the_server_did_not_know(visits, monkeypatch):
    with psycopg.connect(visits.partition("#")[0]) as connection:
        if connection.info.server_version >= 160_000:
            pytest.skip("needs PostgreSQL 15, which asks for the name of every subquery")
    nameless = property(lambda rows: exp.Var(this=f"({rows.query})"))
    monkeypatch.setattr(coded_rows.Relation, "source", nameless)
    attributes, privacy, release = CASES["queries"]
    with pytest.raises(
        OSError, match=r"the server knows .* not; PostgreSQL 13 and later do, code 42601 at character \d+ of "
    ):
        answers({"attribute": attributes, "privacy": privacy, "release": release}, visits, None)


def test_a_ledger_is_kept_there(oldest_postgres, visits):
    spec = from_dict({"attribute": [WARD], "privacy": {"epsilon": 1.0}, "release": {"kind": "histogram"}})
    ledger = Ledger.create(oldest_postgres, limit=spec.privacy.loss, unit=spec.privacy.protected)
    publish(spec, visits, ledger=ledger)
    assert Ledger.open(oldest_postgres).summary().spent == {"epsilon": 1}
